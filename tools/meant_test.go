package tools

import (
	"testing"

	"pillion/internal/fault"
	"pillion/tools/schema"
)

// TestWhatIsMeant: names of other tool sets lead to the tool and the argument that do the same.
func TestWhatIsMeant(t *testing.T) {
	for name, want := range map[string]string{
		"create_file": "write_file", "Bash": "run_command", "find_files": "glob", "str_replace": "edit_file", "read_fil": "read_file", "rm": "delete_file",
	} {
		if e := fault.From(unknownTool(name)); e.Hint != "did you mean "+want+"?" {
			t.Errorf("%s: %s", name, e.Hint)
		}
	}
	for call, want := range map[[2]string]string{
		{"git.commit", "paths"}: "files", {"read_many_files", "files"}: "paths", {"write_file", "text"}: "content", {"run_command", "cmd"}: "command", {"read_file", "pth"}: "path",
	} {
		_, err := schema.Property(catalogue[call[0]].schema(), call[1], "")
		if e := fault.From(err); e.Details["nearest"] != want {
			t.Errorf("%s of %s: %v", call[1], call[0], e.Details)
		}
	}
}
