package lspbridge

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
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
			r.write("b.py", text)
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
			if file == "b.py" && versions["a.py"] > 0 {
				items := found(texts["a.py"])
				if l.text == "gone\n" {
					items = found(texts["a.py"] + "bad since")
				}
				l.publish(folder+"a.py", version(versions["a.py"]), items)
			}
			l.publish(l.uri, version(v), found(l.text))
		})
		r.settings.EditWait = 5 * time.Second
		a, b := r.path("a.py"), r.path("b.py")
		for _, name := range []string{"b.py", "c.py", "a.py"} {
			r.diagnose(r.path(name), 5*time.Second)
		}
		for i, text := range []string{"here\n", "gone\n", "gone\n\n", "there\n", "gone\n"} {
			before := r.having(b)
			r.write("b.py", text)
			got := r.bridge.Caused(t.Context(), before, []workspace.Path{b})[b]
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
			r.write("b.py", text)
			r.diagnose(b, 5*time.Second)
			if got := r.diagnose(a, 5*time.Second); got.Freshness != language.Fresh || len(got.Diagnostics) != i {
				t.Errorf("b is %q, and of a it is said that %+v", text, got)
			}
		}
		l.set(func() { l.holds = pullMethod })
		r.write("b.py", "there\n")
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
		for _, method := range []string{"textDocument/didOpen", "textDocument/didChange"} {
			take := l.answers[method]
			l.answers[method] = func(params json.RawMessage) (any, error) {
				out, err := take(params)
				look()
				return out, err
			}
		}
		l.answers["textDocument/didSave"] = func(json.RawMessage) (any, error) { look(); return nil, nil }
		l.offers = `{"textDocumentSync":{"openClose":true,"change":1,"save":true}}`
		spec := &r.settings.Servers[0]
		spec.Single, spec.Alone, spec.Debounce, spec.Barrier = true, true, debounce, "fake/barrier"
		p := r.path("a.py")
		for i := range 6 {
			r.write("a.py", fmt.Sprintf("bad %d\n", i))
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
