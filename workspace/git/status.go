package git

import (
	"bufio"
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/program"
)

// StatusOptions says what Status looks at.
type StatusOptions struct {
	Dir string // absolute: the folder or file to look at, which need not exist any more
}

// StatusResult is what git status --porcelain=v2 --branch says.
type StatusResult struct {
	Top          string // absolute: the folder of the repository's work tree
	Branch       string // "" when detached
	Commit       string // "" before the first one
	Detached     bool
	Upstream     string // short name of the branch that this one follows, "" if none
	UpstreamGone bool   // Upstream is set, and there is no such branch
	Ahead        int    // commits that Upstream has not
	Behind       int    // commits that only Upstream has
	Files        []FileStatus
}

// State is what became of a file, between HEAD and the index or between the index and
// the work tree.
type State string

// The states of a file. The empty one is unchanged.
const (
	Modified    State = "modified"
	Added       State = "added"
	Deleted     State = "deleted"
	Renamed     State = "renamed"
	TypeChanged State = "type_changed" // a file became a link, or the other way round
	Untracked   State = "untracked"
	Conflicted  State = "conflicted"
)

// FileStatus is what git status says of one path.
type FileStatus struct {
	Path        string // relative to the top of the repository; a folder of untracked files ends in a slash
	Staged      State
	Worktree    State
	RenamedFrom string
	Conflict    string // of a conflict: which one, as in "both_modified"
	Submodule   string // of a submodule: "commits", if another one is checked out in it
	Filtered    bool   // it may be unchanged: a filter would have to say, which is not run
}

// Status tells what is staged, changed and untracked. The repository may begin below
// root, the workspace's absolute folder, or above it; only files inside o.Dir are
// looked at and told of.
//
// Failures are those of Diff, but FILE_TOO_LARGE.
func (g *Reader) Status(ctx context.Context, root string, o StatusOptions) (StatusResult, error) {
	r, err := g.open(ctx, root, o.Dir)
	if err != nil {
		return StatusResult{}, err
	}
	if r == nil {
		return builtinStatus(root, o)
	}
	result, err := r.statusOf(r.prefix, "normal")
	// A folder that is open and wholly untracked is shown by what is in it.
	if whole := r.prefix + "/"; err == nil && r.location.Dir == r.location.Root && slices.ContainsFunc(result.Files, func(f FileStatus) bool { return f.Path == whole }) {
		result, err = r.statusOf(r.prefix, "all")
	}
	if err == nil && len(result.Files) == 0 && !r.location.Exists && !r.isTracked() {
		err = fault.New(fault.FileNotFound, "%s is neither in the work tree nor in the index", fault.Quote(r.prefix))
	}
	if err == nil {
		err = r.noteFiltered(result.Files)
	}
	return result, err
}

// isTracked says whether the index has something at the path.
func (r *repository) isTracked() bool {
	out, err := r.output(append([]string{"ls-files", "-z"}, pathspec(r.prefix)...)...)
	return err == nil && out != ""
}

func (r *repository) statusOf(path, untracked string, options ...string) (StatusResult, error) {
	args := append([]string{"status", "--porcelain=v2", "-z", "--branch", "--ahead-behind", "--ignore-submodules=dirty", "--untracked-files=" + untracked}, options...)
	result := StatusResult{Top: r.Top}
	out, err := r.output(append(args, pathspec(path)...)...)
	if err == nil {
		err = result.read(fields(out))
	}
	return result, err
}

// noteFiltered says which files git takes for changed only because no filter was run.
func (r *repository) noteFiltered(files []FileStatus) error {
	var names []string
	for _, f := range files {
		if f.Worktree == Modified {
			names = append(names, f.Path)
		}
	}
	filtered, err := r.filtered(names)
	for i := range files {
		files[i].Filtered = files[i].Worktree == Modified && filtered[files[i].Path]
	}
	return err
}

var states = map[byte]State{'M': Modified, 'A': Added, 'D': Deleted, 'R': Renamed, 'C': Added, 'T': TypeChanged}

var conflicts = map[string]string{
	"DD": "both_deleted", "AU": "added_by_us", "UD": "deleted_by_them", "UA": "added_by_them", "DU": "deleted_by_us", "AA": "both_added", "UU": "both_modified",
}

