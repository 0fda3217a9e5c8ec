package tools

import (
	"path/filepath"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace"
)

// CheckGlob refuses a glob that can only be about other places than the folder
// that is looked in.
func CheckGlob(w *workspace.Workspace, pattern string) error {
	body := strings.TrimPrefix(pattern, "!")
	if body == "" {
		return fault.Invalid("the pattern is empty; give a glob like *.go or src/**/*.ts")
	}
	for part := range strings.FieldsFuncSeq(body, func(c rune) bool { return strings.ContainsRune(`/\{},`, c) }) {
		if part == ".." {
			return fault.New(fault.PathOutsideWorkspace, "the pattern %s leads upwards", fault.Quote(pattern)).
				WithHint("write the glob relative to the folder to look in, which path names, without \"..\"")
		}
	}
	switch {
	case isDrive(body) || strings.HasPrefix(body, `\\`):
		return fault.New(fault.InvalidPath, "the pattern %s is a Windows path", fault.Quote(pattern)).
			WithHint("write the glob with forward slashes, relative to the folder to look in")
	case body[0] != '/':
		return nil
	}
	for _, root := range w.Roots() {
		if rel, ok := strings.CutPrefix(filepath.ToSlash(body), filepath.ToSlash(root.Abs())+"/"); ok {
			return fault.New(fault.InvalidPath, "the pattern %s is absolute", fault.Quote(pattern)).
				WithHint("write it relative to the workspace folder: %s", fault.Quote(rel))
		}
	}
	return fault.New(fault.PathOutsideWorkspace, "the pattern %s is absolute and outside the workspace", fault.Quote(pattern)).
		WithHint("write the glob relative to the folder to look in, such as src/**/*.ts")
}

// isDrive tells the start of a Windows path on any system.
func isDrive(name string) bool {
	return len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/') && (name[0]|0x20) >= 'a' && (name[0]|0x20) <= 'z'
}

// NothingMatches is the text of a list without entries.
const NothingMatches = "(nothing matches)"

// FoldersAt is the folder that is meant; in a workspace of several folders an
// empty path means all of them.
func FoldersAt(in Input, name string) ([]workspace.Path, error) {
	w := in.Snapshot.Workspace()
	if roots := w.Roots(); (name == "" || name == "." || name == "/") && len(roots) > 1 {
		return roots, nil
	}
	p, err := w.ResolveDir(name)
	return []workspace.Path{p}, err
}

// OneFolder is the folder that is meant where only one can be. In a workspace of
// several folders it has to be named.
func OneFolder(in Input, argument, name string) (workspace.Path, error) {
	w := in.Snapshot.Workspace()
	if roots := w.Roots(); name == "" && len(roots) > 1 {
		var names []string
		for _, root := range roots {
			names = append(names, fault.Quote(root.String()))
		}
		return workspace.Path{}, fault.Invalid("several folders are open; give %s, beginning with one of: %s", argument, strings.Join(names, ", "))
	}
	return w.ResolveDir(name)
}

// NamePrefix is what the names of all that lies below the folder begin with.
func NamePrefix(folder workspace.Path) string {
	if name := folder.String(); name != "." {
		return name + "/"
	}
	return ""
}

// DefaultListLimit is how many files are listed when a call does not say.
const DefaultListLimit = 2000

// MostListBytes is how large an answer may become, however high the limit is: the wires
// have theirs.
const MostListBytes = 24 << 20

// WorkspaceNames gives the workspace's name of a path of the repository whose top is that
// folder: it may lie above the workspace folder or below it.
func WorkspaceNames(p workspace.Path, top string) func(string) string {
	root := p.Top()
	return func(path string) string {
		rel, err := filepath.Rel(root.Abs(), filepath.Join(top, filepath.FromSlash(path)))
		if err != nil || !filepath.IsLocal(rel) {
			return path
		}
		name := root.Join(filepath.ToSlash(rel)).String()
		if strings.HasSuffix(path, "/") {
			name += "/"
		}
		return name
	}
}
