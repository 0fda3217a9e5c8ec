package sidecar

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"pillion/agents/relay"
	"pillion/config"
	"pillion/draft"
	"pillion/internal/fault"
	"pillion/rpc"
	"pillion/workspace"
	"pillion/workspace/tracking"
)

// foldersThere leaves out, and tells of, folders that are not there: a workspace
// of several must not fail for one of them.
func foldersThere(s rpc.Setup) []workspace.Folder {
	return slices.DeleteFunc(slices.Clone(s.Folders), func(f workspace.Folder) bool {
		info, err := os.Stat(f.Dir)
		if err == nil && !info.IsDir() {
			err = errors.New("it is a file")
		}
		if err != nil {
			s.Events.Problem(fmt.Sprintf("the workspace folder %s is left out: %v", fault.Quote(f.Dir), err))
		}
		return err != nil
	})
}

// DraftOf is the variable by which a draft's sidecar is started; see Options.
const DraftOf = draft.Variable

// ForEditor wires a sidecar to the editor that has just said hello, and
// opens the socket on which agents find it.
//
// Of a draft, draftOf is the state's folder of the sidecar whose it is. Then the agents are that one's.
func ForEditor(s rpc.Setup, version, draftOf string) (*rpc.Core, error) {
	c, err := New(Options{
		Folders: foldersThere(s), Settings: reported(s, s.Settings), Asker: s.Asker, Human: s.Human, Editor: s.Editor,
		Events: s.Events, Languages: s.Languages, DraftOf: draftOf,
	})
	if err != nil {
		return nil, err
	}
	var agents agentServer = noAgents{}
	if draftOf == "" {
		agents = listenForAgents(s, c, version)
	}
	c.onToolsChanged(agents.ToolsChanged)
	gateway := c.Gateway(version)
	c.track(func(changes []tracking.Change) {
		s.Events.Changed(changes)
		agents.Changed(changes)
	}, s.Events.Tracking, func(i rpc.Index) {
		s.Events.Index(i)
		if !i.Building {
			agents.Indexed(i.Files, i.Bytes)
		}
	})
	return &rpc.Core{
		Documents:      c.documents,
		Registry:       c.Registry,
		Sessions:       c.Sessions,
		Processes:      c.processes,
		Configure:      func(raw json.RawMessage) { c.configure(reported(s, raw)) },
		Focused:        agents.Focused,
		Notify:         notify,
		FoldersChanged: func() { agents.RootsChanged(); c.foldersChanged() },
		Ready:          c.Announce,
		Opened:         c.languages.Opened,
		Saved:          c.saved,
		WatchedFiles:   c.watchedFiles,
		Trust:          c.trust,
		Ignore:         c.ignore,
		ForgetRule:     c.forget,
		Relay:          agents.Info,
		Conversations:  c.Conversations,
		Gateway:        gateways{gateway, c},
		Close: func() error {
			gateway.Close()
			return errors.Join(agents.Close(), c.Close())
		},
	}, nil
}

// reported reads settings and reports what is wrong with them.
func reported(s rpc.Setup, raw json.RawMessage) config.Settings {
	settings, problems := config.Load(raw)
	for _, p := range problems {
		s.Events.Problem(p)
	}
	return settings
}

// agentServer is where agents come in; *relay.Server is one.
type agentServer interface {
	Focused()
	RootsChanged()
	Changed([]tracking.Change)
	ToolsChanged()
	Indexed(files int, bytes int64)
	Info() (socket, token string)
	Close() error
}

// listenForAgents opens the agents' socket. Without it the editor's own calls still work.
func listenForAgents(s rpc.Setup, c *Sidecar, version string) agentServer {
	agents, err := relay.Listen(relay.Host{
		Registry: c.Registry, Sessions: c.Sessions, Roots: c.Roots, Editor: s.Client, Version: version, Structured: c.structured,
	})
	if err != nil {
		s.Events.Problem(fmt.Sprintf("agents cannot find this window: %v", err))
		return noAgents{}
	}
	return agents
}

// noAgents stands for a socket that could not be made.
type noAgents struct{}

func (noAgents) Focused()                     {}
func (noAgents) RootsChanged()                {}
func (noAgents) Changed([]tracking.Change)    {}
func (noAgents) ToolsChanged()                {}
func (noAgents) Indexed(int, int64)           {}
func (noAgents) Info() (socket, token string) { return "", "" }
func (noAgents) Close() error                 { return nil }
