package tools_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pillion/internal/fault"
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

// TestWhatComesBackLeadsNowhere: by a reference, a log or a file beside them git would write
// what a commit's message says to a shell's start-up file, take objects from elsewhere, or
// run what a command laid out.
func TestWhatComesBackLeadsNowhere(t *testing.T) {
	t.Parallel()
	w, lay := inGit(t)
	if w == nil {
		return
	}
	w.write("../outside/rc", "before\n")
	w.must(os.Symlink(w.path("../outside"), w.path("L")))
	w.says("branch", "topic")
	w.says("pack-refs", "--all", "--no-prune")
	w.must(os.Mkdir(w.path(".git/rr-cache"), 0o755))
	w.says("commit", "--allow-empty", "-qm", "before")
	const out = "ref: refs/heads/../../../../L/rc"
	for _, c := range []struct{ said, script string }{
		{"refs/heads/main", "echo '" + out + "' >refs/heads/main"},
		{"HEAD", "echo '" + out + "' >HEAD"},
		{"HEAD", "printf 'ref: refs/heads/main\n\nx\n' >HEAD"},
		{"refs/heads/main", ": >refs/heads/main"},
		{"refs/heads/main", "ln -sf ../../../L/rc refs/heads/main"},
		{"refs/heads/x", "echo 'ref: HEAD' >refs/heads/x"},
		{"refs/heads/x", "ln -s ../../../L refs/heads/x"},
		{"refs/heads/x.lock", "cp refs/heads/topic refs/heads/x.lock"},
		{"refs/heads/-x", "cp refs/heads/topic refs/heads/-x"},
		{"refs/heads/a\nb", `cp refs/heads/topic "$(printf 'refs/heads/a\nb')"`},
		{"refs", "rm -r refs && ln -s ../L refs"},
		{"refs", "rm -r refs && echo x >refs"},
		{"logs", "rm -r logs && ln -s ../L logs"},
		{"logs/refs/heads/main", "ln -sf ../../../../L/rc logs/refs/heads/main"},
		{"logs/refs/heads/x", "ln logs/HEAD logs/refs/heads/x"},
		{"logs/refs/heads/main", "echo x >logs/refs/heads/main"},
		{"logs/x", "cp logs/HEAD logs/x"},
		{"packed-refs", "echo $(git rev-parse HEAD) refs/heads/../../../../L/rc >>packed-refs; rm -r refs/heads/topic"},
		{"refs/replace/" + strings.Repeat("a", 40), "mkdir -p refs/replace && cp refs/heads/topic refs/replace/" + strings.Repeat("a", 40)},
		{"packed-refs", "echo $(git rev-parse topic) refs/replace/$(git rev-parse HEAD) >>packed-refs"},
		{"shallow", "echo x >shallow"},
		{"FETCH_HEAD", "echo x >FETCH_HEAD"},
		{"ORIG_HEAD", "echo ref: refs/heads/main >ORIG_HEAD"},
		{"MERGE_RR", `printf '%s\tL/rc\0' $(git rev-parse HEAD) >MERGE_RR; echo x >rr-cache/x`},
		{"BISECT_NAMES", `echo " '*'" >BISECT_NAMES`},
		{"BISECT_START", "echo --orphan=x >BISECT_START"},
		{"EXEC_PATH", "echo x >EXEC_PATH"},
		{"rebase-merge", "mkdir -p rebase-merge/rewritten"},
		{"rebase-merge", "mkdir rebase-merge && echo refs/heads/../x >rebase-merge/head-name"},
		{"rebase-merge", "mkdir rebase-merge && echo '$(touch ../x)' >rebase-merge/msgnum && echo 2 >rebase-merge/end"},
		{"rebase-apply", "mkdir rebase-apply && echo '`touch ../x`' >rebase-apply/next"},
		{"reftable", "mkdir reftable && echo ../x.ref >reftable/tables.list"},
		{"alternates", "echo $PWD/../L >objects/info/alternates"},
		{"http-alternates", "echo $PWD/../L >objects/info/http-alternates"},
		{"alternates", "ln -s ../../../L/rc objects/info/alternates"},
		{"objects/x", "ln -s ../../L objects/x"},
	} {
		before := w.contents(".git")
		got := lay("cd .git; " + c.script + "; true")
		if left := w.changed(".git", before); len(left) > 0 || !regexp.MustCompile(` `+regexp.QuoteMeta(fault.Quote(c.said))+`[,;]`).MatchString(got.Hint) {
			t.Errorf("%s: %q, %q", c.script, left, got.Hint)
		}
		w.says("commit", "--allow-empty", "-qm", "x; touch y")
		if w.holds("../outside/rc") != "before\n" || w.exists("../L") {
			t.Fatalf("%s: git wrote elsewhere: %q", c.script, w.holds("../outside/rc"))
		}
	}
}

