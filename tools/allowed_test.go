package tools

import (
	"slices"
	"testing"

	"pillion/tools/policy"
	"pillion/tools/session"
)

func TestWhichAgentsAListIsAbout(t *testing.T) {
	for _, test := range []struct {
		set, agent string
		fits       bool
	}{
		{"claude", "Claude Code", true},
		{"claude", "claude-code", true},
		{"Claude Code", "claude-code", true},
		{"claude-code", "Claude", false},
		{"CODEX", "Codex", true},
		{"co", "Codex", false},
		{"gemini", "Gemini CLI", true},
		{"Gemini CLI", "gemini-cli-mcp-client", true},
		{"qwen", "Qwen Code", true},
		{"code", "Claude Code", false},
		{"*", "agent", true},
		{"*", "…", true},
		{"claude", "", false},
	} {
		if got := (Allowed{Agent: test.set}).fits(test.agent); got != test.fits {
			t.Errorf("agents.%s is about %q: %v", test.set, test.agent, got)
		}
	}
}

func TestChoose(t *testing.T) {
	chosen, unknown := Choose([]string{" git_log", "git.log", "no_such", "glob"})
	if !slices.Equal(chosen, []string{"git.log", "glob", "no_such"}) || !slices.Equal(unknown, []string{"no_such"}) {
		t.Errorf("chosen %q, unknown %q", chosen, unknown)
	}
	if chosen, _ := Choose([]string{"core"}); len(chosen) != 10 {
		t.Errorf("the core has %d tools", len(chosen))
	}
	if chosen, _ := Choose([]string{"all"}); len(chosen) != len(Catalogue())+1 { // and what is found
		t.Errorf("all are %d of %d", len(chosen), len(Catalogue()))
	}
	if chosen, _ := Choose([]string{}); len(chosen) != 0 {
		t.Errorf("none are %q", chosen)
	}
}

func TestWhatIsOffIsNotListed(t *testing.T) {
	settings := Settings{Allowed: []Allowed{{Agent: "codex", Tools: []string{"glob", "read_file"}}}}
	r := &Registry{Settings: func() Settings { return settings }}
	names := func(owner *session.Session, allowed ...string) (out []string) {
		for _, d := range r.DefinitionsIn("", owner, allowed) {
			out = append(out, d.Name)
		}
		return out
	}
	codex := session.New("c", session.Agent{Name: "Codex"}, policy.Default)
	if got := names(codex); !slices.Equal(got, []string{"glob", "read_file"}) {
		t.Errorf("for Codex %q", got)
	}
	if got := names(codex, "glob", "edit_file"); !slices.Equal(got, []string{"glob"}) {
		t.Errorf("of two %q", got)
	}
	codex.Offer([]string{"read_file", "edit_file"})
	if got := names(codex); !slices.Equal(got, []string{"read_file"}) {
		t.Errorf("of a limited session %q", got)
	}
	if got := names(session.New("o", session.Agent{Name: "other"}, policy.Default)); len(got) != len(Catalogue()) {
		t.Errorf("for another agent %q", got)
	}
}
