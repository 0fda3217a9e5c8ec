package lspbridge

import (
	"strings"

	"pillion/workspace/document"
)

func (c *client) didOpen(d *openDocument, text string) error {
	return c.telling(d, text, "textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": d.uri, "languageId": d.language, "version": d.version, "text": text,
	}})
}

// didChange tells of the text that d has now. d.text is the one before, if it was kept.
func (c *client) didChange(d *openDocument, text string) error {
	change := any(map[string]string{"text": text})
	if c.offers.TextDocumentSync.Change == syncIncremental && len(text) >= spanFrom && d.text != "" && plainLines(d.text) && plainLines(text) {
		change = span(d.text, text, c.encoding)
	}
	return c.telling(d, text, "textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": d.uri, "version": d.version},
		"contentChanges": []any{change},
	})
}

func (c *client) didSave(d *openDocument) error {
	if !c.offers.TextDocumentSync.Save {
		return nil
	}
	at, crowded := c.reports.stir(d.path)
	return c.tellingAt(d, at, crowded, "textDocument/didSave", map[string]any{"textDocument": map[string]string{"uri": d.uri}})
}

func (c *client) didClose(d *openDocument) error {
	delete(c.docs, d.path)
	c.reports.closed(d.path)
	return c.notify("textDocument/didClose", map[string]any{"textDocument": map[string]string{"uri": d.uri}})
}

func (c *client) notify(method string, params any) error {
	return answered(c.server.ctx, c.server.spec, method, c.gone(c.conn.Notify(method, params)))
}

// spanFrom is the size of a text from which it is worth telling only what changed.
const spanFrom = 16 << 10

// plainLines: the text has no line ends about which servers differ. There are some that
// end a line where their language's library does.
func plainLines(text string) bool {
	return !strings.ContainsAny(text, "\v\f\x1c\x1d\x1e\u0085\u2028\u2029") && strings.Count(text, "\r") == strings.Count(text, "\r\n")
}

// contentChange is one of textDocument/didChange that replaces a part of the text.
type contentChange struct {
	Range document.Range `json:"range"`
	Text  string         `json:"text"`
}

// span is the one change that makes after of before.
func span(before, after string, e encoding) contentChange {
	start, end, text := document.Span(before, after)
	return contentChange{Range: document.Range{Start: e.position(before, start), End: e.position(before, end)}, Text: text}
}
