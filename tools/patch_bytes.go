package tools

import (
	"slices"

	"pillion/internal/fault"
)

// checkBytes refuses what would need the bytes of a file that is no text: it can be moved
// to a name that nothing has, and to one such name alone.
func (p *patching) checkBytes(old, to *patched) error {
	if to.was && to.opaque != nil {
		return errBytesInTheWay(to)
	}
	if old == nil || old.opaque == nil {
		return nil
	}
	if to.was || slices.ContainsFunc(p.order, func(f *patched) bool { return f.from == old }) {
		return errBytesInTheWay(old)
	}
	return nil
}

func errBytesInTheWay(f *patched) error {
	return fault.New(fault.CodeOf(f.opaque), "%s is no text that can be read, and the patch puts it in the place of another file, or another in its place", fault.Quote(f.path.String())).
		WithHint("leave it out of the patch and use move_file, each time to a name that nothing has")
}
