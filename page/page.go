// Package page asks a person in their browser: `pillion watch` where there is no
// terminal.
//
// New is the entry point. A Page is an approval.Asker and a tools.Human as the
// terminal's Asker is one, and shows the same. It is served on loopback alone, under
// an address that nobody can guess; see server.go for who gets in. Deliberately not
// here: deciding whether to ask, and opening a browser.
package page

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
)

// Options are what a Page is made of.
type Options struct {
	Out    io.Writer       // where its address is printed
	Resume func() []string // lets paused agents go on, and names them
}

// Page is what the browser shows.
type Page struct {
	o        Options
	listener net.Listener
	host     string // that requests must name
	token    string // that their path must begin with

	mu      sync.Mutex // guards all below
	state   state
	open    []*request
	changed chan struct{} // closed and renewed with each version
	due     int           // browsers that were told something, and come back for what is next
}

// state is what the browser asks for again and again.
type state struct {
	Version  int      `json:"version"`
	Folder   string   `json:"folder"`
	Editor   string   `json:"editor"` // that has the folder open
	Requests []head   `json:"requests"`
	Lines    []line   `json:"lines"`  // the newest last
	Paused   []string `json:"paused"` // agents
	Ended    bool     `json:"ended"`
}

// head names a request as it stands.
type head struct {
	ID     string `json:"id"`
	Digest string `json:"digest"`
}

// line is a call, or something to know.
type line struct {
	ID    string      `json:"id"`
	State tools.State `json:"state"` // "" of what is no call
	Text  string      `json:"text"`
}

// mostLines is how many lines the page has; the audit log has all calls.
const mostLines = 50

// request is a question that is on the page.
type request struct {
	asked   approval.Request // of an approval
	view    view
	holds   map[string]bool // digests whose yes is one to what is shown
	answers chan answer     // holds one
}

// answer is what the browser sends. The digest says what was on show.
type answer struct {
	ID         string            `json:"id"`
	Digest     string            `json:"digest"`
	Decision   approval.Decision `json:"decision"`
	DecisionID string            `json:"decisionId"`
	Feedback   string            `json:"feedback"`
	Action     string            `json:"action"` // of a question
}

// New opens the page's port.
func New(o Options) (*Page, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("the page has no port: %w", err)
	}
	return &Page{
		o: o, listener: listener, host: listener.Addr().String(), token: rand.Text(),
		state: state{Requests: []head{}, Lines: []line{}, Paused: []string{}}, changed: make(chan struct{}),
	}, nil
}

// Address is where the page is. Whoever has it can answer.
func (p *Page) Address() string { return "http://" + p.host + "/" + p.token + "/" }

// update changes the state and tells the browser.
func (p *Page) update(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.state.Version++
	p.state.Requests = make([]head, len(p.open))
	for i, r := range p.open {
		p.state.Requests[i] = head{r.view.ID, r.view.Digest}
	}
	p.wake()
}

// wake needs p.mu.
func (p *Page) wake() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// Ask puts the request on the page and waits for the answer.
func (p *Page) Ask(ctx context.Context, r approval.Request) (approval.Answer, error) {
	given, err := p.wait(ctx, &request{asked: r, view: viewOf(r), holds: map[string]bool{r.Digest: true}})
	if err != nil {
		return approval.Answer{}, err
	}
	if given.Decision == approval.Cancel {
		p.Paused(r.Agent.Name)
	}
	return approval.Answer{Decision: given.Decision, DecisionID: given.DecisionID, Feedback: given.Feedback, Digest: given.Digest}, nil
}

// Prompt puts a question on the page.
func (p *Page) Prompt(ctx context.Context, by approval.Agent, message string, actions []string) (string, error) {
	id, who := rand.Text(), ""
	if by != (approval.Agent{}) { // else it is our own question
		who = fault.Quote(by.Name)
	}
	given, err := p.wait(ctx, &request{view: view{ID: id, Digest: id, Who: who, Message: fault.Escape(message), Actions: actions}, holds: map[string]bool{id: true}})
	return given.Action, err
}

func (p *Page) wait(ctx context.Context, r *request) (answer, error) {
	r.answers = make(chan answer, 1)
	p.update(func() { p.open = append(p.open, r) })
	select {
	case given := <-r.answers:
		return given, nil // whoever gave it has taken the request off
	case <-ctx.Done():
	}
	p.update(func() {
		if at := slices.Index(p.open, r); at >= 0 {
			p.open = slices.Delete(p.open, at, at+1)
			p.note(line{Text: r.over(ctx)})
		}
	})
	return answer{}, ctx.Err()
}

