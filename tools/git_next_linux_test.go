package tools_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pillion/tools"
	"pillion/tools/process"
)

// inGit is a repository in which a line that runs git runs a script of the agent's as well.
func inGit(t *testing.T) (w *world, lay func(script string) ran) {
	w = held(t, tools.Sandbox{Mode: tools.SandboxPrefer})
	w.gitReady()
	if works(w).Level != process.Bubblewrap {
		t.Log("not run: there is no bubblewrap")
		return nil, nil
	}
	return w, func(script string) ran {
		t.Helper()
		got := w.run("run_command", "git -c alias.lay='!"+w.script("lay.sh", script)+"' lay", nil)
		if got.ExitCode != 0 {
			t.Fatalf("%+v", got)
		}
		return got
	}
}

// TestNoLinksAreLeftWhereGitWrites: the user's git would write to where they lead, to a
// shell's start-up file what a commit's message says.
func TestNoLinksAreLeftWhereGitWrites(t *testing.T) {
	t.Parallel()
	w, lay := inGit(t)
	if w == nil {
		return
	}
	w.must(os.Symlink("elsewhere", w.path(".git/objects/info/mine")))
	w.write("../outside/rc", "before\n")
	lay(`cd .git && rm -f logs/HEAD && ln -s ` + w.path("../outside/rc") + ` logs/HEAD && mkdir -p objects/info refs/x &&
		ln -s /x objects/info/commit-graph && ln -s /x refs/x/y && ln -s /x objects/pa && mkfifo refs/f objects/info/f`)
	var odd []string
	w.must(filepath.WalkDir(w.path(".git"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && !e.Type().IsRegular() {
			odd = append(odd, path)
		}
		return err
	}))
	if len(odd) != 1 || filepath.Base(odd[0]) != "mine" {
		t.Errorf("%q", odd)
	}
	w.says("commit", "--allow-empty", "-qm", "x; touch y")
	if w.holds("../outside/rc") != "before\n" {
		t.Error("git wrote through a link")
	}
}

// TestNoLinkStandsInForALogMeanwhile: a command may go on for hours.
func TestNoLinkStandsInForALogMeanwhile(t *testing.T) {
	t.Parallel()
	w, _ := inGit(t)
	if w == nil {
		return
	}
	script := w.script("lay.sh", "rm -f .git/logs/HEAD; ln -s /x .git/logs/HEAD; touch laid; until test -e enough; do sleep 0.02; done")
	done := make(chan ran, 1)
	w.start()
	go func() { done <- w.run("run_command", "git -c alias.lay='!"+script+"' lay", nil) }()
	for deadline := time.Now().Add(time.Minute); !w.exists("laid"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the script does not run")
		}
	}
	if info, err := os.Lstat(w.path(".git/logs/HEAD")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v, %v", info, err)
	}
	w.write("enough", "")
	<-done
}

// TestTheIndexLeadsNowhereElse: git checks out what the index names, wherever that is.
func TestTheIndexLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	w, lay := inGit(t)
	if w == nil {
		return
	}
	for from, to := range map[string]string{"xgit/hooks/post-index-change": ".git/hooks/post-index-change", "xx/outside/new": "../outside/new", "xvar/tmp/x": "/var/tmp/x", "a/xxxx/b": "a/.GIT/b"} {
		before := w.holds(".git/index")
		got := lay(`git update-index --add --cacheinfo 100755,$(echo evil | git hash-object -w --stdin),` + from + ` && python3 - ` + from + ` ` + to + ` <<'EOF'
import sys
text = open(".git/index", "rb").read()
open(".git/index", "wb").write(text.replace(sys.argv[1].encode(), sys.argv[2].encode()))
EOF
`)
		if w.holds(".git/index") != before || !strings.Contains(got.Hint, "index") {
			t.Errorf("%s: %+v", to, got)
		}
	}
	if got := w.run("run_command", "git add -A && git commit -qm all", nil); got.ExitCode != 0 || w.says("log", "-1", "--format=%s") != "all" {
		t.Errorf("%+v", got)
	}
	w.write("a.txt", "split\n")
	if got := w.run("run_command", "git update-index --split-index && git update-index --index-version 4 && git add -A && git commit -qm split", nil); got.ExitCode != 0 || w.says("status", "--porcelain") != "" || w.says("log", "-1", "--format=%s") != "split" {
		t.Errorf("%+v, %s", got, w.says("status"))
	}
}