// read takes what git status --porcelain=v2 -z printed.
func (s *StatusResult) read(lines []string) error {
	followsKnown := false
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		kind, rest, _ := strings.Cut(line, " ")
		f := FileStatus{}
		switch kind {
		case "#":
			followsKnown = followsKnown || strings.HasPrefix(rest, "branch.ab ")
			s.header(rest)
			continue
		case "?":
			f.Path, f.Worktree = rest, Untracked
		case "u":
			part := strings.SplitN(rest, " ", 10)
			if len(part) < 10 {
				return unexpected(line)
			}
			f.Path, f.Staged, f.Worktree, f.Conflict = part[9], Conflicted, Conflicted, conflicts[part[0]]
		case "1", "2":
			most := 8
			if kind == "2" {
				most = 9
			}
			part := strings.SplitN(rest, " ", most)
			if len(part) < most || len(part[0]) != 2 {
				return unexpected(line)
			}
			f.Path, f.Staged, f.Worktree = part[most-1], states[part[0][0]], states[part[0][1]]
			if strings.HasPrefix(part[1], "SC") {
				f.Submodule = "commits"
			}
			if kind == "2" {
				if i++; i == len(lines) {
					return unexpected(line)
				}
				if part[7][0] == 'R' {
					f.RenamedFrom = lines[i]
				}
			}
		default:
			return unexpected(line)
		}
		s.Files = append(s.Files, f)
	}
	s.UpstreamGone = s.Upstream != "" && !followsKnown && s.Commit != ""
	return nil
}

func (s *StatusResult) header(text string) {
	key, value, _ := strings.Cut(text, " ")
	switch key {
	case "branch.oid":
		if value != "(initial)" {
			s.Commit = value
		}
	case "branch.head":
		if s.Detached = value == "(detached)"; !s.Detached && value != "(unknown)" {
			s.Branch = value
		}
	case "branch.upstream":
		s.Upstream = value
	case "branch.ab":
		ahead, behind, _ := strings.Cut(value, " ")
		s.Ahead, _ = strconv.Atoi(strings.TrimPrefix(ahead, "+"))   //nolint:errcheck // git writes numbers
		s.Behind, _ = strconv.Atoi(strings.TrimPrefix(behind, "-")) //nolint:errcheck // likewise
	}
}

func unexpected(line string) error {
	return fault.New(fault.GitError, "git printed what this program does not know: %s", fault.Quote(fault.Clip(line, 200)))
}

// Tracked calls visit for each folder below dir, absolute, that holds files which git tracks although they are ignored, after
// the folders that it lies in. Where no repository can be read there are none.
func (g *Reader) Tracked(ctx context.Context, dir string, visit func(dir string) error) error {
	r, err := g.open(ctx, dir, dir)
	if err != nil || r == nil {
		return nil //nolint:nilerr // see above
	}
	out, err := r.output(append([]string{"ls-files", "-z", "--cached", "--ignored", "--exclude-standard"}, pathspec(r.prefix)...)...)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	seen := map[string]bool{r.Top: true}
	for _, name := range fields(out) {
		if err := visitFolders(filepath.Dir(filepath.Join(r.Top, filepath.FromSlash(name))), r.location.Root, seen, visit); err != nil {
			return err
		}
	}
	return nil
}

// Linked lists the links that the index of the repository has in which dir lies, and those of its submodules, with the files
// that have the name: what git tracks it does not ignore. Where none can be read there are none.
func (g *Reader) Linked(ctx context.Context, dir, name string) (found []string) {
	tops := []string{dir}
	for i := 0; i < len(tops) && i < mostRepositories; i++ {
		r, err := g.open(ctx, tops[i], tops[i])
		if err != nil || r == nil {
			continue
		}
		_ = r.Stream(ctx, program.Call{Args: []string{"ls-files", "-z", "--stage", "--full-name", ":/"}}, func(out io.Reader) error { // what was listed until an error counts
			const link, module = "120000 ", "160000 "
			lines := bufio.NewReader(out)
			for {
				line, err := lines.ReadString(0)
				if err != nil {
					return nil //nolint:nilerr // it ended
				}
				_, file, _ := strings.Cut(strings.TrimSuffix(line, "\x00"), "\t")
				switch at := filepath.Join(r.Top, filepath.FromSlash(file)); {
				case strings.HasPrefix(line, link), strings.EqualFold(path.Base(file), name):
					found = append(found, at)
				case strings.HasPrefix(line, module):
					tops = append(tops, at)
				}
			}
		})
	}
	return found
}

// visitFolders visits a folder below root after those that it lies in.
func visitFolders(dir, root string, seen map[string]bool, visit func(dir string) error) error {
	if seen[dir] || dir == root || !gitdir.Inside(root, dir) {
		return nil
	}
	seen[dir] = true
	if err := visitFolders(filepath.Dir(dir), root, seen, visit); err != nil {
		return err
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return nil //nolint:nilerr // it is gone, or a link
	}
	return visit(dir)
}
