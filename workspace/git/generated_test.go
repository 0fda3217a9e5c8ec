package git_test

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pillion/workspace/git"
)

// TestGeneratedRepositories compares repositories that rapid draws with git: their status,
// of all and of parts, and their diffs. A diff must have git's files and kinds of change,
// and, nearly always, its bytes: in text full of repetition the two may choose different
// lines.
//
// They are the same ones in each run. To try others:
//
//	go test ./workspace/git -run Generated -rapid.seed=2 -rapid.checks=5000
func TestGeneratedRepositories(t *testing.T) {
	dir := scenes(t)
	seen := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		settings := drawSettings(rt)
		renames := rapid.Bool().Draw(rt, "renames")
		if !renames {
			settings = append(settings, "[diff]\n\trenames = false\n[status]\n\trenames = false\n")
		}
		s := newScene(rt, dir, settings...)
		s.renames = renames
		for _, line := range settings {
			seen[line[:strings.Index(line, "=")]]++
		}
		w := &worktree{scene: s, seen: seen, lined: map[string]bool{}}
		w.drawHistory()
		w.drawIndex()
		w.drawOdds()
		s.become(s.drawSteps(s.tree, "steps after", 5))
		w.compare()
	})
	t.Log(seen)
	if seen["repositories"] < 200 {
		return // as asked for
	}
	sawAll(t, seen,
		"added/", "modified/", "deleted/", "renamed/", "type_changed/", "/modified", "/deleted", "/type_changed", "/untracked", "/added", "added/deleted",
		"conflicted/conflicted", "/renamed", "detached", "ahead or behind", "no commit", "packed objects", "packed references", "gitlink", "nested",
		"[index]\n\tversion ", "[core]\n\tautocrlf ", "[core]\n\tfileMode ", "[core]\n\tignoreCase ", "[core]\n\tsymlinks ", "part",
	)
}

// sawAll fails unless each of the kinds was drawn, and nearly all diffs were git's own.
func sawAll(t *testing.T, seen map[string]int, kinds ...string) {
	for _, kind := range kinds {
		if seen[kind] == 0 {
			t.Errorf("nothing was %q", kind)
		}
	}
	if seen["git's to the byte"]*100 < seen["diffs"]*98 {
		t.Errorf("only %d of %d diffs are git's to the byte", seen["git's to the byte"], seen["diffs"])
	}
}

// worktree is a scene with something checked out.
type worktree struct {
	*scene
	seen    map[string]int
	commits []imported
	hashes  []string
	lined   map[string]bool // what was written into the index alone
}

// drawHistory makes up to three commits and perhaps another branch, and checks out the
// last one.
func (w *worktree) drawHistory() {
	for n := range upTo(w.T, 3, "commits") {
		c := imported{date: 1_000_000 + n, files: tree{}}
		if n > 0 {
			c.parents, c.files = []int{n}, w.commits[n-1].files
		}
		c.files = w.drawSteps(c.files, "steps", 8)
		w.commits = append(w.commits, c)
	}
	n := len(w.commits)
	if n == 0 {
		w.seen["no commit"]++
		return
	}
	packed := rapid.Bool().Draw(w.T, "packed")
	w.hashes = w.fastImport(w.commits, packed)
	if packed {
		w.seen["packed objects"]++
	}
	w.set(".git/refs/heads/main", w.hashes[n-1]+"\n")
	if one(w.T, 4, "packed references") {
		w.seen["packed references"]++
		w.packReferences(w.hashes)
	}
	switch upTo(w.T, 5, "checked out") {
	case 5:
		w.seen["detached"]++
		w.set(".git/HEAD", w.hashes[n-1]+"\n")
		w.story = append(w.story, "git checkout --detach")
	case 4:
		w.configure("[branch \"main\"]\n\tremote = .\n\tmerge = refs/heads/c1\n")
	}
	w.git("", "read-tree", "HEAD")
	w.become(w.commits[n-1].files)
}

// configure adds lines to the configuration.
func (w *worktree) configure(lines string) {
	w.story = append(w.story, "config "+strings.ReplaceAll(lines, "\n", " "))
	old, err := w.read(".git/config")
	w.must(err)
	w.set(".git/config", old+lines)
}

// drawIndex changes files and adds them, or only has the index know their times.
func (w *worktree) drawIndex() {
	for _, of := range [][2]string{{".gitignore", ".git/info/exclude"}, {".gitattributes", ".git/info/attributes"}} {
		if one(w.T, 5, of[1]) {
			w.write(of[1], entry{plain, w.drawText(of[0])})
		}
	}
	switch upTo(w.T, 4, "add") {
	case 0:
	case 1:
		w.git("", "add", "-u")
	case 2:
		w.become(w.drawSteps(w.tree, "steps before", 6))
		w.git("", "add", "-u")
	default:
		w.become(w.drawSteps(w.tree, "steps before", 8))
		w.git("", "add", "-A")
	}
}

