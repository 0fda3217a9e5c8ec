package lspbridge

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
	"pillion/internal/wire"
	"pillion/workspace"
	"pillion/workspace/language"
)

// linter is a fake that is told texts. A script says what it does about each.
type linter struct {
	*fake
	t    testing.TB
	uri  string
	text string
	n    int // how many texts it was told
}

// lint has the rig's server do script for each text, in its order.
func (r *rig) lint(script func(l *linter, version int32)) *linter {
	l := &linter{fake: r.serve(`{"textDocumentSync":{"openClose":true,"change":1}}`), t: r.TB}
	take := func(params json.RawMessage) (any, error) {
		var p struct {
			TextDocument struct {
				URI     string `json:"uri"`
				Version int32  `json:"version"`
				Text    string `json:"text"`
			} `json:"textDocument"`
			ContentChanges []struct {
				Text string `json:"text"`
			} `json:"contentChanges"`
		}
		if err := json.Unmarshal(params, &p); err != nil {
			r.Error(err)
		}
		l.n++
		l.uri, l.text = p.TextDocument.URI, p.TextDocument.Text
		if len(p.ContentChanges) > 0 {
			l.text = p.ContentChanges[0].Text
		}
		script(l, p.TextDocument.Version)
		return nil, nil
	}
	l.answers["textDocument/didOpen"], l.answers["textDocument/didChange"] = take, take
	return l
}

// after has the linter do something more after each text that it is told.
func (l *linter) after(do func()) {
	for _, method := range []string{"textDocument/didOpen", "textDocument/didChange"} {
		take := l.answers[method]
		l.answers[method] = func(params json.RawMessage) (any, error) {
			out, err := take(params)
			do()
			return out, err
		}
	}
}

// found has each line with "bad" in it be an error.
func found(text string) string {
	list := []string{}
	for i, line := range strings.Split(text, "\n") {
		if at := strings.Index(line, "bad"); at >= 0 {
			list = append(list, fmt.Sprintf(`{"range":{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}},"severity":1,"source":"fake","message":%q}`,
				i, at, i, at+3, strings.TrimSpace(line)))
		}
	}
	return "[" + strings.Join(list, ",") + "]"
}

// publish sends a report; version 0 is none.
func (l *linter) publish(uri string, version int32, items string) {
	conn := l.connection()
	params := fmt.Sprintf(`{"uri":%q,"version":%d,"diagnostics":%s}`, uri, version, items)
	if version == 0 {
		params = fmt.Sprintf(`{"uri":%q,"diagnostics":%s}`, uri, items)
	}
	_ = conn.Notify("textDocument/publishDiagnostics", json.RawMessage(params))
}

// diagnose asks, and waits for less long than people would.
func (r *rig) diagnose(p workspace.Path, within time.Duration) language.Report {
	r.Helper()
	<-time.After(time.Millisecond) // after what was reported before, also in a bubble
	ctx, cancel := context.WithTimeout(r.Context(), within)
	defer cancel()
	report, err := r.bridge.Diagnostics(ctx, r.snapshot(), p)
	if err != nil && fault.CodeOf(err) != fault.LSPUnavailable {
		r.Error(err)
	}
	return report
}

