//go:build unix

package tools_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/tools"
)

// gitServer serves the repositories beside the world's folder by git's own program. With
// a password it asks for it.
func (w *world) gitServer(password string) *httptest.Server {
	out, err := exec.Command("git", "--exec-path").Output()
	w.must(err)
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"), Stderr: testLog{w.t},
		Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(w.path(".")), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=me", "HOME=" + w.path("../home")},
	}
	s := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if _, given, _ := r.BasicAuth(); given != password {
			out.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(out, "who are you?", http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(out, r)
	}))
	w.t.Cleanup(s.Close)
	return s
}

type testLog struct{ *testing.T }

func (l testLog) Write(p []byte) (int, error) { l.Log(string(p)); return len(p), nil }

// pushWorld is a repository with a remote to push to by http, without a git program, and a
// twin of it that git pushes.
func pushWorld(t *testing.T) (w *world, twin string) {
	w = gitWorld(t)
	w.registry.LookPath = nil
	s := w.gitServer("")
	w.git("init -q --bare ../bare.git")
	w.git("init -q --bare ../twin.git")
	w.says("remote", "add", "origin", s.URL+"/bare.git")
	twin = w.path("../twin")
	w.says("clone", "-q", ".", twin)
	w.says("-C", twin, "remote", "set-url", "origin", s.URL+"/twin.git")
	w.says("-C", twin, "update-ref", "-d", "refs/remotes/origin/main")
	return w, twin
}

// same compares what git says of two repositories.
func (w *world) same(ours, theirs string, args ...string) {
	w.t.Helper()
	got, want := w.says(append([]string{"-C", ours}, args...)...), w.says(append([]string{"-C", theirs}, args...)...)
	if got != want {
		w.t.Errorf("git %s says\n%s\nof ours, and of git's\n%s", strings.Join(args, " "), got, want)
	}
}

// TestPushWithoutGit: what arrives is what git sends, and what is noted here is what git
// notes.
func TestPushWithoutGit(t *testing.T) {
	w, twin := pushWorld(t)
	push := func(args map[string]any, more ...string) wrote {
		t.Helper()
		got := w.gitTool("git.push", args)
		if !got.OK {
			t.Fatalf("%+v", got.Error)
		}
		w.says("-C", twin, "pull", "-q", "--ff-only", w.path("."))
		w.says(append(append([]string{"-C", twin, "push", "-q"}, more...), "origin", "main")...)
		w.same(w.path("../bare.git"), w.path("../twin.git"), "for-each-ref")
		w.same(w.path("../bare.git"), w.path("../twin.git"), "rev-list", "--objects", "--all")
		w.same(w.path("."), twin, "for-each-ref", "refs/remotes/origin/main")
		w.says("-C", w.path("../bare.git"), "fsck", "--strict")
		return got
	}
	if got := push(map[string]any{}); got.Old != "" || got.New != w.says("rev-parse", "HEAD") {
		t.Errorf("%+v", got)
	}
	w.write("src/deep/x.txt", "x\n")
	w.must(os.Symlink("a.txt", w.path("link")))
	w.must(os.Chmod(w.path("b.txt"), 0o755))
	w.says("update-index", "--add", "--cacheinfo", "160000,"+w.says("rev-parse", "HEAD")+",sub")
	w.git("add .")
	w.git("commit -qm second")
	before := w.says("rev-parse", "HEAD~1")
	w.git("checkout -q -b side HEAD~1")
	w.write("side.txt", "side\n")
	w.git("add .")
	w.git("commit -qm side")
	w.git("checkout -q main")
	w.git("merge -q -m merged side")
	w.says("replace", "HEAD~1", "HEAD~2") // is of what is here alone
	if got := push(map[string]any{"set_upstream": true}, "-u"); got.Old != before {
		t.Errorf("%+v, not from %s", got, before)
	}
	w.same(w.path("."), twin, "config", "--get-regexp", "branch.main.*")
	if got := push(map[string]any{"set_upstream": true}); got.Old != got.New {
		t.Errorf("%+v", got)
	}
	w.git("branch topic/new")
	if got := w.gitTool("git.push", map[string]any{"branch": "topic/new"}); !got.OK || got.Old != "" || w.says("-C", w.path("../bare.git"), "rev-parse", "topic/new") != got.New {
		t.Errorf("of a branch with nothing new: %+v", got)
	}
	w.git("branch -m topic/new topic")
	if got := w.gitTool("git.push", map[string]any{"branch": "topic"}); got.OK || !strings.Contains(got.Error.Message, "refused the push") {
		t.Errorf("of a branch beside which there cannot be one: %+v", got)
	}
	if got := w.says("config", "--get-all", "branch.main.merge"); got != "refs/heads/main" {
		t.Errorf("it follows %q", got)
	}
}

