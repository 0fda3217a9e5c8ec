package change

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pillion/internal/testrig/machine"
	"pillion/workspace"
)

// newTracked is an observed workspace with a repository of many files, and room for few copies.
func newTracked(t *testing.T) *bench {
	files, bytes, again := mostFiles, mostBytes, lookAgain
	t.Cleanup(func() { mostFiles, mostBytes, lookAgain = files, bytes, again })
	mostFiles, mostBytes, lookAgain = 8, 2000, 0
	b := newObserved(t)
	b.Observer.Told = func(context.Context) (uint64, bool) { return 0, true }
	for n := range 40 {
		b.Write(fmt.Sprintf("many/%02d.txt", n), fmt.Sprintf("%d\n", n))
	}
	b.Write("tool.sh", "#!/bin/sh\n")
	b.Write("large.bin", strings.Repeat("\x00", 3000))
	b.git("init", "-q", "-b", "main")
	b.git("config", "user.name", "t")
	b.git("config", "user.email", "t@t")
	b.committed()
	return b
}

// committed commits all, so that the index vouches for it.
func (b *bench) committed() {
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "one")
	b.age()
}

// init has a file be as old as it says: nobody waits for its last change to be long ago.
func init() {
	settled = func(s workspace.FileStamp, at time.Time) bool { s.Changed = s.Modified; return s.Settled(at) }
}

// age has the files be older than git's look at them, which vouches only for those. Git looks at
// whole seconds: each time they are older.
func (b *bench) age() {
	names := strings.Fields(b.git("ls-files"))
	old := time.Now()
	for _, name := range names {
		info, err := os.Stat(b.Abs(name))
		if b.Must(err); info.ModTime().Before(old) {
			old = info.ModTime()
		}
	}
	old = old.Add(-time.Hour)
	for _, name := range names {
		b.Must(os.Chtimes(b.Abs(name), old, old))
	}
	b.git("update-index", "--refresh")
}

func (b *bench) git(args ...string) string {
	b.Helper()
	out, err := machine.Git(b.TB, b.Dir, "", args...)
	b.Must(err)
	return out
}

func (b *bench) files() string {
	var out strings.Builder
	for l := range strings.Lines(b.all()) {
		if !strings.HasPrefix(l, "/.git") && !strings.HasPrefix(l, " ") {
			out.WriteString(l)
		}
	}
	return out.String()
}

func TestWhatGitHoldsIsNotCopied(t *testing.T) {
	b := newTracked(t)
	b.Write("many/01.txt", "not committed\n")
	b.Write("untracked.txt", "one\n")
	before := b.files()
	b.kept("c", func() {
		b.Write("many/00.txt", "changed\n")
		b.Write("many/01.txt", "changed too\n")
		b.Remove("many/02.txt")
		b.Must(os.Chmod(b.Abs("tool.sh"), 0o755))
		b.Write("untracked.txt", "two\n")
		b.Remove("large.bin")
		b.git("add", "-A")
		b.git("commit", "-q", "-m", "two")
	})
	after := b.files()
	b.wantKept("c", "delete large.bin +0 -0", "overwrite many/00.txt +1 -1", "overwrite many/01.txt +1 -1", "delete many/02.txt +0 -1",
		"change_mode tool.sh +0 -0", "overwrite untracked.txt +1 -1")
	if b.Observer.before.copied > 8 || len(b.Observer.before.files) < 40 {
		t.Errorf("%d copied of %d files", b.Observer.before.copied, len(b.Observer.before.files))
	}
	for _, want := range []string{before, after} {
		call := map[string]string{before: "c", after: "revert of c"}[want]
		b.wantCallReverted(call)
		if got := b.files(); got != want {
			t.Errorf("after the revert of %s it is\n%s\nwant\n%s", call, got, want)
		}
	}
}

// TestABranchIsSwitched by a command: what comes and goes is in the repository.
func TestABranchIsSwitched(t *testing.T) {
	b := newTracked(t)
	b.git("checkout", "-q", "-b", "other")
	b.Write("many/00.txt", "other\n")
	b.Write("only.txt", "other\n")
	b.Remove("many/01.txt")
	b.committed()
	before := b.files()
	b.command("c", func() { b.git("checkout", "-q", "main"); b.age() })
	b.wantKept("c", "overwrite many/00.txt +1 -1", "create many/01.txt +1 -0", "delete only.txt +0 -1")
	b.command("back", func() { b.git("checkout", "-q", "other"); b.age() })
	if got := b.files(); got != before {
		t.Errorf("on the branch again it is\n%s\nwant\n%s", got, before)
	}
	b.wantKept("back", "overwrite many/00.txt +1 -1", "delete many/01.txt +0 -1", "create only.txt +1 -0")
}

