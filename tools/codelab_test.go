package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/policy"
)

// codeLab is a world with the preset, and a session that would be asked nothing without.
func codeLab(t *testing.T) *world {
	w := newWorld(t)
	w.limits = tools.CodeLab(w.limits)
	w.start()
	w.do("session main full_access")
	return w
}

// call gives the code of a call's failure, and how often the user was asked.
func (w *world) call(tool string, args map[string]any) (code fault.Code, asked int) {
	w.human.take(&call{answers: []answer{approve(), approve()}})
	r := w.ask(context.Background(), tool, args)
	if r.Err != nil {
		code = r.Err.Code
	}
	return code, strings.Count(strings.Join(w.human.asked, "\n"), "asked: ")
}

type arguments = map[string]any

// codes are calls, and the code of each one's failure.
type codes []struct {
	tool string
	args arguments
	want fault.Code
}

func (w *world) fails(of codes) {
	w.t.Helper()
	for _, c := range of {
		if got, _ := w.call(c.tool, c.args); got != c.want {
			w.t.Errorf("%s %.60v: %q, want %q", c.tool, c.args, got, c.want)
		}
	}
}

func TestCodeLabSizes(t *testing.T) {
	t.Parallel()
	w := codeLab(t)
	megabyte := strings.Repeat("0123456789abcde\n", 1_000_000/16)
	w.write("fits.txt", megabyte)
	w.write("larger.txt", megabyte+"x")
	w.fails(codes{
		{"read_file", arguments{"path": "fits.txt"}, ""},
		{"read_file", arguments{"path": "larger.txt"}, fault.FileTooLarge},
		{"read_file", arguments{"path": "larger.txt", "start_line": 1, "end_line": 2}, fault.FileTooLarge},
		{"write_file", arguments{"path": "fits.txt", "content": megabyte}, ""},
		{"write_file", arguments{"path": "new.txt", "content": megabyte + "x"}, fault.FileTooLarge},
		{"edit_file", arguments{"path": "fits.txt", "old_string": megabyte[:16] + megabyte[:16], "new_string": "x", "replace_all": true}, ""},
	})
}

func TestCodeLabLimits(t *testing.T) {
	l := tools.CodeLab(tools.DefaultLimits)
	if l.ReadBytes != 1e6 || l.WriteBytes != 1e6 || l.DiffBytes != 5e6 || l.OutputBytes != tools.DefaultLimits.OutputBytes ||
		l.CallTime != 30*time.Second || l.CommandTime != 30*time.Second || l.CommandMax != 30*time.Second || tools.CodeLabRate != 100 {
		t.Errorf("%+v", l)
	}
	lower := tools.Limits{ReadBytes: 1, WriteBytes: 2, DiffBytes: 3, CallTime: 4, CommandTime: 5, CommandMax: 6}
	want := lower
	want.CodeLab, want.CleanPatches = true, true
	if got := tools.CodeLab(lower); got != want {
		t.Errorf("lower limits became %+v", got)
	}
	w := codeLab(t)
	if code, _ := w.call("run_command", arguments{"command": "true", "timeout_seconds": 31}); code != fault.InvalidArguments {
		t.Errorf("a command of 31 seconds: %q", code)
	}
}

func TestCodeLabPaths(t *testing.T) {
	w := codeLab(t)
	w.write("a.txt", "a\n")
	long := strings.Repeat("0123456789/", 23) + "ab" // 255
	w.fails(codes{
		{"read_file", arguments{"path": w.path("a.txt")}, fault.InvalidPath},
		{"read_file", arguments{"path": "/a.txt"}, fault.InvalidPath},
		{"read_many_files", arguments{"paths": []string{"a.txt", w.path("a.txt")}}, fault.InvalidPath},
		{"list_files", arguments{"path": w.path(".")}, fault.InvalidPath},
		{"move_file", arguments{"from": "a.txt", "to": w.path("b.txt")}, fault.InvalidPath},
		{"move_file", arguments{"from": w.path("a.txt"), "to": "b.txt"}, fault.InvalidPath},
		{"run_command", arguments{"command": "true", "cwd": w.path(".")}, fault.InvalidPath},
		{"read_file", arguments{"path": "a.txt"}, ""},
		{"read_file", arguments{"path": "../a.txt"}, fault.PathOutsideWorkspace},
		{"read_file", arguments{"path": long}, fault.FileNotFound},
		{"read_file", arguments{"path": long + "c"}, fault.InvalidPath},
		{"read_file", arguments{"path": strings.ReplaceAll(long, "0", "é")}, fault.FileNotFound}, // it is characters that count
	})
}

