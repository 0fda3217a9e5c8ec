package lspbridge

import (
	"context"
	"encoding/json"
	"io/fs"
	"slices"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// symbol is a DocumentSymbol, a SymbolInformation or a WorkspaceSymbol.
type symbol struct {
	Name      string         `json:"name"`
	Detail    string         `json:"detail"`
	Kind      int            `json:"kind"`
	Container string         `json:"containerName"`
	Range     document.Range `json:"range"`
	Selection document.Range `json:"selectionRange"`
	Location  *location      `json:"location"`
	Children  []symbol       `json:"children"`
}

var symbolKinds = [...]string{
	"", "file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum", "interface", "function", "variable", "constant",
	"string", "number", "boolean", "array", "object", "key", "null", "enum member", "struct", "event", "operator", "type parameter",
}

func kindName(kind int) string {
	if kind > 0 && kind < len(symbolKinds) {
		return symbolKinds[kind]
	}
	return ""
}

// Symbols are the names that a file defines, those inside others as their children
// where the server knows.
func (b *Bridge) Symbols(ctx context.Context, s *document.Snapshot, p workspace.Path) ([]language.Symbol, language.Server, error) {
	r, err := b.ask(ctx, s, p, question{
		method: "textDocument/documentSymbol", editor: "symbols", what: "symbols",
		offers: func(a *abilities) ability { return a.DocumentSymbolProvider },
		params: func(uri string, as counting) any { return map[string]any{"textDocument": documentID{uri, as.version}} },
		fits:   func(raw json.RawMessage) error { _, err := decodeSymbols(raw); return err },
	})
	if err != nil {
		return nil, r.by, err
	}
	found, err := decodeSymbols(r.result)
	if err != nil {
		return nil, r.by, garbled(r.by, err)
	}
	return r.reader(b, s, p).symbols(found, p.URI()), r.by, nil
}

func decodeSymbols(raw json.RawMessage) (found []symbol, err error) {
	if isNull(raw) {
		return nil, nil
	}
	return found, json.Unmarshal(raw, &found)
}

// symbols are in our words. Those without a place of their own lie in uri.
func (r *reader) symbols(found []symbol, uri string) []language.Symbol {
	out := make([]language.Symbol, 0, len(found))
	for _, f := range found {
		one := language.Symbol{Name: f.Name, Detail: f.Detail, Kind: kindName(f.Kind), Container: f.Container}
		if f.Location != nil {
			one.Location = r.location(f.Location.URI, f.Location.Range)
		} else {
			one.Location = r.location(uri, f.Selection)
		}
		if len(f.Children) > 0 {
			one.Children = r.symbols(f.Children, uri)
		}
		out = append(out, one)
	}
	return out
}

// FindSymbols are the names in a folder that fit a query, as the servers see it whose
// languages are spoken there.
func (b *Bridge) FindSymbols(ctx context.Context, s *document.Snapshot, in workspace.Path, query string) ([]language.Symbol, language.Server, error) {
	q := question{
		method: "workspace/symbol", editor: "symbols", what: "symbols of a folder",
		offers: func(a *abilities) ability { return a.WorkspaceSymbolProvider },
		params: func(string, counting) any { return map[string]string{"query": query} },
		fits:   func(raw json.RawMessage) error { _, err := decodeSymbols(raw); return err },
	}
	if !b.o.Settings(in.Top()).PreferOwn {
		if found, by, ok := b.findByEditor(ctx, s, in, q); ok {
			return found, by, nil
		}
	}
	var all []language.Symbol
	var by language.Server
	answered, failure := false, error(fault.New(fault.LSPUnavailable, "no language server is known for what is in %s", fault.Quote(in.String())).WithHint("%s", instead))
	for _, p := range b.speakers(ctx, in) {
		r, err := b.own(ctx, s, p, q)
		if err == nil {
			var found []symbol
			if found, err = decodeSymbols(r.result); err == nil {
				all = append(all, r.reader(b, s, p).inside(found, in)...)
				if !answered {
					answered, by = true, r.by
				}
				continue
			}
		}
		if !answered && by.Status != language.Running { // a server that runs says most about why
			by, failure = r.by, err
		}
	}
	if !answered {
		return nil, by, failure
	}
	return all, by, nil
}

func (b *Bridge) findByEditor(ctx context.Context, s *document.Snapshot, in workspace.Path, q question) ([]language.Symbol, language.Server, bool) {
	raw, by, err := b.askEditor(ctx, q.editor, q.params("", counting{}), nil, b.patience.editor)
	if err != nil || isEmpty(raw) {
		return nil, by, false
	}
	found, err := decodeSymbols(raw)
	return reply{encoding: utf16}.reader(b, s, in).inside(found, in), by, err == nil
}

// inside are the symbols that lie in a folder.
func (r *reader) inside(found []symbol, in workspace.Path) []language.Symbol {
	found = slices.DeleteFunc(found, func(f symbol) bool {
		if f.Location == nil {
			return true
		}
		p, ok := r.path(f.Location.URI)
		return !ok || !p.IsIn(in)
	})
	return r.symbols(found, "")
}

const (
	mostLooked   = 2000 // files that are looked at to know which languages a folder has
	mostSpeakers = 4    // servers that a question goes to
)

// speakers are files in a folder, one for each server that knows one of them. Files that
// are open in a server come first.
func (b *Bridge) speakers(ctx context.Context, in workspace.Path) []workspace.Path {
	var out []workspace.Path
	seen, looked := map[*server]bool{}, 0
	take := func(p workspace.Path) {
		if sv, err := b.serverOf(p); err == nil && !seen[sv] {
			seen[sv] = true
			out = append(out, p)
		}
	}
	if info, err := in.Stat(); err == nil && !info.IsDir() {
		take(in)
		return out
	}
	//nolint:errcheck // what cannot be read has no symbols
	_ = in.Walk(ctx, workspace.WalkOptions{}, func(e workspace.Entry) error {
		if looked++; looked > mostLooked || len(out) == mostSpeakers {
			return fs.SkipAll
		}
		if e.Type.IsRegular() {
			take(e.Path)
		}
		return nil
	})
	return out
}
