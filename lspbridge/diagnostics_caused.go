package lspbridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"pillion/workspace"
	"pillion/workspace/diff"
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

// bystander is a document that a change does not touch. What is wrong in it may be
// another all the same.
type bystander struct {
	path workspace.Path
	sum  uint64                // of its text
	was  []language.Diagnostic // before the change
}

// bystanders are those of some files of which the server can say in time what is wrong in
// them before a change.
func (c *client) bystanders(ctx context.Context, before *document.Snapshot, of []workspace.Path, touched map[workspace.Path]bool) (out []bystander) {
	seen := map[workspace.Path]bool{}
	for _, p := range of {
		if ctx.Err() != nil {
			break // nobody waits, and the server is told no older text for nothing
		}
		if p = target(p); touched[p] || seen[p] {
			continue
		}
		if seen[p] = true; len(seen) > mostUsers {
			break
		}
		t, err := c.syncText(before, p)
		if err != nil {
			continue
		}
		if k := c.certain(t); k != nil {
			out = append(out, bystander{p, t.sum, k.list})
		} else if k, state := c.await(ctx, t); k != nil && state == language.Fresh {
			out = append(out, bystander{p, t.sum, k.list})
		}
	}
	return out
}

// certain is what is known to be wrong in a document, if nothing has changed since on which
// that depends.
func (c *client) certain(t syncedText) *knownList {
	c.reports.mu.Lock()
	outdated := c.reports.getLocked(t.path).outdated
	c.reports.mu.Unlock()
	if outdated {
		return nil
	}
	k, _, _ := c.look(t)
	return k
}

// wait waits for what is wrong in a bystander now. added are the errors and warnings that
// it did not have; nobody knows of one whose text is another by now, which counts as known.
func (b bystander) wait(ctx context.Context, c *client) (added []language.Diagnostic, known bool) {
	t, err := c.syncText(c.server.bridge.o.Documents.Snapshot(warmLimit), b.path)
	if err != nil || t.sum != b.sum {
		return nil, true
	}
	k, state := c.await(ctx, t)
	if k == nil || state != language.Fresh {
		return nil, state != language.TimedOut && (state != language.Stale || c.superseded(t))
	}
	added, _, _ = compare("", "", b.was, k.list)
	return slices.DeleteFunc(added, func(d language.Diagnostic) bool { return d.Severity > language.Warning }), true
}

// lately are the documents that are open, those that somebody asked about last first.
func (c *client) lately() (out []workspace.Path) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for p := range c.docs {
		out = append(out, p)
	}
	slices.SortFunc(out, func(x, y workspace.Path) int {
		return cmp.Or(c.docs[y].used.Compare(c.docs[x].used), cmp.Compare(x.String(), y.String()))
	})
	return out
}

