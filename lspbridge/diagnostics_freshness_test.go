package lspbridge

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// TestFreshness is the table of the rule. Times are milliseconds after the text that is
// asked about was sent.
func TestFreshness(t *testing.T) {
	start := time.Unix(1e6, 0)
	ms := func(n int) time.Time { return start.Add(time.Duration(n) * time.Millisecond) }
	v := func(n int32, at int, items string) published { return published{&n, ms(at), items} }
	plain := func(at int, items string) published { return published{nil, ms(at), items} }
	const a, b = `["a"]`, `["b"]`
	text := evidence{sentText: sentText{since: 3, sent: 3, changed: ms(0), told: ms(0)}, notified: ms(0), single: true}
	with := func(change func(*evidence)) evidence { e := text; change(&e); return e }
	reports := func(e evidence, came ...published) evidence { e.came = came; return e }
	versions := with(func(e *evidence) { e.versions = true })
	debounced := with(func(e *evidence) { e.debounce = 500 * time.Millisecond })
	after := func(e evidence, old int) evidence { e.old = old; return e }
	several := with(func(e *evidence) { e.versions, e.single = true, false })
	resent := with(func(e *evidence) { e.versions, e.since, e.sent, e.resent = true, 3, 5, 2 })

	for _, c := range []struct {
		name   string
		e      evidence
		at     int // when it is asked
		want   string
		resend bool
		again  int // -1: none
	}{
		{"nothing came", text, 100, "", false, 2000},
		{"nothing came for long", text, 2000, "", true, -1},
		{"nothing came, and it was told again", resent, 9000, "", false, -1},

		{"its version", reports(versions, v(3, 100, a)), 100, a, false, -1},
		{"an empty list of its version", reports(versions, v(3, 100, "[]")), 100, "[]", false, -1},
		{"an older version", reports(versions, v(2, 100, "[]")), 100, "", false, 2000},
		{"a version that was never sent", reports(versions, v(4, 100, "[]")), 100, "", false, 2000},
		{"version 0, as there are servers that do for none", reports(versions, v(0, 100, "[]")), 100, "", false, 2000},
		{"no version any more", reports(versions, plain(100, "[]")), 100, "", false, 2000},
		{"its version, then an older one late", reports(versions, v(3, 100, a), v(2, 110, "[]")), 110, a, false, -1},
		{"the last of its version", reports(versions, v(3, 100, a), v(3, 110, b)), 110, b, false, -1},
		{"any of the versions with this text", reports(resent, v(4, 100, a)), 100, a, false, -1},

		{"no versions, after a pause", reports(text, plain(100, "[]")), 100, "[]", false, -1},
		{"no versions, one of an earlier text to come", reports(after(text, 1), plain(100, "[]")), 100, "", true, -1},
		{"no versions, both differ", reports(after(text, 1), plain(100, a), plain(200, b)), 200, "", true, -1},
		{"no versions, both say the same", reports(after(text, 1), plain(100, a), plain(200, a)), 200, a, false, -1},
		{"no versions, the third agrees with the first", reports(after(text, 1), plain(100, a), plain(200, b), plain(300, a)), 300, a, false, -1},
		{"no versions, many to come: it works on two at most", reports(after(text, 9), plain(100, a), plain(200, a)), 200, a, false, -1},
		{"debounced, two to come", reports(after(debounced, 2), plain(600, a), plain(700, a)), 700, "", true, -1},
		{"debounced, two to come, three say the same", reports(after(debounced, 2), plain(600, a), plain(700, a), plain(800, a)), 800, a, false, -1},
		{"told again, and not answered yet", with(func(e *evidence) {
			*e = reports(after(text, 1), plain(100, a))
			e.resent, e.told = 1, ms(110)
		}), 200, "", false, 2110},
		{"debounced, silent", debounced, 600, "", false, 2500},

		{"several: not quiet yet", reports(several, v(3, 100, "[]")), 150, "", false, 350},
		{"several: quiet", reports(several, v(3, 100, "[]")), 350, "[]", false, -1},
		{"several: told of another file meanwhile", with(func(e *evidence) {
			*e = reports(several, v(3, 100, "[]"))
			e.notified = ms(300)
		}), 350, "", false, 550},
		{"several: at work, as it says", with(func(e *evidence) { *e = reports(several, v(3, 100, "[]")); e.busy = true }), 9000, "", false, -1},
		{"single: at work on something else", with(func(e *evidence) { *e = reports(versions, v(3, 100, "[]")); e.busy = true }), 100, "[]", false, -1},

		{"asked and answered", with(func(e *evidence) { e.pull = &published{items: a} }), 1, a, false, -1},
		{"answered, whatever it sends besides", with(func(e *evidence) { *e = reports(versions, v(2, 100, "[]")); e.pull = &published{items: a} }), 100, a, false, -1},
	} {
		got := freshness(c.e, ms(c.at))
		items, again := "", -1
		if got.proof != nil {
			items = got.proof.items
		}
		if !got.again.IsZero() {
			again = int(got.again.Sub(start) / time.Millisecond)
		}
		if items != c.want || got.resend != c.resend || again != c.again {
			t.Errorf("%s: proof %q resend %t again at %d, want %q %t %d", c.name, items, got.resend, again, c.want, c.resend, c.again)
		}
	}
}

