package change

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/diff"
	"pillion/workspace/journal"
)

// Observer keeps what is in a workspace before a command runs, so that the journal can have
// what it changes. What git holds it need not copy. Of a workspace with too much else it says
// that the journal has not. While several commands run nobody can tell which of them wrote a
// file: each change is with the one that ends first, and in the journal once.
type Observer struct {
	// List is what lies below a folder.
	List func(ctx context.Context, p workspace.Path, o workspace.WalkOptions, sizes bool) (*workspace.Contents, error)
	// Told counts the changes that happened in the workspace. False: nobody knows.
	Told func(ctx context.Context) (uint64, bool)

	claims claims

	mu      sync.Mutex // guards all below
	running int        // commands
	why     string     // there are no copies
	again   time.Time  // of what is too large: not looked at before
	before  baseline
}

// claims are what others change while commands run, by absolute name, with the time; the
// time of what is being changed is yet to come.
type claims struct {
	mu        sync.Mutex // guards all below
	names     map[string]time.Time
	observing bool // a command runs
}

var yetToCome = time.Unix(1<<40, 0)

// Claim says that these were written just now, by somebody who is no command.
func (o *Observer) Claim(paths ...workspace.Path) { o.claim(paths)() }

// claim says that somebody else writes these, until done is called.
func (o *Observer) claim(paths []workspace.Path) (done func()) {
	if o == nil {
		return func() {}
	}
	o.claims.set(paths, yetToCome)
	return func() { o.claims.set(paths, time.Now()) }
}

func (c *claims) set(paths []workspace.Path, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range paths {
		if c.names == nil {
			c.names = map[string]time.Time{}
		}
		if c.names[p.Abs()] = at; at != yetToCome && !c.observing {
			delete(c.names, p.Abs())
		}
	}
}

func (c *claims) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.observing = true
}

// end forgets the claims that a look has seen, of the last command all that are over.
func (c *claims) end(look time.Time, last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.observing = !last; last {
		look = time.Now()
	}
	maps.DeleteFunc(c.names, func(_ string, at time.Time) bool { return at.Before(look) })
}

func (c *claims) has(abs string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.names {
		if isIn(name, abs) {
			return true
		}
	}
	return false
}

// Observation is one command that is observed. A nil one is not.
type Observation struct {
	committer *Committer
	told      uint64
	knows     bool
}

const (
	beforeTime = 5 * time.Second // for the copies, which a command waits for
	afterTime  = 20 * time.Second
)

// Observe begins to observe a command, before it is started.
func (c *Committer) Observe(ctx context.Context) *Observation {
	o := c.Observer
	if o == nil || c.Journal.current() == JournalOff {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, beforeTime)
	defer cancel()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.running++; o.running == 1 { // else what others have changed meanwhile would be lost
		if o.claims.begin(); time.Now().After(o.again) {
			_, err := o.before.look(ctx, c, true)
			o.why = o.without(err)
			o.before.close()
		}
	}
	c.claimUnsaved()
	one := &Observation{committer: c}
	if o.why != "" {
		one.told, one.knows = o.Told(ctx)
	}
	return one
}

// claimUnsaved: what the user has not saved may be saved at any moment.
func (c *Committer) claimUnsaved() {
	for _, b := range c.Documents.Snapshot(0).Dirty() {
		if p, err := b.Path.Target(); err == nil {
			c.Observer.Claim(p)
		}
	}
}

// lookAgain is how long a workspace is taken to be too large that was. Tests alone set it.
var lookAgain = 30 * time.Second