// TestSilenceIsNotClean: each way in which a server can say nothing, or nothing that
// counts. After each of them the file, which has a fault, must not be called fresh.
func TestSilenceIsNotClean(t *testing.T) {
	for _, c := range []struct {
		name   string
		script func(l *linter, version int32)
		want   language.Freshness
	}{
		{"it never reports", func(*linter, int32) {}, language.TimedOut},
		{"it hangs", func(l *linter, _ int32) { <-l.t.Context().Done() }, language.TimedOut},
		{"an older version", func(l *linter, v int32) { l.publish(l.uri, v+100, "[]"); l.publish(l.uri, v-1, "[]") }, language.Stale},
		{"a version that was never sent", func(l *linter, v int32) { l.publish(l.uri, v+100, "[]") }, language.Stale},
		{"of another file", func(l *linter, v int32) { l.publish(strings.Replace(l.uri, "a.py", "b.py", 1), v, "[]") }, language.TimedOut},
		{"of a file of another name", func(l *linter, v int32) { l.publish(strings.Replace(l.uri, "a.py", "A.py", 1), v, "[]") }, language.TimedOut},
		{"of no file", func(l *linter, v int32) { l.publish("untitled:a.py", v, "[]") }, language.TimedOut},
		{"it named versions, and then none", func(l *linter, v int32) {
			l.publish(strings.Replace(l.uri, "a.py", "b.py", 1), v, "[]")
			l.publish(l.uri, 0, "[]")
		}, language.Stale},
		{"null for a list", func(l *linter, v int32) { l.publish(l.uri, v, "null") }, language.TimedOut},
		{"no list", func(l *linter, v int32) { l.publish(l.uri, v, `{"a":1}`) }, language.TimedOut},
		{"at work, as it says", func(l *linter, v int32) {
			_ = l.conn.Notify("$/progress", json.RawMessage(`{"token":"t","value":{"kind":"begin","title":"Loading"}}`))
			l.publish(l.uri, v, "[]")
		}, language.Stale},
		{"it ends", func(l *linter, _ int32) { l.kill() }, language.Interrupted},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, map[string]string{"a.py": "bad\n", "b.py": "bad\n"}, func(t *testing.T, r *rig) {
				r.lint(c.script)
				report := r.diagnose(r.path("a.py"), 700*time.Millisecond)
				if report.Freshness != c.want {
					t.Errorf("%s %+v, want %s", report.Freshness, report.Diagnostics, c.want)
				}
			})
		})
	}
}

// TestNobodyToSayAnything likewise, without a server that runs.
func TestNobodyToSayAnything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		check := func(r *rig, want language.Freshness, status language.ServerStatus) {
			r.Helper()
			if got := r.diagnose(r.path("a.py"), 300*time.Millisecond); got.Freshness != want || got.Server.Status != status {
				r.Errorf("%s, server %s, want %s, %s", got.Freshness, got.Server.Status, want, status)
			}
		}
		files := map[string]string{"a.py": "bad\n"}
		r := newRig(t, files)
		check(r, language.NoServer, language.NotInstalled)

		r = newRig(t, files, Server{Name: "gone", Command: []string{"there-is-no-such-server"}, Languages: []string{"python"}})
		check(r, language.NoServer, language.NotInstalled)

		r = newRig(t, files)
		f := r.serve(`{}`)
		f.holds = "initialize"
		check(r, language.TimedOut, language.Starting)

		r = newRig(t, files)
		f = r.serve(`{}`)
		f.answers["initialize"] = func(json.RawMessage) (any, error) { f.kill(); return nil, nil }
		got := r.diagnose(r.path("a.py"), 300*time.Millisecond)
		if got.Freshness != language.Interrupted || got.Server.Status != language.Restarting {
			t.Errorf("%+v", got)
		}
		r.until("it has failed", func() bool { return r.diagnose(r.path("a.py"), 100*time.Millisecond).Server.Status == language.Failed })
		check(r, language.NoServer, language.Failed)
	})
}