// TestWhatIsUnfinishedRunsNothing when the user goes on with it.
func TestWhatIsUnfinishedRunsNothing(t *testing.T) {
	t.Parallel()
	w, lay := inGit(t)
	if w == nil {
		return
	}
	for _, script := range []string{
		`mkdir .git/rebase-merge && printf '  exec evil\n' >.git/rebase-merge/git-rebase-todo`,
		`mkdir .git/rebase-merge && printf 'pick a\nx\tevil\n' >.git/rebase-merge/git-rebase-todo`,
		`mkdir .git/rebase-merge && echo x/../evil >.git/rebase-merge/strategy`,
		`mkdir .git/sequencer && printf '[options]\n\tstrategy = x/../evil\n' >.git/sequencer/opts`,
	} {
		if got := lay(script); w.exists(".git/rebase-merge") || w.exists(".git/sequencer") || got.Hint == "" {
			t.Errorf("%s: %+v", script, got)
		}
	}
	// What the user began runs what they said, and may be gone on with.
	w.says("commit", "--allow-empty", "-qm", "two")
	rebase := exec.Command("git", "rebase", "-x", "false", "-x", "true", "HEAD~1")
	rebase.Dir = w.path(".")
	if out, err := rebase.CombinedOutput(); err == nil || !w.exists(".git/rebase-merge") {
		t.Fatalf("the rebase went on: %s", out)
	}
	if got := w.run("run_command", "git rebase --continue", nil); got.ExitCode != 0 || got.Hint != "" || w.exists(".git/rebase-merge") {
		t.Errorf("%+v", got)
	}
}

// TestTheFolderStaysARepository: git passes over one that is none, and takes what a command
// laid out beside it.
func TestTheFolderStaysARepository(t *testing.T) {
	t.Parallel()
	w, lay := inGit(t)
	if w == nil {
		return
	}
	before := w.holds(".git/HEAD")
	for _, script := range []string{"rm .git/HEAD", "echo x >.git/HEAD", "rm .git/HEAD && mkdir .git/HEAD", "rm .git/HEAD && ln -s refs/heads/main .git/HEAD", ": >.git/HEAD"} {
		if lay(script); w.holds(".git/HEAD") != before {
			t.Errorf("%s: %q", script, w.holds(".git/HEAD"))
		}
	}
}

// TestAnotherRepositoryIsNotOpened by what a command writes where there is no .git yet.
func TestAnotherRepositoryIsNotOpened(t *testing.T) {
	t.Parallel()
	w := held(t, tools.Sandbox{Mode: tools.SandboxPrefer})
	if works(w).Level != process.Bubblewrap {
		t.Log("not run: there is no bubblewrap")
		return
	}
	w.folders = []string{"here"}
	w.write("here/a.txt", "a\n")
	w.git("init -q there")
	w.git("-C there commit -q --allow-empty -m theirs")
	other := w.path("there/.git")
	for _, lay := range []string{
		"echo 'gitdir: " + other + "' >.git",
		"ln -s " + other + " .git",
		"mkdir .git; echo 'ref: refs/heads/main' >.git/HEAD; echo " + other + " >.git/commondir",
		"mkdir -p x/worktrees/y; echo 'ref: refs/heads/main' >x/worktrees/y/HEAD; echo " + other + " >x/worktrees/y/commondir; echo \"$PWD/.git\" >x/worktrees/y/gitdir; echo \"gitdir: x/worktrees/y\" >.git",
	} {
		script := w.script("here/lay.sh", lay+"\ntrue")
		if got := w.run("run_command", "sh "+script, nil); got.ExitCode != 0 {
			t.Fatalf("%+v", got)
		}
		got := w.run("run_command", "git -c user.name=n -c user.email=e commit -q --allow-empty -m ours; git -c alias.lay='!echo x >"+other+"/refs/heads/evil' lay; git update-ref refs/heads/evil HEAD", nil)
		if entries, err := os.ReadDir(filepath.Join(other, "refs/heads")); err != nil || len(entries) != 1 || strings.Contains(w.says("-C", "there", "log", "--format=%s"), "ours") {
			t.Errorf("%s: %v %+v", lay, entries, got)
		}
		w.must(os.RemoveAll(w.path("here/.git")))
		w.must(os.RemoveAll(w.path("here/x")))
	}
}