func TestCodeLabTakesUTF8Alone(t *testing.T) {
	w := codeLab(t)
	w.write("plain.txt", "é\n")
	w.write("marked.txt", "\xef\xbb\xbfé\n")
	w.write("utf16.txt", "\xff\xfea\x00\n\x00")
	w.write("latin.txt", "caf\xe9\n")
	w.do("open plain.txt")
	w.fails(codes{
		{"read_file", arguments{"path": "plain.txt"}, ""},
		{"read_file", arguments{"path": "plain.txt", "encoding": "UTF-8"}, ""},
		{"read_file", arguments{"path": "marked.txt"}, ""},
		{"read_file", arguments{"path": "utf16.txt"}, fault.EncodingError},
		{"read_file", arguments{"path": "latin.txt"}, fault.EncodingError},
		{"read_file", arguments{"path": "latin.txt", "encoding": "latin1"}, fault.EncodingError},
		{"edit_file", arguments{"path": "utf16.txt", "old_string": "a", "new_string": "b"}, fault.EncodingError},
		{"write_file", arguments{"path": "utf16.txt", "content": "b\n"}, fault.EncodingError},
		{"write_file", arguments{"path": "new.txt", "content": "b\n", "encoding": "windows-1252"}, fault.EncodingError},
		{"write_file", arguments{"path": "new.txt", "content": "b\n", "encoding": "utf8bom"}, ""},
	})
}

func TestCodeLabMakesNoFoldersUnasked(t *testing.T) {
	codeLab(t).fails(codes{
		{"write_file", arguments{"path": "a/b.txt", "content": "x\n"}, fault.FileNotFound},
		{"write_file", arguments{"path": "a/b.txt", "content": "x\n", "create_dirs": false}, fault.FileNotFound},
		{"write_file", arguments{"path": "a/b.txt", "content": "x\n", "create_dirs": true}, ""},
	})
}

// No hint names what the preset refuses.
func TestCodeLabHints(t *testing.T) {
	w := codeLab(t)
	w.do("git init")
	w.write("latin.txt", "caf\xe9\n")
	w.do("git add latin.txt")
	w.do("git commit -qm first")
	for _, c := range []struct {
		tool string
		args arguments
		code fault.Code
		hint string
	}{
		{"write_file", arguments{"path": "new.txt", "content": strings.Repeat("x", 1_000_001)}, fault.FileTooLarge, "split it into several files"},
		{"read_file", arguments{"path": "latin.txt"}, fault.EncodingError, "the settings (limits.preset) allow only UTF-8: ask the user to save the file as UTF-8"},
		{"apply_patch", arguments{"diff": "--- a/latin.txt\n+++ b/latin.txt\n@@ -1 +1 @@\n-cafe\n+tea\n"}, fault.EncodingError, "the settings (limits.preset) allow only UTF-8: ask the user to save the file as UTF-8"},
		{"apply_patch", arguments{"diff": "--- /dev/null\n+++ b/sub/new.txt\n@@ -0,0 +1 @@\n+tea\n"}, fault.FileNotFound, "create the folder first, with create_directory"},
	} {
		r := w.ask(t.Context(), c.tool, c.args)
		if r.Err.Code != c.code || r.Err.Hint != c.hint {
			t.Errorf("%s %.60v: %v, %q", c.tool, c.args, r.Err, r.Err.Hint)
		}
	}
}

