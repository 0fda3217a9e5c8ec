package sidecar

import (
	"errors"

	"pillion/agents/mcp"
	"pillion/config"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/session"
	"pillion/workspace"
)

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
