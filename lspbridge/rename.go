package lspbridge

import (
	"context"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// Rename is what has to be changed so that what stands at a position is called otherwise.
func (b *Bridge) Rename(ctx context.Context, s *document.Snapshot, p workspace.Path, at document.Position, to string) ([]language.FileEdits, language.Server, error) {
	offers := func(a *abilities) ability { return a.RenameProvider }
	prepared, err := b.own(ctx, s, p, question{
		method: "textDocument/prepareRename", what: "rename", params: paramsAt(at),
		offers: func(a *abilities) ability { return ability{offered: a.RenameProvider.has("prepareProvider")} },
	})
	switch {
	case err == nil && isNull(prepared.result):
		return nil, prepared.by, fault.New(fault.InvalidArguments, "nothing that can be renamed is at line %d, character %d", at.Line, at.Character).
			WithHint("name a place inside the name; lines and characters count from 0")
	case err != nil && fault.CodeOf(err) != fault.LSPUnavailable: // a server that does not prepare says so when it renames
		return nil, prepared.by, err
	}
	r, err := b.own(ctx, s, p, question{
		method: "textDocument/rename", what: "rename", offers: offers,
		params: func(uri string, as counting) any {
			return positionParams{TextDocument: documentID{URI: uri}, Position: as.position(at), NewName: to}
		},
	})
	if err != nil {
		return nil, r.by, err
	}
	edits, err := r.reader(b, s, p).workspaceEdit(r.result)
	return edits, r.by, err
}