func TestCodeLabAlwaysAsks(t *testing.T) {
	t.Parallel()
	w := codeLab(t)
	for _, rule := range []string{"write_file", "delete_file", "move_file", "run_command", "run_persistent", "edit_file"} {
		w.do("allow " + rule)
		granted, err := policy.ParseRule(rule)
		w.must(err)
		w.session("main").Grant(granted)
	}
	w.write("a.txt", "a\n")
	for i, c := range []struct {
		tool string
		args arguments
		want int
	}{
		{"write_file", arguments{"path": "a.txt", "content": "b\n"}, 1},
		{"write_file", arguments{"path": "a.txt", "content": "c\n"}, 1},
		{"write_file", arguments{"path": "a.txt", "content": "c\n"}, 0}, // it changes nothing
		{"edit_file", arguments{"path": "a.txt", "old_string": "c", "new_string": "d"}, 1},
		{"create_directory", arguments{"path": "sub"}, 0},
		{"move_file", arguments{"from": "a.txt", "to": "sub/a.txt"}, 1},
		{"run_command", arguments{"command": "true"}, 1},
		{"run_persistent", arguments{"process_id": "cat", "command": "cat"}, 1},
		{"write_process", arguments{"process_id": "cat", "input": "x\n"}, 1},
		{"kill_process", arguments{"process_id": "cat"}, 0},
		{"delete_file", arguments{"path": "sub/a.txt"}, 1},
		{"list_files", arguments{}, 0},
	} {
		code, asked := w.call(c.tool, c.args)
		if code != "" || asked != c.want {
			t.Errorf("%d: %s was asked about %d times, %q; want %d", i, c.tool, asked, code, c.want)
		}
		if asked > 0 && strings.Contains(fmt.Sprint(w.human.asked), "offers") {
			t.Errorf("%s offers to remember: %v", c.tool, w.human.asked)
		}
	}
	w.do("git init")
	w.write("b.txt", "b\n")
	w.do("git add b.txt")
	w.do("git commit -qm first")
	for action, want := range map[string]int{"list": 0, "create": 1} {
		args := arguments{"action": action}
		if want > 0 {
			args["name"] = "topic"
		}
		if code, asked := w.call("git.branch", args); code != "" || asked != want {
			t.Errorf("git.branch %s was asked about %d times, %q", action, asked, code)
		}
	}
	w.do("session main plan")
	if code, asked := w.call("write_file", arguments{"path": "a.txt", "content": "b\n"}); code != fault.PolicyDenied || asked != 0 {
		t.Errorf("in plan mode: %q, asked %d times", code, asked)
	}
}

// However long an agent wants to wait for a process, its call has a time.
func TestCallTimeBoundsAWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.limits.CallTime = 50 * time.Millisecond
	w.start()
	w.do("session main full_access")
	if code, _ := w.call("run_persistent", arguments{"process_id": "cat", "command": "cat"}); code != "" {
		t.Fatal(code)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if r := w.ask(ctx, "read_process", `{"process_id": "cat", "wait_seconds": 600}`); r.Err != nil || ctx.Err() != nil {
		t.Errorf("%v, %v", r.Err, ctx.Err())
	}
}

// TestCodeLabSchemas: the defaults that tools are listed with are those that hold.
func TestCodeLabSchemas(t *testing.T) {
	for preset, want := range map[bool]string{true: `utf-8 false`, false: `<nil> true`} {
		w := codeLab(t)
		if !preset {
			w = newWorld(t)
			w.start()
			w.do("session main full_access")
		}
		for _, d := range w.registry.DefinitionsIn("", w.session("main"), []string{"write_file"}) {
			var schema struct {
				Properties map[string]struct{ Default any }
			}
			w.must(json.Unmarshal(d.InputSchema, &schema))
			if got := fmt.Sprint(schema.Properties["encoding"].Default, " ", schema.Properties["create_dirs"].Default); got != want || len(schema.Properties) < 4 {
				t.Errorf("preset %t: %s", preset, got)
			}
		}
	}
}

func TestCodeLabReadsNoImages(t *testing.T) {
	w := codeLab(t)
	w.write("a.png", "\x89PNG\r\n\x1a\n\x00\x00")
	w.fails(codes{{"read_file", arguments{"path": "a.png"}, fault.BinaryFile}})
}