// without is why nothing is known of what was there, and forgets what may be half of it.
func (o *Observer) without(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, workspace.ErrTooMany):
		o.again = time.Now().Add(lookAgain)
		err = fmt.Errorf("the workspace has more than %d files", o.before.most)
	case errors.Is(err, errManyCopies):
		o.again = time.Now().Add(lookAgain)
		err = fmt.Errorf("the workspace has more than %d files, or %d MiB, that git does not have as they are; that much is not copied", mostFiles, mostBytes>>20)
	case errors.Is(err, errManyChanges):
		err = fmt.Errorf("it changed more than %d files", mostFiles)
	case errors.Is(err, context.DeadlineExceeded):
		err = errors.New("the files could not be copied in time")
	}
	o.before.forget()
	return fault.From(err).Message
}

// End writes down what changed since, and says what of it the journal does not have, ""
// for nothing.
func (one *Observation) End(ctx context.Context, origin journal.Origin) string {
	if one == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterTime)
	defer cancel()
	c, o := one.committer, one.committer.Observer
	o.mu.Lock()
	defer o.mu.Unlock()
	o.running--
	defer o.claims.end(time.Now(), o.running == 0)
	defer o.before.close()
	if o.why == "" {
		c.claimUnsaved()
		found, err := o.before.look(ctx, c, false)
		if o.why = o.without(err); err == nil {
			return c.observed(found, origin)
		}
	} else if told, knows := o.Told(ctx); knows && one.knows && told == one.told {
		return ""
	}
	return notKept + o.why
}

const notKept = "what it changed is not in the journal: "

// observed puts into the journal what somebody else made.
func (c *Committer) observed(found findings, origin journal.Origin) string {
	var out observedSet
	found.ignoring = found.ignoring || slices.ContainsFunc(found.all, difference.isRule)
	for _, d := range found.all {
		switch {
		case c.Observer.claims.has(d.path.Abs()):
		case d.why() != "":
			out.left = append(out.left, fault.Quote(d.path.String())+" "+d.why())
		case d.was == nil && found.ignoring:
			out.left = append(out.left, fault.Quote(d.path.String())+", which was ignored before, or is new")
		default:
			out.add(d)
		}
	}
	if len(out.records) > 0 {
		e, err := c.Journal.Store.Made(origin, out.records)
		if err != nil {
			return notKept + err.Error()
		}
		c.notifyChanged(e, out.lines, nil)
	}
	if n := len(out.left); n > mostNamed {
		out.left = append(out.left[:mostNamed], fmt.Sprintf("%d more", n-mostNamed))
	}
	if len(out.left) == 0 {
		return ""
	}
	return "of what it changed these are not in the journal: " + strings.Join(out.left, ", ")
}

const mostNamed = 5

// observedSet is the records of what a command did, and beside each the lines.
type observedSet struct {
	records []journal.Record
	lines   [][]LineRange
	left    []string // what is left out, and why
}

// add gives the records of one difference. A revert goes through them backwards.
func (s *observedSet) add(d difference) {
	record := func(op Operation, before, after *journal.State) *journal.Record {
		s.records = append(s.records, journal.Record{Operation: string(op), Name: d.path.String(), Path: d.path.Abs(), Before: before, After: after})
		s.lines = append(s.lines, []LineRange{})
		return &s.records[len(s.records)-1]
	}
	before, after := d.was.state(), d.is.state()
	hunks := d.hunks(before, after)
	switch {
	case d.was == nil:
		record(Create, nil, after).MadeFolders = d.made
	case d.is == nil:
		record(Delete, before, nil)
	case before.Type != after.Type || d.was.link != d.is.link:
		record(Delete, before, nil)
		record(Create, nil, after)
	case d.was.content != d.is.content:
		record(Overwrite, before, after)
	}
	if len(hunks) > 0 {
		r := &s.records[len(s.records)-1]
		r.Additions, r.Deletions = diff.Count(hunks)
		s.lines[len(s.lines)-1] = changedLines(hunks)
	}
	if before != nil && after != nil && before.Type == after.Type && before.Mode != after.Mode {
		old, now := *before, *after
		old.Open, old.Hash, now.Open, now.Hash = nil, "-", nil, "-" // as a modeStep has it
		record(ChangeMode, &old, &now)
	}
}
