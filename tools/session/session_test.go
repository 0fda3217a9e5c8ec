package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pillion/internal/fault"
	"pillion/tools/policy"
)

var claude = Agent{Name: "claude", Version: "2.1", Via: "mcp"}

func opened(t *testing.T, set *Set, id string) *Session {
	t.Helper()
	s, _, err := set.Open(id, claude, "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSeenVersions(t *testing.T) {
	s := New("s", claude, policy.Default)
	if _, ok := s.Seen("a"); ok {
		t.Error("a new session has seen a file")
	}
	if s.Check("a", "v1", time.Now()) {
		t.Error("a file that the agent does not know is no news to it")
	}
	s.Saw("a", "v1")
	s.Saw("a", "v2")
	if version, ok := s.Seen("a"); version != "v2" || !ok {
		t.Errorf("saw %q, %v, want the last version", version, ok)
	}
	if _, ok := s.Seen("b"); ok {
		t.Error("a file was seen that nobody read")
	}
}

func TestGrants(t *testing.T) {
	s := New("s", claude, policy.Default)
	first, second := policy.Rule{Tool: "edit_file", Specifier: "a"}, policy.Rule{Tool: "edit_file", Specifier: "b"}
	for _, r := range []policy.Rule{first, second, first} {
		s.Grant(r)
	}
	grants := s.Grants()
	if !slices.Equal(grants, []policy.Rule{first, second}) {
		t.Errorf("grants %v", grants)
	}
	grants[0] = policy.Rule{Tool: "run_command"}
	if s.Grants()[0] != first {
		t.Error("a caller changed the session's grants")
	}
}

// TestGrantForTurn ends with the turn, however that ends.
func TestGrantForTurn(t *testing.T) {
	s := New("s", claude, policy.Default)
	rule, kept := policy.Rule{Tool: "edit_file", Specifier: "a"}, policy.Rule{Tool: "edit_file", Specifier: "b"}
	s.Grant(kept)
	for name, ends := range map[string]func(){
		"the next turn": func() { s.NewTurn() },
		"a prompt":      func() { s.Begin(); s.Prompted("go on") },
		"taken back":    func() { s.Revoke(rule.String()) },
	} {
		s.GrantForTurn(rule)
		s.GrantForTurn(rule)
		judged := s.Judged()
		if got := s.Grants(); !slices.Equal(got, []policy.Rule{kept, rule}) {
			t.Errorf("before %s: granted %v", name, got)
		}
		ends()
		if got := s.Grants(); !slices.Equal(got, []policy.Rule{kept}) || s.Judged() == judged {
			t.Errorf("after %s: granted %v, judged as before: %v", name, got, s.Judged() == judged)
		}
	}
}

func TestGrantOnce(t *testing.T) {
	s := New("s", claude, policy.Default)
	s.GrantOnce("secret(.env)")
	s.GrantOnce()
	for key, want := range map[string]bool{"secret(.env)": true, "secret(.env.local)": false, "": false} {
		if _, granted := s.GrantedOnce()[key]; granted != want {
			t.Errorf("%q: granted %v", key, !want)
		}
	}
}

func TestNewTurnEndsThePause(t *testing.T) {
	s := New("s", claude, policy.Default)
	s.Pause("cancelled by the user")
	s.Pause("again")
	if reason, paused := s.Paused(); !paused || reason != "cancelled by the user" {
		t.Errorf("paused %v: %q", paused, reason)
	}
	if turn := s.NewTurn(); turn != 2 || s.Turn() != 2 {
		t.Errorf("turn %d, then %d", turn, s.Turn())
	}
	if reason, paused := s.Paused(); paused || reason != "" {
		t.Errorf("still paused %v: %q", paused, reason)
	}
}

func TestSetMode(t *testing.T) {
	s := New("s", claude, policy.Plan)
	if err := s.SetMode("yolo"); fault.CodeOf(err) != fault.InvalidArguments || s.Mode() != policy.Plan {
		t.Errorf("mode %s after %v", s.Mode(), err)
	}
	if err := s.SetMode(policy.AutoEdit); err != nil || s.Mode() != policy.AutoEdit {
		t.Errorf("mode %s after %v", s.Mode(), err)
	}
}

func TestInfoOnTheWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New("s-1", claude, policy.Default)
		s.SetDialect("qwen")
		s.Pause("cancelled")
		got, err := json.Marshal(s.Info())
		want := `{"sessionId":"s-1","agent":{"name":"claude","version":"2.1","via":"mcp"},"mode":"default",` +
			`"dialect":"qwen","turn":1,"paused":true,"pauseReason":"cancelled","started":"2000-01-01T00:00:00Z","connected":true,"calls":0,"changes":0,"rejected":0,"refused":0,"grants":[],"todos":[],"todosRevision":0}`
		if err != nil || string(got) != want {
			t.Errorf("got  %s, %v\nwant %s", got, err, want)
		}
	})
}

