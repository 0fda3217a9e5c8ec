package tools

import (
	"fmt"
	"path"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/patch"
)

// advised gives what is wrong with a file of the patch a hint for whoever made the patch,
// where that of the file alone does not help.
func (p *patching) advised(f patch.File, err *fault.Error) *fault.Error {
	if hint := p.otherKind(f.New); hint != "" {
		return err.WithHint("%s", hint)
	}
	switch {
	case err.Code == fault.EncodingError && !strings.Contains(err.Message, "NUL"):
		return err.WithHint("a patch has no encoding of its own; ask the user to open the file in their editor in its encoding, or write it with write_file, which takes one")
	case err.Code == fault.InvalidPath && err.Hint == "":
		return err.WithHint("leave it out of the patch, or give it another name")
	}
	return err
}

// otherKind is what to do instead about a name at which the patch has a file and a folder
// take each other's place, "" of any other.
func (p *patching) otherKind(name string) string {
	for above := path.Dir(name); above != "." && above != "/"; above = path.Dir(above) {
		if p.leaves(func(gone string) bool { return gone == above }) {
			return fmt.Sprintf("a folder does not take the place of a file in one patch; delete or move %s first, with delete_file or move_file, and then give the rest of the patch", fault.Quote(above))
		}
	}
	if p.leaves(func(gone string) bool { return strings.HasPrefix(gone, name+"/") }) {
		return fmt.Sprintf("a file does not take the place of a folder in one patch; delete or move the folder %s first, with delete_file or move_file, and then give the rest of the patch", fault.Quote(name))
	}
	return ""
}

// leaves: some file of the patch gives up such a name.
func (p *patching) leaves(such func(name string) bool) bool {
	for at := range p.leaving {
		if such(at.String()) {
			return true
		}
	}
	return false
}
