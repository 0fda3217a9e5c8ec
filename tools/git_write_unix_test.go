//go:build unix

package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
)

// gitWorld is a repository with one commit, whose user approves everything.
func gitWorld(t *testing.T) *world {
	w := newWorld(t)
	w.gitReady()
	return w
}

// gitWorldAtHome is one with a home of its own.
func gitWorldAtHome(t *testing.T) *world {
	w := newWorld(t)
	w.ownHome()
	w.gitReady()
	return w
}

func (w *world) gitReady() {
	w.write("a.txt", "one\n")
	w.write("b.txt", "one\n")
	if entries, err := os.ReadDir(w.path(".")); err == nil && len(entries) == 2 {
		w.must(os.CopyFS(w.path(".git"), os.DirFS(firstCommit())))
	} else {
		w.firstCommit()
	}
	w.start()
	w.registry.Approvals = approval.NewQueue(yes{}, 0)
}

// firstCommit is the .git of a.txt and b.txt, made once.
var firstCommit = sync.OnceValue(func() string {
	w := &world{base: common}
	w.write("a.txt", "one\n")
	w.write("b.txt", "one\n")
	w.firstCommit()
	return w.path(".git")
})

func (w *world) firstCommit() {
	w.git("init -q")
	w.git("add .")
	w.git("commit -qm first")
}

// wrote is what came of a git tool.
type wrote struct {
	OK         bool
	Hash       string
	HookOutput string `json:"hook_output"`
	Differs    []string
	Current    string
	Old, New   string
	Diff       string
	Branches   []any
	Truncated  bool
	Total      int
	Error      *fault.Error
}

func (w *world) gitTool(tool string, args map[string]any) wrote {
	w.t.Helper()
	return w.gitCall(context.Background(), tools.Call{Name: tool, Arguments: w.json(args)})
}

func (w *world) gitCall(ctx context.Context, c tools.Call) wrote {
	c.Session = w.session("s")
	result := w.registry.Execute(ctx, c)
	var out wrote
	w.must(json.Unmarshal(result.Structured, &out))
	return out
}

// config sets keys of the repository's settings to the values behind them.
func (w *world) config(pairs ...string) {
	w.t.Helper()
	for pair := range slices.Chunk(pairs, 2) {
		w.says("config", pair[0], pair[1])
	}
}

func (w *world) script(name, text string) string {
	w.write(name, "#!/bin/sh\n"+text+"\n")
	w.must(os.Chmod(w.path(name), 0o755))
	return w.path(name)
}

func (w *world) exists(name string) bool {
	_, err := os.Lstat(w.path(name))
	return err == nil
}

// contents are the entries of a folder with what is in them.
func (w *world) contents(name string) map[string]string {
	out := map[string]string{}
	w.must(filepath.WalkDir(w.path(name), func(path string, e fs.DirEntry, err error) error {
		if below := strings.TrimPrefix(path, w.path(name)); err == nil && !e.IsDir() {
			text, err := os.ReadFile(path)
			out[below] = fmt.Sprintf("%v %s %v", e.Type(), text, err)
		}
		return err
	}))
	return out
}

// changed are the entries of a folder that are not as they were before, and those that are gone.
func (w *world) changed(name string, before map[string]string) (names []string) {
	now := w.contents(name)
	for name := range now {
		if now[name] != before[name] {
			names = append(names, name)
		}
	}
	for name := range before {
		if now[name] == "" {
			names = append(names, name)
		}
	}
	return names
}

