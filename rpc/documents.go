package rpc

import (
	"context"
	"encoding/json"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"pillion/workspace"
	"pillion/workspace/document"
)

// place finds the Path of a document that the editor speaks of. Documents that
// are outside the workspace, or no files, are none of ours.
func (s *server) place(u uri.URI) (workspace.Path, bool) {
	return s.running().Documents.Workspace().FromURI(string(u))
}

func (s *server) didOpen(_ context.Context, p protocol.DidOpenTextDocumentParams) (any, error) {
	if path, ok := s.place(p.TextDocument.URI); ok {
		s.running().Documents.OpenAs(path, string(p.TextDocument.URI), p.TextDocument.Version, p.TextDocument.Text, string(p.TextDocument.LanguageID))
		s.running().Opened(path)
	}
	return nil, nil
}

func (s *server) didChange(_ context.Context, p protocol.DidChangeTextDocumentParams) (any, error) {
	s.asks().typed.Store(time.Now().UnixNano())
	path, ok := s.place(p.TextDocument.URI)
	if !ok {
		return nil, nil
	}
	store := s.running().Documents
	b := store.Buffer(path)
	if b == nil {
		return nil, nil
	}
	text := b.Text
	for _, c := range p.ContentChanges {
		switch c := c.(type) {
		case *protocol.TextDocumentContentChangeWholeDocument:
			text = c.Text
		case *protocol.TextDocumentContentChangePartial:
			text = document.Apply(text, rangeOf(c.Range), c.Text)
		}
	}
	store.Change(path, p.TextDocument.Version, text)
	return nil, nil
}

func rangeOf(r protocol.Range) document.Range {
	return document.Range{
		Start: document.Position{Line: r.Start.Line, Character: r.Start.Character},
		End:   document.Position{Line: r.End.Line, Character: r.End.Character},
	}
}

func (s *server) didSave(_ context.Context, p protocol.DidSaveTextDocumentParams) (any, error) {
	if path, ok := s.place(p.TextDocument.URI); ok {
		s.running().Documents.Saved(path)
		s.running().Saved(path)
	}
	return nil, nil
}

func (s *server) didClose(_ context.Context, p protocol.DidCloseTextDocumentParams) (any, error) {
	if path, ok := s.place(p.TextDocument.URI); ok {
		s.running().Documents.Close(path)
	}
	return nil, nil
}

type documentStateParams struct {
	URI      string `json:"uri"`
	Version  int32  `json:"version"`
	Dirty    bool   `json:"dirty"`
	Encoding string `json:"encoding"`
	EOL      string `json:"eol"`
	BOM      bool   `json:"bom"`
	ReadOnly bool   `json:"readonly"`
}

// documentState is the notification that LSP lacks: whether a buffer is saved.
func (s *server) documentState(_ context.Context, p documentStateParams) (any, error) {
	if path, ok := s.place(uri.URI(p.URI)); ok {
		s.running().Documents.SetState(path, document.State{
			Version: p.Version, Dirty: p.Dirty, Encoding: p.Encoding, EOL: p.EOL, BOM: p.BOM, ReadOnly: p.ReadOnly,
		})
	}
	return nil, nil
}

type watchedFilesParams struct {
	Changes []struct {
		URI string `json:"uri"`
	} `json:"changes"`
}

func (s *server) didChangeWatchedFiles(_ context.Context, p watchedFilesParams) (any, error) {
	s.running().Documents.Touched()
	uris := make([]string, 0, len(p.Changes))
	for _, c := range p.Changes {
		uris = append(uris, c.URI)
	}
	s.running().WatchedFiles(uris)
	return nil, nil
}

func (s *server) didChangeWorkspaceFolders(_ context.Context, p protocol.DidChangeWorkspaceFoldersParams) (any, error) {
	w := s.running().Documents.Workspace()
	gone := map[string]bool{}
	for _, f := range p.Event.Removed {
		gone[filePath(f.URI)] = true
	}
	var folders []workspace.Folder
	for _, f := range w.Folders() {
		if !gone[f.Dir] {
			folders = append(folders, f)
		}
	}
	for _, f := range p.Event.Added {
		folders = appendFolder(folders, f.Name, f.URI)
	}
	for _, f := range p.Event.Added {
		w.OpenAgain(filePath(f.URI)) // where it was open before
	}
	if err := w.SetFolders(folders...); err != nil {
		s.showMessage(messageError, "the workspace folders stay as they were: %v", err)
		return nil, nil
	}
	s.running().FoldersChanged()
	return nil, nil
}

type didChangeConfigurationParams struct {
	Settings struct {
		Pillion json.RawMessage `json:"pillion"`
	} `json:"settings"`
}

func (s *server) didChangeConfiguration(_ context.Context, p didChangeConfigurationParams) (any, error) {
	if len(p.Settings.Pillion) > 0 {
		s.running().Configure(p.Settings.Pillion)
	}
	return nil, nil
}
