package lspbridge

import (
	"context"
	"encoding/json"

	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// reply is what a server of ours answered.
type reply struct {
	result json.RawMessage
	from   *client
	by     language.Server
}

// own asks our own server. offers says if it can be asked; what is what people call that.
func (b *Bridge) own(ctx context.Context, s *document.Snapshot, p workspace.Path, what string, offers func(*abilities) ability, q question) (reply, error) {
	sv, err := b.serverOf(p)
	if err != nil {
		return reply{by: nobody}, err
	}
	ctx, cancel := context.WithTimeout(ctx, questionTime)
	defer cancel()
	c, err := sv.use(ctx)
	if err != nil {
		return reply{by: sv.status()}, err
	}
	if !offers(&c.offers).offered {
		return reply{by: sv.status()}, notOffered(sv.spec, what)
	}
	result, err := c.ask(ctx, s, p, q)
	return reply{result, c, sv.status()}, err
}

// placeParams are TextDocumentPositionParams, as the server counts.
func (c *client) placeParams(d *openDocument, at document.Position) map[string]any {
	return map[string]any{"textDocument": map[string]string{"uri": d.uri}, "position": c.encoding.theirs(d.text, at)}
}
