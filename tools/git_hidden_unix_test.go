//go:build unix

package tools_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestWhatARepositorySetsIsShownOrOff: however a repository is laid out, a write to it runs no program that is not in its
// dialog by name.
func TestWhatARepositorySetsIsShownOrOff(t *testing.T) {
	const branch = "git checkout -q -b other; echo '*.x filter=%s' >.gitattributes; git add .; git commit -qm a; echo x >f.x; git add .; git commit -qm b; git checkout -q main; "
	commit, switching := map[string]any{"message": "m"}, map[string]any{"action": "switch", "name": "other"}
	for name, c := range map[string]struct {
		script string
		tool   string
		args   map[string]any
		shown  bool // the program is in the dialog, and runs
	}{
		"a recorded resolution": {
			`
			git config rerere.enabled true; git config merge.evil.driver 'touch '"$MARK"
			git checkout -qb x; echo base >c.txt; git add c.txt; git commit -qm base
			git checkout -qb y; echo ours >c.txt; git commit -qam ours; git checkout -q x; echo theirs >c.txt; git commit -qam theirs
			git merge y >/dev/null || cp c.txt ../conflict; cp .git/MERGE_RR ..; echo done >c.txt; git add .; git rerere; git commit -qm merged
			cp ../conflict c.txt; git commit -qam again; cp ../MERGE_RR .git; mkdir -p .git/info; echo 'c.txt merge=evil' >.git/info/attributes; git config --unset rerere.enabled; echo two >a.txt`,
			"git.commit",
			map[string]any{"message": "m", "files": []string{"a.txt"}},
			false,
		},
		"attributes named twice": {`
			echo '* filter=evil' >.git/attributes; git config core.attributesFile /nonexistent; git config --add core.attributesFile "$PWD/.git/attributes"
			git config filter.evil.clean "touch $MARK; cat"; echo two >a.txt`, "git.commit", commit, true},
		"attributes without end": {`
			{ echo '* filter=evil'; head -c 9000000 /dev/zero | tr '\0' '#' | fold -w 1000; } >.git/attributes; git config core.attributesFile "$PWD/.git/attributes"
			git config filter.evil.clean "touch $MARK; cat"; echo two >a.txt`, "git.commit", commit, false},
		"attributes that only the index has": {strings.ReplaceAll(branch, "%s", "evil") + `
			git checkout -q other~1; git checkout -q -B main; : >.gitattributes; git config filter.evil.smudge "touch $MARK; cat"`, "git.branch", switching, true},
		"a driver's name with a form feed": {`
			git checkout -q -b other; printf '*.x filter=e\fvil\n' >.gitattributes; git add .; git commit -qm a; echo x >f.x; git add .; git commit -qm b; git checkout -q main
			printf '[filter "e\fvil"]\nsmudge = "touch %s; cat"\n' "$MARK" >>.git/config`, "git.branch", switching, true},
		"attributes with a NUL": {`
			git checkout -q -b other; printf '*.x filter=evil\0j\n' >.gitattributes; git add .; git commit -qm a; echo x >f.x; git add .; git commit -qm b; git checkout -q main
			git config filter.evil.smudge "touch $MARK; cat"`, "git.branch", switching, true},
		"a hook that the branch brings": {`
			git config core.hooksPath .hooks; git checkout -q -b other; mkdir .hooks; printf '#!/bin/sh\ntouch %s\n' "$MARK" >.hooks/post-checkout; chmod +x .hooks/*
			git add .; git -c core.hooksPath=/dev/null commit -qm hooks; git -c core.hooksPath=/dev/null checkout -q main`, "git.branch", switching, false},
		"a hook in the folder above where a link leads": {`
			mkdir -p .git/y .git/sign sign; ln -s .git/y l; printf '#!/bin/sh\ntouch %s\n' "$MARK" >.git/sign/pre-commit; printf '#!/bin/sh\n' >sign/pre-commit; chmod +x .git/sign/* sign/*
			git config core.hooksPath l/../sign; echo two >a.txt`, "git.commit", commit, true},
		"a hook that leads to a file of the branch": {`
			git checkout -q -b other; printf '#!/bin/sh\ntouch %s\n' "$MARK" >run; chmod +x run; git add .; git commit -qm run; git checkout -q main
			mkdir -p .git/hooks; ln -s ../../run .git/hooks/post-checkout; printf '#!/bin/sh\n' >.git/hooks/reference-transaction; chmod +x .git/hooks/reference-transaction`, "git.branch", switching, false},
		"yes as a number": {`
			printf '#!/bin/sh\ntouch %s\ncat >/dev/null; echo "[GNUPG:] SIG_CREATED D" >&2; echo signed\n' "$MARK" >.git/sign; chmod +x .git/sign
			git config commit.gpgSign 1k; git config gpg.program .git/sign; echo two >a.txt`, "git.commit", commit, true},
		"two names of one key": {`
			printf '#!/bin/sh\ntouch %s\ncat >/dev/null; echo "[GNUPG:] SIG_CREATED D" >&2; echo signed\n' "$MARK" >.git/sign; chmod +x .git/sign; mkdir ../bin; printf '#!/bin/sh\nexit 1\n' >../bin/sign; chmod +x ../bin/sign
			git config commit.gpgSign true; git config gpg.openpgp.program "$PWD/../bin/sign"; git config gpg.program .git/sign; echo two >a.txt`, "git.commit", commit, false},
		"many filters": {`
			for i in $(seq 10 40); do git config filter.f$i.clean "cat # $i"; echo "f$i.y filter=f$i" >>.gitattributes; echo x >f$i.y; done
			echo 'a.txt filter=late' >>.gitattributes; git add .; git commit -qm many; git config filter.late.clean "touch $MARK; cat"; echo two >a.txt`, "git.commit", commit, true},
		"more filters than can be shown": {`
			for i in $(seq 10 99); do git config filter.f$i.clean "touch $MARK; cat # $i"; echo "f$i.y filter=f$i" >>.gitattributes; echo x >f$i.y; done; git add .; git commit -qm many; echo two >a.txt`, "git.commit", commit, false},
		"what a number says is fetched": {`
			mkdir sub; echo x >sub/f; git add sub; git commit -qm sub; git init -q --bare ../r.git; git push -q ../r.git main
			git config remote.o.url "$PWD/../r.git"; git config remote.o.promisor 1k; git config remote.o.uploadpack "touch $MARK; git-upload-pack"
			tree=$(git rev-parse HEAD:sub); git status --short; rm -f .git/objects/${tree:0:2}/${tree:2}; echo two >a.txt`, "git.commit", commit, true},
		"a hook behind two links": {`
			git checkout -q -b other; printf '#!/bin/sh\ntouch %s\n' "$MARK" >run; chmod +x run; git add .; git commit -qm run; git checkout -q main
			mkdir -p .git/hooks; ln -s ../../run .git/hooks/more; ln -s more .git/hooks/post-checkout; printf '#!/bin/sh\n' >.git/hooks/reference-transaction; chmod +x .git/hooks/reference-transaction`, "git.branch", switching, false},
		"a hook behind a folder that is a link": {`
			mkdir e f; printf '#!/bin/sh\n' >e/run; printf '#!/bin/sh\ntouch %s\n' "$MARK" >f/run; chmod +x e/run f/run; ln -s e d; git add .; git commit -qm e
			git checkout -q -b other; ln -sfn f d; git add .; git commit -qm f; git checkout -q main; mkdir -p .git/hooks; ln -s ../../d .git/hooks/x; ln -s x/run .git/hooks/post-checkout`, "git.branch", switching, false},
		"a message that becomes a hook": {
			`
			mkdir -p .git/hooks; printf '#!/bin/sh\n' >.git/hooks/commit-msg; chmod +x .git/hooks/commit-msg; ln -sf hooks/commit-msg .git/COMMIT_EDITMSG; echo two >a.txt`,
			"git.commit",
			map[string]any{"message": "#!/bin/sh\ntouch ../mark\n"},
			false,
		},
		"objects from a name that is no remote": {`
			git init -q --bare ../r.git; git config remote.o.url "$PWD/../r.git"; git config remote.o.promisor true; git config core.sshCommand "touch $MARK; false"; git config remote.evil@host:x.promisor true
			mkdir sub; echo x >sub/f; git add sub; git commit -qm sub; tree=$(git rev-parse HEAD:sub); git status --short; rm -f .git/objects/${tree:0:2}/${tree:2}; echo two >a.txt`, "git.commit", commit, false},
		"a filter of a submodule": {`
			git init -q sub; (cd sub; echo '* filter=evil' >.gitattributes; echo x >x; git add .; git commit -qm x; git config filter.evil.clean "touch $MARK; cat"); git add sub 2>../said; git commit -qm sub
			git config submodule.sub.ignore none; git config filter.cut.clean 'head -c 4'; mkdir -p .git/info; echo 'a.txt filter=cut' >.git/info/attributes; echo more >>a.txt; touch -d '3 days ago' sub/x`, "git.commit", commit, false},
		"what asks for a password": {`
			printf '#!/bin/sh\ntouch %s\n' "$MARK" >.git/ask; chmod +x .git/ask; git config core.askPass "$PWD/.git/ask"; git remote add origin http://127.0.0.1:1/x`, "git.push", map[string]any{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := gitWorld(t)
			w.shell(c.script)
			need := w.needs(c.tool, c.args)
			if w.exists("../mark") {
				t.Error("the program ran before anybody approved")
			}
			named := need.Preview != nil && (strings.Contains(need.Preview.Markdown, w.path("../mark")) || strings.Contains(need.Preview.Markdown, ".git/sign"))
			got := w.gitTool(c.tool, c.args)
			if ran := w.exists("../mark"); named != c.shown || ran != c.shown {
				t.Errorf("it is shown: %t, and ran: %t, want %t\n%+v\n%+v", named, ran, c.shown, need.Preview, got.Error)
			}
		})
	}
}

