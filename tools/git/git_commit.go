package git

import (
	"context"
	"fmt"
	"maps"
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
	Name:        "git.commit",
	Title:       "Git commit",
	Description: "Commits with the user's own git, name, hooks and signing, after they approve. Commits files, else what is staged, else changes of tracked files; not unsaved editor text.",
	Success:     true,
	Results:     []any{gitCommitResult{}},
}, planGitCommit))

type gitCommitArgs struct {
	Message string   `json:"message"`
	Files   []string `json:"files,omitempty" jsonschema:"new and deleted ones too"`
	Path    string   `json:"path,omitempty" jsonschema:"in which repository"`
}

type gitCommitResult struct {
	Hash         string `json:"hash"`
	Branch       string `json:"branch"` // empty where none is checked out
	FilesChanged int    `json:"files_changed"`
	Additions    int    `json:"additions"`
	Deletions    int    `json:"deletions"`
	HookOutput   string `json:"hook_output,omitempty"`
	// Differs are files of which the commit holds something else than was planned.
	Differs []string `json:"differs,omitempty"`
}

// commitPlan is a commit that was looked at.
type commitPlan struct {
	git.Draft
	message string
	root    string
	options git.CommitOptions
	git     gitProgram
}

func planGitCommit(ctx context.Context, in tools.Input, args gitCommitArgs) (tools.Plan, error) {
	switch {
	case strings.TrimSpace(args.Message) == "":
		return nil, fault.Invalid("message is empty; say in a line what the commit does")
	case strings.ContainsRune(args.Message, 0):
		return nil, fault.Invalid("message has a NUL byte; leave it out")
	case args.Files != nil && len(args.Files) == 0:
		return nil, fault.Invalid("files is empty; leave it out to commit what is staged, else all changes of tracked files")
	}
	options, root, err := commitOptions(in, args)
	if err != nil {
		return nil, err
	}
	c := commitPlan{message: args.Message, root: root, options: options}
	if c.Draft, err = in.Git.NewDraft(ctx, root, options); err != nil {
		return nil, err
	}
	c.git = newGitProgram(in, c.Repository)
	if c.From != git.FromStaged && !c.pathsFit() && len(c.message) > mostArgument {
		return nil, fault.Invalid("message has %d bytes, and so many files are named that git takes no more than %d with them; shorten it", len(c.message), mostArgument)
	}
	a := c.action(in)
	if err := c.git.confine(in, a, len(c.Hooks)+len(c.Filters)+len(c.Fetched), c.Sign.On, false); err != nil {
		return nil, err
	}
	a.Preview = c.preview(a.Preview.Unsaved)
	a.Run = c.run
	in.Snapshot.RestOnState("commit", c.State(), func() string {
		now := commitPlan{}
		var err error
		if now.Draft, err = in.Git.NewDraft(context.Background(), root, options); err != nil {
			return err.Error()
		}
		return now.State()
	})
	return a, nil
}

// mostDiff is the longest diff that a dialog shows.
const mostDiff = 256 << 10

// commitOptions finds the files, and the repository: that of path, else of the first file.
func commitOptions(in tools.Input, args gitCommitArgs) (git.CommitOptions, string, error) {
	o := git.CommitOptions{MaxBytes: mostDiff}
	var at workspace.Path
	for _, name := range args.Files {
		p, err := in.Snapshot.Workspace().ResolveEntry(name)
		if err != nil {
			return o, "", err
		}
		if at.IsZero() {
			at = p
		}
		o.Files = append(o.Files, p.Abs())
	}
	if at.IsZero() || args.Path != "" {
		p, err := tools.OneFolder(in, "path", args.Path)
		if err != nil {
			return o, "", err
		}
		at = p
	}
	o.Dir = at.Abs()
	return o, at.RootDir(), nil
}

func (c commitPlan) action(in tools.Input) *tools.Action {
	names := slices.Sorted(maps.Keys(c.Content))
	reads := inWorkspace(in, c.Top, names)
	unsaved := unsavedAmong(in.Snapshot, reads)
	a := &tools.Action{
		Title:       "Commit " + fault.Quote(fault.Clip(tools.FirstLine(c.message), 60)),
		Description: fmt.Sprintf("Commits %s to git.", tools.Count(len(names), "file")),
		Preview:     approval.Preview{Unsaved: unsaved},
		Watch:       c.watched(names),
	}
	there := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return c.Content[name] == "" })
	a.Reads, a.Tracked = inWorkspace(in, c.Top, there), true
	a.Reasons = approval.UnsavedReason(unsaved)
	if len(reads) < len(names) {
		a.Because("outside", "%s to commit outside the workspace folder", tools.Count(len(names)-len(reads), "file"))
	}
	if c.Operation != "" {
		a.Because("busy", "git is in the middle of %s", c.Operation)
	}
	if c.Branch == "" {
		a.Because("detached", "no branch is checked out, so the commit will be on none")
	}
	return a
}

