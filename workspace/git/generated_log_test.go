package git_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pillion/internal/fault"
	"pillion/workspace/git"
)

// TestGeneratedHistories compares histories that rapid draws with git: logs of all and of
// paths, what each commit changed, branches, and what revisions name. See
// TestGeneratedRepositories.
func TestGeneratedHistories(t *testing.T) {
	dir := scenes(t)
	seen := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		s := newScene(rt, dir)
		h := &lineage{worktree: &worktree{scene: s, seen: seen}}
		h.drawCommits()
		h.hashes = h.fastImport(h.commits, rapid.Bool().Draw(rt, "packed"))
		h.drawStorage()
		h.drawHead()
		h.compare()
	})
	t.Log(seen)
	if seen["histories"] < 200 {
		return // as asked for
	}
	sawAll(t, seen,
		"merge", "of several", "criss-cross", "root", "equal dates", "the clock went back", "limited", "limited, with merges", "deltas", "commit-graph", "commit-graph with Bloom filters",
		"commit-graph of a part", "packed references", "shallow", "grafts", "replaced", "detached", "not born", "upstream", "ahead or behind", "no such revision", "empty", "mode", "link", "renamed",
	)
}

// lineage is a scene with a history, and nothing checked out.
type lineage struct {
	*worktree
}

// drawCommits draws branches, merges and new beginnings.
func (h *lineage) drawCommits() {
	commits := 1 + upTo(h.T, 19, "commits")
	for n := 1; n <= commits; n++ {
		c := imported{date: 1_000_000 + upTo(h.T, 6, "date"), files: tree{}}
		if n > 1 && !one(h.T, 20, "a root") {
			c.parents = append(c.parents, n-min(n-1, pick(h.T, "parent", 1, 1, 2, 3)))
			for range pick(h.T, "others", 0, 0, 0, 1, 1, 1, 2, 3) {
				if p := n - min(n-1, 1+upTo(h.T, 5, "other parent")); !slices.Contains(c.parents, p) {
					c.parents = append(c.parents, p)
				}
			}
		}
		for _, p := range c.parents { // the files of one of the parents, or of several
			theirs := h.commits[p-1].files
			for _, name := range theirs.names() {
				if _, has := c.files[name]; !has || rapid.Bool().Draw(h.T, "theirs") {
					c.files.put(name, theirs[name])
				}
			}
		}
		for range upTo(h.T, 4, "steps") {
			h.step(c.files)
		}
		h.note(c)
		h.commits = append(h.commits, c)
	}
}

var historyNames = []string{"a", "b", "d/a", "d/b", "d/e/a", "ü/a", "b/a"}

// step changes one file.
func (h *lineage) step(files tree) {
	name := pick(h.T, "name", historyNames...)
	e, has := files[name]
	switch upTo(h.T, 9, "step") {
	case 7:
		if delete(files, name); has {
			files.put(pick(h.T, "new name", historyNames...), e)
		}
	case 6:
		delete(files, name)
	case 5:
		files.put(name, entry{link, pick(h.T, "to", "a", "d")})
	case 4:
		files.put(name, entry{executable, e.text})
	default:
		files.put(name, entry{plain, fmt.Sprint(strings.Repeat("text\n", 4), upTo(h.T, 3, "text"), "\n")})
	}
}

// note counts what is special about a commit.
func (h *lineage) note(c imported) {
	count := func(kind string, is bool) {
		if is {
			h.seen[kind]++
		}
	}
	count("root", len(c.parents) == 0 && len(h.commits) > 0)
	count("merge", len(c.parents) > 1)
	count("of several", len(c.parents) > 2)
	if len(c.parents) == 0 {
		return
	}
	first := h.commits[c.parents[0]-1]
	count("equal dates", first.date == c.date)
	count("the clock went back", first.date > c.date)
	for _, other := range h.commits { // two merges of the same two
		count("criss-cross", len(c.parents) > 1 && len(other.parents) > 1 && c.parents[0] == other.parents[1] && c.parents[1] == other.parents[0])
	}
	for name, e := range c.files {
		was, had := first.files[name]
		count("mode", had && was.mode != e.mode)
		count("link", e.mode == link && !had)
	}
}

