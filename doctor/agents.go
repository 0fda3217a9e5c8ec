package doctor

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pillion/agents/install"
)

// agents tells which agents are here, and whether they can act behind Pillion's
// back. One that is neither on PATH nor set up is passed over.
func agents(ctx context.Context, e exam) []Finding {
	out := each(install.Agents(), func(id string) (Finding, bool) { return agent(ctx, e, id, install.Name(id)) })
	if len(out) == 0 {
		var packages []string
		for _, id := range install.Agents() {
			packages = append(packages, install.Package(id))
		}
		out = append(out, Finding{
			ID: "agent.none", Title: "agent", Status: Missing, Detail: "none on PATH or set up",
			Hint: "npm: " + install.Choice(packages),
		})
	}
	return out
}

// agent looks for one, whose id is its program's name too.
func agent(ctx context.Context, e exam, id, title string) (f Finding, shown bool) {
	f = Finding{ID: "agent." + id, Title: title, Status: OK}
	look := install.Options{Binary: e.Binary, Project: e.Folder, Home: e.home, Getenv: os.Getenv}
	if real(e.Folder) == real(e.home) {
		look.Project = "" // its files are the user's own
	}
	state, err := install.Look(id, look)
	path := e.programs.find(id)
	switch {
	case path != "":
		f = found(ctx, e, f, path)
	case state.Server == "" && err == nil:
		return f, false
	default:
		f.Detail, f.Data = "not on PATH", map[string]any{}
	}
	if err != nil {
		f.Status, f.Detail, f.Hint = Error, f.Detail+"; its configuration cannot be read, so it may act unseen: "+err.Error(), "fix that file"
		return f, true
	}
	return judge(f, id, state, e), true
}

// judge says whether the agent works through Pillion, and through nothing else.
func judge(f Finding, id string, state install.State, e exam) Finding {
	f.Data["installed"], f.Data["acts_unseen"] = nonNil(state.Scopes), nonNil(state.On)
	again := e.command() + " mcp install " + id
	switch {
	case state.Server == "":
		f.Status, f.Hint = Warning, again
		f.Detail += "; Pillion is not set up in it, so it edits and runs commands unseen"
		return f
	case !isProgram(state.Server):
		f.Status, f.Hint = Error, again
		f.Detail += "; it is set up to start " + state.Server + ", which does not exist"
		return f
	}
	f.Data["server"] = state.Server
	f.Detail += "; Pillion is set up in it, " + scopes(state.Scopes)
	if real(state.Server) != real(e.Binary) {
		f.Detail += ", as " + state.Server
	}
	switch {
	case len(state.On) > 0:
		f.Status, f.Hint = Warning, again
		f.Detail += "; it can still act unseen, with its own " + strings.Join(state.On, ", ")
	case len(state.Changes) > 0:
		f.Status, f.Hint = Warning, again
		f.Detail += "; setting it up again " + strings.Join(state.Changes, "; ")
	default:
		f.Detail += "; its own edit and shell tools are off"
	}
	if len(state.Changes) > 0 {
		f.Data["changes"] = state.Changes
		if !slices.Contains(state.Scopes, install.User) {
			f.Hint = strings.Replace(f.Hint, "mcp install", "mcp install --project", 1)
		}
	}
	return f
}

// command is how the user starts Pillion: by its name, or where that is not on PATH, as it is
// when it came with an editor's extension, by its path.
func (e exam) command() string {
	if e.Binary == "" || e.programs.find("pillion") != "" || slices.Contains(e.programs.folders, filepath.Dir(e.Binary)) {
		return "pillion"
	}
	return strings.ReplaceAll(e.Binary, " ", `\ `) // in quotes a shell would not know ~
}

func nonNil(list []string) []string { return append([]string{}, list...) }

func scopes(list []string) string {
	switch {
	case len(list) > 1:
		return "for all your projects and for this one"
	case slices.Contains(list, install.Project):
		return "for this project"
	}
	return "for all your projects"
}
