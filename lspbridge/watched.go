package lspbridge

import (
	"context"
	"encoding/json"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"pillion/internal/wire"
	"pillion/workspace"
	"pillion/workspace/search"
	"pillion/workspace/watch"
)

const watchedFiles = "workspace/didChangeWatchedFiles"

const (
	gatherTime  = 50 * time.Millisecond  // what comes within this is told as one
	settleTime  = 100 * time.Millisecond // for the file system to tell what happened
	mostWatched = 5000                   // files that are told of as one
)

// watchedGlob is one pattern that a server watches.
type watchedGlob struct {
	base    string // absolute: the folder that the pattern is about
	matches func(rel string) bool
	kinds   protocol.WatchKind
}

// watchedGlobs reads DidChangeWatchedFilesRegistrationOptions. What cannot be read is
// watched by nobody.
func (s *server) watchedGlobs(options json.RawMessage) (out []watchedGlob) {
	var o struct {
		Watchers []struct {
			Pattern json.RawMessage    `json:"globPattern"`
			Kinds   protocol.WatchKind `json:"kind"`
		} `json:"watchers"`
	}
	if json.Unmarshal(options, &o) != nil {
		return nil
	}
	for _, w := range o.Watchers {
		if g, ok := s.watchedGlob(w.Pattern); ok {
			if g.kinds = w.Kinds; g.kinds == 0 {
				g.kinds = protocol.WatchKindCreate | protocol.WatchKindChange | protocol.WatchKindDelete
			}
			out = append(out, g)
		}
	}
	return out
}

// watchedGlob is a Pattern or a RelativePattern. A pattern by itself may be absolute.
func (s *server) watchedGlob(raw json.RawMessage) (g watchedGlob, ok bool) {
	var relative struct {
		Base    json.RawMessage `json:"baseUri"`
		Pattern string          `json:"pattern"`
	}
	g.base = s.root.Abs()
	if json.Unmarshal(raw, &relative.Pattern) != nil {
		if json.Unmarshal(raw, &relative) != nil {
			return g, false
		}
		var folder struct {
			URI string `json:"uri"`
		}
		if json.Unmarshal(relative.Base, &folder.URI) != nil && json.Unmarshal(relative.Base, &folder) != nil {
			return g, false
		}
		if g.base, ok = workspace.FilePathOf(folder.URI); !ok {
			return g, false
		}
	}
	pattern := filepath.ToSlash(relative.Pattern)
	if filepath.IsAbs(relative.Pattern) {
		g.base = string(filepath.Separator)
	} else {
		pattern = "/" + pattern // as LSP has it, a glob is about the whole path
	}
	matches, err := search.CompileGlob(pattern)
	g.matches = matches
	return g, err == nil
}

func (g watchedGlob) has(abs string, kind protocol.FileChangeType) bool {
	rel, err := filepath.Rel(g.base, abs)
	return err == nil && filepath.IsLocal(rel) && g.kinds&(1<<(kind-1)) != 0 && g.matches(filepath.ToSlash(rel))
}

// wants says if a server watches a file.
func (r *registrations) wants(abs string, kind protocol.FileChangeType) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.by {
		for _, g := range one.watched {
			if g.has(abs, kind) {
				return true
			}
		}
	}
	return false
}

// Changed takes what the watching of the workspace tells. It does not block.
func (b *Bridge) Changed(events []watch.Event) {
	warm := b.watching()
	if len(warm) == 0 {
		return
	}
	for _, e := range events {
		note(warm, b.unfold(e))
	}
}

// note has servers told of files.
func note(watching []*client, seen []sighting) {
	for _, one := range seen {
		for _, c := range watching {
			c.noteChange(one.abs, one.kind)
		}
	}
}

// watching are the servers that run and watch files.
func (b *Bridge) watching() (out []*client) {
	b.mu.Lock()
	all := slices.Collect(maps.Values(b.servers)) // none of them is locked within b
	b.mu.Unlock()
	for _, s := range all {
		if c := s.warm(); c != nil && c.watches.has(watchedFiles) {
			out = append(out, c)
		}
	}
	return out
}

type sighting struct {
	abs  string
	kind protocol.FileChangeType
}

// unfold is what an event says of files. Of a folder that came only its name is told; all
// in it is new.
func (b *Bridge) unfold(e watch.Event) []sighting {
	abs := filepath.Join(e.Dir, e.Name)
	switch e.Op {
	case watch.Created:
		out := []sighting{{abs, protocol.FileChangeTypeCreated}}
		if e.Folder {
			out = append(out, b.below(abs, protocol.FileChangeTypeCreated)...)
		}
		return out
	case watch.Deleted:
		return []sighting{{abs, protocol.FileChangeTypeDeleted}}
	case watch.Changed:
		return []sighting{{abs, protocol.FileChangeTypeChanged}}
	case watch.Lost: // LSP has no word for "look again at everything"
		if b.work() {
			go b.lost(e.Dir)
		}
	case watch.Attributes:
	}
	return nil
}

