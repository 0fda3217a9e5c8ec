package lspbridge

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// withVersionsAndWithout has a test go on with a server that names versions in its reports, and
// with one that does not.
func withVersionsAndWithout(t *testing.T, files map[string]string, test func(t *testing.T, r *rig, version func(int32) int32)) {
	for name, version := range map[string]func(v int32) int32{"versions": func(v int32) int32 { return v }, "no versions": func(int32) int32 { return 0 }} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, files, func(t *testing.T, r *rig) { test(t, r, version) })
		})
	}
}

// TestWhatIsWrongInAFileDependsOnOthers: a list that was right about a text is not, once
// a file changed that it depends on, and before the server has said so.
func TestWhatIsWrongInAFileDependsOnOthers(t *testing.T) {
	withVersionsAndWithout(t, map[string]string{"a.py": "see b\n", "b.py": "there\n"}, func(t *testing.T, r *rig, version func(int32) int32) {
		texts := map[string]string{}
		r.lint(func(l *linter, v int32) {
			texts[l.uri[len(l.uri)-4:]] = l.text
			items := found(l.text)
			if strings.HasSuffix(l.uri, "a.py") && texts["b.py"] == "gone\n" {
				items = found("bad\n")
			}
			l.publish(l.uri, version(v), items) // of the file that it was told alone
		})
		a, b := r.path("a.py"), r.path("b.py")
		for i, text := range []string{"there\n", "gone\n", "there\n", "gone\n"} {
			r.Write("b.py", text)
			r.diagnose(b, 5*time.Second)
			got := r.diagnose(a, 5*time.Second)
			if got.Freshness != language.Fresh || len(got.Diagnostics) != i%2 {
				t.Errorf("%d: b is %q, and of a it is said that %+v", i, text, got)
			}
		}
	})
}

// TestCausedElsewhere: a change breaks a file that it does not touch, and mends it again.
// Of that file the server says so before it says anything of the one that was changed.
func TestCausedElsewhere(t *testing.T) {
	withVersionsAndWithout(t, map[string]string{"a.py": "see b\nbad before\n", "b.py": "there\n", "c.py": "c\n"}, func(t *testing.T, r *rig, version func(int32) int32) {
		texts, versions := map[string]string{}, map[string]int32{}
		r.lint(func(l *linter, v int32) {
			folder, file := l.uri[:len(l.uri)-4], l.uri[len(l.uri)-4:]
			texts[file], versions[file] = l.text, v
			wrong := func() string {
				if texts["b.py"] == "gone\n" {
					return found(texts["a.py"] + "bad since")
				}
				return found(texts["a.py"])
			}
			if file == "b.py" && versions["a.py"] > 0 {
				l.publish(folder+"a.py", version(versions["a.py"]), wrong())
			}
			if file == "a.py" {
				l.publish(l.uri, version(v), wrong())
				return
			}
			l.publish(l.uri, version(v), found(l.text))
		})
		r.settings.EditWait = 5 * time.Second
		a, b := r.path("a.py"), r.path("b.py")
		for _, name := range []string{"b.py", "c.py", "a.py"} {
			r.diagnose(r.path(name), 5*time.Second)
		}
		for i, text := range []string{"here\n", "gone\n", "gone\n\n", "there\n", "gone\n"} {
			got := r.caused(b, text)
			var want []language.Elsewhere
			if text == "gone\n" {
				want = []language.Elsewhere{{Path: a, New: []language.Diagnostic{{
					Range: document.Range{Start: at(2, 0), End: at(2, 3)}, Severity: language.Error, Source: "fake", Message: "bad since",
				}}}}
			}
			if got.Freshness != language.Fresh || len(got.New) > 0 || !reflect.DeepEqual(got.Elsewhere, want) {
				t.Errorf("%d: %q: %+v, want elsewhere %+v", i, text, got, want)
			}
		}
	})
}

