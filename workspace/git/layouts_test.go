package git_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pillion/internal/fault"
	"pillion/workspace/git"
)

func (r *rig) status(o git.StatusOptions) (git.StatusResult, error) {
	if o.Dir == "" {
		o.Dir = r.Dir
	}
	return reader.Status(context.Background(), r.root, o)
}

// letters are what git status --porcelain has for our words.
var letters = map[git.State]string{
	"": " ", git.Modified: "M", git.Added: "A", git.Deleted: "D", git.Renamed: "R", git.TypeChanged: "T",
}

var conflictLetters = map[string]string{
	"both_deleted": "DD", "added_by_us": "AU", "deleted_by_them": "UD", "added_by_them": "UA",
	"deleted_by_us": "DU", "both_added": "AA", "both_modified": "UU",
}

// sameStatus checks that Status says what git status says.
func (r *rig) sameStatus(about string) git.StatusResult {
	r.Helper()
	got, err := r.status(git.StatusOptions{})
	if err != nil {
		r.Fatalf("%s: %v", about, err)
	}
	var lines []string
	for _, f := range got.Files {
		state := letters[f.Staged] + letters[f.Worktree]
		switch {
		case f.Worktree == git.Untracked:
			state = "??"
		case f.Conflict != "":
			state = conflictLetters[f.Conflict]
		}
		if lines = append(lines, state+" "+f.Path); f.RenamedFrom != "" {
			lines = append(lines, f.RenamedFrom)
		}
	}
	want := strings.Split(strings.TrimSuffix(r.git("status", "--porcelain", "-z", "--ignore-submodules=dirty"), "\x00"), "\x00")
	if slices.Sort(lines); want[0] == "" {
		want = nil
	}
	if slices.Sort(want); !slices.Equal(lines, want) {
		r.Errorf("%s: got\n%q\ngit says\n%q", about, lines, want)
	}
	return got
}

// layouts are repositories of every form, each with a file a and a file dir/b.
var layouts = map[string]func(r *rig){
	"usual": func(*rig) {},
	"SHA-256": func(r *rig) {
		r.Remove(".git")
		r.git("init", "-q", "-b", "main", "--object-format=sha256")
		r.commit()
	},
	"split index": func(r *rig) {
		r.git("update-index", "--split-index")
	},
	"untracked cache": func(r *rig) { r.git("update-index", "--force-untracked-cache"); r.git("status") },
	"index version 4": func(r *rig) { r.git("update-index", "--index-version", "4") },
	"sparse index": func(r *rig) {
		r.git("sparse-checkout", "init", "--cone", "--sparse-index")
		r.git("sparse-checkout", "set", "dir")
	},
	"packed":                func(r *rig) { r.git("gc", "-q") },
	"its own core.worktree": func(r *rig) { r.git("config", "core.worktree", r.Dir) },
	"worktree configuration": func(r *rig) {
		r.git("config", "extensions.worktreeConfig", "true")
		r.git("config", "--worktree", "core.quotePath", "false")
	},
	"separate": func(r *rig) {
		r.git("init", "-q", "--separate-git-dir", filepath.Join(r.TempDir(), "apart.git"))
	},
	"conversions": func(r *rig) {
		r.Write(".gitattributes", "*.txt text eol=crlf\nencoded working-tree-encoding=UTF-16\n")
		r.Write("x.txt", "1\r\n2\r\n")
		r.Write("encoded", "\xff\xfea\x00\n\x00")
		r.commit()
		r.Write("x.txt", "1\r\n3\r\n")
	},
	"replaced": func(r *rig) {
		r.Write("a", "other\n")
		r.commit()
		r.git("replace", "HEAD:a", "HEAD~1:a")
	},
	"odd names": func(r *rig) {
		for _, name := range []string{"tab\t", "new\nline", "quote\"", "ü", " ", "-x", "dir/é b"} {
			r.Write(name, "1\n")
		}
		r.git("add", "ü", "dir/é b", "new\nline")
		r.git("commit", "-qm", "odd")
		r.git("mv", "new\nline", "other\nline")
		r.Write("ü", "2\n")
	},
	"modes and kinds": func(r *rig) {
		r.Write("kind", "1\n")
		r.Write("tool", "1\n")
		r.Link("a", "link")
		r.Write("binary", "\x00\x01")
		r.commit()
		r.Remove("kind")
		r.Link("dir", "kind")
		r.Must(os.Chmod(r.Abs("tool"), 0o755))
		r.Write("binary", "\x00\x02")
		r.Remove("dir")
		r.Write("dir", "a file now\n")
	},
	"intent to add": func(r *rig) { r.Write("new", "1\n"); r.git("add", "-N", "new") },
	"not born":      func(r *rig) { r.git("checkout", "-q", "--orphan", "fresh") },
	"detached":      func(r *rig) { r.git("checkout", "-q", "--detach") },
	"a submodule": func(r *rig) {
		other := newRig(r.TB)
		other.Write("x", "1\n")
		other.commit()
		r.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.Dir, "module")
		r.commit()
		sub := r.inner("module")
		sub.Write("y", "2\n")
		sub.commit()
		sub.Write("x", "3\n")
	},
	"a linked work tree": func(r *rig) {
		linked := r.linked("topic")
		r.Dir, r.root = linked.Dir, linked.Dir
	},
	"a work tree of a bare repository": func(r *rig) {
		bare := r.clone("--bare")
		wt := r.beside("wt")
		bare.git("worktree", "add", "-q", wt.Dir, "main")
		r.Dir, r.root = wt.Dir, wt.Dir
	},
	"an odd path": func(r *rig) {
		other := r.beside(`全　角:"x" \ é`)
		r.git("clone", "-q", r.Dir, other.Dir)
		r.Dir, r.root = other.Dir, other.Dir
	},
	"borrowed objects": func(r *rig) {
		clone := r.clone("--shared")
		r.Dir, r.root = clone.Dir, clone.Dir
	},
	"shallow": func(r *rig) {
		r.commit()
		clone := r.clone("--depth=1", "--no-local")
		r.Dir, r.root = clone.Dir, clone.Dir
	},
	"a conflict": func(r *rig) {
		r.git("checkout", "-q", "-b", "theirs")
		r.Write("a", "theirs\n")
		r.commit()
		r.git("checkout", "-q", "main")
		r.Write("a", "ours\n")
		r.commit()
		_, err := r.try("", "merge", "-q", "theirs")
		if err == nil {
			r.Fatal("no conflict")
		}
	},
}

