package lspbridge

import (
	"cmp"
	"context"
	"slices"

	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

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
		if was, known := c.certain(t); known {
			out = append(out, bystander{p, t.sum, was})
		} else if k, state := c.await(ctx, t); k != nil && state == language.Fresh {
			out = append(out, bystander{p, t.sum, k.list})
		}
	}
	return out
}

// certain is what is known to be wrong in a document, if nothing has changed since on which
// that depends.
func (c *client) certain(t syncedText) ([]language.Diagnostic, bool) {
	c.reports.mu.Lock()
	outdated := c.reports.getLocked(t.path).outdated
	c.reports.mu.Unlock()
	if outdated {
		return nil, false
	}
	k, _, _ := c.look(t)
	if k == nil {
		return nil, false
	}
	return k.list, true
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
