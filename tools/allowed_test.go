package tools

import (
	"slices"
	"testing"
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