// drawStorage packs objects and references, and has other parents count.
func (h *lineage) drawStorage() {
	some := h.hashes[upTo(h.T, len(h.hashes)-1, "some commit")]
	switch upTo(h.T, 9, "storage") {
	case 9:
		h.git("", "repack", "-adq", "--depth=50")
		h.seen["deltas"]++
	case 8:
		h.git("", "commit-graph", "write", "--reachable")
		h.seen["commit-graph"]++
	case 7, 6:
		h.git("", "commit-graph", "write", "--reachable", "--changed-paths")
		h.seen["commit-graph with Bloom filters"]++
	case 5:
		h.git(some+"\n", "commit-graph", "write", "--stdin-commits", "--changed-paths")
		h.seen["commit-graph of a part"]++
	}
	if one(h.T, 3, "packed references") {
		h.packReferences(h.hashes)
		h.seen["packed references"]++
	}
	moved := h.hashes[upTo(h.T, len(h.hashes)-1, "moved")]
	switch upTo(h.T, 14, "other parents") {
	case 14:
		h.write(".git/shallow", entry{plain, moved + "\n"})
		h.seen["shallow"]++
	case 13:
		h.write(".git/info/grafts", entry{plain, moved + "\n"})
		h.seen["grafts"]++
	case 12:
		if at := slices.Index(h.hashes, moved); at > 0 && moved != h.hashes[0] {
			h.write(".git/refs/replace/"+moved, entry{plain, h.hashes[upTo(h.T, at-1, "by an older one")] + "\n"})
			h.seen["replaced"]++
		}
	}
}

// drawHead checks a branch out, a commit, or what is not there yet.
func (h *lineage) drawHead() {
	n := 1 + upTo(h.T, len(h.hashes)-1, "head")
	branch := fmt.Sprint("c", n)
	switch upTo(h.T, 5, "HEAD") {
	case 5:
		h.write(".git/HEAD", entry{plain, h.hashes[n-1] + "\n"})
		h.seen["detached"]++
	case 4:
		h.seen["not born"]++
	default:
		h.write(".git/HEAD", entry{plain, "ref: refs/heads/" + branch + "\n"})
	}
	if rapid.Bool().Draw(h.T, "upstream") {
		h.configure(fmt.Sprintf("[branch %q]\n\tremote = .\n\tmerge = refs/heads/c%d\n", branch, 1+upTo(h.T, len(h.hashes)-1, "upstream")))
		h.seen["upstream"]++
	}
}

func (h *lineage) compare() {
	h.seen["histories"]++
	tip := fmt.Sprint("c", len(h.commits))
	checks := []func(){h.log(git.LogOptions{Ref: tip}), h.shows(tip), h.branches(), h.revisions(), h.status("")}
	names := append([]string{"d", "d/e", "never"}, historyNames...)
	for i := range 4 {
		o := git.LogOptions{Ref: tip, Limited: true, Dir: h.path(names[(upTo(h.T, len(names)-1, "of")+i)%len(names)])}
		if one(h.T, 3, "from elsewhere") {
			o.Ref = fmt.Sprint("c", 1+upTo(h.T, len(h.commits)-1, "from"))
		}
		if one(h.T, 4, "not all") {
			o.Limit = 1 + upTo(h.T, 2, "limit")
		}
		checks = append(checks, h.log(o))
	}
	for _, check := range checks {
		check()
	}
}

