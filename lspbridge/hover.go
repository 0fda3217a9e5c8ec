package lspbridge

import (
	"context"
	"encoding/json"
	"strings"

	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// Hover is what a server says about a position, as Markdown; "" if it says nothing.
func (b *Bridge) Hover(ctx context.Context, s *document.Snapshot, p workspace.Path, at document.Position) (string, language.Server, error) {
	r, err := b.own(ctx, s, p, "hover", func(a *abilities) ability { return a.HoverProvider }, question{
		"textDocument/hover",
		func(c *client, d *openDocument) any { return c.placeParams(d, at) },
	})
	if err != nil {
		return "", r.by, err
	}
	var hover *struct {
		Contents json.RawMessage `json:"contents"`
	}
	if err := json.Unmarshal(r.result, &hover); err != nil {
		return "", r.by, garbled(r.by.Name, err)
	}
	if hover == nil {
		return "", r.by, nil
	}
	return markdown(hover.Contents), r.by, nil
}

// markdown joins what LSP allows as contents: MarkupContent, MarkedString, or several of these.
func markdown(raw json.RawMessage) string {
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) == nil {
		var out []string
		for _, part := range parts {
			if text := markdown(part); text != "" {
				out = append(out, text)
			}
		}
		return strings.Join(out, "\n\n")
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var marked struct {
		Kind, Language, Value string
	}
	if json.Unmarshal(raw, &marked) != nil || marked.Value == "" {
		return ""
	}
	if marked.Language != "" {
		return "```" + marked.Language + "\n" + marked.Value + "\n```"
	}
	return marked.Value
}
