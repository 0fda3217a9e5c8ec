package lspbridge

import (
	"encoding/json"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

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
