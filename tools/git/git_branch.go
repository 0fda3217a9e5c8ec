package git

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/process"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/git"
)

var _ = tools.Define(tools.NewVCS(tools.Spec{
	Name:        "git.branch",
	Title:       "Git branch",
	Description: "Lists, creates, switches or deletes local branches. Refused where changes or commits would be lost.",
	Success:     true,
	Results:     []any{gitBranchResult{}},
}, planGitBranch))

type gitBranchArgs struct {
	Action string `json:"action" jsonschema:"list, current, create, switch or delete"`
	Name   string `json:"name,omitempty"`
	From   string `json:"from,omitempty" jsonschema:"where it starts; default HEAD"`
	Path   string `json:"path,omitempty" jsonschema:"in which repository"`
}

type gitBranchResult struct {
	Current   string       `json:"current"` // empty where none is checked out
	Branches  []git.Branch `json:"branches"`
	Truncated bool         `json:"truncated,omitempty"`
	Total     int          `json:"total,omitempty"`
}

func planGitBranch(ctx context.Context, in tools.Input, args gitBranchArgs) (tools.Plan, error) {
	acts := map[string]branchAction{"create": createBranch, "switch": switchBranch, "delete": deleteBranch}
	do, changes := acts[args.Action]
	switch {
	case !changes && args.Action != "list" && args.Action != "current":
		return nil, fault.Invalid("action is %s; it must be list, current, create, switch or delete", fault.Quote(args.Action))
	case changes && args.Name == "":
		return nil, fault.Invalid("name is empty; it is the branch to %s", args.Action)
	case !changes && args.Name != "":
		return nil, fault.Invalid("%s takes no name", args.Action)
	case args.From != "" && args.Action != "create":
		return nil, fault.Invalid("from is for create alone")
	}
	dir, err := tools.OneFolder(in, "path", args.Path)
	if err != nil {
		return nil, err
	}
	if !changes {
		return listBranches(ctx, in, dir, args.Action == "current")
	}
	b := branchPlan{branchAction: do, args: args, dir: dir}
	return b.plan(ctx, in)
}

func listBranches(ctx context.Context, in tools.Input, dir workspace.Path, current bool) (*tools.Answer, error) {
	list, err := in.Git.Branches(ctx, dir.RootDir(), dir.Abs())
	if err != nil {
		return nil, err
	}
	if current {
		list.Branches = slices.DeleteFunc(list.Branches, func(b git.Branch) bool { return b.Name != list.Head.Branch })
	}
	return branchAnswer(list, ""), nil
}

func branchAnswer(list git.BranchList, done string) *tools.Answer {
	const most = 10_000
	r := gitBranchResult{Current: list.Head.Branch, Branches: append([]git.Branch{}, list.Branches[:min(most, len(list.Branches))]...)}
	if len(list.Branches) > most {
		r.Truncated, r.Total = true, len(list.Branches)
	}
	var text strings.Builder
	for _, b := range r.Branches {
		mark := " "
		if b.Name == r.Current {
			mark = "*"
		}
		fmt.Fprintf(&text, "%s %s %s", mark, fault.Quote(b.Name), short(b.Hash))
		if b.Upstream != "" {
			text.WriteString(" follows " + fault.Quote(b.Upstream))
		}
		text.WriteString("\n")
	}
	if r.Truncated {
		fmt.Fprintf(&text, "and %d more\n", r.Total-most)
	}
	if r.Current == "" {
		text.WriteString("no branch is checked out, but " + short(list.Head.Hash) + "\n")
	}
	summary := done
	if done == "" {
		summary = "on " + branchWords(r.Current)
	} else {
		done += "\n"
	}
	return &tools.Answer{Result: r, Text: done + text.String(), Summary: summary}
}

// branchAction is what is different between the actions that change something.
type branchAction struct {
	look     func(ctx context.Context, g *git.Reader, root, dir string, args gitBranchArgs) (git.BranchChange, error)
	args     func(c git.BranchChange) []string                               // git's
	builtin  func(g *git.Reader, root, dir string, c git.BranchChange) error // does it without git; nil: only git can
	facts    func(s *approval.Sheet, b branchPlan)
	title    string
	deed     string // completes "the agent wants to", before the branch's name
	done     string
	question string // the name of its dialog
}