func TestNamesAreNoPatternsAndNoOptions(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	names := []string{"-rf", "--amend", "*.txt", ":(top)a.txt", ":!a.txt", "a b", "quote\"s", "é", "[ab].txt", ":(top,literal)b.txt"}
	w.write("a.txt", "changed\n")
	w.write("b.txt", "changed\n")
	for _, name := range names {
		w.write(name, "x\n")
		got := w.gitTool("git.commit", map[string]any{"message": "--amend", "files": []string{name}})
		if !got.OK {
			t.Errorf("%q: %v", name, got.Error)
			continue
		}
		if changed := w.says("-c", "core.quotepath=false", "show", "--name-only", "--format=", "-z", "HEAD"); strings.Trim(changed, "\x00") != name {
			t.Errorf("%q was to be committed, and %q was", name, changed)
		}
	}
	w.write(".gitignore", ":!ig*\n-ig*\n")
	for _, name := range []string{":!ignored", "-ignored"} {
		w.write(name, "x\n")
		got := w.gitTool("git.commit", map[string]any{"message": "no", "files": []string{name}})
		if got.OK || !strings.Contains(got.Error.Message, fault.Quote(name)) {
			t.Errorf("%q is ignored: %+v", name, got)
		}
	}
	if got := w.says("log", "-1", "--format=%s"); got != "--amend" {
		t.Errorf("the message is %q", got)
	}
	if got := w.says("rev-list", "--count", "HEAD"); got != "11" {
		t.Errorf("there are %s commits", got)
	}
}

// TestHooksSeeACleanEnvironment: no keys, no editor of ours, and nothing that changes
// what git means to them.
func TestHooksSeeACleanEnvironment(t *testing.T) {
	w := gitWorldAtHome(t)
	for _, name := range []string{"SSH_AUTH_SOCK", "GNUPGHOME", "SOME_TOKEN", "DBUS_SESSION_BUS_ADDRESS", "GIT_DIR", "GIT_SSH_COMMAND"} {
		t.Setenv(name, "leak")
	}
	w.script(".git/hooks/pre-commit", `env >"$HOME/env"; git ls-files -- '*.txt' >"$HOME/listed"; test ! -t 0 && read x; echo "read: $x"`)
	w.write("a.txt", "two\n")
	got := w.gitTool("git.commit", map[string]any{"message": "two"})
	if !got.OK {
		t.Fatal(got.Error)
	}
	env := read(t, w.path("../home/env"))
	if strings.Contains(env, "leak") || strings.Contains(env, "what a command must not see") || strings.Contains(env, "GIT_LITERAL_PATHSPECS") {
		t.Errorf("the hook sees\n%s", env)
	}
	if listed := read(t, w.path("../home/listed")); listed != "a.txt\nb.txt\n" {
		t.Errorf("patterns of the hook give %q", listed)
	}
	if strings.Contains(got.HookOutput, "two") {
		t.Errorf("the hook read the message from its input: %q", got.HookOutput)
	}
}

func TestHooksThatFailBeforeAReferenceChanges(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	w.git("switch -q -c other")
	w.script(".git/hooks/reference-transaction", "exit 1")
	for _, args := range []map[string]any{{"action": "create", "name": "new"}, {"action": "delete", "name": "main"}} {
		if got := w.gitTool("git.branch", args); got.OK || !strings.HasPrefix(got.Error.Message, "git did not "+args["action"].(string)) {
			t.Errorf("%v: %+v", args, got.Error)
		}
	}
}

// TestMoreFilesThanACommandLineHolds are committed, new ones too.
func TestMoreFilesThanACommandLineHolds(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	long := strings.Repeat("x", 230)
	var names []string
	for i := range 450 {
		names = append(names, fmt.Sprintf("%s%d", long, i))
		w.write(names[i], "one\n")
	}
	if got := w.gitTool("git.commit", map[string]any{"message": "new", "files": names}); !got.OK {
		t.Fatal(got.Error)
	}
	for _, name := range names {
		w.write(name, "two\n")
	}
	message := strings.Repeat("word ", 40_000)
	for tool, args := range map[string]map[string]any{
		"git.commit": {"message": message}, "run_command": {"command": message}, "run_persistent": {"command": "ls", "env": map[string]string{"A": message}},
	} {
		if need := w.needs(tool, args); need.Error == nil || need.Error.Code != fault.InvalidArguments {
			t.Errorf("%s is longer than a program can be given, and it is not refused before anybody is asked: %+v", tool, need)
		}
	}
	if got := w.gitTool("git.commit", map[string]any{"message": "all"}); !got.OK || got.Differs != nil || w.says("status", "--porcelain") != "" {
		t.Errorf("%+v", got)
	}
	for _, files := range [][]string{nil, {names[0], "new"}} {
		w.write(names[0], fmt.Sprint(files))
		w.write("new", "new")
		if got := w.gitTool("git.commit", map[string]any{"message": message, "files": files}); !got.OK || w.says("log", "-1", "--format=%s%n%b") != strings.TrimSpace(message) {
			t.Errorf("a long message: %+v", got.Error)
		}
	}
}