// TestReportsThatAreStillToCome of earlier texts, from a server that names no versions
// and waits for 500 ms: a story is what happens to one document, and old is how many
// there may be after it.
func TestReportsThatAreStillToCome(t *testing.T) {
	const ms = time.Millisecond
	var p workspace.Path
	type story struct {
		*reports
		texts uint64
		last  time.Time // when a text was sent
	}
	edit := func(s *story) {
		s.texts++
		s.last, _ = s.sent(p, int32(s.texts), s.texts)
	}
	save := func(s *story) { s.last, _ = s.expect(p) }
	read := func(s *story) { s.passed(p, s.last, time.Now()) }
	report := func(s *story) { s.publish(p, nil, "[]") }
	wait := func(d time.Duration) func(*story) { return func(*story) { <-time.After(d) } }
	for _, c := range []struct {
		name  string
		steps []func(*story)
		old   int
	}{
		{"the first", []func(*story){edit}, 0},
		{"one after a pause", []func(*story){edit, wait(600 * ms), report, edit}, 0},
		{"one soon after another", []func(*story){edit, wait(100 * ms), edit}, 1},
		{"which it read in time", []func(*story){edit, wait(100 * ms), edit, wait(10 * ms), read}, 0},
		{"which it read late", []func(*story){edit, wait(100 * ms), edit, wait(450 * ms), read}, 1},
		{"many", []func(*story){edit, wait(ms), edit, wait(ms), edit, wait(ms), read}, 0},
		{"the first is looked at", []func(*story){edit, wait(550 * ms), edit, read}, 1},
		{"and reported before it can have looked at the second", []func(*story){edit, wait(550 * ms), edit, read, wait(50 * ms), report}, 0},
		{"or later", []func(*story){edit, wait(550 * ms), edit, read, wait(550 * ms), report}, 1},
		{"closed and opened again", []func(*story){edit, wait(600 * ms), report, func(s *story) { s.closed(p) }, edit}, 1},
		{"saved, and changed at once", []func(*story){edit, wait(600 * ms), report, save, edit}, 1},
		{"saved in the same moment, which it looks at as one", []func(*story){edit, save, read, wait(600 * ms), report, edit}, 0},
		{"what was long ago never comes", []func(*story){edit, wait(mostLint + ms), edit}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &story{reports: newReports(500 * ms)}
				for _, step := range c.steps {
					step(s)
				}
				if got := s.evidenceLocked(s.of[p], Server{}).old; got != c.old {
					t.Errorf("%d of earlier texts may still come, want %d", got, c.old)
				}
			})
		})
	}
}

// TestWhatIsNeverReportedIsForgotten: a server that is told of changed files, and of which
// nobody asks anything, costs no more memory with each of them.
func TestWhatIsNeverReportedIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p workspace.Path
		r := newReports(0)
		r.sent(p, 1, 1)
		for range 1000 {
			<-time.After(time.Second)
			r.expectAll()
		}
		if n, most := len(r.of[p].unreported), int(mostLint/time.Second)+1; n > most {
			t.Errorf("%d are kept, want %d at most", n, most)
		}
	})
}

// marked are the diagnostics that a text shows: a line that ends with "# text" has one
// that says so, at its start.
func marked(lines ...string) (text string, list []language.Diagnostic) {
	for i, line := range lines {
		code, message, has := strings.Cut(line, "# ")
		text += code + "\n"
		if has {
			r := document.Range{Start: at(uint32(i), 0), End: at(uint32(i), uint32(len(code)))}
			list = append(list, language.Diagnostic{Range: r, Severity: language.Error, Source: "t", Message: message})
		}
	}
	return text, list
}

