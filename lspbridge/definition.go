package lspbridge

import (
	"context"

	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// Definition is where what stands at a position is defined; empty if nothing is found.
func (b *Bridge) Definition(ctx context.Context, s *document.Snapshot, p workspace.Path, at document.Position) ([]language.Location, language.Server, error) {
	r, err := b.own(ctx, s, p, "definitions", func(a *abilities) ability { return a.DefinitionProvider }, question{
		"textDocument/definition",
		func(c *client, d *openDocument) any { return c.placeParams(d, at) },
	})
	if err != nil {
		return nil, r.by, err
	}
	places, err := decodePlaces(r.result)
	if err != nil {
		return nil, r.by, garbled(r.by.Name, err)
	}
	return b.locations(s, places, r.from.encoding), r.by, nil
}
