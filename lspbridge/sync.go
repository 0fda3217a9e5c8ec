package lspbridge

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"pillion/internal/wire"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/search"
	"pillion/workspace/watch"
)

// What is open in a server, and what of it we keep.
const (
	mostOpen = 64          // documents; those that were not used for longest are closed
	mostKept = 2 << 20     // bytes of texts that only the disk has besides
	racyTime = time.Second // within this after a write, times on disk tell nothing
)

// openDocument is a document as a server was told it.
type openDocument struct {
	path     workspace.Path
	uri      uri.URI
	language string
	version  int32 // counts from 1: there are servers that take 0 for none
	saved    int32 // the version that the server was told is on disk
	sum      uint64
	text     string // "" if it is not kept
	used     time.Time

	buffer *document.Buffer // whose text it is; nil: the disk's
	disk   diskStamp        // when it was looked at
}

// diskStamp tells without reading that a file on disk is as it was.
type diskStamp struct {
	size     int64
	modified time.Time
	mode     fs.FileMode
}

var textSeed = maphash.MakeSeed()

func sumOf(text string) uint64 { return maphash.String(textSeed, text) }

// syncLocked has the server know all its documents as the snapshot has them, and p
// whether it was open or not. text is that of p.
func (c *client) syncLocked(s *document.Snapshot, p workspace.Path) (d *openDocument, text string, err error) {
	p = s.Real(p)
	for _, d := range c.docs {
		if d.path != p && outdated(s, d) {
			if err := c.renew(s, d.path); err != nil {
				return nil, "", err
			}
		}
	}
	for _, b := range c.server.bridge.o.Documents.Dirty() {
		if file := s.Real(b.Path); file != p && c.docs[file] == nil && c.concerns(s, file) {
			if err := c.renew(s, file); err != nil {
				return nil, "", err
			}
		}
	}
	f, err := s.Read(p, "")
	if err != nil {
		return nil, "", err
	}
	if d, err = c.sync(s, f); err != nil {
		return nil, "", err
	}
	d.used = time.Now()
	return d, f.Text, c.closeSpare()
}

// concerns says if an open buffer is of this server's languages and root.
func (c *client) concerns(s *document.Snapshot, p workspace.Path) bool {
	return s.Buffer(p) != nil && p.IsIn(c.server.root) && slices.Contains(c.server.spec.Languages, languageOf(p, s.Buffer(p)))
}

// outdated says if a document may be another than the server was told.
func outdated(s *document.Snapshot, d *openDocument) bool {
	if s.Buffer(d.path) != d.buffer || d.disk == (diskStamp{}) {
		return true
	}
	info, err := d.path.Stat()
	return err != nil || diskStamp{info.Size(), info.ModTime(), info.Mode()} != d.disk
}

// stampOf is that of the file when it was read, the zero stamp if it would prove
// nothing: when the file was written just now.
func stampOf(f *document.File) diskStamp {
	if time.Since(f.Modified) < racyTime {
		return diskStamp{}
	}
	return diskStamp{f.DiskSize, f.Modified, f.Mode}
}

// renew tells of p what the snapshot has. One that is gone, or no text any more, is closed.
func (c *client) renew(s *document.Snapshot, p workspace.Path) error {
	f, err := s.ReadIfExists(p, "")
	if err == nil && f.Exists {
		_, err = c.sync(s, f)
		return err
	}
	if d := c.docs[p]; d != nil {
		return c.didClose(d)
	}
	return nil
}

// sync opens or changes a document as f has it.
func (c *client) sync(s *document.Snapshot, f *document.File) (*openDocument, error) {
	d, sum := c.docs[f.Path], sumOf(f.Text)
	switch {
	case d == nil:
		d = &openDocument{path: f.Path, uri: uri.URI(f.Path.URI()), language: languageOf(f.Path, f.Buffer), version: c.reports.next(f.Path)}
		if !f.Dirty {
			d.saved = d.version
		}
		if err := c.didOpen(d, f.Text); err != nil {
			return nil, err
		}
		c.docs[f.Path] = d
	case d.sum != sum:
		d.version++
		if err := c.didChange(d, f.Text); err != nil {
			return nil, err
		}
	}
	d.sum, d.buffer, d.disk = sum, s.Buffer(f.Path), stampOf(f)
	c.keep(d, f)
	if !f.Dirty && d.saved != d.version {
		d.saved = d.version
		return d, c.didSave(d)
	}
	return d, nil
}