// TestWhatGitStoresOtherwiseIsCopied: a file may differ from what the repository holds of it.
func TestWhatGitStoresOtherwiseIsCopied(t *testing.T) {
	b := newTracked(t)
	b.Write(".gitattributes", "crlf.txt eol=crlf\n*.up filter=up\nident.txt ident\n*.utf16 working-tree-encoding=UTF-16LE\n")
	b.git("config", "filter.up.clean", "tr a-z A-Z")
	b.git("config", "filter.up.smudge", "tr A-Z a-z")
	contents := map[string]string{"crlf.txt": "one\r\ntwo\r\n", "lower.up": "lower\n", "ident.txt": "$Id: 0000000000000000000000000000000000000000 $\n", "wide.utf16": "a\x00b\x00"}
	for name, text := range contents {
		b.Write(name, text)
	}
	b.Write("same.txt", "the same in the index\n")
	b.committed()
	b.kept("c", func() {
		for name := range contents {
			b.Remove(name)
		}
		b.Remove("same.txt")
	})
	b.revertCall("c")
	contents["same.txt"] = "the same in the index\n"
	for name, text := range contents {
		b.want(name, text)
	}
}

// TestTheIndexIsNotBelieved where it does not know, or claims what is not so.
func TestTheIndexIsNotBelieved(t *testing.T) {
	b := newTracked(t)
	b.Write("kept.txt", "committed\n")
	b.committed()
	info, err := os.Stat(b.Abs("kept.txt"))
	b.Must(err)
	b.Write("kept.txt", "unspoken!\n") // of the same size, and as old
	b.Must(os.Chtimes(b.Abs("kept.txt"), info.ModTime(), info.ModTime()))
	b.git("update-index", "--assume-unchanged", "kept.txt")
	b.command("c", func() { b.Write("kept.txt", "by a command\n") })
	b.revertCall("c")
	b.want("kept.txt", "unspoken!\n")
}

// TestAnObjectThatACommandDestroys is said to be lost, and everything else is kept.
func TestAnObjectThatACommandDestroys(t *testing.T) {
	b := newTracked(t)
	b.Write("staged.txt", "staged alone\n")
	b.git("add", "-A")
	b.age()
	unkept := b.command("c", func() {
		b.git("rm", "-q", "--cached", "staged.txt")
		b.git("prune", "--expire=now")
		b.Write("staged.txt", "by a command\n")
		b.Write("many/00.txt", "changed\n")
	})
	if want := "of what it changed these are not in the journal: staged.txt (its repository does not have any more what was in it)"; unkept != want {
		t.Errorf("it says %q, want %q", unkept, want)
	}
	b.wantKept("c", "overwrite many/00.txt +1 -1")
}

// TestATreeThatNobodyWatches is looked at whole before each command, so only a small one is.
func TestATreeThatNobodyWatches(t *testing.T) {
	b := newTracked(t)
	b.Observer.Told = func(context.Context) (uint64, bool) { return 0, false }
	got := b.command("c", func() { b.Write("tool.sh", "other\n") })
	if want := notKept + "the workspace has more than 8 files"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

func TestManyChangesOfACommandAreSaid(t *testing.T) {
	b := newTracked(t)
	got := b.command("c", func() { b.Remove("many") })
	if want := notKept + "it changed more than 8 files"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	b.git("checkout", "-q", ".") // by somebody else
	b.age()
	b.command("next", func() { b.Write("tool.sh", "other\n") })
	b.wantKept("next", "overwrite tool.sh +1 -1")
}

// TestAReplacedObjectIsNotTakenForTheFile: git shows another in its place, but it is not what was on disk.
func TestAReplacedObjectIsNotTakenForTheFile(t *testing.T) {
	b := newTracked(t)
	b.Write("f.txt", "good\n")
	b.committed()
	b.Write("other", "evil\n")
	other := strings.TrimSpace(b.git("hash-object", "-w", "other"))
	b.git("replace", strings.TrimSpace(b.git("rev-parse", "HEAD:f.txt")), other)
	b.Remove("other")
	b.command("c", func() { b.Write("f.txt", "by a command\n") })
	b.revertCall("c")
	b.want("f.txt", "good\n")
}
