package rpc

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"pillion/internal/wire"
	"pillion/tools/policy"
	"pillion/workspace"
)

// ProtocolVersion is the version of the wire beyond LSP. It changes only by
// addition within a major version.
const ProtocolVersion = 1

// client is what the editor said it can do.
type client struct {
	Name         string
	Pillion      bool // it has a plugin: capabilities.experimental.pillion
	Capabilities editorCapabilities
	WatchedFiles bool // it registers for watched files when asked to
	Progress     bool // it shows progress that the sidecar began
	Commands     bool // it runs the sidecar's commands
}

// editorCapabilities is capabilities.experimental.pillion.
type editorCapabilities struct {
	Approval bool `json:"approval"`
	// ApprovalKinds are the kinds of approval/request that the editor shows beyond a call's
	// own: "plan" and "review".
	ApprovalKinds    []string `json:"approvalKinds"`
	Prompt           bool     `json:"prompt"`
	Review           bool     `json:"review,omitempty"`
	Plan             bool     `json:"plan,omitempty"`
	Documents        bool     `json:"documents"`
	LanguageFeatures bool     `json:"languageFeatures"`
}

// sidecarCapabilities is capabilities.experimental.pillion of the sidecar.
type sidecarCapabilities struct {
	ProtocolVersion int     `json:"protocolVersion"`
	Agents          []Agent `json:"agents,omitempty"`
}

func (s *server) initialize(_ context.Context, p protocol.InitializeParams) (any, error) {
	s.mu.Lock()
	again := s.state != created
	s.mu.Unlock()
	if again {
		return nil, wire.Errorf(wire.CodeInvalidRequest, "initialize was sent twice")
	}
	c := clientOf(p)
	d := &dialogs{server: s, client: c}
	core, err := s.options.Start(Setup{
		Folders:   foldersOf(p),
		Settings:  json.RawMessage(p.InitializationOptions),
		Asker:     d,
		Human:     d,
		Editor:    &buffers{server: s, client: c},
		Client:    c.Name,
		Events:    s.events(c),
		Languages: s.languages(c),
	})
	if err != nil {
		return nil, wire.Errorf(wire.CodeRequestFailed, "pillion cannot start here: %v", err)
	}
	s.mu.Lock()
	s.core, s.client, s.dialogs, s.state = core, c, d, running
	s.mu.Unlock()
	if c.Pillion {
		s.showProcesses(core.Processes)
		s.showSessions(core.Sessions)
		core.Conversations.Follow(follower{s.conn})
	}
	if p.ProcessID != nil {
		s.watchParent(int(*p.ProcessID))
	}
	result, err := protocol.Marshal(s.initializeResult(c))
	return wire.Raw(result), err
}

func clientOf(p protocol.InitializeParams) client {
	c := client{Name: p.ClientInfo.Name}
	var experimental struct {
		Pillion *editorCapabilities `json:"pillion"`
	}
	if json.Unmarshal(p.Capabilities.Experimental, &experimental) == nil && experimental.Pillion != nil {
		c.Pillion, c.Capabilities = true, *experimental.Pillion
	}
	if w := p.Capabilities.Workspace; w != nil {
		c.Commands = w.ExecuteCommand != nil
		if watched := w.DidChangeWatchedFiles; watched != nil {
			c.WatchedFiles = watched.DynamicRegistration != nil && *watched.DynamicRegistration
		}
	}
	if w := p.Capabilities.Window; w != nil {
		c.Progress = w.WorkDoneProgress != nil && *w.WorkDoneProgress
	}
	if c.Name == "" {
		c.Name = "editor"
	}
	return c
}

// foldersOf takes workspaceFolders, else rootUri.
func foldersOf(p protocol.InitializeParams) []workspace.Folder {
	var out []workspace.Folder
	if folders, ok := p.WorkspaceFolders.Get(); ok {
		for _, f := range folders {
			out = appendFolder(out, f.Name, f.URI)
		}
	}
	//lint:ignore SA1019 an editor that sends no folders may still send this one
	if len(out) == 0 && p.RootURI != nil {
		//lint:ignore SA1019 likewise
		out = appendFolder(out, "", *p.RootURI)
	}
	return out
}

// appendFolder leaves out folders that are not on this machine's disk.
func appendFolder(list []workspace.Folder, name string, u uri.URI) []workspace.Folder {
	dir := filePath(u)
	if dir == "" {
		return list
	}
	return append(list, workspace.Folder{Name: name, Dir: dir})
}

func filePath(u uri.URI) string {
	parsed, err := uri.Parse(string(u))
	if err != nil || parsed.Scheme() != "file" {
		return ""
	}
	return filepath.Clean(parsed.FsPath())
}

func (s *server) initializeResult(c client) protocol.InitializeResult {
	yes, incremental := true, protocol.TextDocumentSyncKindIncremental
	experimental, _ := json.Marshal(map[string]any{"pillion": sidecarCapabilities{ProtocolVersion, s.options.Agents}}) // cannot fail
	r := protocol.InitializeResult{
		ServerInfo: protocol.ServerInfo{Name: "pillion", Version: protocol.NewOptional(s.options.Version)},
		Capabilities: protocol.ServerCapabilities{
			TextDocumentSync: &protocol.TextDocumentSyncOptions{OpenClose: &yes, Change: &incremental, Save: &protocol.SaveOptions{}},
			Workspace: &protocol.WorkspaceOptions{WorkspaceFolders: &protocol.WorkspaceFoldersServerCapabilities{
				Supported: &yes, ChangeNotifications: protocol.Boolean(true),
			}},
			Experimental: experimental,
		},
	}
	if !c.Pillion {
		r.Capabilities.ExecuteCommandProvider = protocol.ExecuteCommandOptions{Commands: slices.Sorted(maps.Keys(commands))}
	}
	return r
}

// initialized asks for the events of watched files, without which no editor
// sends them. It does not wait for the answer: it runs on the read loop.
func (s *server) initialized(context.Context, json.RawMessage) (any, error) {
	s.mu.Lock()
	watched, core := s.client.WatchedFiles, s.core
	s.mu.Unlock()
	core.Ready()
	if watched {
		go s.registerWatchedFiles()
	}
	if mode := core.Sessions.DefaultMode(); mode == policy.Auto || mode == policy.Draft {
		go s.sayWithoutLayers(mode)
	}
	return nil, nil
}

func (s *server) registerWatchedFiles() {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	err := s.conn.Call(ctx, "client/registerCapability", json.RawMessage(
		`{"registrations":[{"id":"pillion-watched-files","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[{"globPattern":"**/*"}]}}]}`), nil)
	if err != nil {
		s.options.Logf("the editor does not report watched files: %v", err)
	}
}