// drawOdds does what git add -A does not do.
func (w *worktree) drawOdds() {
	if one(w.T, 3, "index lines") {
		w.drawIndexLines()
	}
	if names := w.tree.names(); len(names) > 0 {
		name := pick(w.T, "odd one", names...)
		switch upTo(w.T, 7, "odd") {
		case 7, 3:
			w.git("", "add", "-N", "-f", "--", name)
		case 6:
			w.perhaps("update-index", "--assume-unchanged", "--", name)
		case 5:
			w.perhaps("update-index", "--skip-worktree", "--", name)
		case 2:
			moved := maps.Clone(w.tree)
			delete(moved, name)
			moved.put("moved", w.tree[name])
			w.become(moved)
			w.git("", "add", "-N", "-f", "--", "moved")
		case 4:
			w.perhaps("rm", "-r", "-f", "-q", "--cached", "--", path.Dir(name))
		}
	}
	switch upTo(w.T, 9, "nested") {
	case 9:
		w.repository("inner/.git")
		w.seen["nested"]++
	case 8:
		w.must(w.mkdir("dir.e/inner/x"))
		w.repository("dir.e/inner/.git")
		w.set("dir.e/inner/file", "a file\n")
		w.seen["nested"]++
	case 7:
		w.must(w.mkdir("nothing/.git"))
		w.set("nothing/.git/x", "no repository\n")
	case 6:
		w.must(w.mkdir("empty/folder"))
	}
}

// perhaps runs git, which may refuse.
func (w *worktree) perhaps(args ...string) {
	w.story = append(w.story, "git "+strings.Join(args, " "))
	_, _ = runGit(w.top, "", args...)
}

// drawIndexLines writes entries into the index: stages of conflicts, other modes,
// submodules that are not there, and files that are.
func (w *worktree) drawIndexLines() {
	var lines strings.Builder
	for range rapid.IntRange(1, 3).Draw(w.T, "entries") {
		name := drawName(w.T, "entry")
		w.lined[name] = true
		for parent := path.Dir(name); parent != "."; parent = path.Dir(parent) {
			fmt.Fprintf(&lines, "0 %040d\t%s\n", 0, parent)
		}
		kinds := []string{"gitlink", "gone", "mode"}
		if !w.renames {
			kinds = append(kinds, "conflict", "conflict", "conflict")
		}
		switch pick(w.T, "as", kinds...) {
		case "conflict":
			stages := rapid.IntRange(1, 7).Draw(w.T, "stages")
			fmt.Fprintf(&lines, "0 %040d\t%s\n", 0, name)
			for stage := 1; stage <= 3; stage++ {
				if stages>>(stage-1)&1 == 1 {
					fmt.Fprintf(&lines, "%s %s %d\t%s\n", pick(w.T, "stage's mode", plain, plain, executable, link), w.anyBlob(), stage, name)
				}
			}
		case "gitlink":
			if len(w.hashes) > 0 {
				fmt.Fprintf(&lines, "%s %s\t%s\n", gitlink, w.hashes[0], name)
				w.seen["gitlink"]++
			}
		case "gone":
			fmt.Fprintf(&lines, "0 %040d\t%s\n", 0, name)
		case "mode":
			fmt.Fprintf(&lines, "%s %s\t%s\n", pick(w.T, "entry's mode", plain, executable, link), w.anyBlob(), name)
		}
	}
	w.git(lines.String(), "update-index", "--index-info")
}

// anyBlob is a file of the history, or one that no commit has.
func (w *worktree) anyBlob() string {
	all := map[string]bool{}
	for _, c := range w.commits {
		for _, e := range c.files {
			all[blob(e.text)] = true
		}
	}
	if len(all) > 0 {
		return pick(w.T, "blob", slices.Sorted(maps.Keys(all))...)
	}
	return strings.TrimSpace(w.git("only here\n", "hash-object", "-w", "--stdin"))
}

