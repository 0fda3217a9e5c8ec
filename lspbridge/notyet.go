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

// Caused says what changes did to the diagnostics of files.
func (b *Bridge) Caused(context.Context, *document.Snapshot, []workspace.Path) map[workspace.Path]language.Caused {
	return nil
}
