package tools

import (
	"context"

	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// Languages answers questions about code. Each is about the text of the snapshot,
// unsaved changes included. Without anybody to ask the error is LSP_UNAVAILABLE, and
// says what to install; the Server that every answer names is told in any case.
type Languages interface {
	Diagnostics(ctx context.Context, s *document.Snapshot, p workspace.Path) (language.Report, error)
	Definition(ctx context.Context, s *document.Snapshot, p workspace.Path, at document.Position) ([]language.Location, language.Server, error)
	References(ctx context.Context, s *document.Snapshot, p workspace.Path, at document.Position, declaration bool) ([]language.Location, language.Server, error)
	Hover(ctx context.Context, s *document.Snapshot, p workspace.Path, at document.Position) (contents string, by language.Server, err error)
	// Symbols are those of a file, FindSymbols those of a workspace folder that fit a query.
	Symbols(ctx context.Context, s *document.Snapshot, p workspace.Path) ([]language.Symbol, language.Server, error)
	FindSymbols(ctx context.Context, s *document.Snapshot, in workspace.Path, query string) ([]language.Symbol, language.Server, error)
	Rename(ctx context.Context, s *document.Snapshot, p workspace.Path, at document.Position, to string) ([]language.FileEdits, language.Server, error)
	// Actions are what can be done about a range; Resolve fills in the edits of one.
	Actions(ctx context.Context, s *document.Snapshot, p workspace.Path, in document.Range, only []string) ([]language.Action, language.Server, error)
	Resolve(ctx context.Context, s *document.Snapshot, p workspace.Path, a language.Action) (language.Action, error)

	// Prepare notes that files are looked at or about to be changed, so that their
	// server is warm, and what is wrong now is known. It does not wait.
	Prepare(s *document.Snapshot, paths []workspace.Path)
	// Caused says what changes did, made from the snapshot before to what is now there. It
	// waits as long as the settings say, and only for servers that run. What comes to be
	// known soon after is told to late, at most once; it may be nil.
	Caused(ctx context.Context, before *document.Snapshot, paths []workspace.Path, late func(map[workspace.Path]language.Caused)) map[workspace.Path]language.Caused
}
