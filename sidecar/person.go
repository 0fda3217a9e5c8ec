package sidecar

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"pillion/agents/mcp"
	"pillion/agents/relay"
	"pillion/config"
	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/session"
	"pillion/workspace"
)

// Person is a user who can approve and answer, wherever they are.
type Person interface {
	approval.Asker
	tools.Human
}

// ForPerson is a sidecar without an editor, on one folder.
func ForPerson(folder string, person Person) (*Sidecar, error) {
	o, err := OptionsFor(folder, person)
	if err != nil {
		return nil, err
	}
	return New(o)
}

// OptionsFor are the options of such a sidecar. What is wrong with the settings is
// logged.
func OptionsFor(folder string, person Person) (Options, error) {
	dir, err := filepath.Abs(folder)
	if err != nil {
		return Options{}, err
	}
	settings, problems := config.Load(nil)
	for _, p := range problems {
		fmt.Fprintln(os.Stderr, "pillion:", fault.Escape(p))
	}
	return Options{Folders: []workspace.Folder{{Dir: dir}}, Settings: settings, Asker: person, Human: person, Passing: true}, nil
}

// CallAsPerson calls a tool of a dialect in the user's own name.
func (c *Sidecar) CallAsPerson(ctx context.Context, dialect, tool string, arguments json.RawMessage, version string) (tools.Result, error) {
	person, _, err := c.Sessions.Open("", session.Agent{Name: "you", Version: version, Via: "terminal"}, "")
	if err != nil {
		return tools.Result{}, err
	}
	person.SetDialect(dialect)
	return c.Registry.Execute(ctx, tools.Call{Name: tool, Arguments: arguments, Session: person}), nil
}

// Host has agents find the sidecar while work goes on. When it returns nothing runs
// any more. The host's name, kind and version are the caller's.
func (c *Sidecar) Host(h relay.Host, work func(*relay.Server) error) (err error) {
	defer func() { err = errors.Join(err, c.Close()) }()
	h.Registry, h.Sessions, h.Roots, h.Structured, h.Logf = c.Registry, c.Sessions, c.Roots, c.structured, logf
	agents, err := relay.Listen(h)
	if err != nil {
		return fmt.Errorf("agents cannot find this terminal: %w", err)
	}
	defer func() { err = errors.Join(err, agents.Close()) }()
	c.onToolsChanged(agents.ToolsChanged)
	return work(agents)
}

// Resume lets the sessions go on that are paused, and names their agents.
func (c *Sidecar) Resume() []string {
	var names []string
	for _, s := range c.Sessions.List() {
		if owner, ok := c.Sessions.Get(s.SessionID); ok && s.Paused {
			owner.NewTurn()
			names = append(names, s.Agent.Name)
		}
	}
	return names
}

// Alone is the door for when no editor is open on the folders.
func Alone(dirs []string, agent session.Agent, asker approval.Asker, human tools.Human) (*mcp.Door, error) {
	settings, problems := config.Load(nil)
	for _, p := range problems {
		logf("%s", p)
	}
	folders := make([]workspace.Folder, len(dirs))
	for i, dir := range dirs {
		folders[i].Dir = dir
	}
	c, err := New(Options{Folders: folders, Settings: settings, Asker: asker, Human: human, Passing: true})
	if err != nil {
		return nil, err
	}
	own, _, err := c.Sessions.Open("", agent, "")
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.languages.TellMissing()
	return &mcp.Door{Registry: c.Registry, Session: own, OnToolsChanged: c.onToolsChanged, Structured: c.structured, Close: c.Close}, nil
}