var createBranch = branchAction{
	look: func(ctx context.Context, g *git.Reader, root, dir string, args gitBranchArgs) (git.BranchChange, error) {
		return g.NewBranch(ctx, root, dir, args.Name, args.From)
	},
	args: func(c git.BranchChange) []string {
		if c.Start != "" {
			return []string{"branch", "--end-of-options", c.Name, c.Start}
		}
		return []string{"branch", "--no-track", "--end-of-options", c.Name, c.Hash}
	},
	builtin: (*git.Reader).MakeBranch, title: "Create branch", deed: "create the branch", done: "created", question: "Create a branch?",
	facts: func(s *approval.Sheet, b branchPlan) {
		s.Fact("branch", "Branch", b.at(b.Name, b.Hash))
		if b.Start != "" && b.git.file != "" {
			s.Fact("upstream", "Upstream", fault.Quote(strings.TrimPrefix(b.Start, "refs/remotes/")))
		}
		s.Fact("checked_out", "Checked out", branchWords(b.Branch)+", as before")
	},
}

var switchBranch = branchAction{
	look: func(ctx context.Context, g *git.Reader, root, dir string, args gitBranchArgs) (git.BranchChange, error) {
		return g.Switch(ctx, root, dir, args.Name)
	},
	args: func(c git.BranchChange) []string {
		return []string{"switch", "--quiet", "--no-guess", "--no-overwrite-ignore", "--no-recurse-submodules", "--end-of-options", c.Name}
	},
	title: "Switch to branch", deed: "switch to the branch", done: "switched to", question: "Switch branches?",
	facts: func(s *approval.Sheet, b branchPlan) {
		if b.Head != "" {
			s.Fact("from", "From", b.at(b.Branch, b.Head))
		}
		s.Fact("to", "To", b.at(b.Name, b.Hash))
	},
}

var deleteBranch = branchAction{
	look: func(ctx context.Context, g *git.Reader, root, dir string, args gitBranchArgs) (git.BranchChange, error) {
		return g.Delete(ctx, root, dir, args.Name)
	},
	args: func(c git.BranchChange) []string {
		return []string{"branch", "--quiet", "--delete", "--end-of-options", c.Name}
	},
	builtin: (*git.Reader).RemoveBranch, title: "Delete branch", deed: "delete the branch", done: "deleted", question: "Delete a branch?",
	facts: func(s *approval.Sheet, b branchPlan) {
		s.Fact("branch", "Branch", b.at(b.Name, b.Hash))
		if b.Beyond != "" {
			s.Fact("merged", "Merged", "all its commits are also in "+fault.Quote(b.Beyond))
		}
	},
}

// branchPlan is a change of branches that was looked at.
type branchPlan struct {
	branchAction
	git.BranchChange
	args gitBranchArgs
	dir  workspace.Path
	git  gitProgram
}

func (b branchPlan) plan(ctx context.Context, in tools.Input) (tools.Plan, error) {
	root, dir := b.dir.RootDir(), b.dir.Abs()
	var err error
	if b.BranchChange, err = b.look(ctx, in.Git, root, dir, b.args); err != nil {
		return nil, err
	}
	writes := b.written(in)
	if err := b.unsaved(in.Snapshot, writes); err != nil {
		return nil, err
	}
	b.git = newGitProgram(in, b.Repository)
	if b.git.file == "" && b.builtin == nil {
		return nil, git.NeedsGit("switching branches changes files in the work tree")
	}
	a := &tools.Action{
		Title: b.title + " " + fault.Quote(fault.Clip(b.Name, 60)), Description: b.title + " of the git repository in " + fault.Quote(filepath.Base(b.Top)) + ".",
		Writes: writes,
		Watch:  []string{b.Dir, filepath.Join(b.Dir, "refs", "heads")},
	}
	if err := b.git.confine(in, a, len(b.Hooks)+len(b.Filters)+len(b.Fetched), false, false); err != nil {
		return nil, err
	}
	a.Shows, a.Run = b.preview, b.run
	in.Snapshot.RestOnState("branch", b.State(), func() string {
		now := branchPlan{}
		var err error
		if now.BranchChange, err = b.look(context.Background(), in.Git, root, dir, b.args); err != nil {
			return err.Error()
		}
		return now.State()
	})
	return a, nil
}

// written are the files of the work tree that a switch writes, with what a dialog says of each.
func (b branchPlan) written(in tools.Input) []tools.Written {
	lines := map[string]string{}
	for i, line := range changeLines(b.Changes) {
		lines[b.Changes.Files[i].Path] = line
	}
	out := make([]tools.Written, 0, len(b.Writes))
	for _, f := range b.Writes {
		w := tools.Written{
			Abs: filepath.Join(b.Top, filepath.FromSlash(f.Path)), MadeExecutable: f.MadeExecutable(), MadeLink: f.MadeLink(), New: f.Was == "", Deleted: f.Mode == "",
			Line: cmp.Or(lines[f.Path], f.Letter()+" "+fault.Quote(f.Path)),
		}
		if !in.Snapshot.Workspace().IsClosed(w.Abs) {
			w.Path, _ = in.Snapshot.Workspace().Place(w.Abs)
		}
		switch {
		case w.MadeExecutable:
			w.Line += ", executable"
		case w.MadeLink:
			w.Line += ", symbolic link"
		}
		if f.LeftOut {
			w.Line += ", if the sparse checkout wants it"
		}
		out = append(out, w)
	}
	return out
}