// compare asks git and us, at the same time.
func (w *worktree) compare() {
	w.seen["repositories"]++
	var checks []func()
	for _, dir := range append([]string{""}, w.drawParts()...) {
		checks = append(checks, w.status(dir))
	}
	lines := pick(w.T, "context", 3, 3, 3, 0, 1, 10)
	options := []git.DiffOptions{{Context: lines}, {Context: lines, Staged: true}}
	if n := len(w.commits); n > 0 {
		options = append(options, git.DiffOptions{Context: lines, Base: "HEAD"},
			git.DiffOptions{Context: lines, Base: "c" + strconv.Itoa(rapid.IntRange(1, n).Draw(w.T, "base")), Staged: rapid.Bool().Draw(w.T, "staged")})
	}
	if lexists(w.path("dir")) {
		options = append(options, git.DiffOptions{Context: lines, Dir: w.path("dir"), Staged: rapid.Bool().Draw(w.T, "staged")})
	}
	for _, o := range options {
		checks = append(checks, w.diff(o))
	}
	for _, check := range checks {
		check()
	}
}

// drawParts are some of the folders and files of the work tree. Of a file in conflict that
// is a folder in HEAD, git tells less when it is asked for it alone.
func (w *worktree) drawParts() []string {
	var parts []string
	for _, dir := range []string{"dir", "dir/sub", "ü ", "a", "gone"} {
		if lexists(w.path(dir)) && !w.lined[dir] {
			parts = append(parts, dir)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	w.seen["part"]++
	return []string{pick(w.T, "part", parts...)}
}

// status asks both for the status of a part, or all.
func (w *worktree) status(part string) (check func()) {
	o := git.StatusOptions{Dir: w.path(part)}
	args := []string{"status", "--porcelain=v2", "--branch", "-z"}
	if part != "" {
		args = append(args, "--", part)
	}
	answer := w.asked(args...)
	return func() {
		got, err := git.Status(context.Background(), w.top, o)
		if err != nil {
			w.fail("status of %q: %v; git says\n%q", part, err, answer())
		}
		want, isSubmodule := porcelain(answer())
		if have := asPorcelain(got, isSubmodule); !slices.Equal(have, want) {
			w.fail("status of %q: %s", part, apart(strings.Join(have, "\n"), strings.Join(want, "\n")))
		}
		for _, f := range got.Files {
			w.seen[string(f.Staged)+"/"+string(f.Worktree)]++
		}
		if got.Ahead+got.Behind > 0 {
			w.seen["ahead or behind"]++
		}
	}
}

// diff asks both for a diff.
func (w *worktree) diff(o git.DiffOptions) (check func()) {
	if o.Dir == "" {
		o.Dir = w.top
	}
	more := []string{}
	if !o.Staged && o.Base == "" {
		more = append(more, "--ours") // as conflicts are shown
	}
	answer := w.asked(diffArguments(w.top, o, more...)...)
	return func() {
		got, err := git.Diff(context.Background(), w.top, o)
		if err != nil {
			w.fail("%+v: %v; git says\n%s", o, err, answer())
		}
		w.seen["diffs"]++
		got.Diff = unquotedConflicts(got.Diff)
		if want := answer(); got.Diff == want {
			w.seen["git's to the byte"]++
		} else if a, b := headers(got.Diff), headers(want); a != b {
			w.fail("%+v: %s", o, apart(a, b))
		}
		w.countedRight(o, got)
	}
}

// unquotedConflicts has the names of conflicts as git writes them: as they are, whatever
// they may do to the lines of the diff.
func unquotedConflicts(diff string) string {
	const conflict = "* Unmerged path "
	var out strings.Builder
	for line := range strings.Lines(diff) {
		if name, ok := strings.CutPrefix(line, conflict); ok {
			if plain, err := strconv.Unquote(strings.TrimSuffix(name, "\n")); err == nil {
				line = conflict + plain + "\n"
			}
		}
		out.WriteString(line)
	}
	return out.String()
}

// countedRight checks the numbers of a diff against its lines.
func (w *worktree) countedRight(o git.DiffOptions, got git.DiffResult) {
	var added, deleted, binary int
	inHunk := false
	for line := range strings.Lines(got.Diff) {
		switch {
		case strings.HasPrefix(line, "diff --git "):
			inHunk = false
		case strings.HasPrefix(line, "@@ "):
			inHunk = true
		case inHunk && line[0] == '+':
			added++
		case inHunk && line[0] == '-':
			deleted++
		case strings.HasPrefix(line, "Binary files "):
			binary++
		}
	}
	for _, f := range got.Files {
		added, deleted = added-f.Additions, deleted-f.Deletions
		if f.Binary {
			binary--
		}
	}
	if added != 0 || deleted != 0 || binary > 0 { // a renamed one has no line
		w.fail("%+v: the numbers are not those of the diff: %+v\n%s", o, got.Files, got.Diff)
	}
}
