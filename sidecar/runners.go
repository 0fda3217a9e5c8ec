package sidecar

import (
	"os"

	"pillion/agents/acp"
	"pillion/config"
	"pillion/tools"
)

// runners are the sub-agents that are set.
func runners(set config.Runners) map[string]tools.Runner {
	home, _ := os.UserHomeDir() //nolint:errcheck // without a home no folder begins with ~
	out := map[string]tools.Runner{}
	for name, r := range set {
		made := tools.Runner{Args: r.Command, Env: r.Env, Inherit: r.InheritEnv, WritesItself: r.WritesItself, Mode: r.Mode, Timeout: r.Timeout()}
		made.Writable = config.Folders(r.Writable, home)
		if len(r.ACP) > 0 {
			made.Args, made.ACP = r.ACP, true
		}
		out[name] = made
	}
	return out
}

// subAgents runs those that speak ACP.
func (c *Sidecar) subAgents() *acp.Host {
	return &acp.Host{Registry: c.Registry, Sessions: c.Sessions, Start: c.runner.Start, Relative: c.relative}
}

// relative is a path of the workspace as tools print it, any other as it is.
func (c *Sidecar) relative(path string) string {
	if at, inside := c.workspace.Place(path); inside {
		return at.String()
	}
	return path
}