// TestBranchWithoutGitFollows: a branch that begins at a remote's follows it as git has it.
func TestBranchWithoutGitFollows(t *testing.T) {
	w, twin := pushWorld(t)
	w.says("push", "-q", "origin", "main", "main:other")
	w.says("-C", twin, "push", "-q", "origin", "main", "main:other")
	w.says("-C", twin, "config", "--remove-section", "branch.main") // of the clone
	var made []string
	for i, setup := range []string{"", "branch.autoSetupMerge false", "branch.autoSetupMerge simple", "branch.autoSetupMerge always", "branch.autoSetupRebase remote"} {
		for _, top := range []string{w.path("."), twin} {
			if key, value, set := strings.Cut(setup, " "); set {
				w.says("-C", top, "config", key, value)
			}
		}
		name := fmt.Sprintf("topic%d", i)
		for from, name := range map[string]string{"origin/other": name, "origin/main": "in" + name + "/main", "main": name + "-local"} {
			if got := w.gitTool("git.branch", map[string]any{"action": "create", "name": name, "from": from}); !got.OK {
				t.Fatalf("%+v", got.Error)
			}
			if from == "main" {
				continue // autoSetupMerge always has git follow local ones
			}
			w.says("-C", twin, "branch", "-q", name, from)
			made = append(made, name)
			w.same(w.path("."), twin, "for-each-ref", "--format=%(refname) %(objectname) %(upstream)", "refs/heads/"+name)
			if _, err := exec.Command("git", "-C", twin, "config", "--get-regexp", "branch."+name).Output(); err == nil {
				w.same(w.path("."), twin, "config", "--get-regexp", "branch."+name+`\..*`)
			}
		}
	}
	made = append(made, `the"other`)
	for _, top := range []string{w.path("."), twin} {
		w.says("-C", top, "branch", "-q", "--track", made[len(made)-1], "origin/main") // by git, with a reflog
	}
	for _, name := range made {
		if got := w.gitTool("git.branch", map[string]any{"action": "delete", "name": name}); !got.OK {
			t.Errorf("%+v", got.Error)
		}
		w.says("-C", twin, "branch", "-q", "-D", name)
		w.same(w.path("."), twin, "config", "--local", "--name-only", "--get-regexp", "^(core|branch|remote)")
		if w.exists(".git/logs/refs/heads/" + name) {
			t.Errorf("the reflog of %s stays", name)
		}
	}
	w.says("fsck")
}

// TestPushWithoutGitLosesNothing: commits that the remote has alone stay, whether they are
// known here or not, and a hook of the remote is heard.
func TestPushWithoutGitLosesNothing(t *testing.T) {
	w, twin := pushWorld(t)
	w.says("push", "-q", "origin", "main")
	w.says("-C", twin, "commit", "-q", "--allow-empty", "-m", "theirs")
	w.says("-C", twin, "push", "-q", w.path("../bare.git"), "main")
	theirs := w.says("-C", twin, "rev-parse", "HEAD")
	w.git("commit -q --allow-empty -m ours")
	for _, known := range []bool{false, true} {
		if known {
			w.git("fetch -q")
		}
		got := w.gitTool("git.push", map[string]any{})
		if got.OK || got.Error.Code != fault.GitError || !strings.Contains(got.Error.Message, "a push never overwrites them") || w.says("-C", w.path("../bare.git"), "rev-parse", "main") != theirs {
			t.Errorf("known: %v: %+v", known, got)
		}
	}
	w.git("rebase -q origin/main")
	w.script("../bare.git/hooks/pre-receive", "echo not today; exit 1")
	got := w.gitTool("git.push", map[string]any{})
	if got.OK || !strings.Contains(got.Error.Message, "pre-receive hook declined") || !strings.Contains(got.Error.Details["output"].(string), "not today") {
		t.Errorf("%+v", got.Error)
	}
	if got := w.says("rev-parse", "origin/main"); got != theirs {
		t.Errorf("noted as the remote's: %s", got)
	}
	w.script("../bare.git/hooks/pre-receive", "exit 0")
	w.script(".git/hooks/pre-push", "exit 1")
	if need := w.gitNeed("git.push", map[string]any{}); !strings.Contains(need.Preview.Markdown, "No hook runs: pre-push") {
		t.Error(need.Preview.Markdown)
	}
	result := w.registry.Execute(context.Background(), tools.Call{Name: "git.push", Arguments: w.json(map[string]any{}), Session: w.session("s")})
	if result.Err != nil || !strings.Contains(fmt.Sprint(result.Content), "the hooks did not run") {
		t.Errorf("%+v", result)
	}
}

