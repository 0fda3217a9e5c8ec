package tools

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools/policy"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/document"
	"pillion/workspace/git"
	"pillion/workspace/journal"
)

// checkOut switches where there is no git: the files by a change set, as a whole, the
// rest by package git.
func (b branchPlan) checkOut(ctx context.Context, hands Hands) error {
	ctx, cancel := context.WithTimeout(ctx, b.git.timeout)
	defer cancel()
	return git.CheckOut(ctx, b.dir.RootDir(), b.dir.Abs(), b.BranchChange, func(files []git.CheckoutFile) (func(context.Context) error, error) {
		set, err := b.set(hands.Snapshot(), files)
		return func(ctx context.Context) error { return hands.Change(ctx, set) }, err
	})
}

// set is what is to be written, on what is there now. A file that is replaced goes, and
// another comes: git does so too, and it has no attributes of the old one.
func (b branchPlan) set(snap *document.Snapshot, files []git.CheckoutFile) (change.Set, error) {
	set := change.Set{Label: "Pillion: switch to " + fault.Quote(clip(b.Name, 60))}
	var all, gone []workspace.Path
	for _, f := range files {
		p, err := b.place(snap, f.Path)
		if err != nil {
			return set, err
		}
		all = append(all, p)
		if f.Gone {
			c, err := change.NewDelete(snap, p, false)
			if err != nil {
				return set, err
			}
			set.Tree = append(set.Tree, c)
		}
		if !f.New {
			gone = append(gone, p)
			continue
		}
		st := journal.State{Type: journal.TypeFile, Data: f.Data, Mode: f.Mode()}
		if f.Link {
			st = journal.State{Type: journal.TypeSymlink, Link: string(f.Data), Mode: f.Mode()}
		}
		set.Restores = append(set.Restores, change.Restore{Path: p, State: st, Fresh: true})
	}
	set.Empty = emptied(gone, set)
	return set, b.unsaved(snap, all)
}

// place is a file of the repository as one of the workspace: itself, by no link.
func (b branchPlan) place(snap *document.Snapshot, name string) (workspace.Path, error) {
	p, ok := snap.Workspace().Place(filepath.Join(b.Top, filepath.FromSlash(name)))
	if !ok {
		return p, fault.New(fault.GitError, "the switch changes %s, which lies outside of the workspace folder; without a git program Pillion changes nothing there", fault.Quote(name)).
			WithHint("ask the human to install git, or to make the switch")
	}
	if reason, denied := policy.Protected(p.Rel()); denied {
		return p, fault.New(fault.GitError, "Pillion writes no such file as the switch brings: %s", reason).WithHint("ask the human to look at that branch")
	}
	entry, err := p.Entry()
	if err == nil && entry != p {
		err = fault.New(fault.GitError, "%s is reached by a link; without a git program Pillion changes nothing there", fault.Quote(name))
	}
	return p, err
}

// emptied are the folders in which nothing is left, the innermost first.
func emptied(gone []workspace.Path, set change.Set) []workspace.Path {
	goes, comes, looked := map[workspace.Path]bool{}, map[workspace.Path]bool{}, map[workspace.Path]bool{}
	for _, p := range gone {
		goes[p] = true
	}
	for _, x := range set.Restores {
		for p := x.Path; !p.IsRoot(); p = p.Dir() {
			comes[p] = true
		}
	}
	var dirs, out []workspace.Path
	for _, p := range gone {
		for dir := p.Dir(); !dir.IsRoot() && !looked[dir]; dir = dir.Dir() {
			looked[dir] = true
			dirs = append(dirs, dir)
		}
	}
	depth := func(p workspace.Path) int { return strings.Count(path.Clean(p.Rel()), "/") }
	slices.SortStableFunc(dirs, func(x, y workspace.Path) int { return depth(y) - depth(x) })
	for _, dir := range dirs {
		entries, err := dir.ReadDir()
		stays := err != nil || comes[dir]
		for _, e := range entries {
			stays = stays || !goes[dir.Join(e.Name())]
		}
		if !stays {
			goes[dir] = true
			out = append(out, dir)
		}
	}
	return out
}
