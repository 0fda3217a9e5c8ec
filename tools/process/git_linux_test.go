package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGitReads: in a line of git that only reads, nothing runs that the repository names in
// which git is, at each level; and all else is as with git itself.
func TestGitReads(t *testing.T) {
	everyLevel(t, func(t *testing.T, r *Runner, level Level) {
		p := newPlace(t)
		mark, evil, home := filepath.Join(p.inside, "mark"), filepath.Join(p.inside, "evil"), filepath.Join(p.inside, "home")
		must(t, os.MkdirAll(filepath.Join(p.inside, "top", "nested"), 0o755))
		must(t, os.Mkdir(home, 0o755))
		must(t, os.WriteFile(evil, []byte("#!/bin/sh\n>"+mark+"\ncat\n"), 0o755))
		git := func(dir string, args ...string) {
			cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.com"}, args...)...)
			cmd.Dir = filepath.Join(p.inside, dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v: %s", args, err, out)
			}
		}
		git("top", "init", "-q", "-b", "outer")
		git("top/nested", "init", "-q", "-b", "inner")
		for _, dir := range []string{"top/nested", "top"} {
			put(t, filepath.Join(p.inside, dir, ".gitattributes"), "a filter=e\n")
			put(t, filepath.Join(p.inside, dir, "a"), "one\n")
			put(t, filepath.Join(p.inside, dir, ".env"), "secret\n")
			git(dir, "add", ".gitattributes", "a", ".env")
			git(dir, "commit", "-qm", "first")
			put(t, filepath.Join(p.inside, dir, "a"), "two\n")
			git(dir, "config", "core.fsmonitor", evil)
		}
		git("top", "config", "include.path", "/dev/stdin")
		try := func(line string, reads bool) (got Result, ran bool) {
			t.Helper()
			spec := p.spec(level, line)
			spec.Dir, spec.ReadsGit, spec.Env = filepath.Join(p.inside, "top"), reads, map[string]string{"HOME": home}
			got = run(t, r, spec)
			return got, os.Remove(mark) == nil
		}
		put(t, filepath.Join(p.inside, "included"), "[filter \"e\"]\n\tclean = "+evil+"\n")
		for line, want := range map[string]string{
			"git status --short":                                                           " M a\n?? nested/\n",
			"cd nested && git status --short --branch":                                     "## inner\n M a\n",
			"git diff --exit-code --name-only; echo $?":                                    "a\n1\n",
			"git show --format= HEAD 2>&1; echo $?":                                        "git did not run: it would show .env, which looks like a file with secrets; nobody was asked. Leave it out: git show … -- . ':(exclude,top).env'\n128\n",
			"git diff a 2>&1 | tail -1; git version >/dev/null && git diff -- a | tail -1": "+two\n+two\n",
			"git show --format= --stat=40 HEAD -- . ':(exclude,top).env' | tail -1":        " 2 files changed, 2 insertions(+)\n",
			"git log -1 nobody 2>/dev/null; echo $?":                                       "128\n",
			"git log --format=%s 'first one' -- 'a b' 2>&1; git cat-file -p 'HEAD:a'":      "fatal: bad revision 'first one'\none\n",
			"git status --short <../included":                                              " M a\n?? nested/\n",
			"git status -s; exec git branch":                                               " M a\n?? nested/\n* outer\n", // what is no function
		} {
			if got, ran := try(line, true); got.Stdout != want || ran {
				t.Errorf("%s: %q, %q; it ran the program: %t", line, got.Stdout, got.Stderr, ran)
			}
		}
		for _, line := range []string{"git status", "cd nested && git status"} {
			if got, ran := try(line, false); !ran {
				t.Errorf("%s does not run the program without ReadsGit either, this shows nothing: %+v", line, got)
			}
		}
		git("top", "config", "core.fsmonitor", "")
		if got, ran := try("git status --short <../included", false); !ran {
			t.Errorf("nor does what is included from the input: %+v", got)
		}
		git("top", "config", "core.fsmonitor", evil)
		git("top", "config", "--unset", "include.path")
		if got, ran := try("git log -1 | git shortlog -s | cat", true); got.Stdout != "     1\tA\n" || ran {
			t.Errorf("with an input: %+v", got)
		}
		for _, profile := range []string{"alias git='echo an alias'\n", "git() { echo a function; }\n", "PATH=" + p.inside + ":$PATH\n"} {
			put(t, filepath.Join(home, ".profile"), profile)
			if got, ran := try("git status --short", true); got.Stdout != " M a\n?? nested/\n" || ran {
				t.Errorf("%s: %+v", profile, got)
			}
		}
		// Where the workspace is a part of the repository, only what is in it is shown.
		must(t, os.Remove(filepath.Join(home, ".profile")))
		must(t, os.Mkdir(filepath.Join(p.inside, "top/part"), 0o755))
		put(t, filepath.Join(p.inside, "top/part/p"), "one\n")
		git("top", "add", "part")
		spec := p.spec(level, "git diff --cached -- . | tail -1; git diff HEAD 2>&1")
		spec.Dir, spec.ReadsGit, spec.GitWithin = filepath.Join(p.inside, "top/part"), true, []string{filepath.Join(p.inside, "top/part")}
		if got := run(t, r, spec); !strings.HasPrefix(got.Stdout, "+one\ngit did not run: it would show a, and not all of that is in the workspace") {
			t.Errorf("in a part of the repository: %+v", got)
		}
		for key, value := range map[string]string{"core.repositoryformatversion": "1", "extensions.partialclone": "origin", "remote.origin.url": ".", "remote.origin.promisor": "true", "remote.origin.uploadpack": ">" + mark + "; false"} {
			git("top", "config", key, value)
		}
		git("top", "config", "--unset", "core.fsmonitor")
		put(t, filepath.Join(p.inside, "top/.git/refs/heads/gone"), strings.Repeat("12", 20)+"\n")
		try("true", true) // what git add ran is forgotten
		for _, reads := range []bool{true, false} {
			if _, ran := try("git branch -v", reads); ran == reads {
				t.Errorf("what a partial clone lacks is fetched: %t, by git that reads: %t", ran, reads)
			}
		}
		put(t, filepath.Join(home, ".profile"), "PATH=/nowhere\n")
		spec = p.spec(level, "git status; echo $?")
		spec.Env, spec.ReadsGit = map[string]string{"PATH": "/nowhere", "HOME": home}, true
		if got := run(t, r, spec); got.Stdout != "127\n" || !strings.Contains(got.Stderr, "not installed") {
			t.Errorf("without git: %+v", got)
		}
	})
}
