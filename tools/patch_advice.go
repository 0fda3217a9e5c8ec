package tools

import (
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/patch"
)

// advised gives what is wrong with a file of the patch a hint for whoever made the patch,
// where that of the file alone does not help.
func (p *patching) advised(f patch.File, err *fault.Error) *fault.Error {
	for at := range p.leaving {
		if name := at.String(); strings.HasPrefix(f.New, name+"/") || strings.HasPrefix(name, f.New+"/") {
			return err.WithHint("a folder does not take the place of a file in one patch, nor a file that of a folder; give what goes first, and what comes there in a second call")
		}
	}
	switch {
	case err.Code == fault.EncodingError && !strings.Contains(err.Message, "NUL"):
		return err.WithHint("a patch has no encoding of its own; ask the human to open the file in their editor in its encoding, or write it with write_file, which takes one")
	case err.Code == fault.InvalidPath && err.Hint == "":
		return err.WithHint("leave it out of the patch, or give it another name")
	}
	return err
}
