package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"

	"pillion/agents/relay"
	"pillion/config"
	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/rpc"
	"pillion/workspace"
	"pillion/workspace/tracking"
)

const serveHelp = `usage: pillion serve [--stdio]

The sidecar that an editor starts. It speaks JSON-RPC, framed as a language server
does, on its standard input and output, and logs on standard error.

  --stdio    accepted, because editors pass it; there is no other way
`

// serve is the sidecar as an editor starts it: frames on stdin and stdout, the
// log on stderr.
func serve(args []string) int {
	flags := flag.NewFlagSet("pillion serve", flag.ContinueOnError)
	flags.Bool("stdio", true, "")
	if _, code, ok := parse(flags, serveHelp, [2]int{0, 0}, args); !ok {
		return code
	}
	tellPeople("an editor", "pillion serve")
	harden()
	debug.SetGCPercent(gcPercent)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return rpc.Serve(ctx, wire.Stdio(os.Stdin, os.Stdout), rpc.Options{Version: version, Start: startForEditor, Logf: logf})
}

// foldersThere leaves out, and tells of, folders that are not there: a workspace
// of several must not fail for one of them.
func foldersThere(s rpc.Setup) []workspace.Folder {
	return slices.DeleteFunc(slices.Clone(s.Folders), func(f workspace.Folder) bool {
		info, err := os.Stat(f.Dir)
		if err == nil && !info.IsDir() {
			err = errors.New("it is a file")
		}
		if err != nil {
			s.Report(fmt.Sprintf("the workspace folder %s is left out: %v", fault.Quote(f.Dir), err))
		}
		return err != nil
	})
}

// gcPercent lets the small heap of a sidecar grow to 16 MB between collections:
// one read of a megabyte makes a few of them in garbage.
const gcPercent = 400

// startForEditor wires a sidecar to the editor that has just said hello, and
// opens the socket on which agents find it.
func startForEditor(s rpc.Setup) (*rpc.Core, error) {
	c, err := newSidecar(surroundings{
		folders: foldersThere(s), settings: reported(s, s.Settings), asker: s.Asker, human: s.Human, editor: s.Editor, activity: s.Activity,
		report: s.Report, note: s.Note, untrusted: func(u untrusted) { s.Untrusted(u.path, u.hash, u.rules) },
		journal: s.Journal, languages: s.Languages,
	})
	if err != nil {
		return nil, err
	}
	agents := listenForAgents(s, c)
	c.alarms.tell = s.Unusual
	c.track(func(changes []tracking.Change) {
		s.Changed(changes)
		agents.Changed(changes)
	}, s.Tracking)
	return &rpc.Core{
		Documents:      c.documents,
		Registry:       c.registry,
		Sessions:       c.sessions,
		Processes:      c.processes,
		Configure:      func(raw json.RawMessage) { c.configure(reported(s, raw)) },
		Focused:        agents.Focused,
		FoldersChanged: func() { agents.RootsChanged(); c.foldersChanged() },
		Ready:          c.announce,
		Opened:         c.languages.Opened,
		Saved:          c.tracker.Saved,
		WatchedFiles:   c.watchedFiles,
		Trust:          c.trust,
		Relay:          agents.Info,
		Close:          func() error { return errors.Join(agents.Close(), c.Close()) },
	}, nil
}

// reported reads settings and tells the human what is wrong with them.
func reported(s rpc.Setup, raw json.RawMessage) config.Settings {
	settings, problems := settingsFrom(raw)
	for _, p := range problems {
		s.Report(p)
	}
	return settings
}

// agentsWay is the way in for agents; *relay.Server is one.
type agentsWay interface {
	Focused()
	RootsChanged()
	Changed([]tracking.Change)
	Info() (socket, token string)
	Close() error
}

// listenForAgents opens the way in. Without it the editor's own calls still work.
func listenForAgents(s rpc.Setup, c *sidecar) agentsWay {
	agents, err := relay.Listen(relay.Host{
		Registry: c.registry, Sessions: c.sessions, Roots: c.roots, Editor: s.Client, Version: version, Structured: c.structured,
	})
	if err != nil {
		s.Report(fmt.Sprintf("agents cannot find this window: %v", err))
		return closedWay{}
	}
	return agents
}

// closedWay stands for a socket that could not be made.
type closedWay struct{}

func (closedWay) Focused()                     {}
func (closedWay) RootsChanged()                {}
func (closedWay) Changed([]tracking.Change)    {}
func (closedWay) Info() (socket, token string) { return "", "" }
func (closedWay) Close() error                 { return nil }
