package lspbridge

import (
	"context"

	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// Definition is where what stands at a position is defined; empty if nothing is found.
func (b *Bridge) Definition(ctx context.Context, s *document.Snapshot, p workspace.Path, at document.Position) ([]language.Location, language.Server, error) {
	return b.locations(ctx, s, p, question{
		method: "textDocument/definition", editor: "definition", what: "definitions",
		offers: func(a *abilities) ability { return a.DefinitionProvider },
		params: paramsAt(at), fits: fitsLocations,
	})
}

// References are the locations that use what stands at a position, with or without the
// one that declares it.
func (b *Bridge) References(ctx context.Context, s *document.Snapshot, p workspace.Path, at document.Position, declaration bool) ([]language.Location, language.Server, error) {
	return b.locations(ctx, s, p, question{
		method: "textDocument/references", editor: "references", what: "references",
		offers: func(a *abilities) ability { return a.ReferencesProvider },
		params: func(uri string, as counting) any {
			return positionParams{documentID{uri, as.version}, as.position(at), map[string]bool{"includeDeclaration": declaration}, ""}
		},
		fits: fitsLocations,
	})
}

// locations asks for locations.
func (b *Bridge) locations(ctx context.Context, s *document.Snapshot, p workspace.Path, q question) ([]language.Location, language.Server, error) {
	r, err := b.ask(ctx, s, p, q)
	if err != nil {
		return nil, r.by, err
	}
	found, err := decodeLocations(r.result)
	if err != nil {
		return nil, r.by, garbled(r.by, err)
	}
	return r.reader(b, s, p).locations(found), r.by, nil
}