// TestPushWithoutGitAndCredentials: those in the address count, nobody is asked for
// others, and none is told.
func TestPushWithoutGitAndCredentials(t *testing.T) {
	w := gitWorld(t)
	w.registry.LookPath = nil
	w.git("init -q --bare ../bare.git")
	s := w.gitServer("hunter2")
	w.script("../home/helper", `touch "$HOME/asked"; echo password=hunter2`)
	w.says("config", "credential.helper", w.path("../home/helper"))
	w.says("remote", "add", "origin", s.URL+"/bare.git")
	w.says("config", "url."+strings.Replace(s.URL, "://", "://me:hunter2@", 1)+"/bare.git.insteadOf", "known:")
	w.says("remote", "add", "known", "known:")
	w.says("remote", "add", "wrong", strings.Replace(s.URL, "://", "://me:secret@", 1)+"/bare.git")
	for _, remote := range []string{"origin", "wrong", "known"} {
		result := w.registry.Execute(context.Background(), tools.Call{Name: "git.push", Arguments: w.json(map[string]any{"remote": remote}), Session: w.session("s")})
		said := string(result.Structured) + fmt.Sprint(result.Content)
		if remote != "known" && (result.Err == nil || !strings.Contains(said, "asks who you are")) || remote == "known" && result.Err != nil {
			t.Errorf("%s: %s", remote, said)
		}
		if strings.Contains(said, "hunter2") || strings.Contains(said, "secret") {
			t.Errorf("%s tells: %s", remote, said)
		}
	}
	if w.exists("../home/asked") {
		t.Error("a credential helper was run")
	}
}

// TestPushWithoutGitGoesNowhereElse: a remote that leads to another host is not followed.
func TestPushWithoutGitGoesNowhereElse(t *testing.T) {
	w := gitWorld(t)
	w.registry.LookPath = nil
	w.git("init -q --bare ../bare.git")
	s := w.gitServer("")
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(out, r, s.URL+r.URL.String(), http.StatusFound)
	}))
	t.Cleanup(other.Close)
	away := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/away") {
			http.Redirect(out, r, other.URL+r.URL.String(), http.StatusMovedPermanently)
			return
		}
		http.Redirect(out, r, "/away"+r.URL.String(), http.StatusMovedPermanently)
	}))
	t.Cleanup(away.Close)
	w.says("remote", "add", "origin", strings.Replace(away.URL, "://", "://me:hunter2@", 1)+"/bare.git")
	got := w.gitTool("git.push", map[string]any{})
	if got.OK || !strings.Contains(got.Error.Message, "leads to another host") || asked > 0 {
		t.Errorf("%+v, asked %d times", got.Error, asked)
	}
}

// TestPushWithoutGitEnds: a remote that says nothing is given up with the call.
func TestPushWithoutGitEnds(t *testing.T) {
	w := gitWorld(t)
	w.registry.LookPath = nil
	ctx, cancel := context.WithCancel(context.Background())
	end := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-end
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(end) })
	w.says("remote", "add", "origin", s.URL+"/bare.git")
	got := w.gitCall(ctx, tools.Call{Name: "git.push", Arguments: w.json(map[string]any{})})
	if got.OK || got.Error.Code != fault.Cancelled {
		t.Errorf("%+v", got.Error)
	}
}