func TestOpen(t *testing.T) {
	set := NewSet(policy.Default)
	first, created, err := set.Open("one", claude, "")
	if err != nil || !created || first.Mode() != policy.Default {
		t.Fatalf("opened %+v, created %v, %v", first, created, err)
	}
	again, created, err := set.Open("one", Agent{Name: "other"}, policy.FullAccess)
	if err != nil || created || again != first || again.Agent() != claude || again.Mode() != policy.Default {
		t.Errorf("opening again gave %+v, created %v, %v", again.Info(), created, err)
	}
	if got, ok := set.Get("one"); !ok || got != first {
		t.Error("the open session cannot be got")
	}
	made, created, err := set.Open("", claude, policy.Plan)
	if err != nil || !created || made.Mode() != policy.Plan || len(made.ID()) < 26 {
		t.Errorf("opened %+v, created %v, %v", made.Info(), created, err)
	}
	if _, _, err := set.Open("two", claude, "yolo"); fault.CodeOf(err) != fault.InvalidArguments {
		t.Errorf("an unknown mode: %v", err)
	}
	if !set.Close("one") || set.Close("one") {
		t.Error("a session closes exactly once")
	}
	if _, ok := set.Get("one"); ok {
		t.Error("a closed session is still there")
	}
	if fresh, created, _ := set.Open("one", claude, ""); !created || fresh == first {
		t.Error("a closed session came back")
	}
}

func TestListIsInOrderOfOpening(t *testing.T) {
	set := NewSet(policy.Default)
	if set.List() == nil {
		t.Error("an empty list must be [] on the wire")
	}
	for _, id := range []string{"c", "a", "b"} {
		opened(t, set, id)
	}
	set.Close("a")
	var ids []string
	for _, info := range set.List() {
		ids = append(ids, info.SessionID)
	}
	if !slices.Equal(ids, []string{"c", "b"}) {
		t.Errorf("listed %v", ids)
	}
}

func TestOpenSessionsAreBounded(t *testing.T) {
	set := NewSet(policy.Default)
	for i := range maxOpen {
		opened(t, set, fmt.Sprint(i))
	}
	if _, _, err := set.Open("more", claude, ""); fault.CodeOf(err) != fault.RateLimited {
		t.Errorf("session %d: %v", maxOpen+1, err)
	}
	if _, created, err := set.Open("0", claude, ""); err != nil || created {
		t.Errorf("an open session in a full set: created %v, %v", created, err)
	}
}

func TestCheckID(t *testing.T) {
	for _, id := range []string{"a", NewID(), "a b", "chat/1#ü", strings.Repeat("ü", 128)} {
		if err := CheckID(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, id := range []string{"", strings.Repeat("a", 129), "a\nb", "a\x00", "\xff", "a\u202eb", "a\u200b", "\u3164"} {
		if fault.CodeOf(CheckID(id)) != fault.InvalidArguments {
			t.Errorf("%q is accepted", id)
		}
	}
}

func TestNewIDsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := NewID()
		if seen[id] {
			t.Fatalf("%s came twice", id)
		}
		seen[id] = true
	}
}

func TestRateIsExactOverAnyMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New("s", claude, policy.Default)
		for i := range 100 {
			if wait, ok := s.Allow(Changes); !ok {
				t.Fatalf("call %d has to wait %s", i+1, wait)
			}
			time.Sleep(100 * time.Millisecond) // the bubble's clock, not the wall's
		}
		for range 3 { // refused calls do not count
			if wait, ok := s.Allow(Changes); ok || wait != 50*time.Second {
				t.Fatalf("call 101: allowed %v, wait %s, want 50s", ok, wait)
			}
		}
		if _, ok := s.Allow(Reads); !ok {
			t.Error("reads and changes share a count")
		}
		time.Sleep(50*time.Second - time.Nanosecond)
		if wait, ok := s.Allow(Changes); ok || wait != time.Nanosecond {
			t.Errorf("just before: allowed %v, wait %s", ok, wait)
		}
		time.Sleep(time.Nanosecond)
		if _, ok := s.Allow(Changes); !ok {
			t.Error("refused after waiting as told")
		}
		if wait, ok := s.Allow(Changes); ok || wait != 100*time.Millisecond {
			t.Errorf("the next: allowed %v, wait %s", ok, wait)
		}
	})
}

func TestReadLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New("s", claude, policy.Default)
		for i := range DefaultLimits.Reads {
			if _, ok := s.Allow(Reads); !ok {
				t.Fatalf("read %d is refused", i+1)
			}
		}
		if wait, ok := s.Allow(Reads); ok || wait != time.Minute {
			t.Errorf("one more: allowed %v, wait %s", ok, wait)
		}
	})
}

func TestLimitsCanBeSet(t *testing.T) {
	set := NewSet(policy.Default)
	set.SetDefaults(policy.Plan, Limits{Changes: 1})
	s, _, err := set.Open("s", claude, "")
	if err != nil || s.Mode() != policy.Plan {
		t.Fatalf("mode %s, %v", s.Mode(), err)
	}
	s.Allow(Changes)
	if _, ok := s.Allow(Changes); ok {
		t.Error("a second change passed a limit of 1")
	}
	for range DefaultLimits.Reads + 1 {
		if _, ok := s.Allow(Reads); !ok {
			t.Fatal("a limit of 0 limits")
		}
	}
	s.SetLimits(Limits{Changes: 2})
	if _, ok := s.Allow(Changes); !ok {
		t.Error("a raised limit does not hold at once")
	}
	s.SetLimits(Limits{Changes: 1})
	if wait, ok := s.Allow(Changes); ok || wait <= 0 || wait > time.Minute {
		t.Errorf("a lowered limit: allowed %v, wait %s", ok, wait)
	}
}

// Everything at once; the race detector is the judge, and the counts.
func TestConcurrentUse(t *testing.T) {
	set := NewSet(policy.Default)
	set.SetDefaults(policy.Default, Limits{Changes: 10, Reads: 10})
	var all sync.WaitGroup
	var mu sync.Mutex // guards what follows
	opened, passed := 0, 0
	for i := range 32 {
		all.Go(func() {
			s, created, err := set.Open("shared", claude, "")
			if err != nil {
				t.Error(err)
				return
			}
			s.Saw("a", fmt.Sprint(i))
			s.Seen("a")
			s.Grant(policy.Rule{Tool: "edit_file", Specifier: "a"})
			s.Grants()
			s.GrantOnce("secret(.env)")
			s.Pause("why")
			s.NewTurn()
			_ = s.SetMode(policy.AutoEdit)
			_, ok := s.Allow(Changes)
			set.List()
			mu.Lock()
			defer mu.Unlock()
			if created {
				opened++
			}
			if ok {
				passed++
			}
		})
	}
	all.Wait()
	s, _ := set.Get("shared")
	_, granted := s.GrantedOnce()["secret(.env)"]
	if opened != 1 || passed != 10 || len(s.Grants()) != 1 || s.Turn() != 33 || !granted {
		t.Errorf("opened %d times, %d passed, grants %v, turn %d", opened, passed, s.Grants(), s.Turn())
	}
}

// TestNewsComesOnce: a file that changed is told of once for each change.
func TestNewsComesOnce(t *testing.T) {
	s := New("id", Agent{}, policy.Default)
	s.Saw("a", "v1")
	later := time.Now().Add(time.Hour)
	for i, step := range []struct {
		version string
		news    bool
	}{{"v1", false}, {"v2", true}, {"v2", false}, {"v3", true}, {"v1", false}, {"v2", true}} {
		if news := s.Check("a", step.version, later); news != step.news {
			t.Errorf("step %d: %s is news: %t", i, step.version, news)
		}
	}
	if version, _ := s.Seen("a"); version != "v1" {
		t.Errorf("being told of a version is not knowing it; the session knows %s", version)
	}
	if known := s.Known(); len(known) != 1 || known[0].Path != "a" || !known[0].Checked.Equal(later) {
		t.Errorf("got %v", known)
	}
}

func TestOneLimitForAllCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New("s", claude, policy.Default)
		s.SetLimits(Limits{Changes: 60, Reads: 6000, All: 100})
		for i := range 100 {
			if _, ok := s.Allow([]Kind{Reads, Changes}[i%2]); !ok {
				t.Fatalf("call %d is refused", i+1)
			}
		}
		for _, kind := range []Kind{Reads, Changes} {
			if wait, ok := s.Allow(kind); ok || wait != time.Minute {
				t.Errorf("one more of kind %d: allowed %v, wait %s", kind, ok, wait)
			}
		}
	})
}

// TestPatternsOfBeforeAreReadNarrowly: what an older Pillion kept of a session's patterns
// allows no more than what a dialog offers now, and comes back as it is written.
func TestPatternsOfBeforeAreReadNarrowly(t *testing.T) {
	s := New("s", claude, policy.Default)
	s.restore(Kept{Grants: []string{"run_command(go list *)", "run_command(go test *) with listed options in sub", "run_command(make)", "edit_file(a/*)"}}, policy.Default)
	got := s.Info().Grants
	want := []string{"run_command(go list *) with listed options", "run_command(go test *) with listed options in sub", "run_command(make)", "edit_file(a/*)"}
	if k, _ := s.kept(); !slices.Equal(k.Grants, want) {
		t.Errorf("restored %v, want %v", got, want)
	}
}

// TestAPromptBeginsATurn: unless nothing was called since the last, whatever time the agent
// then takes; it ends no pause.
func TestAPromptBeginsATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New("s", claude, policy.Default)
		call := func(rest time.Duration, turn int, prompt string) {
			t.Helper()
			s.Begin()
			if got := s.Turn(); got != turn || s.Prompt(turn) != prompt || s.Prompt(turn+1) != "" {
				t.Errorf("turn %d, %q, want %d, %q", got, s.Prompt(turn), turn, prompt)
			}
			s.Count(Counts{Calls: 1})
			time.Sleep(rest)
		}
		s.Prompted("hello")
		s.Prompted("  put the\n\tkettle on \u202e")
		call(time.Hour, 1, `put the kettle on \u202e`)
		call(0, 1, `put the kettle on \u202e`)
		s.Pause("the user paused it")
		s.Prompted(strings.Repeat("tea ", 40))
		call(0, 2, strings.Repeat("tea ", 14)+"tea…")
		if _, paused := s.Paused(); !paused {
			t.Error("a prompt ended the pause")
		}
		s.Prompted("")
		call(time.Hour, 3, "")
		call(0, 4, "")
	})
}

// TestAPauseOfTheCallsEndsATurn: no call for three minutes, and none that goes on.
func TestAPauseOfTheCallsEndsATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New("s", claude, policy.Default)
		call := func(takes, rest time.Duration, want int) {
			t.Helper()
			s.Begin()
			time.Sleep(takes)
			if got := s.Turn(); got != want {
				t.Errorf("turn %d, want %d", got, want)
			}
			s.Count(Counts{Calls: 1})
			time.Sleep(rest)
		}
		call(time.Second, 2*time.Minute, 1)
		call(time.Hour, time.Second, 1) // it waited for the user
		call(time.Second, 3*time.Minute, 1)
		call(time.Second, 0, 2)
		s.Begin()
		time.Sleep(time.Hour)
		call(time.Second, time.Hour, 2) // beside one that goes on
		s.Pause("the user paused it")
		s.Count(Counts{})
		time.Sleep(time.Hour)
		call(time.Second, 0, 3)
		if _, paused := s.Paused(); !paused {
			t.Error("a turn that began by itself ended the pause")
		}
		gateway := New("g", Agent{Name: "g", Via: "gateway"}, policy.Default)
		gateway.Begin()
		gateway.Count(Counts{})
		time.Sleep(time.Hour)
		if gateway.Begin(); gateway.Turn() != 1 {
			t.Error("a gateway's turns are its own")
		}
	})
}