// TestLayouts: every form of a repository is read as git reads it.
func TestLayouts(t *testing.T) {
	for name, layout := range layouts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.Write("a", numbered(30))
			r.Write("dir/b", "1\n")
			r.commit()
			layout(r)
			r.Write("a", strings.Replace(numbered(30), "line20()", "changed()", 1))
			r.Write("untracked/x", "1\n")
			r.sameStatus("changed")
			r.same(git.DiffOptions{Context: 3}, "--ours", "--ignore-submodules=dirty")
			if name != "a conflict" {
				d, err := reader.NewDraft(context.Background(), r.root, git.CommitOptions{Dir: r.Dir, Files: []string{r.Abs("a")}})
				if err != nil || len(d.Content) != 1 && name != "not born" {
					t.Errorf("a commit of one file: %+v, %v", d.Content, err)
				}
				r.git("add", "a")
				r.same(git.DiffOptions{Context: 0, Staged: true})
			}
			if name != "not born" {
				r.same(git.DiffOptions{Context: 3, Base: "HEAD"}, "--ignore-submodules=dirty")
				r.sameLog(git.LogOptions{})
				r.sameShow("HEAD")
			}
			r.sameBranches()
		})
	}
}

// TestConflicts has all seven kinds.
func TestConflicts(t *testing.T) {
	r := newRig(t)
	r.Write("a", "1\n")
	r.commit()
	blob := strings.TrimSpace(r.git("rev-parse", "HEAD:a"))
	var lines strings.Builder
	for stages := 1; stages < 8; stages++ {
		for stage := 1; stage <= 3; stage++ {
			if stages>>(stage-1)&1 == 1 {
				lines.WriteString("100644 " + blob + " " + strconv.Itoa(stage) + "\tkind" + strconv.Itoa(stages) + "\n")
			}
		}
	}
	if out, err := r.try(lines.String(), "update-index", "--index-info"); err != nil {
		t.Fatal(out)
	}
	kinds := map[string]bool{}
	for _, f := range r.sameStatus("conflicts").Files {
		kinds[f.Conflict] = true
	}
	if len(kinds) != 7 || kinds[""] {
		t.Errorf("kinds %v", kinds)
	}
	_, err := reader.NewDraft(context.Background(), r.root, git.CommitOptions{Dir: r.Dir})
	asFault(t, err, fault.GitError, "conflicts that nobody has resolved: kind1, kind2")
}

// TestUpstreamsOfStatus has branches ahead, behind and apart, and ones that are gone.
func TestUpstreamsOfStatus(t *testing.T) {
	origin := newRig(t)
	for i := range 3 {
		origin.Write("a", strconv.Itoa(i))
		origin.commit()
	}
	r := origin.clone()
	r.git("reset", "-q", "--hard", "HEAD~2")
	r.Write("b", "1\n")
	r.commit()
	if got := r.sameStatus("apart"); got.Upstream != "origin/main" || got.Ahead != 1 || got.Behind != 2 || got.UpstreamGone {
		t.Errorf("%+v", got)
	}
	r.git("update-ref", "-d", "refs/remotes/origin/main")
	if got := r.sameStatus("gone"); got.Upstream != "origin/main" || !got.UpstreamGone {
		t.Errorf("%+v", got)
	}
}

