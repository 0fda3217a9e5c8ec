package command

import (
	"strings"

	"pillion/internal/way"
	"pillion/tools"
	"pillion/tools/policy"
	"pillion/tools/process"
)

// confine says how the command is held: by the strongest means that works here.
func (c command) confine(in tools.Input) (command, error) {
	s := in.Sandbox
	if s.Mode == "" || s.Mode == tools.SandboxOff {
		c.held = process.Confine{Level: process.None}
		return c, nil
	}
	offline, err := c.offline(in)
	if err != nil {
		return c, err
	}
	if c.held, err = s.Hold(in, offline); err != nil || c.held.Level == process.None {
		return c, err
	}
	line := policy.ReadCommand(c.Line)
	for _, root := range in.Snapshot.Workspace().Roots() {
		if line.RunsGit() {
			tools.LetGitWork(&c.held, root.Abs())
		}
	}
	c.held.ReadOnly = tools.Shallowest(c.held.ReadOnly)
	c.held.Files, c.held.Named = c.namedTargets(line, c.held), line.Absolute()
	if c.held.Offline && s.Network != tools.NetworkOff {
		c.held.Hosts, c.held.PrivateHosts = listedHosts(s.Hosts, c.Network), s.PrivateHosts
	}
	return c, nil
}

// namedTargets are the files that the line itself names after > or >>, and that
// could not be written otherwise: the user saw them.
func (c command) namedTargets(line *policy.CommandReading, held process.Confine) []string {
	var out []string
	for _, target := range line.Targets() {
		if target = process.Resolve(way.Join(c.dir.Abs(), target)); !strings.HasPrefix(target, "/dev/") && !strings.HasPrefix(target, "/proc/") && !held.Writes(target) {
			out = append(out, target)
		}
	}
	return out
}
