package lspbridge

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pillion/workspace/language"
)

// TestTheEditorsDiagnostics are fresh only with the version that the buffer has now.
func TestTheEditorsDiagnostics(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "bad\n"}, func(t *testing.T, r *rig) {
		l := r.lint(func(l *linter, v int32) { l.publish(l.uri, v, found(l.text)) })
		r.settings.EditorDiagnostics = true
		p := r.path("a.py")
		r.store.Open(p, p.URI(), 7, "bad\n")
		answer, meanwhile := "", func() {}
		r.bridge.o.Ask = func(_ context.Context, method string, params any, result *json.RawMessage) error {
			if asked, _ := json.Marshal(params); method != "diagnostics" || string(asked) != fmt.Sprintf(`{"textDocument":{"uri":%q,"version":%d}}`, p.URI(), r.snapshot().Buffer(p).Version) {
				t.Errorf("asked %s %s", method, asked)
			}
			meanwhile()
			*result = json.RawMessage(answer)
			return nil
		}
		check := func(name string, want language.Freshness, status language.ServerStatus, n int) {
			t.Helper()
			got := r.diagnose(p, 5*time.Second)
			if got.Freshness != want || got.Server.Status != status || len(got.Diagnostics) != n {
				t.Errorf("%s: %+v, want %s, %s, %d", name, got, want, status, n)
			}
		}
		for _, c := range []struct {
			name, answer string
			want         language.Freshness
			n            int
		}{
			{"its version", `{"result":` + found("bad\n") + `,"version":7,"server":"theirs"}`, language.Fresh, 1},
			{"its version, clean", `{"result":[],"version":7}`, language.Fresh, 0},
			{"another version", `{"result":[],"version":6}`, language.Stale, 0},
			{"no version", `{"result":` + found("bad\n") + `,"version":null}`, language.Stale, 1},
			{"bare", `[]`, language.Stale, 0},
			{"a report", `{"kind":"full","items":` + found("bad\n") + `}`, language.Stale, 1},
			{"a report of its version", `{"kind":"full","items":[],"version":7}`, language.Fresh, 0},
			{"a report within", `{"result":{"kind":"full","items":` + found("bad\n") + `},"version":7}`, language.Fresh, 1},
			{"as a server pushes them", `{"uri":"` + p.URI() + `","version":7,"diagnostics":` + found("bad\n") + `}`, language.Fresh, 1},
			{"pushed for another version", `{"uri":"` + p.URI() + `","version":6,"diagnostics":[]}`, language.Stale, 0},
		} {
			answer = c.answer
			check(c.name, c.want, language.Editor, c.n)
		}
		answer, meanwhile = `{"result":[],"version":8}`, func() { r.store.Change(p, 8, "worse\n") }
		check("it was changed meanwhile", language.Stale, language.Editor, 0)
		meanwhile = func() {}
		if runs := l.messages(""); len(runs) > 0 {
			t.Errorf("our own server was started: %q", runs)
		}
		for _, none := range []string{`null`, `{"result":null}`, `{"result":{"a":1}}`, `{"kind":"unchanged","resultId":"x","version":7}`} {
			answer = none
			check("no answer, so our own", language.Fresh, language.Running, 0)
		}
		r.settings = Settings{}
		answer = `{"result":[],"version":null}`
		check("we have none", language.Stale, language.Editor, 0)
	})
}