// TestPushWithoutGitBelievesNoRemote: what a remote says is not taken for what it did.
func TestPushWithoutGitBelievesNoRemote(t *testing.T) {
	line := func(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }
	empty := line("# service=git-receive-pack\n") + "0000" + line(strings.Repeat("0", 40)+" capabilities^{}\x00report-status") + "0000"
	for name, say := range map[string]struct{ refs, report, want string }{
		"no git":         {"<html>welcome</html>", "", "cannot be spoken with"},
		"cut off":        {empty[:len(empty)-20], "", "cannot be spoken with"},
		"no report":      {line("# service=git-receive-pack\n") + "0000" + line(strings.Repeat("0", 40)+" capabilities^{}\x00side-band-64k") + "0000", "", "does not say what becomes of a push"},
		"nothing":        {empty, "", "is not known"},
		"another branch": {empty, line("unpack ok\n") + line("ok refs/heads/other\n") + "0000", "does not say what became of the branch"},
		"half a report":  {empty, line("unpack ok\n"), "is not known"},
		"not unpacked":   {empty, line("unpack \x1b[31mno\n") + line("ok refs/heads/main\n") + "0000", "refused the push"},
		"another hash":   {line("# service=git-receive-pack\n") + "0000" + line(strings.Repeat("0", 40)+" capabilities^{}\x00report-status object-format=sha256") + "0000", "", "another hash"},
	} {
		t.Run(name, func(t *testing.T) {
			w := gitWorld(t)
			w.registry.LookPath = nil
			s := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				text := say.refs
				if r.Method == http.MethodPost {
					text = say.report
				}
				_, _ = out.Write([]byte(text))
			}))
			t.Cleanup(s.Close)
			w.says("remote", "add", "origin", s.URL+"/bare.git")
			got := w.gitTool("git.push", map[string]any{})
			if got.OK || got.Error.Code != fault.GitError || !strings.Contains(got.Error.Message, say.want) || strings.Contains(got.Error.Message, "\x1b") {
				t.Errorf("%+v", got.Error)
			}
			if refs := w.says("for-each-ref", "refs/remotes"); refs != "" {
				t.Errorf("noted: %s", refs)
			}
		})
	}
}

// TestPushThatNeedsGit: what would come out otherwise than by git is refused, before
// anybody is asked.
func TestPushThatNeedsGit(t *testing.T) {
	for name, set := range map[string]func(w *world){
		"a folder":       func(w *world) { w.says("remote", "set-url", "origin", w.path("../bare.git")) },
		"a file address": func(w *world) { w.says("remote", "set-url", "origin", "file://"+w.path("../bare.git")) },
		"a program": func(w *world) {
			w.says("remote", "set-url", "origin", "git@example.org:x.git")
			w.says("config", "core.sshCommand", "true")
		},
		"signed":      func(w *world) { w.says("config", "push.gpgSign", "if-asked") },
		"a proxy":     func(w *world) { w.says("config", "http.proxy", "http://127.0.0.1:1") },
		"a header":    func(w *world) { w.says("config", "http.http://127.0.0.1/.extraHeader", "X: y") },
		"an option":   func(w *world) { w.says("config", "push.pushOption", "ci.skip") },
		"shallow":     func(w *world) { w.write(".git/shallow", w.says("rev-parse", "HEAD")+"\n") },
		"ext::":       func(w *world) { w.says("remote", "set-url", "origin", "ext::touch "+w.path("../home/fired")) },
		"another one": func(w *world) { w.says("config", "branch.main.merge", "refs/heads/other") },
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := pushWorld(t)
			set(w)
			need := w.gitNeed("git.push", map[string]any{"set_upstream": true})
			if need.Error == nil || need.Error.Code != fault.GitError || w.exists("../home/fired") {
				t.Errorf("%+v", need)
			}
		})
	}
	w, _ := pushWorld(t)
	w.says("config", "http.http://127.0.0.2/.extraHeader", "X: y") // is of another host
	w.write("big", "version https://git-lfs.github.com/spec/v1\noid sha256:"+strings.Repeat("0", 64)+"\nsize 1\n")
	w.git("add big")
	w.git("commit -qm big")
	if got := w.gitTool("git.push", map[string]any{}); got.OK || !strings.Contains(got.Error.Message, "Git LFS") {
		t.Errorf("%+v", got)
	}
}
