package lspbridge

import (
	"context"
	"errors"
	"sync"

	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// mostCaused is of how many files of one change it is said what became of them.
const mostCaused = 32

// effect is one file of a change, whose server runs.
type effect struct {
	path     workspace.Path // as it was asked about
	client   *client
	before   string
	read     bool                  // before is known
	compared bool                  // what was wrong before is known
	was      []language.Diagnostic // and what it was
	now      syncedText
}

// Caused says what changes did to the diagnostics of files: a server that runs is told
// the text as it is now, and waited for as long as the settings say, once for all of
// them. Files whose servers do not run are left out. What a server has said by then of
// files that were not changed stands with the first of those that were.
func (b *Bridge) Caused(ctx context.Context, before *document.Snapshot, paths []workspace.Path) map[workspace.Path]language.Caused {
	if len(paths) == 0 {
		return nil
	}
	out := map[workspace.Path]language.Caused{}
	effects, around := b.effects(before, paths, out)
	if len(effects) == 0 { // nobody is waited for, with all that waiting costs
		return out
	}
	wait := b.o.Settings(paths[0].Top()).EditWait
	if wait <= 0 {
		return nil // the servers know, and nobody wants to
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var mu sync.Mutex // guards out
	var all sync.WaitGroup
	for _, e := range effects {
		all.Go(func() {
			ctx, cancel := e.client.wait(ctx, wait)
			defer cancel()
			caused := e.wait(ctx)
			mu.Lock()
			defer mu.Unlock()
			out[e.path] = caused
		})
	}
	all.Wait()
	for _, e := range effects {
		if were := around[e.client]; were != nil {
			caused := out[e.path]
			caused.Elsewhere = e.client.elsewhere(were)
			out[e.path] = caused
			delete(around, e.client)
		}
	}
	return out
}

// surroundings are the documents of each server that a change does not touch.
type surroundings map[*client]map[workspace.Path]bystander

// effects tells the servers, once it is noted what they said of other documents before.
// Of files about which nothing will come to be known, out gets why.
func (b *Bridge) effects(before *document.Snapshot, paths []workspace.Path, out map[workspace.Path]language.Caused) (effects []effect, around surroundings) {
	now := b.o.Documents.Snapshot(warmLimit)
	around, touched := surroundings{}, map[workspace.Path]bool{}
	for _, p := range paths {
		touched[target(p)] = true
	}
	for _, p := range paths[:min(len(paths), mostCaused)] {
		sv, err := b.serverOf(p)
		if err != nil {
			continue
		}
		c, status := sv.warm(), sv.status()
		switch {
		case c == nil && status.Status == language.Restarting:
			out[p] = language.Caused{Server: status, Freshness: language.Interrupted}
		case c == nil:
		case sv.linterMissing() != "":
			out[p] = language.Caused{Server: status, Freshness: language.LinterMissing}
		default:
			if around[c] == nil && !sv.spec.Alone {
				around[c] = c.bystanders(touched)
			}
			e, err := c.effect(before, now, p)
			switch {
			case errors.Is(err, errGone):
				out[p] = language.Caused{Server: sv.status(), Freshness: language.Interrupted}
			case err == nil:
				effects = append(effects, e)
			}
		}
	}
	return effects, around
}

// effect tells the server of p as it is now, once it is noted what was known before. A
// file that there is no more has no diagnostics that matter.
func (c *client) effect(before, now *document.Snapshot, p workspace.Path) (e effect, err error) {
	e = effect{path: p, client: c}
	was := before.Known(target(p))
	if was == nil {
		was = before.Known(p)
	}
	switch {
	case was == nil: // to read it now would be to read what it has become
	case !was.Exists:
		e.read, e.compared = true, true
	default:
		e.before, e.read = was.Text, true
		e.was, e.compared = c.knownOf(target(p), was.Text)
	}
	e.now, err = c.syncText(now, p)
	return e, err
}

// knownOf is what is known to be wrong in a text that the document has, or had last.
func (c *client) knownOf(p workspace.Path, text string) ([]language.Diagnostic, bool) {
	r, sum := c.reports, sumOf(text)
	r.mu.Lock()
	one := r.getLocked(p)
	t := syncedText{path: p, text: text, sum: sum, since: one.since}
	known := one.known
	r.mu.Unlock()
	if k, _, _ := c.look(t); k != nil {
		return k.list, true
	}
	if known != nil && known.sum == sum {
		return known.list, true
	}
	return nil, false
}

// wait waits for what is wrong now, and compares.
func (e effect) wait(ctx context.Context) language.Caused {
	k, state := e.client.await(ctx, e.now)
	out := language.Caused{Server: e.client.server.status(), Freshness: state, Compared: e.compared}
	switch {
	case state == language.Stale && !e.client.superseded(e.now):
		out.Freshness = language.TimedOut
	case state == language.Fresh && e.compared:
		out.New, out.Fixed, out.Remaining = compare(e.before, e.now.text, e.was, k.list)
	case state == language.Fresh && !e.read:
		out.Remaining = len(k.list)
	case state == language.Fresh:
		out.New, out.Remaining = onChanged(e.before, e.now.text, k.list)
	}
	return out
}

// superseded says if the server was told another text since: of the one before, nothing
// will come to be known any more.
func (c *client) superseded(t syncedText) bool {
	r := c.reports
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.getLocked(t.path).sum != t.sum
}
