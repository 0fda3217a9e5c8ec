package lspbridge

import (
	"testing"
	"time"
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
