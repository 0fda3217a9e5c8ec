package lspbridge

import (
	"strings"

	"go.lsp.dev/protocol"

	"pillion/internal/wire"
	"pillion/workspace/document"
)

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
