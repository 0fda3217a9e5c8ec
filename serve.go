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
	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/rpc"
	"pillion/workspace"
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
	settings, problems := settingsFrom(s.Settings)
	for _, p := range problems {
		s.Report(p)
	}
	c, err := newSidecar(surroundings{
		folders: foldersThere(s), settings: settings, asker: s.Asker, human: s.Human, editor: s.Editor, activity: s.Activity,
	})
	if err != nil {
		return nil, err
	}
	agents, err := relay.Listen(relay.Host{
		Registry: c.registry, Sessions: c.sessions, Roots: c.roots, Editor: s.Client, Version: version,
	})
	if err != nil {
		s.Report(fmt.Sprintf("agents cannot find this window: %v", err))
	}
	return &rpc.Core{
		Documents: c.documents,
		Registry:  c.registry,
		Sessions:  c.sessions,
		Configure: func(raw json.RawMessage) {
			settings, problems := settingsFrom(raw)
			for _, p := range problems {
				s.Report(p)
			}
			c.configure(settings)
		},
		Focused: func() {
			if agents != nil {
				agents.Focused()
			}
		},
		FoldersChanged: func() {
			if agents != nil {
				agents.RootsChanged()
			}
		},
		Relay: func() (socket, token string) {
			if agents == nil {
				return "", ""
			}
			return agents.Info()
		},
		Close: func() error {
			var err error
			if agents != nil {
				err = agents.Close()
			}
			return errors.Join(err, c.Close())
		},
	}, nil
}