// TestWhereTheWorkspaceIs: below the top of a repository, above it, behind a link.
func TestWhereTheWorkspaceIs(t *testing.T) {
	r := newRig(t)
	r.Write("outside", "1\n")
	r.Write("in/a", "1\n")
	r.commit()
	r.Write("outside", "2\n")
	r.Write("in/a", "2\n")
	r.Write("in/new/x", "1\n")
	below := *r
	below.root = r.Abs("in")
	below.same(git.DiffOptions{Context: 3, Dir: r.Abs("in")})
	got, err := below.status(git.StatusOptions{Dir: r.Abs("in")})
	if err != nil || len(got.Files) != 2 || got.Files[0].Path != "in/a" || got.Files[1].Path != "in/new/" || got.Top != r.Dir {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := below.status(git.StatusOptions{Dir: r.Dir}); fault.CodeOf(err) != fault.PathOutsideWorkspace {
		t.Errorf("above the workspace: %v", err)
	}
	above := *r
	above.root = filepath.Dir(r.Dir)
	above.same(git.DiffOptions{Context: 3})
	link := filepath.Join(t.TempDir(), "link")
	r.Must(os.Symlink(r.Dir, link))
	if got, err := reader.Status(context.Background(), link, git.StatusOptions{Dir: link}); err != nil || len(got.Files) != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	// A folder that is open and wholly untracked is shown by what is in it.
	untracked := *r
	untracked.root = r.Abs("in/new")
	if got, err := untracked.status(git.StatusOptions{Dir: untracked.root}); err != nil || len(got.Files) != 1 || got.Files[0].Path != "in/new/x" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestAnotherWorkTree: a repository that says where its files are is read there alone.
func TestAnotherWorkTree(t *testing.T) {
	r := newRig(t)
	r.Write("a", "1\n")
	r.commit()
	other := t.TempDir()
	r.Must(os.WriteFile(filepath.Join(other, "a"), []byte("elsewhere\n"), 0o600))
	r.git("config", "core.worktree", other)
	_, err := r.diff(git.DiffOptions{})
	asFault(t, err, fault.GitError, "core.worktree")
	r.git("config", "core.worktree", "/")
	_, err = r.status(git.StatusOptions{})
	asFault(t, err, fault.GitError, "core.worktree")
	r.git("config", "--unset", "core.worktree")
	r.git("config", "core.bare", "true")
	_, err = r.status(git.StatusOptions{})
	asFault(t, err, fault.GitError, "bare")
}

// TestWhatAFilterConverts: it is not run, and what git says without it is said to be so.
func TestWhatAFilterConverts(t *testing.T) {
	r := newRig(t)
	r.git("config", "filter.up.clean", "tr a-z A-Z")
	r.Write(".gitattributes", "*.up filter=up\n")
	r.Write("x.up", "one\n")
	r.Write("y.up", "one\n")
	r.commit()
	old := time.Now().Add(-time.Hour) // else git looks into files as old as the index
	r.Must(os.Chtimes(r.Abs("x.up"), old, old))
	r.Must(os.Chtimes(r.Abs("y.up"), old, old))
	r.git("update-index", "--refresh")
	if got, err := r.status(git.StatusOptions{}); err != nil || len(got.Files) != 0 {
		t.Errorf("nothing is changed: %+v, %v", got.Files, err)
	}
	r.Write("x.up", "two\n")
	r.Write("plain", "1\n")
	r.git("add", "plain")
	got, err := r.status(git.StatusOptions{})
	if err != nil || len(got.Files) != 2 || !got.Files[1].Filtered || got.Files[1].Path != "x.up" || got.Files[0].Filtered {
		t.Errorf("%+v, %v", got.Files, err)
	}
	diff, err := r.diff(git.DiffOptions{Context: 3, Base: "HEAD"})
	if err != nil || !strings.Contains(diff.Diff, "File x.up differs; a filter converts it") || strings.Contains(diff.Diff, "two") || !strings.Contains(diff.Diff, "+++ b/plain") {
		t.Errorf("%s, %v", diff.Diff, err)
	}
}

// TestSwitchesThatLoseNothing: what is ignored, and what stands in the way, is not overwritten.
func TestSwitchesThatLoseNothing(t *testing.T) {
	r := newRig(t)
	r.Write("a", "1\n")
	r.Write("b", "1\n")
	r.Write(".gitignore", "*.log\nbuild/\n")
	r.commit()
	r.git("checkout", "-q", "-b", "other")
	r.Write("a", "2\n")
	r.Write("made.log", "1\n")
	r.Write("build/out", "1\n")
	r.Write("folder/x", "1\n")
	r.git("add", "-f", "made.log", "build/out")
	r.commit()
	r.git("checkout", "-q", "main")
	for name, c := range map[string]struct{ write, text, lost string }{
		"nothing":               {},
		"another file":          {"b", "mine\n", ""},
		"a changed file":        {"a", "mine\n", "a"},
		"an ignored file":       {"made.log", "mine\n", "made.log"},
		"in an ignored folder":  {"build/other", "mine\n", ""},
		"a file in its way":     {"folder", "mine\n", "folder/x"},
		"a folder in its way":   {"made.log/x", "mine\n", "made.log"},
		"the same, but ignored": {"build/out", "1\n", "build/out"},
	} {
		if c.write != "" {
			r.Write(c.write, c.text)
		}
		got, err := reader.Switch(context.Background(), r.root, r.Dir, "other")
		switch f, _ := err.(*fault.Error); {
		case c.lost == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.lost == "" && got.Changes.FilesChanged != 4:
			t.Errorf("%s: %+v", name, got.Changes)
		case c.lost != "" && (f == nil || f.Code != fault.WorkTreeDirty || !slices.Equal(f.Details["paths"].([]string), []string{c.lost})):
			t.Errorf("%s: %+v", name, err)
		}
		r.git("clean", "-qfdx")
		r.git("checkout", "-q", ".")
	}
	linked := r.linked("elsewhere")
	_, err := reader.Switch(context.Background(), r.root, r.Dir, "elsewhere")
	asFault(t, err, fault.GitError, "checked out in another work tree", linked.Dir)
}

// TestAMissingCommit is said to be one, and not taken for a repository without commits.
func TestAMissingCommit(t *testing.T) {
	r := newRig(t)
	r.Write("a", "1\n")
	r.commit()
	head := strings.TrimSpace(r.git("rev-parse", "HEAD"))
	r.Remove(".git/objects/" + head[:2] + "/" + head[2:])
	_, err := reader.Log(context.Background(), r.root, git.LogOptions{Dir: r.Dir, Limit: 1})
	if f := asFault(t, err, fault.GitError); strings.Contains(f.Message, "no commit yet") {
		t.Error(f.Message)
	}
	r.Write("a", "2\n")
	if d, err := reader.NewDraft(context.Background(), r.root, git.CommitOptions{Dir: r.Dir, Files: []string{r.Abs("a")}}); err == nil {
		t.Errorf("%+v", d)
	}
}

// TestNamesThatLookLikePathspecs are names.
func TestNamesThatLookLikePathspecs(t *testing.T) {
	r := newRig(t)
	for _, name := range []string{":x", ":(top)y", "*", "-z"} {
		r.Write(name, name+"\n")
	}
	r.commit()
	for _, name := range []string{":x", ":(top)y", "*", "-z"} {
		got, err := reader.Show(context.Background(), r.root, git.ShowOptions{Dir: r.Abs(name), File: true, Ref: "HEAD"})
		if err != nil || string(got.Content) != name+"\n" {
			t.Errorf("%s: %q, %v", name, got.Content, err)
		}
	}
	if got, err := reader.Show(context.Background(), r.root, git.ShowOptions{Dir: r.Dir, Ref: "HEAD@{2030-01-01 10:00:00}:-z"}); err != nil || string(got.Content) != "-z\n" {
		t.Errorf("%q, %v", got.Content, err)
	}
}

// TestWhereABranchBegins: a tag goes before a remote branch of its name, as in git.
func TestWhereABranchBegins(t *testing.T) {
	origin := newRig(t)
	origin.Write("a", "1\n")
	origin.commit()
	origin.Write("a", "2\n")
	origin.commit()
	r := origin.clone()
	for from, follows := range map[string]string{"origin/main": "refs/remotes/origin/main", "origin/main~1": "", "main": ""} {
		if got, err := reader.NewBranch(context.Background(), r.root, r.Dir, "new", from); err != nil || got.Start != follows {
			t.Errorf("%s: %+v, %v", from, got, err)
		}
	}
	r.git("tag", "origin/main", "main~1")
	if got, err := reader.NewBranch(context.Background(), r.root, r.Dir, "new", "origin/main"); err != nil || got.Start != "" || got.Hash != strings.TrimSpace(r.git("rev-parse", "main~1")) {
		t.Errorf("%+v, %v", got, err)
	}
}
