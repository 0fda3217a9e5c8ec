package lspbridge

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// codeAction is a CodeAction, or a Command, whose command is a string.
type codeAction struct {
	Title       string                   `json:"title"`
	Kind        string                   `json:"kind"`
	IsPreferred bool                     `json:"isPreferred"`
	Disabled    *struct{ Reason string } `json:"disabled"`
	Edit        json.RawMessage          `json:"edit"`
	Command     json.RawMessage          `json:"command"`
	Data        json.RawMessage          `json:"data"`
}

// Actions are what a server offers to do about a range.
func (b *Bridge) Actions(ctx context.Context, s *document.Snapshot, p workspace.Path, in document.Range, only []string) ([]language.Action, language.Server, error) {
	r, err := b.own(ctx, s, p, question{
		method: "textDocument/codeAction", what: "code actions",
		offers: func(a *abilities) ability { return a.CodeActionProvider },
		params: func(uri string, as counting) any {
			about := map[string]any{"diagnostics": b.diagnosticsIn(p, as.span(in)), "triggerKind": 1}
			if len(only) > 0 {
				about["only"] = only
			}
			return map[string]any{"textDocument": documentID{URI: uri}, "range": as.span(in), "context": about}
		},
	})
	if err != nil || isNull(r.result) {
		return nil, r.by, err
	}
	var found []json.RawMessage
	if err := json.Unmarshal(r.result, &found); err != nil {
		return nil, r.by, garbled(r.by, err)
	}
	out := make([]language.Action, 0, len(found))
	for i, raw := range found {
		a, err := b.action(s, p, r, raw)
		if err != nil {
			return nil, r.by, garbled(r.by, err)
		}
		a.Index = i
		out = append(out, a)
	}
	return out, r.by, nil
}

// action decodes one of them.
func (b *Bridge) action(s *document.Snapshot, p workspace.Path, r reply, raw json.RawMessage) (language.Action, error) {
	var a codeAction
	if err := json.Unmarshal(raw, &a); err != nil {
		return language.Action{}, err
	}
	out := language.Action{Title: a.Title, Kind: a.Kind, Preferred: a.IsPreferred, Own: raw}
	switch {
	case a.Disabled != nil:
		out.Disabled = a.Disabled.Reason
	case !isNull(a.Edit):
		edits, err := r.reader(b, s, p).workspaceEdit(a.Edit)
		if out.Edits = edits; err != nil {
			out.Disabled = err.Error()
		}
	case !isNull(a.Data) && r.from.offers.CodeActionProvider.has("resolveProvider"):
		out.Resolvable = true
	case !isNull(a.Command):
		out.Disabled = "it is a command that the server would run itself"
	default:
		out.Disabled = "the server does not say what it would change"
	}
	return out, nil
}

// Resolve asks for the edits of an action.
func (b *Bridge) Resolve(ctx context.Context, s *document.Snapshot, p workspace.Path, a language.Action) (language.Action, error) {
	if !a.Resolvable {
		return a, nil
	}
	r, err := b.own(ctx, s, p, question{
		method: "codeAction/resolve", what: "code actions",
		offers: func(a *abilities) ability { return a.CodeActionProvider },
		params: func(string, counting) any { return a.Own },
	})
	if err != nil {
		return a, err
	}
	resolved, err := b.action(s, p, r, r.result)
	switch {
	case err != nil:
		return a, garbled(r.by, err)
	case resolved.Resolvable:
		return a, fault.New(fault.ExecutionFailed, "%s did not say what %s would change", r.by.Name, fault.Quote(a.Title)).WithHint("make the change with edit_file")
	}
	a.Edits, a.Disabled, a.Resolvable = resolved.Edits, resolved.Disabled, false
	return a, nil
}

// diagnosticsIn are those that the server published for a range, as it published them:
// many actions are about one of these.
func (b *Bridge) diagnosticsIn(p workspace.Path, in document.Range) []json.RawMessage {
	out := []json.RawMessage{}
	sv, err := b.serverOf(p)
	if err != nil {
		return out
	}
	c := sv.warm()
	if c == nil {
		return out
	}
	var all []json.RawMessage
	if json.Unmarshal(c.reports.items(target(p)), &all) != nil {
		return out
	}
	for _, raw := range all {
		var d struct {
			Range document.Range `json:"range"`
		}
		if json.Unmarshal(raw, &d) == nil && !before(d.Range.End, in.Start) && !before(in.End, d.Range.Start) {
			out = append(out, raw)
		}
	}
	return out
}