// over says why nobody is asked any more.
func (r *request) over(ctx context.Context) string {
	why := "the agent no longer waits for an answer"
	if errors.Is(context.Cause(ctx), approval.ErrExpired) {
		why = "nobody answered in time"
	}
	if r.view.Title == "" {
		return "A question is gone: " + why + "."
	}
	return r.view.Title + ": " + why + "; nothing was done."
}

// Changed has the page show what the request is now.
func (p *Page) Changed(c approval.Changed) {
	p.update(func() {
		at := slices.IndexFunc(p.open, func(r *request) bool { return r.view.ID == c.ApprovalID })
		if at < 0 {
			return
		}
		r := p.open[at]
		r.asked.Reasons, r.asked.Preview, r.asked.Digest = c.Reasons, c.Preview, c.Digest
		changed := r.view.Changed
		r.view = viewOf(r.asked)
		r.view.Changed = changed || !c.Moved
		if !c.Moved {
			clear(r.holds)
		}
		r.holds[c.Digest] = true
	})
}

// Resolved has nothing to do: a request is on the page for as long as Ask waits.
func (p *Page) Resolved(string, approval.Outcome) {}

var errGone = errors.New("this request is not open any more; nothing was answered")

// give hands over an answer to what is open, if it is about what is shown now.
func (p *Page) give(a answer) error {
	err := errGone
	p.update(func() {
		at := slices.IndexFunc(p.open, func(r *request) bool { return r.view.ID == a.ID })
		if at < 0 {
			return
		}
		r := p.open[at]
		if err = r.check(a); err == nil {
			r.answers <- a
			p.open = slices.Delete(p.open, at, at+1)
		}
	})
	return err
}

// check refuses what is no answer to what is on show.
func (r *request) check(a answer) error {
	switch {
	case !r.holds[a.Digest]:
		return errors.New("this request changed while you looked; nothing was answered")
	case r.view.Actions != nil:
		if a.Action != "cancel" && !slices.Contains(r.view.Actions, a.Action) {
			return errors.New("this is none of the answers")
		}
	case a.Decision == approval.Approve:
		if !slices.ContainsFunc(r.view.Choices, func(c choice) bool { return c.ID == a.DecisionID }) {
			return errors.New("this decision is not on offer")
		}
	case a.Decision != approval.Reject && a.Decision != approval.Cancel:
		return errors.New("this is no decision")
	}
	return nil
}

// Say tells the person something.
func (p *Page) Say(text string) {
	p.update(func() { p.note(line{Text: fault.Escape(text)}) })
}

// Paused says that an agent is.
func (p *Page) Paused(agent string) {
	p.update(func() {
		if name := fault.Quote(agent); !slices.Contains(p.state.Paused, name) {
			p.state.Paused = append(p.state.Paused, name)
		}
	})
}

func (p *Page) resume() {
	names := p.o.Resume()
	p.update(func() {
		p.state.Paused = []string{}
		for _, name := range names {
			p.note(line{Text: fault.Quote(name) + " goes on: tell it so."})
		}
	})
}

// Elsewhere says which editor has the folder open.
func (p *Page) Elsewhere(editor string) {
	p.update(func() { p.state.Editor = fault.Escape(editor) })
}

// Heard shows what becomes of a call.
func (p *Page) Heard(a tools.Activity) {
	if a.State == tools.Queued {
		return
	}
	p.update(func() {
		text := fault.Quote(a.Agent.Name) + " " + a.Tool + ": " + strings.Join(strings.Fields(fault.Escape(a.Summary)), " ")
		p.note(line{a.SessionID + "/" + a.CallID, a.State, text})
	})
}

// note needs p.mu.
func (p *Page) note(l line) {
	at := slices.IndexFunc(p.state.Lines, func(known line) bool { return known.ID == l.ID && l.ID != "" })
	// A slice of its own: the one before may be on its way to the browser.
	lines := slices.Clone(p.state.Lines)
	if at >= 0 {
		lines[at] = l
	} else {
		lines = append(lines, l)
	}
	p.state.Lines = lines[max(0, len(lines)-mostLines):]
}