// TestHooksFindTheirSettings: what a write turns off for git itself is not off for the hooks that the dialog names.
func TestHooksFindTheirSettings(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	w.shell(`
		git init -q --bare ../r.git; git remote add origin "$PWD/../r.git"; git init -q ../notes; git config alias.send push
		git config filter.up.clean "tr a-z A-Z"; git config filter.up.smudge "tr A-Z a-z"; git config filter.up.required true; echo '*.x filter=up' >.gitattributes; echo hello >f.x; git add .; git commit -qm x`)
	w.script(".git/hooks/post-commit", `echo ran >>../ran; test $(wc -l <../ran) -lt 5 || exit 0; git send -q origin main
		unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE; git -C ../notes -c user.name=a -c user.email=b commit -q --allow-empty -m n`)
	w.script(".git/hooks/pre-push", `touch f.x; git status --porcelain >../status; cp f.x g.x; git add g.x`)
	w.write("new.txt", "n\n")
	w.says("add", "--intent-to-add", "new.txt")
	w.write("a.txt", "two\n")
	w.says("add", "a.txt")
	if got := w.gitTool("git.commit", map[string]any{"message": "m"}); !got.OK || w.says("ls-remote", "origin") == "" || read(t, w.path("../ran")) != "ran\n" {
		t.Errorf("%+v\n%s", got, read(t, w.path("../ran")))
	}
	if got := w.gitTool("git.push", map[string]any{}); !got.OK || w.says("show", ":g.x") != "HELLO" || strings.Contains(read(t, w.path("../status")), "f.x") {
		t.Errorf("%+v\n%s", got, read(t, w.path("../status")))
	}
}