func TestSigning(t *testing.T) {
	w := gitWorldAtHome(t)
	w.script("../home/sign", `cat >/dev/null; env >"$HOME/signer"; printf '[GNUPG:] BEGIN_SIGNING\n[GNUPG:] SIG_CREATED D\n' >&2; echo 'a signature'`)
	t.Setenv("GNUPGHOME", "/the/keys")
	w.says("config", "--global", "commit.gpgsign", "true")
	w.says("config", "--global", "gpg.program", w.path("../home/sign"))
	w.write("a.txt", "two\n")
	need := w.needs("git.commit", map[string]any{"message": "two"})
	if need.Preview == nil || !strings.Contains(need.Preview.Markdown, "Signed: with "+fault.Quote(w.path("../home/sign"))+" (openpgp)") {
		t.Errorf("%+v", need)
	}
	if got := w.gitTool("git.commit", map[string]any{"message": "two"}); !got.OK {
		t.Fatal(got.Error)
	}
	if raw := w.says("cat-file", "commit", "HEAD"); !strings.Contains(raw, "gpgsig a signature") {
		t.Errorf("%s", raw)
	}
	if env := read(t, w.path("../home/signer")); !strings.Contains(env, "GNUPGHOME=/the/keys") {
		t.Errorf("the signing program sees\n%s", env)
	}
	w.script("../home/sign", "echo 'no key' >&2; exit 2")
	w.write("a.txt", "three\n")
	if got := w.gitTool("git.commit", map[string]any{"message": "three"}); got.OK || !strings.Contains(got.Error.Details["output"].(string), "failed to sign") {
		t.Errorf("%+v", got)
	}
}

// TestACancelledCommitLeavesNoLock: git is told to end, and puts away what it holds.
func TestACancelledCommitLeavesNoLock(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	w.script(".git/hooks/pre-commit", `echo started; exec sleep 1000`)
	w.write("a.txt", "two\n")
	ctx, cancel := context.WithCancel(context.Background())
	got := w.gitCall(ctx, tools.Call{
		Name: "git.commit", Arguments: w.json(map[string]any{"message": "two"}),
		Output: func(_, text string) {
			if strings.Contains(text, "started") {
				cancel()
			}
		},
	})
	if got.OK || got.Error.Code != fault.Cancelled {
		t.Errorf("%+v", got)
	}
	if w.exists(".git/index.lock") {
		t.Error("the index is locked")
	}
}

// TestWhatACommitRestsOn: what is another commit needs another yes.
func TestWhatACommitRestsOn(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	w.write("a.txt", "two\n")
	args := map[string]any{"message": "two"}
	digest := func() string { return w.needs("git.commit", args).Digest }
	last := digest()
	if last == "" || digest() != last {
		t.Fatal("the same commit is another one")
	}
	w.must(os.Chtimes(w.path("b.txt"), time.Time{}, time.Now().Add(-time.Hour)))
	w.says("status") // which writes the index anew, as editors have it do
	if digest() != last {
		t.Error("an index that was only refreshed is another one")
	}
	for what, change := range map[string]func(){
		"a file":     func() { w.write("a.txt", "three\n") },
		"a mode":     func() { w.must(os.Chmod(w.path("a.txt"), 0o755)) },
		"the branch": func() { w.git("checkout -q -b other") },
		"the author": func() { w.says("config", "user.name", "Somebody Else") },
		"a hook":     func() { w.script(".git/hooks/pre-commit", "exit 0") },
	} {
		change()
		if now := digest(); now == last {
			t.Errorf("%s changed, and the yes still holds", what)
		} else {
			last = now
		}
	}
}

