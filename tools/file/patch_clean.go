package file

import (
	"context"
	"path/filepath"
	"slices"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/patching"
	"pillion/workspace"
	"pillion/workspace/git"
)

// mostDirty is how many files are named of a work tree that is not clean.
const mostDirty = 20

// checkClean refuses a patch where there are changes that git has not committed, or the
// user has not saved. Files that git does not track are no such thing. Where there is
// no repository only an agent that asks for a clean one is refused.
func checkClean(ctx context.Context, in tools.Input, p *patching.Patch, asked bool) error {
	var dirty []string
	unsaved := p.Unsaved()
	looked := map[string]bool{}
	for _, target := range p.Targets() {
		names, err := dirtyAround(ctx, in, target, looked)
		if fault.CodeOf(err) == fault.GitNotInitialized && !asked {
			continue
		}
		if err != nil {
			return err
		}
		dirty = append(dirty, names...)
	}
	dirty = slices.DeleteFunc(dirty, func(name string) bool { return slices.Contains(unsaved, name) })
	for _, name := range unsaved {
		dirty = append(dirty, name+" (not saved)")
	}
	if len(dirty) == 0 {
		return nil
	}
	n := len(dirty)
	dirty = dirty[:min(n, mostDirty)]
	why := "require_clean"
	if !asked {
		why = "the settings (limits.patches, limits.preset)"
	}
	return fault.New(fault.WorkTreeDirty, "%s has uncommitted or unsaved changes, and a clean work tree is required (%s); nothing was changed", tools.Count(n, "file"), why).
		With("files", dirty).WithHint("the first is %s; commit them first, or ask the user", fault.Quote(dirty[0]))
}

// dirtyAround are the files with changes in the repository that a file is in, by their
// names here, unless it was looked at already.
func dirtyAround(ctx context.Context, in tools.Input, at workspace.Path, looked map[string]bool) (out []string, err error) {
	dir := at.Dir()
	for !dir.IsRoot() && !dir.Exists() {
		dir = dir.Dir()
	}
	if looked[dir.Abs()] {
		return nil, nil
	}
	looked[dir.Abs()] = true
	got, err := in.Git.Status(ctx, at.RootDir(), git.StatusOptions{Dir: dir.Abs()})
	if err != nil {
		return nil, err
	}
	all := got.Top
	if rel, err := filepath.Rel(at.RootDir(), all); err != nil || !filepath.IsLocal(rel) {
		all = at.RootDir() // the repository begins above the folder that is open
	}
	if all != dir.Abs() {
		if looked[all] {
			return nil, nil
		}
		looked[all] = true
		if got, err = in.Git.Status(ctx, at.RootDir(), git.StatusOptions{Dir: all}); err != nil {
			return nil, err
		}
	}
	name := tools.WorkspaceNames(at, got.Top)
	for _, f := range got.Files {
		if f.Staged != "" || f.Worktree != "" && f.Worktree != git.Untracked {
			out = append(out, name(f.Path))
		}
	}
	return out, nil
}