// uses is a server that is asked what is wrong: in a file with "use", that b.py does not
// define that any more. It knows that file's one name, and who uses it.
func uses(r *rig, users ...string) *linter {
	l := r.lint(func(*linter, int32) {})
	l.offers = `{"textDocumentSync":{"openClose":true,"change":1},"diagnosticProvider":{"interFileDependencies":true},"documentSymbolProvider":true,"referencesProvider":true}`
	var mu sync.Mutex // guards texts
	texts := map[string]string{}
	l.after(func() {
		mu.Lock()
		defer mu.Unlock()
		texts[l.uri] = l.text
	})
	root := r.path(".").URI()
	l.answers["textDocument/documentSymbol"] = func(json.RawMessage) (any, error) {
		at := document.Range{Start: at(0, 4), End: at(0, 9)}
		return []symbol{{Name: "there", Kind: 12, Range: at, Selection: at}}, nil
	}
	l.answers["textDocument/references"] = func(json.RawMessage) (any, error) {
		var out []location
		for _, name := range users {
			out = append(out, location{URI: root + "/" + name})
		}
		return out, nil
	}
	l.answers[pullMethod] = func(params json.RawMessage) (any, error) {
		var of struct {
			TextDocument documentID `json:"textDocument"`
		}
		if err := json.Unmarshal(params, &of); err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		items := "[]"
		if text, open := texts[root+"/b.py"]; open && strings.HasPrefix(texts[of.TextDocument.URI], "use ") && !strings.Contains(text, "there") {
			items = found("bad use")
		}
		return json.RawMessage(`{"kind":"full","items":` + items + `}`), nil
	}
	return l
}

// TestCausedInFilesThatNobodyOpened: who uses a name whose line is changed is looked at
// before and after.
func TestCausedInFilesThatNobodyOpened(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "use there\n", "b.py": "def there\nbody\n", "c.py": "c\n"}, func(t *testing.T, r *rig) {
		l := uses(r, "a.py", "b.py")
		r.settings.EditWait = 5 * time.Second
		b := r.path("b.py")
		r.diagnose(r.path("c.py"), 5*time.Second) // the server runs
		if got := r.caused(b, "def there\nanother body\n"); !got.Compared || len(got.Elsewhere) > 0 || len(l.messages("textDocument/references")) > 0 {
			t.Errorf("a body: %+v", got)
		}
		got := r.caused(b, "def gone\nanother body\n")
		if got.Freshness != language.Fresh || len(got.Elsewhere) != 1 || got.Elsewhere[0].Path != r.path("a.py") || got.Elsewhere[0].New[0].Message != "bad use" {
			t.Errorf("a name: %+v", got)
		}
		if got := r.caused(b, "def gone\n\n"); len(got.Elsewhere) > 0 {
			t.Errorf("told twice: %+v", got)
		}
	})
}

// TestCausedIsToldLate: what is not known in time comes later, and once.
func TestCausedIsToldLate(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "use there\n", "b.py": "def there\n"}, func(t *testing.T, r *rig) {
		l := uses(r, "a.py")
		r.settings.EditWait = time.Second
		a, b := r.path("a.py"), r.path("b.py")
		r.diagnose(a, 5*time.Second)
		r.diagnose(b, 5*time.Second)
		slow, answer := make(chan bool), l.answers[pullMethod]
		l.set(func() {
			l.answers[pullMethod] = func(params json.RawMessage) (any, error) {
				if strings.Contains(l.text, "gone") {
					<-slow
				}
				return answer(params)
			}
		})
		before := r.having(b)
		r.Write("b.py", "def gone\n")
		late := make(chan map[workspace.Path]language.Caused)
		got := r.bridge.Caused(t.Context(), before, []workspace.Path{b}, func(found map[workspace.Path]language.Caused) { late <- found })[b]
		if got.Freshness == language.Fresh || len(got.Elsewhere) > 0 {
			t.Errorf("at once: %+v", got)
		}
		close(slow)
		found := <-late
		if len(found) != 1 || len(found[b].Elsewhere) != 1 || found[b].Elsewhere[0].Path != a {
			t.Errorf("late: %+v", found)
		}
	})
}

