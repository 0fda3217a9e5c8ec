//go:build unix

package tools_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/tools/policy"
)

// Nothing that lies in a folder holds a tool up that changes files, is changed by it
// although it is no file, or gets unescaped into what models and people read.
func TestWritingToolsAmongOddFiles(t *testing.T) {
	w := oddWorld(t)
	w.must(w.session("main").SetMode(policy.FullAccess))
	before := allocated()
	for name, code := range map[string]fault.Code{
		"pipe": fault.NotAFile, "to-pipe": fault.NotAFile, "s/sock": fault.NotAFile, "device": fault.NotAFile, "s": fault.NotAFile,
		"to-device": fault.PathOutsideWorkspace, "hollow.bin": fault.FileTooLarge, "loop": fault.ExecutionFailed,
		"two\nlines.txt": fault.InvalidPath, "\x1b[31mred.txt": fault.InvalidPath, "pipe/x": "", "device/x": "",
	} {
		for tool, arguments := range map[string]map[string]any{
			"write_file":       {"path": name, "content": "agent"},
			"edit_file":        {"path": name, "old_string": "needle", "new_string": "agent"},
			"create_directory": {"path": name + "/below"},
		} {
			r := w.inTime(tool, arguments)
			if !r.IsError && name+tool != "screate_directory" || tool == "write_file" && code != "" && r.Err.Code != code {
				t.Errorf("%s %q: %s", tool, name, r.Structured)
			}
			if r.Err != nil && fault.Escape(r.Err.Message) != r.Err.Message {
				t.Errorf("%s %q: %q", tool, name, r.Err.Message)
			}
		}
	}
	for _, name := range []string{"pipe", "s/sock", "device"} {
		if r := w.inTime("delete_file", map[string]any{"path": name}); r.Err == nil || r.Err.Code != fault.NotAFile {
			t.Errorf("delete_file %s: %s", name, r.Structured)
		}
	}
	// What is too large to be read moves and goes; a link of any kind is an entry.
	for _, name := range []string{"hollow.bin", "to-device", "to-pipe", "loop"} {
		if r := w.inTime("move_file", map[string]any{"from": name, "to": "new/" + name}); r.IsError {
			t.Errorf("move_file %s: %s", name, r.Structured)
		}
		if r := w.inTime("delete_file", map[string]any{"path": "new/" + name}); r.IsError {
			t.Errorf("delete_file %s: %s", name, r.Structured)
		}
	}
	if grown := allocated() - before; grown > 128<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
	if left, err := filepath.Glob(w.path("new/*")); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}

// Names that can be told by looking are written, moved and deleted under their own, and
// shown so that they deceive nobody.
func TestWritingDeceivingNames(t *testing.T) {
	t.Parallel()
	w := oddWorld(t)
	name := ""
	change := func(tool string, arguments map[string]any) {
		t.Helper()
		w.human.take(&call{answers: []answer{approve()}})
		r := w.inTime(tool, arguments)
		if r.IsError {
			t.Errorf("%s %q: %s", tool, arguments, r.Structured)
			return
		}
		said, _, _ := strings.Cut(r.Content[0].Text, "\ndiff ") // which is for programs
		for _, shown := range append(w.human.asked, said) {
			if strings.HasPrefix(shown, "  shows ") && name != "" {
				shown = strings.ReplaceAll(shown, name, "") // the field that the editor escapes
			}
			if fault.Escape(shown) != shown {
				t.Errorf("%s shows what cannot be seen: %q", tool, shown)
			}
		}
	}
	for i, now := range []string{"\u202etxt.exe", "a\u200bb.txt", "...", "-rf", " ", "$(touch x).txt", "\ufefffirst.txt"} {
		name = now
		change("write_file", map[string]any{"path": name, "content": "agent\n"})
		change("move_file", map[string]any{"from": name, "to": "d/" + name})
		change("move_file", map[string]any{"from": "d/" + name, "to": name + "x"})
		change("create_directory", map[string]any{"path": name})
		change("delete_file", map[string]any{"path": name + "x"})
		change("delete_file", map[string]any{"path": name, "recursive": true})
		if _, err := os.Lstat(w.path(name)); !os.IsNotExist(err) {
			t.Errorf("%d: %q is there: %v", i, name, err)
		}
	}
	name = ""
	// A folder with all of them goes with all of them.
	for _, name := range deceiving {
		w.write("all/"+name, "needle\n")
		w.write("all/dir"+name+"/x", "needle\n")
	}
	change("delete_file", map[string]any{"path": "all", "recursive": true})
	if _, err := os.Lstat(w.path("all")); !os.IsNotExist(err) {
		t.Errorf("all is there: %v", err)
	}
}
