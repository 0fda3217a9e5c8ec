package lspbridge

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// What one change is followed to.
const (
	mostCaused = 32 // of its files
	mostUsed   = 8  // names that it touches whose users are looked for
	mostUsers  = 8  // files that use them, or are open, and were not changed
)

// effect is one file of a change, whose server runs.
type effect struct {
	path     workspace.Path // as it was asked about
	before   string
	read     bool                  // before is known
	compared bool                  // what was wrong before is known
	was      []language.Diagnostic // and what it was
	now      syncedText
}

// aftermath is what a change does to the files of one server.
type aftermath struct {
	client     *client
	paths      []workspace.Path // its own files
	effects    []effect
	bystanders []bystander
}

// Caused says what changes did to the diagnostics of files, and of files that use what
// they changed. A server that runs is asked what was wrong before, if that is not known,
// then told the text as it is now, and waited for, all that for as long as the settings
// say. Files whose servers do not run are left out. What comes to be known within another
// 10 s is told to late, once, if that is anything.
func (b *Bridge) Caused(ctx context.Context, before *document.Snapshot, paths []workspace.Path, late func(map[workspace.Path]language.Caused)) map[workspace.Path]language.Caused {
	if len(paths) == 0 {
		return nil
	}
	out := map[workspace.Path]language.Caused{}
	all := b.aftermaths(paths, out)
	if len(all) == 0 { // nobody is waited for, with all that waiting costs
		return out
	}
	wait := b.o.Settings(paths[0].Top()).EditWait
	touched := map[workspace.Path]bool{}
	for _, p := range paths {
		touched[target(p)] = true
	}
	var mu sync.Mutex // guards out and left
	var left []*aftermath
	var done sync.WaitGroup
	for _, a := range all {
		done.Go(func() {
			ctx, cancel := a.client.wait(ctx, wait)
			defer cancel()
			a.lookBefore(ctx, before, touched, wait/2)
			gone := a.tell(b.o.Documents.Snapshot(warmLimit))
			found, more := a.wait(ctx)
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(out, gone)
			maps.Copy(out, found)
			if more != nil {
				left = append(left, more)
			}
		})
	}
	done.Wait()
	if wait <= 0 {
		return nil // the servers know, and nobody wants to
	}
	if len(left) > 0 && late != nil && b.work() {
		go func() {
			defer b.running.Done()
			b.waitLonger(left, late)
		}()
	}
	return out
}

// waitLonger is for what was not known when nobody waited any more.
func (b *Bridge) waitLonger(left []*aftermath, late func(map[workspace.Path]language.Caused)) {
	ctx, cancel := context.WithTimeout(b.ctx, reportTime)
	defer cancel()
	out := map[workspace.Path]language.Caused{}
	for _, a := range left {
		found, _ := a.wait(ctx)
		maps.DeleteFunc(found, func(_ workspace.Path, c language.Caused) bool {
			return len(c.Elsewhere) == 0 && (c.Freshness != language.Fresh || len(c.New)+len(c.Fixed) == 0)
		})
		maps.Copy(out, found)
	}
	if len(out) > 0 {
		late(out)
	}
}

// aftermaths are those of the servers that run. Of files about which nothing will come to
// be known, out gets why.
func (b *Bridge) aftermaths(paths []workspace.Path, out map[workspace.Path]language.Caused) (all []*aftermath) {
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
			i := slices.IndexFunc(all, func(a *aftermath) bool { return a.client == c })
			if i < 0 {
				i, all = len(all), append(all, &aftermath{client: c})
			}
			all[i].paths = append(all[i].paths, p)
		}
	}
	return all
}