// unsaved refuses to change files under text that nobody has but the editor.
func (b branchPlan) unsaved(snap *document.Snapshot, writes []tools.Written) error {
	var files []workspace.Path
	for _, w := range writes {
		if !w.Path.IsZero() {
			files = append(files, w.Path)
		}
	}
	if unsaved := unsavedAmong(snap, files); len(unsaved) > 0 {
		return fault.New(fault.WorkTreeDirty, "%s changes files that have unsaved text in the editor: %s", fault.Quote(b.Name), strings.Join(tools.QuoteAll(unsaved), ", ")).
			With("paths", unsaved).WithHint("ask the user to save or undo it first")
	}
	return nil
}

// preview shows all files that are protected, however many, and of the others some.
func (b branchPlan) preview(files []tools.Shown) approval.Preview {
	const most = 200
	var s approval.Sheet
	s.Deed, s.Question = b.deed+" "+fault.Quote(b.Name), b.question
	b.facts(&s, b)
	if b.Changes.FilesChanged > 0 {
		s.Fact("size", "Changes", changeSize(b.Changes)+"; uncommitted changes in other files stay")
	}
	var lines []string
	foremost := 0
	for _, f := range files {
		if lines = append(lines, f.Line); f.Protected {
			foremost++
		}
	}
	s.List("files", "Files", max(most, foremost), lines...)
	b.git.hooks(&s, b.Repository)
	b.git.programs(&s, b.Filters, b.Repository)
	return s.Shown()
}

// at is a branch or nothing, and the commit that is there.
func (b branchPlan) at(name, hash string) string { return branchWords(name) + ", at " + short(hash) }

func (b branchPlan) run(ctx context.Context, effects tools.Effects) (*tools.Answer, error) {
	if b.git.file == "" {
		return b.runBuiltin(ctx)
	}
	if b.args.Action == "switch" {
		free, err := b.git.reader.HoldBranch(ctx, b.dir.RootDir(), b.dir.Abs(), b.BranchChange, b.git.held.Level == process.Bubblewrap)
		if err != nil {
			return nil, err
		}
		defer free()
	}
	got, err := b.git.run(ctx, effects, "", b.branchAction.args(b.BranchChange)...)
	if err != nil || got.ExitCode != 0 {
		failed := b.git.gitFailed(strings.ToLower(b.title), got, err)
		if b.isDone(context.WithoutCancel(ctx)) {
			failed.Err.Message = fmt.Sprintf("git %s %s, but what ran after that (a hook) failed or was ended", b.done, fault.Quote(b.Name))
		}
		return failed, nil
	}
	a, err := b.answer(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	if output := gitOutput(got); output != "" {
		a.Notes = append(a.Notes, output)
	}
	return a, nil
}

// isDone reports whether it came about, whatever git said at its end: what a post-checkout
// hook ends with is what git switch ends with.
func (b branchPlan) isDone(ctx context.Context) bool {
	list, err := b.git.reader.Branches(ctx, b.dir.RootDir(), b.dir.Abs())
	there := slices.ContainsFunc(list.Branches, func(other git.Branch) bool { return other.Name == b.Name })
	switch {
	case err != nil:
		return false
	case b.args.Action == "switch":
		return list.Head.Branch == b.Name
	}
	return there == (b.args.Action == "create")
}

func (b branchPlan) answer(ctx context.Context) (*tools.Answer, error) {
	list, err := b.git.reader.Branches(ctx, b.dir.RootDir(), b.dir.Abs())
	if err != nil {
		return nil, err
	}
	if b.args.Action == "switch" && list.Head.Hash != b.Hash {
		return &tools.Answer{Err: fault.New(fault.ConcurrentModification, "git %s %s, which moved from %s to %s meanwhile: files may be those of that commit, which nobody has judged", b.done, fault.Quote(b.Name), short(b.Hash), short(list.Head.Hash)).
			WithHint("tell the user; git.status and git.log show what is there now")}, nil
	}
	return branchAnswer(list, fmt.Sprintf("%s %s, at %s", b.done, fault.Quote(b.Name), short(b.Hash))), nil
}

// runBuiltin does it where there is no git.
func (b branchPlan) runBuiltin(ctx context.Context) (*tools.Answer, error) {
	if err := b.builtin(b.git.reader, b.dir.RootDir(), b.dir.Abs(), b.BranchChange); err != nil {
		return nil, err
	}
	a, err := b.answer(context.WithoutCancel(ctx))
	if err == nil && len(b.Hooks) > 0 {
		a.Notes = append(a.Notes, "there is no git program: the hooks did not run")
	}
	return a, err
}
