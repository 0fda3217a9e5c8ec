package lspbridge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"pillion/internal/fault"
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

func (n counting) span(r document.Range) document.Range {
	return document.Range{Start: n.position(r.Start), End: n.position(r.End)}
}

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

// ask asks the editor's servers first, whose user chose them and set them up, and our
// own where the editor has nothing to say. Settings turn that round.
func (b *Bridge) ask(ctx context.Context, s *document.Snapshot, p workspace.Path, q question) (reply, error) {
	if b.o.Ask == nil {
		return b.own(ctx, s, p, q)
	}
	if b.o.Settings(p.Top()).PreferOwn {
		own, err := b.own(ctx, s, p, q)
		if fault.CodeOf(err) == fault.LSPUnavailable {
			if theirs, ok := b.editors(ctx, s, p, q); ok {
				return theirs, nil
			}
		}
		return own, err
	}
	theirs, ok := b.editors(ctx, s, p, q)
	if ok && !isEmpty(theirs.result) {
		return theirs, nil
	}
	own, err := b.own(ctx, s, p, q)
	if ok && fault.CodeOf(err) == fault.LSPUnavailable && own.by.Status == language.NotInstalled {
		return theirs, nil // nobody knows better
	}
	return own, err
}

// editors asks the editor's own servers, and says if they answered.
func (b *Bridge) editors(ctx context.Context, s *document.Snapshot, p workspace.Path, q question) (reply, bool) {
	f, err := s.Read(p, "")
	if q.editor == "" || err != nil {
		return reply{}, false
	}
	uri, as := p.URI(), counting{encoding: utf16, text: f.Text}
	if f.Buffer != nil {
		uri, as.version = f.Buffer.URI, &f.Buffer.Version
	}
	result, by, err := b.askEditor(ctx, q.editor, q.params(uri, as), f.Buffer, b.editorPatience(p))
	if err != nil || q.fits(result) != nil {
		return reply{}, false
	}
	return reply{result: result, encoding: utf16, by: by}, true
}

var (
	errNoAnswer     = errors.New("the editor has no answer")
	errOtherVersion = errors.New("the editor answered about another version")
)

// askEditor asks the editor once. The answer is LSP's result, bare or in an envelope
// that names the version of the document that it is about.
func (b *Bridge) askEditor(ctx context.Context, method string, params any, about *document.Buffer, patience time.Duration) (json.RawMessage, language.Server, error) {
	raw, err := b.put(ctx, method, params, patience)
	if err == nil && isNull(raw) {
		err = errNoAnswer
	}
	if err != nil {
		return nil, language.Server{}, err
	}
	result, version, name := envelope(raw)
	if version != nil && about != nil && *version != about.Version {
		return nil, language.Server{}, errOtherVersion
	}
	return result, language.Server{Name: name, Status: language.Editor}, nil
}

// editorAnswer is LSP's result with the document's version and the server's name. What
// is no result stands where LSP's diagnostic reports and pushed diagnostics have it, or
// under a name that an editor may give it.
type editorAnswer struct {
	Result      json.RawMessage `json:"result"`
	Version     *int32          `json:"version"`
	Server      string          `json:"server"`
	Items       json.RawMessage `json:"items,omitempty"`
	Diagnostics json.RawMessage `json:"diagnostics,omitempty"`
	Locations   json.RawMessage `json:"locations,omitempty"`
	Location    json.RawMessage `json:"location,omitempty"`
	References  json.RawMessage `json:"references,omitempty"`
	Symbols     json.RawMessage `json:"symbols,omitempty"`
	Hover       json.RawMessage `json:"hover,omitempty"`
}

// envelope takes an editorAnswer, or a bare result, among whose own members the version
// may stand too.
func envelope(raw json.RawMessage) (result json.RawMessage, version *int32, server string) {
	const nameless = "the editor's"
	var e editorAnswer
	if json.Unmarshal(raw, &e) != nil {
		return raw, nil, nameless
	}
	server = cmp.Or(e.Server, nameless)
	for _, inner := range []json.RawMessage{e.Result, e.Items, e.Diagnostics, e.Locations, e.Location, e.References, e.Symbols, e.Hover} {
		if inner == nil {
			continue
		}
		inner, version, _ := envelope(inner)
		return inner, cmp.Or(e.Version, version), server
	}
	return raw, e.Version, server
}

func isNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || raw[0] == 'n'
}

// isEmpty: nothing was found, or nobody looked. An editor does not say which.
func isEmpty(raw json.RawMessage) bool {
	return isNull(raw) || string(bytes.TrimSpace(raw)) == "[]"
}

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

// Rename is what has to be changed so that what stands at a position is called otherwise.
func (b *Bridge) Rename(ctx context.Context, s *document.Snapshot, p workspace.Path, at document.Position, to string) ([]language.FileEdits, language.Server, error) {
	offers := func(a *abilities) ability { return a.RenameProvider }
	prepared, err := b.own(ctx, s, p, question{
		method: "textDocument/prepareRename", what: "rename", params: paramsAt(at),
		offers: func(a *abilities) ability { return ability{offered: a.RenameProvider.has("prepareProvider")} },
	})
	switch {
	case err == nil && isNull(prepared.result):
		return nil, prepared.by, fault.Invalid("nothing that can be renamed is at line %d, character %d", at.Line, at.Character).
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
