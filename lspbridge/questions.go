package lspbridge

import (
	"context"
	"encoding/json"
	"errors"

	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// question is what is asked about a document.
type question struct {
	method string                            // LSP's
	what   string                            // as people call what it asks for
	editor string                            // as the editor calls it, "" if it cannot be asked
	offers func(*abilities) ability          // who can be asked
	params func(uri string, as counting) any // LSP's parameters
	fits   func(json.RawMessage) error       // it can be read: an editor whose answer cannot has none
}

// counting is how whoever is asked counts in the document.
type counting struct {
	encoding encoding
	text     string
	version  *int32 // of the document, where whoever is asked numbers it as we do
}

func (n counting) position(at document.Position) document.Position {
	return n.encoding.theirs(n.text, at)
}

func (n counting) span(r document.Range) document.Range { return n.encoding.theirsRange(n.text, r) }

// reply is an answer, whoever gave it.
type reply struct {
	result   json.RawMessage
	encoding encoding
	by       language.Server
	from     *client // nil: the editor
}

// own asks our own server.
func (b *Bridge) own(ctx context.Context, s *document.Snapshot, p workspace.Path, q question) (reply, error) {
	sv, err := b.serverOfFile(s.Real(p))
	if err != nil {
		return reply{by: nobody}, err
	}
	ctx, cancel := context.WithTimeout(ctx, b.patience.question)
	defer cancel()
	for {
		c, err := sv.use(ctx)
		if err != nil {
			return reply{by: sv.status()}, err
		}
		if !c.can(q) {
			return reply{by: sv.status()}, notOffered(sv.spec, q.what)
		}
		result, err := c.ask(ctx, s, p, q)
		if !errors.Is(err, errGone) {
			return reply{result, c.encoding, sv.status(), c}, err
		}
	}
}

// positionParams are TextDocumentPositionParams.
type positionParams struct {
	TextDocument documentID        `json:"textDocument"`
	Position     document.Position `json:"position"`
	Context      any               `json:"context,omitempty"`
	NewName      string            `json:"newName,omitempty"`
}

type documentID struct {
	URI     string `json:"uri"`
	Version *int32 `json:"version,omitempty"`
}

// paramsAt are the parameters of most questions.
func paramsAt(at document.Position) func(string, counting) any {
	return func(uri string, as counting) any {
		return positionParams{TextDocument: documentID{uri, as.version}, Position: as.position(at)}
	}
}
