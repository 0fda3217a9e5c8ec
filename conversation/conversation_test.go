package conversation

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pillion/internal/fault"
	"pillion/internal/testrig/check"
)

// recorder is a follower, and the agent's end.
type recorder struct {
	heard []string
	said  []string
	fails error
}

func (r *recorder) Changed(c Changed) {
	switch {
	case len(c.Entries) > 0:
		for _, e := range c.Entries {
			r.heard = append(r.heard, fmt.Sprintf("%s %q %t", e.Kind, e.Text, e.Done))
		}
	case c.Removed != nil:
		r.heard = append(r.heard, fmt.Sprintf("removed %d", len(c.Removed)))
	case c.Context != nil:
		r.heard = append(r.heard, fmt.Sprintf("context %v", c.Context))
	default:
		r.heard = append(r.heard, fmt.Sprintf("%s %s", c.Status, c.Connection))
	}
}

func (r *recorder) Appended(a Appended) { r.heard = append(r.heard, fmt.Sprintf("+ %q", a.Text)) }

func (r *recorder) Say(text string) error {
	r.said = append(r.said, text)
	return r.fails
}

func (r *recorder) Context(u ContextUpdate) error {
	r.said = append(r.said, string(u.Action))
	return r.fails
}

func opened() (*Conversation, *recorder) {
	r, s := &recorder{}, &Set{}
	c := s.Open("test", Agent{Name: "a", Via: "gateway"}, "s", r)
	s.Follow(r)
	return c, r
}

func (r *recorder) expect(t *testing.T, want ...string) {
	t.Helper()
	if got := strings.Join(r.heard, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("heard:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
	r.heard = nil
}

// TestStreaming: words of the agent come together, and before whatever follows them.
func TestStreaming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, r := opened()
		for range 10 {
			c.Append("word ", false)
		}
		time.Sleep(appendEvery)
		synctest.Wait()
		r.expect(t, `agent "" false`, `+ "`+strings.Repeat("word ", 10)+`"`)
		c.Append("more", false)
		c.Says(Thinking, "")
		r.expect(t, `+ "more"`, "thinking ")
		c.Append("!", true)
		c.Append("next", true)
		text := strings.Repeat("word ", 10) + "more!"
		r.expect(t, `+ "!"`, fmt.Sprintf("agent %q true", text), `agent "" false`, `+ "next"`, `agent "next" true`)
	})
}

func TestMessagesOfTheUser(t *testing.T) {
	c, r := opened()
	c.Append("half a sent", false)
	if _, err := c.User("stop"); err != nil {
		t.Fatal(err)
	}
	r.expect(t, `agent "" false`, `+ "half a sent"`, `agent "half a sent" true`, `user "stop" true`)
	for _, text := range []string{"", " \n", strings.Repeat("ä", MaxMessage+1)} {
		if _, err := c.User(text); fault.CodeOf(err) != fault.InvalidArguments {
			t.Errorf("%.10q: %v", text, err)
		}
	}
	if _, err := c.User(strings.Repeat("ä", MaxMessage)); err != nil {
		t.Error(err)
	}
	r.fails, r.heard = errors.New("gone"), nil
	if _, err := c.User("hello"); !errors.Is(err, r.fails) || len(r.heard) > 0 {
		t.Errorf("%v, %v", err, r.heard)
	}
}

// TestRowsOfCalls: one row a call, which is over once.
func TestRowsOfCalls(t *testing.T) {
	c, r := opened()
	for _, state := range []string{"queued", "running", "running", "done", "running"} {
		c.Called(Call{ID: "1", Tool: "glob", State: state})
	}
	r.expect(t, `call "" false`, `call "" false`, `call "" true`)
	if v := c.View(); len(v.Entries) != 1 || v.Entries[0].Call.State != "done" {
		t.Errorf("%+v", v.Entries)
	}
}

// TestBounds: what is kept is bounded in number and in bytes, whatever an agent sends.
func TestBounds(t *testing.T) {
	c, _ := opened()
	for i := range 3 * MaxEntries {
		c.Note(OfNotice, fmt.Sprint(i))
	}
	if v := c.View(); len(v.Entries) != MaxEntries {
		t.Errorf("%d entries", len(v.Entries))
	}
	for range 2 * MaxBytes / maxText {
		c.Append(strings.Repeat("x", maxText), false)
		c.Append("more", true)
	}
	bytes := 0
	for _, e := range c.View().Entries {
		bytes += len(e.Text)
	}
	if bytes > MaxBytes || bytes < MaxBytes/2 {
		t.Errorf("%d bytes", bytes)
	}
}

func TestTheContext(t *testing.T) {
	c, r := opened()
	add := func(path, content string, by Kind) {
		if err := c.Update(ContextUpdate{AddFile, &ContextData{path, content}}, by); err != nil {
			t.Error(err)
		}
	}
	add("a.go", "one\ntwo\n", FromUser)
	add("b.go", "", FromAgent)
	add("b.go", "", FromAgent)
	r.expect(t, "context [{a.go true 2 user}]", "context [{a.go true 2 user} {b.go false 0 agent}]")
	for _, u := range []ContextUpdate{{}, {Action: AddFile}, {RemoveFile, &ContextData{}}, {AddFile, &ContextData{"a", strings.Repeat("x", maxText+1)}}} {
		if err := c.Update(u, FromUser); err == nil {
			t.Errorf("%v was taken", u)
		}
	}
	if err := c.Update(ContextUpdate{RemoveFile, &ContextData{Path: "a.go"}}, FromUser); err != nil {
		t.Error(err)
	}
	if err := c.Update(ContextUpdate{Action: Clear}, FromUser); err != nil {
		t.Error(err)
	}
	r.expect(t, "context [{b.go false 0 agent}]", "context []")
	check.Same(t, "the agent was told", strings.Join(r.said, " "), "add_file remove_file clear")
	for i := range MaxContext {
		add(fmt.Sprint(i), "", FromAgent)
	}
	if err := c.Update(ContextUpdate{AddFile, &ContextData{Path: "more"}}, FromAgent); err == nil {
		t.Error("there is no limit")
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"a\tb\nc":                            "a\tb\nc",
		"\x1b[31mred\x07":                    "[31mred",
		"a\u202eb\u2066c":                    "abc",
		"⚠\ufe0f \U0001F468\u200d\U0001F469": "⚠\ufe0f \U0001F468\u200d\U0001F469",
		"a\U000E0041b\r\nc":                  "ab\nc",
	} {
		if got := Clean(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// TestOldOnesAreClosed: a sidecar that runs for weeks does not fill up.
func TestOldOnesAreClosed(t *testing.T) {
	s := &Set{}
	first := s.Open("first", Agent{}, "s", nil)
	for range maxOpen {
		s.Open("more", Agent{}, "s", nil)
	}
	if _, err := s.Get(first.ID()); err == nil || len(s.List()) != maxOpen {
		t.Errorf("%v, %d are open", err, len(s.List()))
	}
	if newest, err := s.Get(""); err != nil || newest.View().Title != "more" {
		t.Error(err)
	}
}
