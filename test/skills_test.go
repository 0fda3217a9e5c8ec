package test

import (
	"fmt"
	"path/filepath"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
)

// TestSkills: an agent's load is asked about once for each text, the editor's own is not,
// and the settings deny both.
func TestSkills(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Settings: object{"skills": object{"deny": []string{"de*"}}}})
	skill := func(name, text string) string {
		return fmt.Sprintf("---\nname: %s\ndescription: About %s.\n---\n%s\n", name, name, text)
	}
	e.Write(".claude/skills/review/SKILL.md", skill("review", "Look twice."))
	e.Write(".claude/skills/deploy/SKILL.md", skill("deploy", "Never."))
	for _, own := range []string{".config/pillion/skills/mine", ".agents/skills/review"} {
		put(t, filepath.Join(e.Home, own, "SKILL.md"), skill(filepath.Base(own), "My way."))
	}
	load := func(session, name string, asked bool) string {
		t.Helper()
		done := startAs(e, session, "skill", object{"action": "load", "name": name})
		if asked {
			a := testrig.Wait(t, e.Approvals, "the dialog")
			preview, _ := a.Params["preview"].(object)
			check.Has(t, "the dialog", fmt.Sprint(preview["lines"]), "description: About "+name)
			a.Answer <- object{"decision": "approve", "decisionId": "approve", "digest": a.Text("digest")}
		}
		r := testrig.Wait(t, done, "the result")
		return fmt.Sprint(r.Code(), r.StructuredContent["content"])
	}
	want := "[map[description:About mine. name:mine source:~/.config/pillion/skills] map[description:About review. name:review source:.claude/skills] map[description:About review. name:review shadowed_by:.claude/skills source:~/.agents/skills]]"
	check.Same(t, "listed", fmt.Sprint(callAs(e, "ada", "skill", object{"action": "list"}).StructuredContent["skills"]), want)
	for _, one := range []struct {
		session, name, want string
		asked               bool
	}{
		{"ada", "review", skill("review", "Look twice."), true},
		{"ada", "review", skill("review", "Look twice."), false},
		{"ben", "mine", skill("mine", "My way."), true},
		{"", "mine", skill("mine", "My way."), false},
		{"", "deploy", "POLICY_DENIED<nil>", false},
		{"ada", "deploy", "POLICY_DENIED<nil>", false},
	} {
		if got := load(one.session, one.name, one.asked); got != one.want {
			t.Errorf("%q loads %s: %s", one.session, one.name, got)
		}
	}
	e.Write(".claude/skills/review/SKILL.md", skill("review", "Look away."))
	check.Same(t, "another text", load("ada", "review", true), skill("review", "Look away."))
}