// TestNothingStandsInForALogMeanwhile: a command may go on for hours, in which the user makes
// branches as well.
func TestNothingStandsInForALogMeanwhile(t *testing.T) {
	t.Parallel()
	w, _ := inGit(t)
	if w == nil {
		return
	}
	before := w.contents(".git")
	script := w.script("lay.sh", `git branch mine; git branch both; echo /x >.git/objects/info/alternates; echo 'ref: refs/x/../../x' >.git/refs/heads/main
rm -f .git/logs/HEAD; ln -s /x .git/logs/HEAD; touch laid; until test -e enough; do sleep 0.02; done`)
	done := make(chan ran, 1)
	w.start()
	go func() { done <- w.run("run_command", "git -c alias.lay='!"+script+"' lay", nil) }()
	for deadline := time.Now().Add(time.Minute); !w.exists("laid"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the script does not run")
		}
	}
	if left := slices.DeleteFunc(w.changed(".git", before), func(name string) bool { return strings.Contains(name, "/pillion-") }); len(left) > 0 {
		t.Errorf("%q", left)
	}
	w.says("commit", "--allow-empty", "-qm", "theirs")
	w.says("branch", "both")
	w.write("enough", "")
	got := <-done
	if w.says("rev-parse", "mine") != w.says("rev-parse", "HEAD~1") || w.says("rev-parse", "both") != w.says("rev-parse", "HEAD") || !strings.Contains(got.Hint, " refs/heads/both,") {
		t.Errorf("%s: %+v", w.says("show-ref"), got)
	}
}

// TestTheIndexHidesNoChange: what the user changed shows and stays, whatever a command writes into the index of the file.
func TestTheIndexHidesNoChange(t *testing.T) {
	t.Parallel()
	w, lay := inGit(t)
	if w == nil {
		return
	}
	w.says("checkout", "-q", "-b", "topic")
	w.write("a.txt", "abc\n")
	w.says("commit", "-qam", "topic")
	w.says("checkout", "-q", "main")
	w.write("a.txt", "two\n") // as long as what is stored
	w.must(os.Chtimes(w.path("a.txt"), time.Time{}, time.Now().Add(-time.Hour)))
	if got := lay("git update-index --assume-unchanged a.txt"); !strings.Contains(got.Hint, " index;") {
		t.Errorf("%+v", got)
	}
	for _, seconds := range []int64{time.Now().Unix() - 1000, 0, 1 << 32} {
		lay(fmt.Sprintf(`python3 - <<'EOF'
import hashlib, os, struct
os.utime('a.txt', (0, %d))
index, at = bytearray(open('.git/index', 'rb').read()), os.lstat('a.txt')
entry = index.index(b'a.txt\0') - 62
times = [part & 0xffffffff for time in (at.st_ctime_ns, at.st_mtime_ns) for part in divmod(time, 10**9)]
index[entry:entry+40] = struct.pack('>10I', *times, at.st_dev, at.st_ino, at.st_mode, at.st_uid, at.st_gid, at.st_size)
index[-20:] = hashlib.sha1(index[:-20]).digest()
open('.git/index', 'wb').write(index)
EOF`, seconds))
		if status := w.says("status", "--porcelain", "a.txt"); status != "M a.txt" {
			t.Errorf("%d: %q", seconds, status)
		}
		if got := w.gitTool("git.branch", map[string]any{"action": "switch", "name": "topic"}); got.OK || w.holds("a.txt") != "two\n" {
			t.Fatalf("%d: %+v: %q", seconds, got, w.holds("a.txt"))
		}
	}
}

// TestTheIndexHidesNoNewFile, nor says of a folder what its entries do not.
func TestTheIndexHidesNoNewFile(t *testing.T) {
	t.Parallel()
	w, lay := inGit(t)
	if w == nil {
		return
	}
	lay(`touch -d '1 hour ago' . # git keeps nothing of a folder that is newer than the index
git update-index --force-untracked-cache; git status; python3 - <<'EOF'
import hashlib, os, struct
def kept(at):
    times = [part for time in (at.st_ctime_ns, at.st_mtime_ns) for part in divmod(time, 10**9)]
    return struct.pack('>9I', *times, at.st_dev, at.st_ino, at.st_uid, at.st_gid, at.st_size)
before = os.lstat('.')
open('conftest.py', 'w').write('evil')
os.utime('.', (0, before.st_mtime))
index = open('.git/index', 'rb').read()[:-20]
assert kept(before) in index
index = index.replace(kept(before), kept(os.lstat('.')))
open('.git/index', 'wb').write(index + hashlib.sha1(index).digest())
EOF`)
	if status := w.says("status", "--porcelain"); !strings.Contains(status, "?? conftest.py") {
		t.Errorf("%q", status)
	}
	lay(`python3 - $(git rev-parse HEAD^{tree}) $(git hash-object -w -t tree /dev/null) <<'EOF'
import hashlib, subprocess, sys
subprocess.run(['git', 'write-tree'], check=True)
index = open('.git/index', 'rb').read()[:-20]
at = index.index(b'TREE')
index = index[:at] + index[at:].replace(bytes.fromhex(sys.argv[1]), bytes.fromhex(sys.argv[2]))
open('.git/index', 'wb').write(index + hashlib.sha1(index).digest())
EOF`)
	if w.says("write-tree") != w.says("rev-parse", "HEAD^{tree}") {
		t.Error("the next commit would hold something else than is staged")
	}
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
	if changed := w.says("diff-index", "HEAD"); changed != "" { // which does not look at the content first
		t.Errorf("of what was committed, git says that it was changed: %s", changed)
	}
	w.write("a.txt", "split\n")
	if got := w.run("run_command", "git update-index --split-index && git update-index --index-version 4 && git add -A && git commit -qm split", nil); got.ExitCode != 0 || got.Hint != "" || w.says("status", "--porcelain") != "" || w.says("log", "-1", "--format=%s") != "split" {
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
