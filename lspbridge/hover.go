package lspbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// Hover is what a server says about a position, as Markdown; "" if it says nothing.
func (b *Bridge) Hover(ctx context.Context, s *document.Snapshot, p workspace.Path, at document.Position) (string, language.Server, error) {
	r, err := b.ask(ctx, s, p, question{
		method: "textDocument/hover", editor: "hover", what: "hover",
		offers: func(a *abilities) ability { return a.HoverProvider },
		params: paramsAt(at), fits: fitsHover,
	})
	if err != nil || isEmpty(r.result) {
		return "", r.by, err
	}
	contents, err := decodeHover(r.result)
	if err != nil {
		return "", r.by, garbled(r.by, err)
	}
	return markdown(contents), r.by, nil
}

func decodeHover(raw json.RawMessage) (json.RawMessage, error) {
	var hover struct {
		Contents json.RawMessage `json:"contents"`
	}
	err := json.Unmarshal(raw, &hover)
	if err == nil && hover.Contents == nil {
		err = errors.New("a hover without contents")
	}
	return hover.Contents, err
}

func fitsHover(raw json.RawMessage) error {
	if isEmpty(raw) {
		return nil
	}
	_, err := decodeHover(raw)
	return err
}

// markdown joins what LSP allows as contents: MarkupContent, MarkedString, or several of these.
func markdown(raw json.RawMessage) string {
	var parts []json.RawMessage
	if bytes.HasPrefix(raw, []byte("[")) && json.Unmarshal(raw, &parts) == nil {
		var out []string
		for _, part := range parts {
			if text := markdown(part); text != "" {
				out = append(out, text)
			}
		}
		return strings.Join(out, "\n\n")
	}
	var text string
	if bytes.HasPrefix(raw, []byte(`"`)) && json.Unmarshal(raw, &text) == nil {
		return text
	}
	var marked struct {
		Language string `json:"language"`
		Value    string `json:"value"`
	}
	if json.Unmarshal(raw, &marked) != nil || marked.Value == "" || marked.Language == "" {
		return marked.Value
	}
	return "```" + marked.Language + "\n" + marked.Value + "\n```"
}