// lost says of all files below a folder that they may have changed. Who looks at many
// does not hold up who tells.
func (b *Bridge) lost(dir string) {
	defer b.running.Done()
	note(b.watching(), b.below(dir, protocol.FileChangeTypeChanged))
}

// below are the files in a folder that are not ignored.
func (b *Bridge) below(dir string, kind protocol.FileChangeType) (out []sighting) {
	p, ok := b.o.Documents.Workspace().Place(dir)
	if !ok {
		return nil
	}
	//nolint:errcheck // it is gone again
	_ = p.Walk(b.ctx, workspace.WalkOptions{}, func(e workspace.Entry) error {
		if len(out) == mostWatched {
			return fs.SkipAll
		}
		out = append(out, sighting{e.Path.Abs(), kind})
		return nil
	})
	return out
}

// noteChange keeps what the server is to be told of, for a moment.
func (c *client) noteChange(abs string, kind protocol.FileChangeType) {
	if !c.watches.wants(abs, kind) {
		return
	}
	c.seeing.Lock()
	defer c.seeing.Unlock()
	if len(c.seen) >= mostWatched {
		return
	}
	if c.seen == nil {
		c.seen = map[string]protocol.FileChangeType{}
		time.AfterFunc(gatherTime, c.flushWatched)
	}
	switch was := c.seen[abs]; {
	case was == protocol.FileChangeTypeCreated && kind == protocol.FileChangeTypeDeleted:
		delete(c.seen, abs)
	case was == protocol.FileChangeTypeCreated: // it is new still
	case was == protocol.FileChangeTypeDeleted && kind == protocol.FileChangeTypeCreated:
		c.seen[abs] = protocol.FileChangeTypeChanged
	default:
		c.seen[abs] = kind
	}
}

// notifyWatched tells all that happened so far, as far as that can be known.
func (c *client) notifyWatched(ctx context.Context) {
	if settle := c.server.bridge.o.Settle; settle != nil && c.watches.has(watchedFiles) {
		ctx, cancel := context.WithTimeout(ctx, settleTime)
		defer cancel()
		_ = settle(ctx) //nolint:errcheck // then it is told when it is seen
	}
	c.flushWatched()
}

func (c *client) flushWatched() {
	c.seeing.Lock()
	defer c.seeing.Unlock()
	if len(c.seen) == 0 {
		c.seen = nil
		return
	}
	changes := make([]protocol.FileEvent, 0, len(c.seen))
	for abs, kind := range c.seen {
		if p, ok := c.server.bridge.o.Documents.Workspace().Place(abs); ok {
			changes = append(changes, protocol.FileEvent{URI: uri.URI(p.URI()), Type: kind})
		}
	}
	c.seen = nil
	c.reports.expectAll()
	_ = c.notify(watchedFiles, &protocol.DidChangeWatchedFilesParams{Changes: changes}) //nolint:errcheck // it ended, and starts anew
}

// registrations are what a server asked for after it was started.
type registrations struct {
	mu sync.Mutex // guards by
	by map[string]registration
}

// registration is one of them, by the id that the server gave it.
type registration struct {
	method  string
	watched []watchedGlob // of a workspace/didChangeWatchedFiles
}

const mostRegistrations = 1000

func (c *client) register(params json.RawMessage) (any, error) {
	var p protocol.RegistrationParams
	if err := protocol.Unmarshal(params, &p); err != nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "client/registerCapability: %v", err)
	}
	c.watches.mu.Lock()
	defer c.watches.mu.Unlock()
	if c.watches.by == nil {
		c.watches.by = map[string]registration{}
	}
	for _, r := range p.Registrations {
		if len(c.watches.by) >= mostRegistrations {
			return nil, wire.Errorf(wire.CodeRequestFailed, "there are %d registrations already", mostRegistrations)
		}
		one := registration{method: r.Method}
		if r.Method == watchedFiles {
			one.watched = c.server.watchedGlobs(json.RawMessage(r.RegisterOptions))
		}
		c.watches.by[r.ID] = one
	}
	return nil, nil
}

func (c *client) unregister(params json.RawMessage) (any, error) {
	var p protocol.UnregistrationParams
	if err := protocol.Unmarshal(params, &p); err != nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "client/unregisterCapability: %v", err)
	}
	c.watches.mu.Lock()
	defer c.watches.mu.Unlock()
	for _, r := range p.Unregisterations {
		delete(c.watches.by, r.ID)
	}
	return nil, nil
}

// has says if the server has registered for a method.
func (r *registrations) has(method string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(slices.Collect(maps.Values(r.by)), func(one registration) bool { return one.method == method })
}
