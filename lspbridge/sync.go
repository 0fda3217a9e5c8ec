package lspbridge

import (
	"hash/maphash"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"pillion/internal/wire"
	"pillion/workspace"
	"pillion/workspace/document"
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