// TestAnOldAnswerIsNoProof: a server that was asked and does not answer now may have
// answered before, about the same text and another workspace.
func TestAnOldAnswerIsNoProof(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "good\n"}, func(t *testing.T, r *rig) {
		l := r.lint(func(*linter, int32) {})
		l.offers = `{"diagnosticProvider":{"interFileDependencies":true}}`
		n := 0
		l.answers["textDocument/diagnostic"] = func(json.RawMessage) (any, error) {
			if n++; n > 1 {
				return nil, fault.New(fault.ExecutionFailed, "not today")
			}
			return json.RawMessage(`{"kind":"full","items":[]}`), nil
		}
		if got := r.diagnose(r.path("a.py"), 5*time.Second); got.Freshness != language.Fresh {
			t.Errorf("%+v", got)
		}
		if got := r.diagnose(r.path("a.py"), 300*time.Millisecond); got.Freshness != language.Stale {
			t.Errorf("%+v", got)
		}
	})
}

// TestAnOldReportIsNoProof: neither is what such a server has sent by itself, before
// another file changed. It is told the text again, and then it is.
func TestAnOldReportIsNoProof(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "see b\n", "b.py": "there\n"}, func(t *testing.T, r *rig) {
		broken := false
		l := r.lint(func(l *linter, v int32) {
			broken = broken || l.text == "gone\n"
			items := found(l.text)
			if broken && strings.HasSuffix(l.uri, "a.py") {
				items = found("bad\n")
			}
			l.publish(l.uri, v, items)
		})
		l.offers = `{"textDocumentSync":{"openClose":true,"change":1},"diagnosticProvider":{"interFileDependencies":true}}`
		l.answers[pullMethod] = func(json.RawMessage) (any, error) { return nil, fault.New(fault.ExecutionFailed, "not of this file") }
		a, b := r.path("a.py"), r.path("b.py")
		for i, text := range []string{"there\n", "gone\n"} {
			r.Write("b.py", text)
			r.diagnose(b, 5*time.Second)
			if got := r.diagnose(a, 5*time.Second); got.Freshness != language.Fresh || len(got.Diagnostics) != i {
				t.Errorf("b is %q, and of a it is said that %+v", text, got)
			}
		}
		l.set(func() { l.holds = pullMethod })
		r.Write("b.py", "there\n")
		r.diagnose(b, 300*time.Millisecond)
		if got := r.diagnose(a, 300*time.Millisecond); got.Freshness != language.Stale {
			t.Errorf("it does not answer in time: %+v", got)
		}
	})
}

// TestSavedEdits: a server that puts off its look at a text is told of the text and of
// its being saved, and looks once. It need not be told again, however many come.
func TestSavedEdits(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "bad 0\n"}, func(t *testing.T, r *rig) {
		var timer *time.Timer
		l := r.lint(func(*linter, int32) {})
		const debounce = 500 * time.Millisecond
		look := func() {
			if timer != nil {
				timer.Stop()
			}
			uri, text := l.uri, l.text
			timer = time.AfterFunc(debounce, func() { l.publish(uri, 0, found(text)) })
		}
		l.after(look)
		l.answers["textDocument/didSave"] = func(json.RawMessage) (any, error) { look(); return nil, nil }
		l.offers = `{"textDocumentSync":{"openClose":true,"change":1,"save":true}}`
		spec := &r.settings.Servers[0]
		spec.Single, spec.Alone, spec.Debounce, spec.Barrier = true, true, debounce, "fake/barrier"
		p := r.path("a.py")
		for i := range 6 {
			r.Write("a.py", fmt.Sprintf("bad %d\n", i))
			got := r.diagnose(p, 8*time.Second)
			if got.Freshness != language.Fresh || len(got.Diagnostics) != 1 || got.Diagnostics[0].Message != fmt.Sprintf("bad %d", i) {
				t.Errorf("%d: %+v", i, got)
			}
		}
		changes, saves := len(l.messages("textDocument/didChange")), len(l.messages("textDocument/didSave"))
		if changes != 5 || saves != 5 {
			t.Errorf("told of %d changes and %d saves, want 5 of each", changes, saves)
		}
	})
}

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