// log asks both for a log.
func (h *lineage) log(o git.LogOptions) (check func()) {
	if o.Dir == "" {
		o.Dir = h.top
	}
	if o.Limit == 0 {
		o.Limit = 1000
	}
	answer := h.asked(logArguments(o)...)
	return func() {
		want := trimmedLog(answer())
		got, err := git.Log(context.Background(), h.top, o)
		if _, gone := os.Lstat(o.Dir); gone != nil && fault.CodeOf(err) == fault.FileNotFound {
			err = nil
			h.seen["empty"]++
		}
		if err != nil {
			h.fail("%+v: %v; git says\n%s", o, err, want)
		}
		if logged(got) != want {
			h.fail("%+v: %s", o, apart(logged(got), want))
		}
		for _, c := range got {
			if o.Limited && len(c.Parents) > 1 {
				h.seen["limited, with merges"]++
			}
		}
		if o.Limited {
			h.seen["limited"]++
		}
	}
}

// shows asks both what each of the last commits changed.
func (h *lineage) shows(tip string) (check func()) {
	const commit = "\x01"
	answer := h.asked("log", "-n", "12", "-p", "--no-color", "--no-ext-diff", "--no-textconv", "--diff-merges=first-parent", "--format="+commit+"%H", tip)
	return func() {
		for one := range strings.SplitSeq(strings.TrimPrefix(answer(), commit), commit) {
			hash, want, _ := strings.Cut(one, "\n")
			got, err := git.Show(context.Background(), h.top, git.ShowOptions{Dir: h.top, Ref: hash, Context: 3})
			if err != nil {
				h.fail("show %s: %v; git says\n%s", hash, err, want)
			}
			h.seen["diffs"]++
			if want = strings.TrimLeft(want, "\n"); got.Diff.Diff == want {
				h.seen["git's to the byte"]++
			} else if a, b := headers(got.Diff.Diff), headers(want); a != b {
				h.fail("show %s: %s", hash, apart(a, b))
			}
			if strings.Contains(want, "\nrename from ") {
				h.seen["renamed"]++
			}
		}
	}
}

// branches asks both for the branches and what is checked out.
func (h *lineage) branches() (check func()) {
	answer := h.asked("for-each-ref", "--format=%(HEAD) %(refname:lstrip=2) %(objectname) %(upstream:short)", "refs/heads/")
	return func() {
		got, err := git.Branches(context.Background(), h.top, h.top)
		if err != nil {
			h.fail("branches: %v", err)
		}
		var lines strings.Builder
		for _, b := range got.Branches {
			mark := " "
			if b.Name == got.Head.Branch {
				mark = "*"
			}
			fmt.Fprintf(&lines, "%s %s %s %s\n", mark, b.Name, b.Hash, b.Upstream)
		}
		if want := answer(); lines.String() != want {
			h.fail("branches: %s", apart(lines.String(), want))
		}
	}
}

// revisions asks both what some revisions name.
func (h *lineage) revisions() (check func()) {
	var names []string
	for range 6 {
		n := 1 + upTo(h.T, len(h.commits)-1, "of")
		form := pick(h.T, "revision", "c%d", "c%d~1", "c%d~3", "c%d^2", "c%d^3", "c%d^2~1", "c%d^^2", "heads/c%d", "refs/heads/c%d^0", "c%d^{commit}", "x%d")
		names = append(names, fmt.Sprintf(form, n))
	}
	hash := h.hashes[upTo(h.T, len(h.hashes)-1, "hash")]
	names = append(names, hash, hash[:12], "HEAD", "@^", "@{u}") // at the last git may give up
	answer := h.askedAbout(strings.Join(names, "\n")+"\n", "cat-file", "--batch-check=%(objectname)")
	return func() {
		want := strings.Split(answer(), "\n")
		for i, name := range names {
			got, err := git.Log(context.Background(), h.top, git.LogOptions{Dir: h.top, Ref: name, Limit: 1})
			if err != nil {
				h.seen["no such revision"]++
			}
			if named := len(want[i]) == len(hash); named != (err == nil) || named && got[0].Hash != want[i] {
				h.fail("%s: got %+v %v, git says %s", name, got, err, want[i])
			}
		}
	}
}
