package lspbridge

import (
	"context"

	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// Diagnostics: see diagnostics.go.
func (b *Bridge) Diagnostics(context.Context, *document.Snapshot, workspace.Path) (language.Report, error) {
	return language.Report{Server: nobody, Freshness: language.NoServer}, notYet("diagnostics")
}

// References are the places that use what stands at a position.
func (b *Bridge) References(context.Context, *document.Snapshot, workspace.Path, document.Position, bool) ([]language.Location, language.Server, error) {
	return nil, nobody, notYet("references")
}

// Symbols are the names that a file defines.
func (b *Bridge) Symbols(context.Context, *document.Snapshot, workspace.Path) ([]language.Symbol, language.Server, error) {
	return nil, nobody, notYet("symbols")
}

// FindSymbols are the names in a folder that fit a query.
func (b *Bridge) FindSymbols(context.Context, *document.Snapshot, workspace.Path, string) ([]language.Symbol, language.Server, error) {
	return nil, nobody, notYet("symbols")
}

// Rename is what has to be changed so that what stands at a position is called otherwise.
func (b *Bridge) Rename(context.Context, *document.Snapshot, workspace.Path, document.Position, string) ([]language.FileEdits, language.Server, error) {
	return nil, nobody, notYet("rename")
}

// Actions are what a server offers to do about a range.
func (b *Bridge) Actions(context.Context, *document.Snapshot, workspace.Path, document.Range, []string) ([]language.Action, language.Server, error) {
	return nil, nobody, notYet("code actions")
}

// Resolve fills in the edits of an action.
func (b *Bridge) Resolve(context.Context, *document.Snapshot, workspace.Path, language.Action) (language.Action, error) {
	return language.Action{}, notYet("code actions")
}

// Caused says what changes did to the diagnostics of files.
func (b *Bridge) Caused(context.Context, *document.Snapshot, []workspace.Path) map[workspace.Path]language.Caused {
	return nil
}