// usersOf are files that use what a change of p touches: of the names whose lines it
// changes, all references, those in p's own folder first. A server that does not say in
// time which there are has none.
func (c *client) usersOf(ctx context.Context, before *document.Snapshot, p workspace.Path, was, now string) (out []workspace.Path) {
	defined := question{
		method: "textDocument/documentSymbol", offers: func(a *abilities) ability { return a.DocumentSymbolProvider },
		params: func(uri string, _ counting) any { return map[string]any{"textDocument": documentID{URI: uri}} },
	}
	used := question{method: "textDocument/references", offers: func(a *abilities) ability { return a.ReferencesProvider }}
	if !c.can(defined) || !c.can(used) {
		return nil
	}
	raw, err := c.ask(ctx, before, p, defined)
	if err != nil {
		return nil
	}
	symbols, err := decodeSymbols(raw)
	if err != nil {
		return nil
	}
	names := align(was, now).renamed(symbols)
	for _, name := range names[:min(len(names), mostUsed)] {
		used.params = func(uri string, _ counting) any {
			return positionParams{TextDocument: documentID{URI: uri}, Position: name, Context: map[string]bool{"includeDeclaration": false}}
		}
		raw, err := c.ask(ctx, before, p, used)
		if err != nil {
			break
		}
		locations, err := decodeLocations(raw)
		if err != nil {
			break
		}
		for _, l := range locations {
			if user, ok := c.server.bridge.o.Documents.Workspace().FromURI(l.URI); ok && !slices.Contains(out, user) {
				out = append(out, user)
			}
		}
	}
	near := func(user workspace.Path) int {
		if user.Dir() == p.Dir() {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(out, func(x, y workspace.Path) int { return near(x) - near(y) })
	return out
}

// renamed are the names that stand in lines that were changed, where the server has them:
// those that hold others before these.
func (a alignment) renamed(symbols []symbol) (names []document.Position) {
	for _, s := range symbols {
		if _, in := a.line(int(s.Selection.Start.Line)); in != nil && s.Location == nil {
			names = append(names, s.Selection.Start)
		}
		names = append(names, a.renamed(s.Children)...)
	}
	return names
}

// alignment maps the lines of a text to those of another.
type alignment struct {
	edits []diff.Edit
}

func align(before, after string) alignment {
	return alignment{diff.Lines(document.Lines(before), document.Lines(after))}
}

// line is where an old line is now. One that was changed has no place, but is in an edit.
func (a alignment) line(old int) (now int, in *diff.Edit) {
	i := sort.Search(len(a.edits), func(i int) bool { return a.edits[i].OldStart > old }) - 1
	switch {
	case i < 0:
		return old, nil
	case old < a.edits[i].OldEnd:
		return 0, &a.edits[i]
	}
	return old + a.edits[i].NewEnd - a.edits[i].OldEnd, nil
}

// changed says if a line of the new text is one that the change made, and of which edit.
func (a alignment) changed(now int) *diff.Edit {
	i := sort.Search(len(a.edits), func(i int) bool { return a.edits[i].NewStart > now }) - 1
	if i < 0 || now >= a.edits[i].NewEnd {
		return nil
	}
	return &a.edits[i]
}

// compare says which diagnostics of after are new, which of before's are fixed, and how
// many are still there. Two are the same if they say the same of the same line, at the
// same place in it (a message may count lines itself); of a line that was changed, if
// they say the same of what became of it.
func compare(before, after string, was, now []language.Diagnostic) (added, fixed []language.Diagnostic, remaining int) {
	a := align(before, after)
	pairs := pairing{old: make([]bool, len(was)), now: make([]bool, len(now))}
	pairs.match(was, now, says, func(old, is document.Range) bool { return a.stays(old, is) })
	pairs.match(was, now, saysButNumbers, func(old, is document.Range) bool { return a.stays(old, is) })
	pairs.match(was, now, says, func(old, is document.Range) bool { return a.becomes(old, is) })
	for i, d := range was {
		if !pairs.old[i] {
			fixed = append(fixed, d)
		}
	}
	for i, d := range now {
		if !pairs.now[i] {
			added = append(added, d)
		}
	}
	return added, fixed, len(now) - len(added)
}

// pairing is which diagnostics have found their like.
type pairing struct{ old, now []bool }

// match pairs those that say the same in the same place.
func (p pairing) match(was, now []language.Diagnostic, says func(language.Diagnostic) string, same func(old, is document.Range) bool) {
	by := map[string][]int{}
	for i, d := range was {
		if !p.old[i] {
			by[says(d)] = append(by[says(d)], i)
		}
	}
	for i, d := range now {
		if p.now[i] {
			continue
		}
		list := by[says(d)]
		at := slices.IndexFunc(list, func(old int) bool { return same(was[old].Range, d.Range) })
		if at >= 0 {
			p.old[list[at]], p.now[i] = true, true
			by[says(d)] = slices.Delete(list, at, at+1)
		}
	}
}

// onChanged are the diagnostics on lines that the change made; others is how many more
// there are.
func onChanged(before, after string, now []language.Diagnostic) (on []language.Diagnostic, others int) {
	a := align(before, after)
	for _, d := range now {
		if a.changed(int(d.Range.Start.Line)) != nil {
			on = append(on, d)
		} else {
			others++
		}
	}
	return on, others
}

// stays: a place in a line that was not changed is the same place now.
func (a alignment) stays(old, is document.Range) bool {
	line, edit := a.line(int(old.Start.Line))
	if edit != nil || line != int(is.Start.Line) || old.Start.Character != is.Start.Character {
		return false
	}
	// Where it ends counts only within the line: what follows may have grown.
	return old.End.Line != old.Start.Line || is.End.Line == is.Start.Line && old.End.Character == is.End.Character
}

// becomes: both are in the same edit, one before and one after it.
func (a alignment) becomes(old, is document.Range) bool {
	_, edit := a.line(int(old.Start.Line))
	return edit != nil && edit == a.changed(int(is.Start.Line))
}

// says is what a diagnostic says, wherever that is.
func says(d language.Diagnostic) string {
	return fmt.Sprintf("%d\x00%v\x00%s\x00%s", d.Severity, d.Code, d.Source, d.Message)
}

var digits = regexp.MustCompile(`[0-9]+`)

func saysButNumbers(d language.Diagnostic) string {
	d.Message = digits.ReplaceAllString(d.Message, "0")
	return says(d)
}