// watched are the folders in which a change may be one of the commit.
func (c commitPlan) watched(names []string) []string {
	const most = 64
	out := []string{c.Dir}
	for _, name := range names {
		if dir := filepath.Dir(filepath.Join(c.Top, filepath.FromSlash(name))); len(out) < most && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// unsavedAmong are those of the files that the user has not saved, by the names that they are open under:
// a link leads to the file, or to a folder that it lies in. What git writes is at no link's other end.
func unsavedAmong(snap *document.Snapshot, files []workspace.Path) []string {
	dirty := snap.Dirty()
	if len(dirty) == 0 {
		return nil
	}
	folders, all := map[string]string{}, map[string]bool{}
	for _, file := range files {
		dir, name := filepath.Split(file.Abs())
		if _, known := folders[dir]; !known {
			folders[dir] = process.Resolve(dir)
		}
		all[file.Abs()], all[filepath.Join(folders[dir], name)] = true, true
	}
	var out []string
	for _, b := range dirty {
		if all[b.Path.Abs()] || all[process.Resolve(b.Path.Abs())] {
			out = append(out, b.Path.String())
		}
	}
	slices.Sort(out)
	return out
}

var commitSources = map[string]string{
	git.FromStaged: "what is staged", git.FromTracked: "changes of tracked files (nothing is staged)", git.FromFiles: "the files that the agent named",
}

// preview is what the user sees of the commit.
func (c commitPlan) preview(unsaved []string) approval.Preview {
	const most = 200
	var s approval.Sheet
	s.Message, s.Diff, s.Unsaved = c.message, c.Changes.Diff, unsaved
	s.Deed, s.Question = "commit "+tools.Count(c.Changes.FilesChanged, "file"), "Commit this?"
	on := "its first commit"
	if c.Head != "" {
		on = "now at " + short(c.Head)
	}
	if c.Branch == "" {
		s.Warn("branch", "Branch", branchWords("")+", "+on)
	} else {
		s.Deed += " to " + fault.Quote(c.Branch)
		s.Fact("branch", "Branch", fault.Quote(c.Branch)+", "+on)
	}
	s.Fact("author", "Author", identityWords(c.Author))
	if c.Committer != c.Author {
		s.Fact("committer", "Committer", identityWords(c.Committer))
	}
	s.Fact("signature", "Signed", signingWords(c.Sign))
	merges := make([]string, 0, len(c.Merges))
	for _, hash := range c.Merges {
		merges = append(merges, fault.Quote(short(hash)))
	}
	s.Fact("merges", "Merges", merges...)
	s.Fact("contents", "Contents", commitSources[c.From]+": "+changeSize(c.Changes))
	s.List("files", "Files", most, changeLines(c.Changes)...)
	s.List("staged", "Stays staged", 20, tools.QuoteAll(c.Left)...)
	c.git.hooks(&s, c.Repository)
	c.git.programs(&s, c.Filters, c.Repository)
	if s.Diff == "" && c.Changes.FilesChanged > 0 {
		s.Warn("diff", "Not shown", "the diff is too long")
	}
	return s.Shown()
}

// changeSize is how much changes.
func changeSize(d git.DiffResult) string {
	return fmt.Sprintf("%s, +%d −%d", tools.Count(d.FilesChanged, "file"), d.Additions, d.Deletions)
}

func branchWords(branch string) string {
	if branch == "" {
		return "none (detached HEAD)"
	}
	return fault.Quote(branch)
}

func identityWords(i git.Identity) string {
	if i.Name == "" || i.Email == "" {
		return "chosen by git: user.name and user.email are not set"
	}
	return fault.Escape(i.String())
}

func signingWords(s git.Signing) string {
	if !s.On {
		return ""
	}
	text := "with " + fault.Quote(s.Program) + " (" + s.Format + ")"
	if s.Key != "" {
		text += ", key " + fault.Quote(s.Key)
	}
	if s.Asked != "" {
		text += ", the key named by " + fault.Quote(s.Asked)
	}
	return text
}

func changeLines(d git.DiffResult) []string {
	var out []string
	for _, f := range d.Files {
		line := f.Status + " " + fault.Quote(f.Path)
		switch {
		case f.Filtered:
			line += " converted by a filter"
		case f.Binary:
			line += " binary"
		default:
			line += fmt.Sprintf(" +%d −%d", f.Additions, f.Deletions)
		}
		out = append(out, line)
	}
	return out
}

// run makes the commit.
func (c commitPlan) run(ctx context.Context, effects tools.Effects) (*tools.Answer, error) {
	if c.git.file == "" {
		return c.runBuiltin(ctx)
	}
	if len(c.New) > 0 { // so that --only finds them; what they hold is not staged by it
		got, err := c.git.run(ctx, effects, literal(c.New), "add", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul")
		if err != nil || got.ExitCode != 0 {
			c.unadd(ctx, effects) // those that it came to
			return c.git.gitFailed("add the new files", got, err), nil
		}
	}
	args, stdin := []string{"commit", "--quiet", "--cleanup=whitespace"}, c.message
	switch {
	case c.From == git.FromStaged:
		args = append(args, "--file=-")
	case c.pathsFit():
		args = append(args, "--file=-", "--only", "--")
		args = append(args, pathspecs(c.Paths)...)
	default:
		args = append(args, "--message="+c.message, "--only", "--pathspec-from-file=-", "--pathspec-file-nul")
		stdin = literal(c.Paths)
	}
	got, err := c.git.run(ctx, effects, stdin, args...)
	made, lookErr := c.git.reader.HeadCommit(context.WithoutCancel(ctx), c.root, c.options.Dir)
	if err == nil && got.ExitCode == 0 {
		if lookErr != nil {
			return nil, fault.New(fault.GitError, "the commit is made, but cannot be looked at: %w", lookErr)
		}
		return c.answer(made, gitOutput(got)), nil
	}
	failed := c.git.gitFailed("make the commit", got, err)
	switch {
	case lookErr == nil && made.Head != c.Head:
		failed.Notes = append(failed.Notes, "the branch has moved to "+short(made.Head)+" all the same: look with git.log whether that is this commit")
	case len(c.New) > 0:
		c.unadd(ctx, effects)
	}
	return failed, nil
}

// mostArgument is how much of a message, or of paths, stands among the arguments: the other one
// then comes by the input.
const mostArgument = process.MaxCommand / 2

func (c commitPlan) pathsFit() bool { return len(literal(c.Paths)) <= mostArgument }

// runBuiltin makes the commit where there is no git.
func (c commitPlan) runBuiltin(ctx context.Context) (*tools.Answer, error) {
	if err := c.git.reader.MakeCommit(ctx, c.root, c.options, c.Draft, c.message); err != nil {
		return nil, err
	}
	made, err := c.git.reader.HeadCommit(context.WithoutCancel(ctx), c.root, c.options.Dir)
	if err != nil {
		return nil, err
	}
	a := c.answer(made, "")
	if len(c.Hooks) > 0 {
		a.Notes = append(a.Notes, "there is no git program: the hooks did not run")
	}
	return a, nil
}

// unadd takes new files out of the index again, which came into it for a commit that
// was not made.
func (c commitPlan) unadd(ctx context.Context, effects tools.Effects) {
	stdin := strings.Join(c.New, "\x00") + "\x00"
	_, _ = c.git.run(context.WithoutCancel(ctx), effects, stdin, "update-index", "--force-remove", "-z", "--stdin") // then they are named there, and empty
}

func (c commitPlan) answer(made git.Committed, output string) *tools.Answer {
	r := gitCommitResult{
		Hash: made.Head, Branch: made.Branch, FilesChanged: made.Changes.FilesChanged,
		Additions: made.Changes.Additions, Deletions: made.Changes.Deletions, HookOutput: output,
	}
	for _, name := range slices.Sorted(maps.Keys(made.Content)) {
		if planned, ok := c.Content[name]; !ok || planned != made.Content[name] && planned != git.Converted {
			r.Differs = append(r.Differs, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Content)) {
		if _, ok := made.Content[name]; !ok {
			r.Differs = append(r.Differs, name)
		}
	}
	text := fmt.Sprintf("%s on %s: %s, +%d −%d", short(r.Hash), branchWords(r.Branch), tools.Count(r.FilesChanged, "file"), r.Additions, r.Deletions)
	a := &tools.Answer{Result: r, Text: text, Summary: text}
	if output != "" {
		a.Text += "\n" + output
	}
	if len(r.Differs) > 0 {
		a.Notes = append(a.Notes, "the commit holds something else than was planned of "+strings.Join(tools.QuoteAll(r.Differs), ", ")+": a hook or a filter changed it")
	}
	return a
}
