package rpc

import (
	"context"
	"errors"

	"pillion/internal/wire"
	"pillion/workspace/change"
	"pillion/workspace/document"
)

// buffers changes open documents through the editor. It implements change.Editor.
type buffers struct {
	server *server
	client client
}

// Takes: a plugin takes every open file. Any other editor takes those with
// unsaved changes; it reloads the others from disk by itself.
func (b *buffers) Takes(f *document.File) bool { return b.client.Capabilities.Documents || f.Dirty }

// Edit changes one open document, at exactly the version named.
func (b *buffers) Edit(ctx context.Context, e change.BufferEdit) (change.BufferResult, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if !b.client.Capabilities.Documents {
		return b.applyEdit(ctx, e)
	}
	var result change.BufferResult
	err := b.server.conn.Call(ctx, "document/edit", e, &result)
	return result, err
}

// applyEdit is the way without a plugin. What it answers is not believed: the
// document's own notifications show whether the edit was made.
func (b *buffers) applyEdit(ctx context.Context, e change.BufferEdit) (change.BufferResult, error) {
	if e.Version == 0 {
		return change.BufferResult{}, errors.New("the editor gave this buffer no version, so an edit could apply to another text; save the file and try again")
	}
	var answer struct {
		Applied bool   `json:"applied"`
		Reason  string `json:"failureReason"`
	}
	err := b.server.conn.Call(ctx, "workspace/applyEdit", workspaceEdit(e), &answer)
	var broken *wire.Error
	if errors.As(err, &broken) && broken.Code == wire.CodeMethodNotFound {
		return change.BufferResult{}, errors.New("it cannot edit open files; save the file and try again")
	}
	if err != nil || !answer.Applied {
		return change.BufferResult{Reason: answer.Reason}, err
	}
	return change.BufferResult{Applied: true, Version: e.Version + 1, Dirty: true}, nil
}

// workspaceEdit is a workspace/applyEdit of text edits in one document alone.
func workspaceEdit(e change.BufferEdit) any {
	return map[string]any{
		"label": e.Label,
		"edit": map[string]any{"documentChanges": []any{map[string]any{
			"textDocument": map[string]any{"uri": e.URI, "version": e.Version},
			"edits":        e.Edits,
		}}},
	}
}
