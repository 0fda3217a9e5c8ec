package config

import (
	"strings"
	"testing"

	"pillion/internal/testrig/check"
)

func TestRunners(t *testing.T) {
	for raw, problem := range map[string]string{
		`{"a": {"acp": ["qwen", "--acp"], "mode": "plan", "timeoutSeconds": 5}}`: "",
		`{"a": {"command": ["x", "{objective}"], "env": {"K": "v"}}}`:            "",
		`{"a": {}}`: "either acp or command",
		`{"a": {"acp": ["x"], "command": ["x"]}}`:         "either acp or command",
		`{"a": {"command": ["{objective}"]}}`:             "cannot be the objective",
		`{"a": {"command": [""]}}`:                        "a name or a file",
		`{"a b": {"command": ["x"]}}`:                     "a name has letters",
		`{"a": {"command": ["x"], "mode": "yolo"}}`:       "its mode must be",
		`{"a": {"command": ["x"], "timeoutSeconds": -1}}`: "its timeoutSeconds",
		`{"a": {"commands": ["x"]}}`:                      "unknown setting",
		`{"a": 1}`:                                        "must be an object",
		`[]`:                                              "",
		`"x"`:                                             "must be an object",
	} {
		s, problems := Parse([]byte(`{"task": {"runners": ` + raw + `}}`))
		if got := strings.Join(problems, "\n"); problem == "" && got != "" || !strings.Contains(got, problem) {
			t.Errorf("%s: %q", raw, got)
		}
		check.Same(t, raw, problem == "" && raw != "[]", len(s.Task.Runners) == 1)
	}
}

// A project's runner is a program that it brings along: it needs trust, whatever it is
// called, and none of two folders can put it upon the other.
func TestRunnersOfAProject(t *testing.T) {
	parse := func(raw string) Settings {
		s, problems := Parse([]byte(`{"task": {"runners": ` + raw + `}}`))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return s
	}
	own := parse(`{"mine": {"command": ["mine"]}}`)
	project := parse(`{"mine": {"command": ["theirs"]}, "new": {"acp": ["new"]}}`)
	h := hold(project, own, false)
	if len(h.counts.Task.Runners) != 0 || len(h.loosens) != 2 || !strings.Contains(h.loosens[0], `task.runners mine {"command":["theirs"]}`) {
		t.Errorf("untrusted: %v, asks for %q", h.counts.Task, h.loosens)
	}
	trusted := hold(project, own, true).counts.Over(own).Task.Runners
	if len(trusted) != 2 || trusted["mine"].Command[0] != "theirs" {
		t.Errorf("trusted: %v", trusted)
	}
	if both := strictest(project, own).Task.Runners; len(both) != 0 {
		t.Errorf("of two folders: %v", both)
	}
	if both := strictest(own, own).Task.Runners; len(both) != 1 {
		t.Errorf("of two folders that agree: %v", both)
	}
}