func messages(list []language.Diagnostic) string {
	var out []string
	for _, d := range list {
		out = append(out, d.Message)
	}
	return strings.Join(out, ", ")
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name       string
		was, now   []string
		new, fixed string
		remaining  int
	}{
		{"nothing changed", []string{"a# x", "b"}, []string{"a# x", "b"}, "", "", 1},
		{"one came", []string{"a", "b"}, []string{"a# x", "b"}, "x", "", 0},
		{"one went", []string{"a# x", "b"}, []string{"a", "b"}, "", "x", 0},
		{"it moved with its line", []string{"a", "b# x"}, []string{"n", "n", "a", "b# x"}, "", "", 1},
		{"it moved up", []string{"n", "a", "b# x"}, []string{"a", "b# x"}, "", "", 1},
		{"the same on another line is another", []string{"a# x", "b"}, []string{"a", "b# x"}, "x", "x", 0},
		{"its line was changed and it is still wrong", []string{"a", "bad(1)# x", "c"}, []string{"a", "bad(2) # x", "c"}, "", "", 1},
		{"its line was changed and says something else", []string{"a", "bad(1)# x", "c"}, []string{"a", "bad(2)# y", "c"}, "y", "x", 0},
		{"its line is gone", []string{"a", "b# x", "c"}, []string{"a", "c"}, "", "x", 0},
		{"the same fault twice where it was once", []string{"a# x"}, []string{"a# x", "b# x"}, "x", "", 1},
		{"once where it was twice", []string{"a# x", "b# x"}, []string{"b# x"}, "", "x", 1},
		{"a message that counts lines", []string{"a", "b# as in line 1"}, []string{"n", "a", "b# as in line 2"}, "", "", 1},
		{"all is new", nil, []string{"a# x", "b# y"}, "x, y", "", 0},
	} {
		before, was := marked(c.was...)
		after, now := marked(c.now...)
		added, fixed, remaining := compare(before, after, was, now)
		if messages(added) != c.new || messages(fixed) != c.fixed || remaining != c.remaining {
			t.Errorf("%s: new %q fixed %q remaining %d, want %q %q %d", c.name, messages(added), messages(fixed), remaining, c.new, c.fixed, c.remaining)
		}
	}
}

// TestCompareTellsApart what differs in one thing alone.
func TestCompareTellsApart(t *testing.T) {
	one := language.Diagnostic{Range: document.Range{Start: at(0, 1), End: at(0, 2)}, Severity: language.Error, Code: "E1", Source: "s", Message: "m"}
	for _, change := range []func(*language.Diagnostic){
		func(d *language.Diagnostic) { d.Range.Start.Character = 0 },
		func(d *language.Diagnostic) { d.Range.End.Character = 3 },
		func(d *language.Diagnostic) { d.Severity = language.Warning },
		func(d *language.Diagnostic) { d.Code = json.Number("1") },
		func(d *language.Diagnostic) { d.Source = "other" },
		func(d *language.Diagnostic) { d.Message = "n" },
	} {
		other := one
		change(&other)
		added, fixed, remaining := compare("abc\n", "abc\nd\n", []language.Diagnostic{one}, []language.Diagnostic{other})
		if !slices.Equal(added, []language.Diagnostic{other}) || !slices.Equal(fixed, []language.Diagnostic{one}) || remaining != 0 {
			t.Errorf("%+v and %+v: new %v, fixed %v, %d", one, other, added, fixed, remaining)
		}
	}
}

func TestDecodeDiagnostics(t *testing.T) {
	list := decoded(`[{"range":{"start":{"line":1,"character":1},"end":{"line":1,"character":2}},"message":"m","code":7},
		{"range":{"start":{"line":9,"character":1},"end":{"line":9,"character":2}},"message":"beyond","severity":4,"code":"E","source":"s"},
		{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"message":"","severity":77,"code":{"a":1}},
		{"range":{"start":{"line":1,"character":4},"end":{"line":1,"character":2}},"message":"b","severity":1,"source":"bytes"},
		{"range":{"start":{"line":1,"character":5},"end":{"line":1,"character":1}},"message":"back","severity":1,"source":"bytes"}]`, "a\r\n🎉x\n", counts{encoding: utf32, startInBytes: []string{"bytes"}})
	want := []language.Diagnostic{
		{Range: document.Range{Start: at(1, 2), End: at(1, 3)}, Severity: language.Error, Code: json.Number("7"), Message: "m"},
		{Range: document.Range{Start: at(9, 1), End: at(9, 2)}, Severity: language.Hint, Code: "E", Source: "s", Message: "beyond"},
		{Severity: language.Error},
		{Range: document.Range{Start: at(1, 2), End: at(1, 3)}, Severity: language.Error, Source: "bytes", Message: "b"},
		{Range: document.Range{Start: at(1, 3), End: at(1, 3)}, Severity: language.Error, Source: "bytes", Message: "back"},
	}
	if !slices.Equal(list, want) {
		t.Errorf("%+v", list)
	}
}
