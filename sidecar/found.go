package sidecar

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"pillion/agents/mcp"
	"pillion/config"
	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/found"
	"pillion/tools/session"
	"pillion/workspace"
)

// newFound is the tools of other programs, none of which runs yet.
func (c *Sidecar) newFound() *found.Set {
	return found.New(found.Options{
		Runner: c.runner, LookPath: c.lookPath, Taken: append(tools.Reserved(), mcp.Shown()...),
		Changed: func() {
			if tell := c.toolsChanged.Load(); tell != nil {
				(*tell)()
			}
		},
	})
}

// onToolsChanged has tell called when the list of tools is another one.
func (c *Sidecar) onToolsChanged(tell func()) { c.toolsChanged.Store(&tell) }

// foundSources are the places that tools come from: the user's own settings, and what
// counts of each folder's file. What is wrong with them is for the user to know.
func foundSources(view *config.View, roots []workspace.Path) (sources []found.Source, problems []string) {
	off := func(name string) bool {
		return view.Own.MCPServers[name].Off() || slices.ContainsFunc(view.Folders, func(f config.Folder) bool { return f.Counts.MCPServers[name].Off() })
	}
	taken := map[string]string{}
	add := func(s config.Settings, dir, origin string, own bool) {
		base := found.Source{Origin: origin, Dir: dir}
		if line := s.Tools.DiscoveryCommand; line != "" && (own || line != view.Own.Tools.DiscoveryCommand) {
			one := base
			one.Kind, one.Line, one.Call = found.Command, line, s.Tools.CallCommand
			sources = append(sources, one)
		}
		if line := s.MCP.ServerCommand; line != "" && (own || line != view.Own.MCP.ServerCommand) {
			one := base
			one.Kind, one.Line = found.MCP, line
			sources = append(sources, one)
		}
		for _, alias := range slices.Sorted(maps.Keys(s.MCPServers)) {
			server := s.MCPServers[alias]
			if off(alias) || !own && view.Own.MCPServers[alias].Named() { // which is yours
				continue
			}
			problem := found.CheckAlias(alias)
			switch other, is := taken[found.Skeleton(alias)]; {
			case problem != "":
			case !server.Named():
				problem = "it has neither a command nor an address"
			case other == alias:
				problem = "another folder has a server of this name"
			case is:
				problem = "its name can be taken for that of " + other
			}
			if problem != "" {
				problems = append(problems, "the MCP server "+fault.Quote(alias)+" of "+origin+" is ignored: "+problem)
				continue
			}
			taken[found.Skeleton(alias)] = alias
			sources = append(sources, serverSource(base, alias, server, own))
		}
	}
	for i, root := range roots {
		if i == 0 {
			add(view.Own, root.RootDir(), "your settings", true)
		}
		for _, f := range view.Folders {
			if f.Root == root.RootDir() {
				add(f.Counts, f.Root, fault.Quote(f.File), false)
			}
		}
	}
	return sources, problems
}

func serverSource(base found.Source, alias string, s config.MCPServer, own bool) found.Source {
	base.Kind, base.Alias, base.URL, base.Timeout = found.MCP, alias, s.Address(), s.CallTime()
	base.Env, base.Headers = filled(s.Env), filled(s.Headers)
	if s.Command != "" {
		base.Args = append([]string{s.Command}, s.Args...)
		if !own && filepath.Base(s.Command) != s.Command && !filepath.IsAbs(s.Command) {
			base.Args[0] = filepath.Join(base.Dir, s.Command) // the user trusted the file that names it
		}
	}
	switch {
	case filepath.IsAbs(s.Cwd):
		base.Dir = s.Cwd
	case s.Cwd != "":
		base.Dir = filepath.Join(base.Dir, s.Cwd)
	}
	if own {
		base.Access = s.Access
	}
	return base
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}`)

// filled puts environment variables into values, so that secrets need not be in settings.
func filled(values map[string]string) map[string]string {
	out := maps.Clone(values)
	for key, value := range out {
		out[key] = variable.ReplaceAllStringFunc(value, func(mark string) string {
			parts := variable.FindStringSubmatch(mark)
			return cmp.Or(os.Getenv(parts[1]), parts[2])
		})
	}
	return out
}

// MayFind says whether settings name other programs' tools in the folder, trusted or not.
func MayFind(folder string) bool {
	own, _ := config.Load(nil)
	if own.Tools.DiscoveryCommand+own.MCP.ServerCommand != "" || len(own.MCPServers) > 0 {
		return true
	}
	_, err := os.Stat(filepath.Join(folder, config.ProjectFolder, config.ProjectFile))
	return err == nil
}

// ToolsForPerson are the tools as an agent of that dialect has them here, and notes on what
// was refused. Other programs are started for it.
func (c *Sidecar) ToolsForPerson(dialect string) ([]tools.Definition, []found.Note) {
	return c.Registry.NotedIn(dialect, session.New("list", session.Agent{Name: "you", Via: "terminal"}, ""), nil)
}