func before(a, b document.Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Character < b.Character
}

// workspaceEdit is LSP's WorkspaceEdit.
type workspaceEdit struct {
	Changes         map[string][]document.TextEdit `json:"changes"`
	DocumentChanges []documentChange               `json:"documentChanges"`
}

// documentChange is a TextDocumentEdit, or an operation on a file, whose kind it has.
type documentChange struct {
	Kind         string              `json:"kind"`
	TextDocument documentID          `json:"textDocument"`
	Edits        []document.TextEdit `json:"edits"`
}

// workspaceEdit decodes the edits of a server, file by file, in the order of their names.
func (r *reader) workspaceEdit(raw json.RawMessage) ([]language.FileEdits, error) {
	if isNull(raw) {
		return nil, nil
	}
	var edit workspaceEdit
	if err := json.Unmarshal(raw, &edit); err != nil {
		return nil, garbled(language.Server{Name: "the server"}, err)
	}
	changes := edit.DocumentChanges
	if len(changes) == 0 { // else the two say the same
		for uri, edits := range edit.Changes {
			changes = append(changes, documentChange{TextDocument: documentID{URI: uri}, Edits: edits})
		}
	}
	files := map[workspace.Path]*editedFile{}
	for _, change := range changes {
		f, err := r.edited(files, change)
		if err != nil {
			return nil, err
		}
		f.add(change.Edits, r.encoding)
	}
	out := make([]language.FileEdits, 0, len(files))
	for p, f := range files {
		if len(f.edits) > 0 {
			out = append(out, language.FileEdits{Path: p, Edits: f.edits})
		}
	}
	slices.SortFunc(out, func(a, b language.FileEdits) int { return strings.Compare(a.Path.Abs(), b.Path.Abs()) })
	return out, nil
}

// edited is the file that a change is about.
func (r *reader) edited(files map[workspace.Path]*editedFile, change documentChange) (*editedFile, error) {
	if change.Kind != "" {
		return nil, fault.New(fault.ExecutionFailed, "the server wants to %s files as well, which is not done for it", fault.Quote(change.Kind)).
			WithHint("make the change with edit_file, move_file or delete_file")
	}
	uri := change.TextDocument.URI
	p, ok := r.path(uri)
	if !ok {
		return nil, fault.New(fault.PathOutsideWorkspace, "the server wants to change %s, which is outside the workspace", fault.Quote(uri)).
			WithHint("make the changes inside the workspace with edit_file")
	}
	p = target(p)
	if files[p] != nil {
		return files[p], nil
	}
	f, err := r.snapshot.Read(p, "")
	if err != nil {
		return nil, err
	}
	if r.from != nil && !r.from.knows(p, f.Text) {
		return nil, fault.New(fault.ConcurrentModification, "%s changed while the server was asked", fault.Quote(p.String())).WithHint("ask again")
	}
	files[p] = &editedFile{before: f.Text}
	return files[p], nil
}

// editedFile gathers the edits of a file.
type editedFile struct {
	before string // as the snapshot has it
	edits  []document.TextEdit
}

// add takes a list of edits. A second list counts in the text after the first.
func (f *editedFile) add(edits []document.TextEdit, e encoding) {
	text := f.before
	if len(f.edits) > 0 {
		text = apply(text, f.edits)
	}
	mine := make([]document.TextEdit, 0, len(edits))
	for _, one := range edits {
		mine = append(mine, document.TextEdit{Range: e.oursRange(text, one.Range), NewText: one.NewText})
	}
	if len(f.edits) > 0 {
		mine = document.Edits(f.before, apply(text, mine))
	}
	f.edits = mine
}

// apply makes edits that all count in text. Of those at one place the first is first.
func apply(text string, edits []document.TextEdit) string {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b document.TextEdit) int {
		switch {
		case before(a.Range.Start, b.Range.Start):
			return -1
		case before(b.Range.Start, a.Range.Start):
			return 1
		}
		return 0
	})
	for _, e := range slices.Backward(sorted) {
		text = document.Apply(text, e.Range, e.NewText)
	}
	return text
}