// TestTheLinterIsMissing: a server that runs without it says that all is well.
func TestTheLinterIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		there := filepath.Join(t.TempDir(), "linter")
		machine.Must(t, os.WriteFile(there, nil, 0o755))
		elsewhere := map[string]string{"PATH": filepath.Dir(there)}
		for _, c := range []struct {
			linter, set string
			env         map[string]string
			want        language.Freshness
		}{
			{"there-is-no-such-linter", `{}`, nil, language.LinterMissing},
			{"there-is-no-such-linter", `{"fake":{"linter":"` + there + `"}}`, nil, language.Fresh},
			{"sh", `{"fake":{"linter":""}}`, nil, language.LinterMissing},
			{"sh", `{"fake":{"linter":"/no/such"}}`, nil, language.LinterMissing},
			{"sh", `{}`, nil, language.Fresh},
			{"sh", `{}`, elsewhere, language.LinterMissing},
			{"linter", `{}`, elsewhere, language.Fresh},
		} {
			r := newRig(t, map[string]string{"a.py": "bad\n"})
			r.lint(func(l *linter, v int32) { l.publish(l.uri, v, "[]") })
			fake := &r.settings.Servers[0]
			fake.Linter, fake.LinterSetting, fake.LinterInstall = c.linter, "fake.linter", "install it"
			fake.Settings, fake.Env = json.RawMessage(c.set), c.env
			got := r.diagnose(r.path("a.py"), 5*time.Second)
			if got.Freshness != c.want || (got.Freshness == language.LinterMissing) != strings.HasSuffix(got.Hint, "which is not installed: install it") {
				t.Errorf("%s, set to %s, PATH %v: %+v, want %s", c.linter, c.set, c.env, got, c.want)
			}
		}
		r := newRig(t, map[string]string{"a.py": "bad\n"})
		r.settings.Servers = []Server{{Name: "fake", Command: []string{"not-there-at-all"}, Languages: []string{"python"}, Linter: "there-is-no-such-linter"}}
		got, err := r.bridge.Diagnostics(t.Context(), r.snapshot(), r.path("a.py"))
		if fault.CodeOf(err) != fault.LSPUnavailable || got.Freshness != language.NoServer || got.Server.Status != language.NotInstalled {
			t.Errorf("neither is there: %+v, %v", got, err)
		}
	})
}

// TestFreshAfterEdits: with versions and without, and by whatever name it calls the file.
func TestFreshAfterEdits(t *testing.T) {
	for name, script := range map[string]func(l *linter, version int32){
		"versions":    func(l *linter, v int32) { l.publish(l.uri, v, found(l.text)) },
		"no versions": func(l *linter, _ int32) { l.publish(l.uri, 0, found(l.text)) },
		"its empty list is sent before it has looked": func(l *linter, v int32) {
			l.publish(l.uri, v, "[]")
			l.publish(l.uri, v, found(l.text))
		},
		"escaped more than need be": func(l *linter, v int32) { l.publish(strings.Replace(l.uri, "a.py", "%61%2Epy", 1), v, found(l.text)) },
		"through a linked folder":   func(l *linter, v int32) { l.publish(strings.Replace(l.uri, "a.py", "link/a.py", 1), v, found(l.text)) },
		"it loses the first": func(l *linter, v int32) {
			if l.n > 1 {
				l.publish(l.uri, v, found(l.text))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, map[string]string{"a.py": "bad 0\n"}, func(t *testing.T, r *rig) {
				r.Must(os.Symlink(".", r.Abs("link")))
				r.lint(script)
				p := r.path("a.py")
				r.store.Open(p, p.URI(), 1, "bad 0\n")
				for i := range int32(5) {
					r.store.Change(p, i+2, fmt.Sprintf("good\nbad %d\n", i))
					got := r.diagnose(p, 5*time.Second)
					if got.Freshness != language.Fresh || len(got.Diagnostics) != 1 || got.Diagnostics[0].Message != fmt.Sprintf("bad %d", i) {
						t.Errorf("edit %d: %s %+v", i, got.Freshness, got.Diagnostics)
					}
				}
				r.store.Change(p, 9, "good\n")
				if got := r.diagnose(p, 5*time.Second); got.Freshness != language.Fresh || len(got.Diagnostics) != 0 {
					t.Errorf("%s %+v", got.Freshness, got.Diagnostics)
				}
			})
		})
	}
}