// TestAnotherGitIsWaitedFor, when it holds the index for a moment; nobody waits for ever
// for one that is gone.
func TestAnotherGitIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	w.write("a.txt", "two\n")
	w.write(".git/index.lock", "")
	w.write("../bin/git", "#!/bin/sh\necho >>"+w.path("../tries")+"\n[ $(wc -l <"+w.path("../tries")+") -lt 3 ] || rm -f "+w.path(".git/index.lock")+"\nexec /usr/bin/env -u PATH "+lookPath(t, "git")+" \"$@\"\n")
	w.must(os.Chmod(w.path("../bin/git"), 0o755))
	w.registry.LookPath = func(string) (string, error) { return w.path("../bin/git"), nil }
	if got := w.gitTool("git.commit", map[string]any{"message": "waited"}); !got.OK || strings.TrimSpace(w.says("log", "-1", "--format=%s")) != "waited" {
		t.Errorf("%+v, %v", got, got.Error)
	}
}

func lookPath(t *testing.T, name string) string {
	file, err := exec.LookPath(name)
	must(t, err)
	return file
}

// TestWritesLeadNowhereElse: git writes to where a reference leads, and its log as well.
func TestWritesLeadNowhereElse(t *testing.T) {
	t.Parallel()
	const out = "ref: refs/heads/../../../../L/rc\n"
	all := []string{"git.commit", "create", "switch", "delete", "git.push"}
	for _, c := range []struct {
		name, file string // of .git
		text       string // of it; "" for a link
		refused    []string
	}{
		{"HEAD", "HEAD", out, all},
		{"the branch", "refs/heads/main", out, all},
		{"by way of another", "refs/heads/main", "ref: refs/heads/topic\n", nil},
		{"a link for the branch", "refs/heads/main", "", all},
		{"a link for branches", "refs/heads", "", all},
		{"a link for references", "refs", "", all},
		{"a link for logs", "logs", "", all},
		{"a link for a log", "logs/HEAD", "", all},
		{"a link for the log of the branch", "logs/refs/heads/main", "", all},
		{"another branch", "refs/heads/topic", out, []string{"switch", "delete", "git.push"}},
		{"another log", "logs/refs/heads/topic", "", []string{"switch", "delete", "git.push"}},
		{"a folder of branches", "refs/heads/new", "", []string{"create"}},
		{"the remote's branch", "refs/remotes/origin/topic", out, []string{"git.push"}},
	} {
		for _, program := range []bool{true, false} {
			t.Run(fmt.Sprint(c.name, program), func(t *testing.T) {
				w := gitWorld(t)
				w.write("../outside/rc", "before\n")
				w.must(os.Symlink("../outside", w.path("L")))
				w.says("branch", "topic")
				w.says("remote", "add", "origin", w.path("../outside"))
				file := ".git/" + c.file
				if c.text != "" {
					w.write(file, c.text)
				} else {
					to := w.path("../outside/" + filepath.Base(c.file))
					if w.exists(file) {
						w.must(os.Rename(w.path(file), to))
					}
					w.must(os.Symlink(to, w.path(file)))
				}
				if !program {
					w.registry.LookPath = nil
				}
				before := w.contents("../outside")
				w.write("a.txt", "two\n")
				for _, deed := range c.refused {
					tool, args := deed, map[string]any{"message": "x; touch y"}
					switch deed {
					case "create":
						tool, args = "git.branch", map[string]any{"action": deed, "name": "new/x"}
					case "switch", "delete":
						tool, args = "git.branch", map[string]any{"action": deed, "name": "topic"}
					case "git.push":
						args = map[string]any{"branch": "topic"}
					}
					if got := w.gitTool(tool, args); got.OK || got.Error.Code != fault.GitError || !strings.Contains(got.Error.Message, "leads out") && (program || !strings.Contains(got.Error.Message, "none was found")) {
						t.Errorf("%s: %+v, %v", deed, got, got.Error)
					}
				}
				if c.refused == nil && program {
					if got := w.gitTool("git.commit", map[string]any{"message": "two"}); !got.OK {
						t.Errorf("%v", got.Error)
					}
				}
				if left := w.changed("../outside", before); len(left) > 0 {
					t.Errorf("%q", left)
				}
			})
		}
	}
}