// keep holds on to a text to tell changes of it apart, where that takes no memory, or
// not much.
func (c *client) keep(d *openDocument, f *document.File) {
	d.text = ""
	if f.Source == document.FromBuffer {
		d.text = f.Text
		return
	}
	kept := len(f.Text)
	for _, other := range c.docs {
		if other.buffer == nil {
			kept += len(other.text)
		}
	}
	if kept <= mostKept {
		d.text = f.Text
	}
}

// closeSpare closes documents that nobody asked about for longest. Those with unsaved
// changes stay.
func (c *client) closeSpare() error {
	for len(c.docs) > mostOpen {
		var oldest *openDocument
		for _, d := range c.docs {
			if d.saved == d.version && (oldest == nil || d.used.Before(oldest.used)) {
				oldest = d
			}
		}
		if oldest == nil {
			return nil
		}
		if err := c.didClose(oldest); err != nil {
			return err
		}
	}
	return nil
}

// open is what is open in the server.
func (c *client) open() []workspace.Path {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.docs))
}

func (c *client) didOpen(d *openDocument, text string) error {
	return c.notifyOf(d, text, "textDocument/didOpen", &protocol.DidOpenTextDocumentParams{TextDocument: protocol.TextDocumentItem{
		URI: d.uri, LanguageID: protocol.LanguageKind(d.language), Version: d.version, Text: text,
	}})
}

// didChange tells of the text that d has now. d.text is the one before, if it was kept.
func (c *client) didChange(d *openDocument, text string) error {
	params := &protocol.DidChangeTextDocumentParams{ContentChanges: []protocol.TextDocumentContentChangeEvent{&protocol.TextDocumentContentChangeWholeDocument{Text: text}}}
	params.TextDocument.URI, params.TextDocument.Version = d.uri, d.version
	if c.offers.TextDocumentSync.Change == protocol.TextDocumentSyncKindIncremental && len(text) >= spanFrom && d.text != "" && plainLines(d.text) && plainLines(text) {
		params.ContentChanges[0] = span(d.text, text, c.encoding)
	}
	return c.notifyOf(d, text, "textDocument/didChange", params)
}

func (c *client) didSave(d *openDocument) error {
	if !c.offers.TextDocumentSync.Save {
		return nil
	}
	at, crowded := c.reports.expect(d.path)
	return c.notifyOfAt(d, at, crowded, "textDocument/didSave", &protocol.DidSaveTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: d.uri}})
}

func (c *client) didClose(d *openDocument) error {
	delete(c.docs, d.path)
	c.reports.closed(d.path)
	return c.notify("textDocument/didClose", &protocol.DidCloseTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: d.uri}})
}

// notify sends what has LSP's own types, whose unions need the library's codec.
func (c *client) notify(method string, params any) error {
	raw, err := protocol.Marshal(params)
	if err != nil {
		return err
	}
	return answered(c.server.ctx, c.server.spec, method, c.gone(c.conn.Notify(method, wire.Raw(raw))))
}

// spanFrom is the size of a text from which it is worth telling only what changed.
const spanFrom = 16 << 10

// plainLines: the text has no line ends about which servers differ. There are some that
// end a line where their language's library does.
func plainLines(text string) bool {
	return !strings.ContainsAny(text, "\v\f\x1c\x1d\x1e\u0085\u2028\u2029") && strings.Count(text, "\r") == strings.Count(text, "\r\n")
}

// span is the one change that makes after of before.
func span(before, after string, e encoding) *protocol.TextDocumentContentChangePartial {
	start, end, text := document.Span(before, after)
	return &protocol.TextDocumentContentChangePartial{
		Range: protocol.Range{Start: protocol.Position(e.position(before, start)), End: protocol.Position(e.position(before, end))}, Text: text,
	}
}

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