// TestALateReportOfAnEarlierText: from a server without versions it cannot be told from
// one of this text, so that it is told the text again.
func TestALateReportOfAnEarlierText(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "bad 0\n"}, func(t *testing.T, r *rig) {
		earlier := ""
		l := r.lint(func(l *linter, _ int32) {
			switch l.n {
			case 1: // it is slow
			case 2:
				l.publish(l.uri, 0, found(earlier)) // and now done with the first
			default:
				l.publish(l.uri, 0, found(l.text))
			}
			earlier = l.text
		})
		r.settings.Servers[0].Single = true
		p := r.path("a.py")
		r.store.Open(p, p.URI(), 1, "good\n")
		warm(r, p)
		r.until("it is told", func() bool { return len(l.messages("textDocument/didOpen")) == 1 })
		r.store.Change(p, 2, "bad 2\n")
		got := r.diagnose(p, 5*time.Second)
		if got.Freshness != language.Fresh || len(got.Diagnostics) != 1 || got.Version != 4 {
			t.Errorf("%+v", got)
		}
	})
}

// TestTheTextMovedOn while it was waited for: what comes then is of another text.
func TestTheTextMovedOn(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "bad 0\n"}, func(t *testing.T, r *rig) {
		told := make(chan bool, 9)
		r.lint(func(l *linter, v int32) {
			told <- true
			if l.n > 1 {
				l.publish(l.uri, v, "[]")
			}
		})
		p := r.path("a.py")
		r.store.Open(p, p.URI(), 1, "bad\n")
		done := make(chan language.Report)
		go func() { done <- r.diagnose(p, 5*time.Second) }()
		<-told
		r.store.Change(p, 2, "good\n")
		warm(r, p)
		if got := <-done; got.Freshness != language.Stale {
			t.Errorf("%+v", got)
		}
	})
}

// TestPulledDiagnostics: a server that can be asked is.
func TestPulledDiagnostics(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "bad\n"}, func(t *testing.T, r *rig) {
		l := r.lint(func(l *linter, v int32) {})
		l.offers = `{"diagnosticProvider":{"identifier":"mine","interFileDependencies":false}}`
		n := 0
		l.answers[pullMethod] = func(json.RawMessage) (any, error) {
			n++
			if n == 1 {
				return nil, fault.New(fault.ExecutionFailed, "not today")
			}
			if n == 3 {
				return json.RawMessage(`{"kind":"unchanged","resultId":"r"}`), nil
			}
			return json.RawMessage(`{"kind":"full","resultId":"r","items":` + found(l.text) + `}`), nil
		}
		p := r.path("a.py")
		if got := r.diagnose(p, 300*time.Millisecond); got.Freshness != language.TimedOut {
			t.Errorf("an error: %+v", got)
		}
		for range 2 {
			if got := r.diagnose(p, 5*time.Second); got.Freshness != language.Fresh || len(got.Diagnostics) != 1 {
				t.Errorf("%+v", got)
			}
		}
		asked := l.messages(pullMethod)
		if last := asked[len(asked)-1]; !strings.Contains(last, `"previousResultId":"r"`) || !strings.Contains(last, `"identifier":"mine"`) {
			t.Errorf("asked %s", last)
		}
	})
}

// TestTheTextMovedOnWhileItWasPulled, with an answer about the text before, or none.
func TestTheTextMovedOnWhileItWasPulled(t *testing.T) {
	for _, refusal := range []error{nil, wire.Errorf(wire.CodeContentModified, "changed")} {
		inBubble(t, map[string]string{"a.py": "bad\n"}, func(t *testing.T, r *rig) {
			l := r.lint(func(*linter, int32) {})
			l.offers = `{"diagnosticProvider":{}}`
			p := r.path("a.py")
			r.store.Open(p, p.URI(), 1, "bad\n")
			l.answers[pullMethod] = func(json.RawMessage) (any, error) {
				if r.snapshot().Buffer(p).Version == 1 {
					r.store.Change(p, 2, "good\n")
					warm(r, p)
				}
				return json.RawMessage(`{"kind":"full","items":[]}`), refusal
			}
			if got := r.diagnose(p, 5*time.Second); got.Freshness != language.Stale {
				t.Errorf("%v: %+v", refusal, got)
			}
		})
	}
}

