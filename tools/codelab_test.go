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
	"pillion/tools/approval"
)

// codeLab is a world with the preset, and a session that would be asked nothing without.
func codeLab(t *testing.T) *world {
	w := newWorld(t)
	w.limits = tools.CodeLab(w.limits)
	w.start()
	w.do("session main full_access")
	return w
}

func TestCodeLabSizes(t *testing.T) {
	t.Parallel()
	w := codeLab(t)
	w.human.approve = func(approval.Request) approval.Answer { return approval.Answer{Decision: approval.Approve} }
	megabyte := strings.Repeat("0123456789abcde\n", 1_000_000/16)
	w.write("fits.txt", megabyte)
	w.write("larger.txt", megabyte+"x")
	for _, c := range []struct {
		tool     string
		args     map[string]any
		tooLarge bool
	}{
		{"read_file", map[string]any{"path": "fits.txt"}, false},
		{"read_file", map[string]any{"path": "larger.txt"}, true},
		{"read_file", map[string]any{"path": "larger.txt", "start_line": 1, "end_line": 2}, true},
		{"write_file", map[string]any{"path": "fits.txt", "content": megabyte}, false},
		{"edit_file", map[string]any{"path": "fits.txt", "old_string": megabyte[:16] + megabyte[:16], "new_string": "x", "replace_all": true}, false},
	} {
		if r := w.ask(t.Context(), c.tool, c.args); r.IsError != c.tooLarge || r.IsError && r.Err.Code != fault.FileTooLarge {
			t.Errorf("%s %.60v: %+v", c.tool, c.args, r.Err)
		}
	}
	r := w.ask(t.Context(), "write_file", map[string]any{"path": "new.txt", "content": megabyte + "x"})
	if r.Err == nil || r.Err.Code != fault.FileTooLarge || r.Err.Hint != "split it into several files" {
		t.Errorf("%+v", r.Err)
	}
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
}

// However long an agent wants to wait for a process, its call has a time.
func TestCallTimeBoundsAWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.limits.CallTime = 50 * time.Millisecond
	w.start()
	w.do("session main full_access")
	if r := w.ask(t.Context(), "run_persistent", `{"process_id": "cat", "command": "cat"}`); r.IsError {
		t.Fatal(r.Err)
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
			w = readyWorld(t)
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
