package doctor

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/mod/semver"

	"pillion/agents/relay"
)

// program is one that is looked for.
type program struct {
	id, title string
	names     []string // of its file
	absent    string   // what its absence means
	get       string   // packages that hold it
}

// helpers are programs beside Pillion. It needs none of them: it reads repositories
// and searches by itself.
var helpers = []program{
	{"program.git", "git", []string{"git"}, "not found; only commands of agents need it", "Debian, brew: git"},
	{"program.ripgrep", "ripgrep", []string{"rg"}, "not found; not needed", "Debian, brew: ripgrep"},
}

func programs(ctx context.Context, e exam) []Finding {
	return each(helpers, func(p program) (Finding, bool) {
		f := Finding{ID: p.id, Title: p.title, Status: OK}
		path := e.programs.find(p.names...)
		if path == "" {
			f.Status, f.Detail, f.Hint = Info, p.absent, p.get
			return f, true
		}
		return found(ctx, e, f, path), true
	})
}

// found tells of a program that is there.
func found(ctx context.Context, e exam, f Finding, path string) Finding {
	return foundIn(f, path, e.programs.version(ctx, path, "--version"))
}

// foundIn is a program of which the version is known, or not.
func foundIn(f Finding, path, version string) Finding {
	f.Data = map[string]any{"path": path}
	if version == "" {
		f.Detail = path + ", version unknown"
		return f
	}
	f.Data["version"] = version
	f.Detail = version + ", " + path
	return f
}

// each does the same for all, at the same time, and keeps their order.
func each[T any](all []T, look func(T) (Finding, bool)) []Finding {
	results := make([]Finding, len(all))
	shown := make([]bool, len(all))
	var work sync.WaitGroup
	for i, one := range all {
		work.Go(func() { results[i], shown[i] = look(one) })
	}
	work.Wait()
	var out []Finding
	for i, f := range results {
		if shown[i] {
			out = append(out, f)
		}
	}
	return out
}

// editor is one that people use, and what it calls itself when it starts a sidecar.
type editor struct {
	program
	calls string
	least string // the oldest version that Pillion's plugin works with
}

var knownEditors = []editor{
	{program{"editor.code", "VS Code", []string{"code"}, "", ""}, "visual studio code", "1.100"},
	{program{"editor.code-server", "code-server", []string{"code-server"}, "", ""}, "code-server", ""},
	{program{"editor.nvim", "Neovim", []string{"nvim"}, "", ""}, "neovim", "0.10"},
	{program{"editor.emacs", "Emacs", []string{"emacs"}, "", ""}, "emacs", ""},
	{program{"editor.helix", "Helix", []string{"hx", "helix"}, "", ""}, "helix", ""},
	{program{"editor.zed", "Zed", []string{"zed", "zeditor"}, "", ""}, "zed", ""},
	{program{"editor.sublime", "Sublime Text", []string{"subl"}, "", ""}, "sublime", ""},
}

// editors are those that are on PATH, or open on the folder.
func editors(ctx context.Context, e exam) []Finding {
	running := runningEditors(e.Folder)
	out := each(knownEditors, func(known editor) (Finding, bool) {
		f := Finding{ID: known.id, Title: known.title, Status: OK}
		path, open := e.programs.find(known.names...), strings.Contains(running, known.calls)
		switch {
		case path != "":
			f = tooOld(found(ctx, e, f, path), known)
		case open:
			f.Detail, f.Data = "not on PATH", map[string]any{}
		default:
			return f, false
		}
		f.Data["open_here"] = open
		if open {
			f.Detail += "; open on this folder"
		}
		return f, true
	})
	if len(out) == 0 {
		out = append(out, Finding{
			ID: "editor.none", Title: "editor", Status: Missing, Detail: "none on PATH",
			Hint: "VS Code, or Neovim 0.10 or newer (Debian, brew: neovim)",
		})
	}
	return out
}

// runningEditors are the names of those that are open on the folder, in small
// letters.
func runningEditors(folder string) string {
	entries, _ := relay.FindAll(folder) //nolint:errcheck // openEditors has told of it
	var names []string
	for _, entry := range entries {
		names = append(names, strings.ToLower(entry.Editor))
	}
	return strings.Join(names, "\n")
}

func tooOld(f Finding, known editor) Finding {
	version, _ := f.Data["version"].(string)
	if isBefore(version, known.least) {
		f.Status = Warning
		f.Hint = fmt.Sprintf("Pillion's plugin works with %s %s and newer", known.title, known.least)
	}
	return f
}

// isBefore reports whether a version is older than the least one, which has two numbers.
func isBefore(version, least string) bool {
	minor := semver.MajorMinor("v" + version)
	return minor != "" && semver.Compare(minor, "v"+least) < 0
}
