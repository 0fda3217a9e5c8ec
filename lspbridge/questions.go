package lspbridge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
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

const (
	editorTime  = 3 * time.Second // for the editor's servers to answer, where there are others
	editorQuiet = time.Minute     // for which nothing more is asked while they still do not
)

// editorPatience is how long the editor is waited for: its servers may have to read a
// whole project first, and longer where nobody else can be asked.
func (b *Bridge) editorPatience(p workspace.Path) time.Duration {
	spec, ok := b.serverFor(b.o.Settings(p.Top()), languageOf(target(p), b.bufferOf(p)))
	if ok && b.installed(spec) {
		return b.patience.editor
	}
	return b.patience.question
}

// put asks the editor, if it can be asked and owes no answer to what it was asked before. An answer
// that does not come in time is waited for by nobody, but the request stands: as soon as it is
// answered the editor is known to be able again.
func (b *Bridge) put(ctx context.Context, method string, params any, patience time.Duration) (json.RawMessage, error) {
	if b.o.Ask == nil || b.late.Load() > 0 || !b.work() {
		return nil, errNoAnswer
	}
	asking, cancel := context.WithTimeout(b.ctx, editorQuiet)
	stays := context.AfterFunc(ctx, cancel)
	defer stays()
	var answer struct {
		raw json.RawMessage
		err error
	}
	var over atomic.Bool // by the answer, or by the end of patience
	came := make(chan struct{})
	go func() {
		defer b.running.Done()
		defer cancel()
		answer.err = b.o.Ask(asking, method, params, &answer.raw)
		if over.Swap(true) {
			b.late.Add(-1)
		}
		close(came)
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-came:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		if !over.Swap(true) {
			b.late.Add(1)
			return nil, context.DeadlineExceeded
		}
		<-came
	}
	return answer.raw, answer.err
}

// editorDiagnostics are those that the editor shows for p, if it says. Most editors do
// not know which text their list is about: it is fresh only if its version is the one
// that the text has, and still is when the answer comes.
func (b *Bridge) editorDiagnostics(ctx context.Context, s *document.Snapshot, p workspace.Path) (language.Report, bool) {
	f, err := s.Read(p, "")
	if b.o.Ask == nil || err != nil {
		return language.Report{}, false
	}
	about := documentID{URI: p.URI()}
	if f.Buffer != nil {
		about = documentID{f.Buffer.URI, &f.Buffer.Version}
	}
	answer, err := b.put(ctx, "diagnostics", map[string]any{"textDocument": about}, b.editorPatience(p))
	if err != nil {
		return language.Report{}, false
	}
	raw, version, name := envelope(answer)
	if _, err := decodeDiagnostics(raw); err != nil {
		return language.Report{}, false
	}
	out := language.Report{Server: language.Server{Name: name, Status: language.Editor}, Freshness: language.Stale, Diagnostics: decoded(string(raw), f.Text, counts{encoding: utf16})}
	if version == nil {
		out.Hint = "the editor does not say which text its diagnostics are about"
		return out, true
	}
	out.Version = *version
	if now := b.bufferOf(p); f.Source == document.FromBuffer && now != nil && now.Version == *version && now.Text == f.Text {
		out.Freshness = language.Fresh
	}
	return out, true
}

// location is a Location or a LocationLink.
type location struct {
	URI       string         `json:"uri"`
	Range     document.Range `json:"range"`
	TargetURI string         `json:"targetUri"`
	Selection document.Range `json:"targetSelectionRange"`
}

// decodeLocations takes null, a Location, or a list of Locations or LocationLinks.
func decodeLocations(raw json.RawMessage) ([]location, error) {
	var found []location
	switch raw = bytes.TrimSpace(raw); {
	case isNull(raw):
		return nil, nil
	case raw[0] == '{':
		raw = append(append([]byte{'['}, raw...), ']')
	}
	if err := json.Unmarshal(raw, &found); err != nil {
		return nil, err
	}
	for i, p := range found {
		if p.TargetURI != "" {
			found[i] = location{URI: p.TargetURI, Range: p.Selection}
		}
		if found[i].URI == "" {
			return nil, errors.New("a location without a uri")
		}
	}
	return found, nil
}

func fitsLocations(raw json.RawMessage) error {
	_, err := decodeLocations(raw)
	return err
}

// reader turns locations in files, as somebody counts them, into ours. It reads a file
// only where that needs its text, and once.
type reader struct {
	bridge   *Bridge
	snapshot *document.Snapshot
	asked    workspace.Path // the file that the question was about
	encoding encoding
	from     *client           // nil: the editor answered
	outside  map[string]string // texts of files outside the workspace, by URI
}

func (r reply) reader(b *Bridge, s *document.Snapshot, asked workspace.Path) *reader {
	return &reader{bridge: b, snapshot: s, asked: asked, encoding: r.encoding, from: r.from, outside: map[string]string{}}
}

func (r *reader) locations(found []location) []language.Location {
	out := make([]language.Location, 0, len(found))
	for _, at := range found {
		out = append(out, r.location(at.URI, at.Range))
	}
	return out
}

// location is a place in our words. Where it lies outside the workspace it shows what
// stands there.
func (r *reader) location(uri string, in document.Range) language.Location {
	l := language.Location{URI: uri, Range: in}
	if p, ok := r.path(uri); ok {
		l.Path = p
		if r.encoding != utf16 {
			if text, err := r.snapshot.ReadText(p); err == nil {
				l.Range = r.encoding.oursRange(text, in)
			}
		}
		return l
	}
	text, read := r.outside[uri]
	if !read {
		text = r.textOutside(uri)
		r.outside[uri] = text
	}
	if text != "" {
		l.Range = r.encoding.oursRange(text, in)
		l.Excerpt = excerpt(text, l.Range)
	}
	return l
}

// path is the place in the workspace that a server means.
func (r *reader) path(uri string) (workspace.Path, bool) {
	return r.bridge.o.Documents.Workspace().FromURI(uri)
}

// garbled is an answer that is not what LSP has.
func garbled(by language.Server, err error) error {
	return fault.New(fault.ExecutionFailed, "%s answered what cannot be read: %w", by.Name, err).WithHint("%s", instead)
}