// TestTypeScriptIsAsked what its server does not publish in time: tsserver itself, in
// three requests, counts from 1.
func TestTypeScriptIsAsked(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "let a: nothing\n"}, func(t *testing.T, r *rig) {
		l := r.lint(func(*linter, int32) {})
		spec := &r.settings.Servers[0]
		spec.TypeScript, spec.Options = true, json.RawMessage(`{"tsserver":{}}`)
		semantic := `{"success":true,"body":[{"start":{"line":1,"offset":8},"end":{"line":1,"offset":15},"text":"Cannot find name 'nothing'.","code":2304,"category":"error","source":"eslint"},{"text":"odd","category":"message"}]}`
		l.answers["workspace/executeCommand"] = func(params json.RawMessage) (any, error) {
			switch {
			case strings.Contains(string(params), "semantic") && semantic != "":
				return json.RawMessage(semantic), nil
			case strings.Contains(string(params), "semantic"):
				return nil, fault.New(fault.ExecutionFailed, "not today")
			case strings.Contains(string(params), "suggestion"):
				return json.RawMessage(`{"success":true,"body":[{"start":{"line":1,"offset":5},"end":{"line":1,"offset":6},"text":"never used","category":"suggestion"},{"text":"careful","category":"warning"}]}`), nil
			}
			return json.RawMessage(`{"success":true,"body":[]}`), nil
		}
		got := r.diagnose(r.path("a.py"), 5*time.Second)
		want := []language.Diagnostic{
			{Range: span0(7, 14), Severity: language.Error, Code: json.Number("2304"), Source: "eslint", Message: "Cannot find name 'nothing'."},
			{Severity: language.Information, Source: "typescript", Message: "odd"},
			{Range: span0(4, 5), Severity: language.Hint, Source: "typescript", Message: "never used"},
			{Severity: language.Warning, Source: "typescript", Message: "careful"},
		}
		if got.Freshness != language.Fresh || !slices.Equal(got.Diagnostics, want) {
			t.Errorf("%+v\nwant %+v", got, want)
		}
		if asked := l.messages("initialize"); !strings.Contains(asked[0], `"initializationOptions":{"tsserver":{}}`) {
			t.Errorf("asked %s", asked)
		}
		for _, semantic = range []string{`{"success":false,"message":"no project"}`, ""} {
			if got := r.diagnose(r.path("a.py"), 5*time.Second); got.Freshness != language.Stale {
				t.Errorf("no answer: %+v", got)
			}
		}
	})
}

// TestAServerIsShownAFault, because it says that all is well when it cannot look.
func TestAServerIsShownAFault(t *testing.T) {
	for says, want := range map[string]language.Freshness{
		found("bad"): language.Fresh,
		"[]":         language.LinterMissing,
		"":           language.TimedOut, // nothing
	} {
		inBubble(t, map[string]string{"a.py": "good\n"}, func(t *testing.T, r *rig) {
			r.lint(func(l *linter, v int32) {
				switch {
				case !strings.HasSuffix(l.uri, "/.pillion-linter-check"):
					l.publish(l.uri, v, "[]")
				case says != "":
					l.publish(l.uri, v, says)
				}
			})
			spec := &r.settings.Servers[0]
			spec.Faulty, spec.LinterInstall = "bad", "install one"
			got := r.diagnose(r.path("a.py"), 5*time.Second)
			if got.Freshness != want || (want == language.LinterMissing) != strings.Contains(got.Hint, "it finds nothing wrong: install one") {
				t.Errorf("it says %q of the fault: %+v, want %s", says, got, want)
			}
		})
	}
}