// lookBefore notes what was wrong before the change, for at most half as long as there is.
func (a *aftermath) lookBefore(ctx context.Context, before *document.Snapshot, touched map[workspace.Path]bool, most time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	c, alone := a.client, a.client.server.spec.Alone
	now := c.server.bridge.o.Documents.Snapshot(warmLimit)
	var users []workspace.Path
	for _, p := range a.paths {
		e := effect{path: p}
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
			if e.was, e.compared = c.knownOf(target(p), was.Text); !e.compared {
				e.was, e.compared = c.found(ctx, before, p)
			}
			if f, err := now.ReadIfExists(p, ""); err == nil && !alone {
				users = append(users, c.usersOf(ctx, before, p, was.Text, f.Text)...)
			}
		}
		a.effects = append(a.effects, e)
	}
	if !alone {
		a.bystanders = c.bystanders(ctx, before, append(users, c.lately()...), touched)
	}
}

// found is what is wrong in a text that the server is told for it.
func (c *client) found(ctx context.Context, s *document.Snapshot, p workspace.Path) ([]language.Diagnostic, bool) {
	if ctx.Err() != nil {
		return nil, false
	}
	t, err := c.syncText(s, p)
	if err != nil {
		return nil, false
	}
	k, state := c.await(ctx, t)
	if k == nil || state != language.Fresh {
		return nil, false
	}
	return k.list, true
}

// tell has the server know the files as they are now. A file that there is no more has no
// diagnostics that matter; of those whose server has ended, gone says so.
func (a *aftermath) tell(now *document.Snapshot) (gone map[workspace.Path]language.Caused) {
	gone = map[workspace.Path]language.Caused{}
	told := a.effects[:0]
	for _, e := range a.effects {
		var err error
		e.now, err = a.client.syncText(now, e.path)
		switch {
		case errors.Is(err, errGone):
			gone[e.path] = language.Caused{Server: a.client.server.status(), Freshness: language.Interrupted}
		case err == nil:
			told = append(told, e)
		}
	}
	a.effects = told
	return gone
}

// wait waits for what is wrong now, and compares: in the files themselves first. left is
// what is not known when nobody waits any more. What is found elsewhere stands with the
// first file.
func (a *aftermath) wait(ctx context.Context) (found map[workspace.Path]language.Caused, left *aftermath) {
	found, left = map[workspace.Path]language.Caused{}, &aftermath{client: a.client, paths: a.paths}
	var mu sync.Mutex // guards both
	var own, others sync.WaitGroup
	for _, e := range a.effects {
		own.Go(func() {
			caused := e.wait(ctx, a.client)
			mu.Lock()
			defer mu.Unlock()
			found[e.path] = caused
			if caused.Freshness == language.TimedOut {
				left.effects = append(left.effects, e)
			}
		})
	}
	own.Wait()
	if len(a.bystanders) > 0 {
		a.client.notifyWatched(ctx) // of a file that is gone
	}
	var elsewhere []language.Elsewhere
	for _, b := range a.bystanders {
		others.Go(func() {
			added, known := b.wait(ctx, a.client)
			mu.Lock()
			defer mu.Unlock()
			if !known {
				left.bystanders = append(left.bystanders, b)
			}
			if len(added) > 0 {
				elsewhere = append(elsewhere, language.Elsewhere{Path: b.path, New: added})
			}
		})
	}
	others.Wait()
	if len(elsewhere) > 0 {
		slices.SortFunc(elsewhere, func(a, b language.Elsewhere) int { return strings.Compare(a.Path.String(), b.Path.String()) })
		first, told := found[a.paths[0]]
		if !told { // it is gone
			first = language.Caused{Server: a.client.server.status(), Freshness: language.Fresh, Compared: true}
		}
		first.Elsewhere = elsewhere
		found[a.paths[0]] = first
	}
	if len(left.effects)+len(left.bystanders) == 0 {
		left = nil
	}
	return found, left
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
func (e effect) wait(ctx context.Context, c *client) language.Caused {
	k, state := c.await(ctx, e.now)
	out := language.Caused{Server: c.server.status(), Freshness: state, Compared: e.compared}
	switch {
	case state == language.Stale && !c.superseded(e.now):
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