// TestWhatACommitEnds is in its dialog: the other parents of a merge, and the author of what is picked.
func TestWhatACommitEnds(t *testing.T) {
	t.Parallel()
	w := gitWorld(t)
	w.shell(`
		tree=$(git rev-parse HEAD^{tree}); for name in x y; do git update-ref refs/heads/$name $(git commit-tree -p HEAD -m $name $tree); done
		echo two >a.txt; git add a.txt; git rev-parse x >.git/MERGE_HEAD`)
	args := map[string]any{"message": "m"}
	w.shows("git.commit", args, "Merges: "+w.says("rev-parse", "x")[:7]+"\n")
	before := w.needs("git.commit", args).Digest
	w.write(".git/MERGE_HEAD", w.says("rev-parse", "y")+"\n")
	if w.needs("git.commit", args).Digest == before {
		t.Error("another commit is merged on the same approval")
	}
	w.shell(`rm .git/MERGE_HEAD; GIT_AUTHOR_NAME=Other git commit-tree -p HEAD -m c HEAD^{tree} >.git/CHERRY_PICK_HEAD`)
	w.shows("git.commit", args, "Author: Other <person@example.org>\n", "Committer: A Person <person@example.org>\n")
	if got := w.gitTool("git.commit", args); !got.OK || w.says("log", "-1", "--format=%an") != "Other" {
		t.Errorf("%+v", got)
	}
}

// TestAPushWritesNoCookies: the file would get what the server says.
func TestAPushWritesNoCookies(t *testing.T) {
	w := gitWorldAtHome(t)
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		http.SetCookie(out, &http.Cookie{Name: "a", Value: "evil"})
		out.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	w.write("../home/.bashrc", "mine\n")
	w.config("remote.origin.url", server.URL+"/x", "http.cookieFile", w.path("../home/.bashrc"), "http.saveCookies", "true", "http."+server.URL+".saveCookies", "1")
	w.gitTool("git.push", map[string]any{})
	if got := read(t, w.path("../home/.bashrc")); got != "mine\n" {
		t.Errorf("it is now %q", got)
	}
}