// TestCaused: what a change did, and that nothing is said without proof.
func TestCaused(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "one\nbad a\nbad b\n", "b.py": "x\n"}, func(t *testing.T, r *rig) {
		r.lint(func(l *linter, v int32) { l.publish(l.uri, v, found(l.text)) })
		r.settings.EditWait = 5 * time.Second
		p := r.path("a.py")
		if out := r.bridge.Caused(t.Context(), r.having(p), []workspace.Path{p, r.path("b.py")}, nil); len(out) != 0 {
			t.Errorf("no server runs: %+v", out)
		}
		r.diagnose(p, 5*time.Second)
		got := r.caused(p, "new\none\nbad b\nbad c\n")
		if got.Freshness != language.Fresh || !got.Compared || got.Remaining != 1 || len(got.New) != 1 || got.New[0].Message != "bad c" ||
			len(got.Fixed) != 1 || got.Fixed[0].Message != "bad a" {
			t.Errorf("%+v", got)
		}
		// What was wrong before is of a text that the server was never told, and is told now.
		r.Write("a.py", "bad x\nbad y\n")
		got = r.caused(p, "bad x\nbad z\n")
		if !got.Compared || got.Remaining != 1 || len(got.New) != 1 || got.New[0].Message != "bad z" || len(got.Fixed) != 1 || got.Fixed[0].Message != "bad y" {
			t.Errorf("not told: %+v", got)
		}
		// Nobody knows what it was.
		before := r.snapshot()
		r.Write("a.py", "bad w\n")
		got = r.bridge.Caused(t.Context(), before, []workspace.Path{p}, nil)[p]
		if got.Freshness != language.Fresh || got.Compared || got.Remaining != 1 || len(got.New)+len(got.Fixed) > 0 {
			t.Errorf("not read: %+v", got)
		}
		// A file that was not there had no faults.
		if got := r.caused(r.path("c.py"), "bad\n"); !got.Compared || len(got.New) != 1 {
			t.Errorf("a new file: %+v", got)
		}
	})
}

// TestCausedIsNotKnownInTime, and is known later.
func TestCausedIsNotKnownInTime(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "bad a\n"}, func(t *testing.T, r *rig) {
		goOn := make(chan bool)
		r.lint(func(l *linter, v int32) {
			if l.n == 2 {
				go func(uri, text string) {
					<-goOn
					l.publish(uri, v, found(text))
				}(l.uri, l.text)
				return
			}
			l.publish(l.uri, v, found(l.text))
		})
		r.settings.EditWait = 50 * time.Millisecond
		p := r.path("a.py")
		r.diagnose(p, 5*time.Second)
		before := r.having(p)
		r.Write("a.py", "good\n")
		got := r.bridge.Caused(t.Context(), before, []workspace.Path{p}, nil)[p]
		if got.Freshness != language.TimedOut || len(got.New)+len(got.Fixed) > 0 || got.Server.Status != language.Running {
			t.Errorf("%+v", got)
		}
		r.settings.EditWait = 0
		if got := r.bridge.Caused(t.Context(), before, []workspace.Path{p}, nil); len(got) > 0 {
			t.Errorf("nobody wants to know: %+v", got)
		}
		close(goOn)
		if got := r.diagnose(p, 5*time.Second); got.Freshness != language.Fresh || len(got.Diagnostics) != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// TestCausedIsOvertaken: another change comes before it is known what the first one did.
func TestCausedIsOvertaken(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "bad a\n"}, func(t *testing.T, r *rig) {
		told := make(chan bool, 9)
		r.lint(func(l *linter, v int32) {
			if l.n != 2 {
				l.publish(l.uri, v, found(l.text))
			}
			told <- true
		})
		r.settings.EditWait = 20 * time.Second
		p := r.path("a.py")
		r.diagnose(p, 5*time.Second)
		<-told
		first := make(chan language.Caused)
		go func() { first <- r.caused(p, "good\n") }()
		<-told
		r.Write("a.py", "better\n")
		r.diagnose(p, 5*time.Second)
		if got := <-first; got.Freshness != language.Stale || len(got.New)+len(got.Fixed) > 0 {
			t.Errorf("%+v", got)
		}
	})
}
