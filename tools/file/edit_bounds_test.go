package file

import (
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/workspace/document"
)

// TestEditsOfManyPlacesAreBounded: each of these took minutes, or all memory there is.
func TestEditsOfManyPlacesAreBounded(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	oneLine, lines := strings.Repeat("a", 2<<20), strings.Repeat("a line\n", 100_000)
	double := textEdit{OldString: "a", NewString: "aa", ReplaceAll: true}
	doubles := make([]textEdit, 60)
	for i := range doubles {
		doubles[i] = double
	}
	for name, c := range map[string]struct {
		text  string
		edits []textEdit
		code  fault.Code // none: it succeeds
	}{
		"doubled again and again":      {"a", doubles, fault.FileTooLarge},
		"everywhere in one line":       {oneLine, []textEdit{{OldString: "a", NewString: "b"}}, fault.EditAmbiguous},
		"not so often":                 {oneLine, []textEdit{{OldString: "a", NewString: "b", ExpectedReplacements: 3 << 20}}, fault.EditNoMatch},
		"on every line":                {lines, []textEdit{{OldString: "line", NewString: "b"}}, fault.EditAmbiguous},
		"lines for every place":        {lines, []textEdit{{OldString: "a", NewString: "b\nc", ReplaceAll: true}}, ""},
		"lines for places in one line": {oneLine[:most/4], []textEdit{{OldString: "a", NewString: "b\nc", ReplaceAll: true}}, ""},
	} {
		done, err := applyEdits(t.Context(), &document.File{}, c.text, c.edits, most)
		if fault.CodeOf(err) != c.code {
			t.Errorf("%s: %.200v", name, err)
		}
		if err != nil && len(err.Error()) > 2000 {
			t.Errorf("%s: the failure has %d bytes", name, len(err.Error()))
		}
		if len(done.text) > 2*most {
			t.Errorf("%s: %d bytes", name, len(done.text))
		}
	}
}
