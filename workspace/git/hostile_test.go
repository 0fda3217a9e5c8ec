package git_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/workspace/git"
)

// traps are the ways in which a repository can make git run a program. Each
// leaves its mark when it is sprung by the git command beside it. (A pager
// needs a terminal to be sprung.)
var traps = []struct {
	name   string
	spring []string
	set    func(r *rig, script string)
}{
	{"fsmonitor", []string{"diff"}, func(r *rig, script string) { r.git("config", "core.fsmonitor", script) }},
	{"textconv", []string{"diff"}, func(r *rig, script string) {
		r.git("config", "diff.trap.textconv", script)
		r.write(".gitattributes", "* diff=trap\n")
	}},
	{"external diff", []string{"diff"}, func(r *rig, script string) { r.git("config", "diff.external", script) }},
	{"diff driver", []string{"diff"}, func(r *rig, script string) {
		r.git("config", "diff.trap.command", script)
		r.write(".gitattributes", "* diff=trap\n")
	}},
	{"clean filter", []string{"diff"}, func(r *rig, script string) {
		r.git("config", "filter.trap.clean", script)
		r.write(".gitattributes", "* filter=trap\n")
	}},
	{"process filter", []string{"diff"}, func(r *rig, script string) {
		r.git("config", "filter.trap.process", script)
		r.write(".gitattributes", "* filter=trap\n")
	}},
	{"filter named lfs", []string{"diff"}, func(r *rig, script string) {
		r.git("config", "filter.lfs.clean", script)
		r.write(".gitattributes", "* filter=lfs\n")
	}},
	{"fsmonitor of status", []string{"status"}, func(r *rig, script string) { r.git("config", "core.fsmonitor", script) }},
	{"clean filter of status", []string{"status"}, func(r *rig, script string) {
		r.git("config", "filter.trap.clean", script)
		r.write(".gitattributes", "* filter=trap\n")
	}},
	{"hook of status", []string{"status"}, func(r *rig, script string) {
		r.git("config", "core.hooksPath", filepath.Dir(script))
		r.must(os.Symlink(script, filepath.Join(filepath.Dir(script), "post-index-change")))
	}},
	{"alias", []string{"d"}, func(r *rig, script string) { r.git("config", "alias.d", "!"+script) }},
	{"hook", []string{"checkout", "-f", "HEAD", "--", "."}, func(r *rig, script string) {
		r.git("config", "core.hooksPath", filepath.Dir(script))
		r.must(os.Symlink(script, filepath.Join(filepath.Dir(script), "post-checkout")))
		r.must(os.Symlink(script, filepath.Join(filepath.Dir(script), "post-index-change")))
	}},
	{"included configuration", []string{"diff"}, func(r *rig, script string) {
		r.write("included", "[core]\n\tfsmonitor = "+script+"\n")
		r.git("config", "include.path", r.path("included"))
	}},
}

// Diff and Status spring none of them; the real git does, so the traps are good. The user's own filters are not run either.
func TestRunsNothing(t *testing.T) {
	for _, trap := range traps {
		t.Run(trap.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.write("a", "one\n")
			r.write("b", "one\n")
			r.commit()
			mark := filepath.Join(t.TempDir(), "mark")
			script := filepath.Join(t.TempDir(), "trap")
			r.must(os.WriteFile(script, []byte("#!/bin/sh\necho sprung >> "+mark+"\nexit 0\n"), 0o755))
			trap.set(r, script)
			r.write("a", "two\n")
			r.must(os.Remove(r.path("b")))
			r.write("b", "one\n")

			for _, o := range everyKind {
				if _, err := r.diff(o); err != nil {
					t.Errorf("%+v: %v", o, err)
				}
			}
			if _, err := r.status(git.StatusOptions{}); err != nil {
				t.Errorf("status: %v", err)
			}
			if _, err := os.Stat(mark); err == nil {
				t.Fatal("Diff or Status ran the repository's program")
			}
			_, _ = r.try("", trap.spring...)
			if _, err := os.Stat(mark); err != nil {
				t.Error("git does not spring this trap either: the test shows nothing")
			}
		})
	}
}

// keys can name a program each; the first value is the repository's, else the user's own.
var keys = strings.Fields(`core.fsmonitor core.hooksPath core.pager core.editor core.askPass core.sshCommand core.gitProxy core.alternateRefsCommand
	diff.e.textconv diff.e.command diff.external filter.e.clean filter.e.process filter.e.smudge filter.a=b.clean merge.e.driver gpg.program gpg.ssh.program gpg.ssh.defaultKeyCommand
	pager.log pager.status pager.diff alias.status alias.diff alias.log trailer.x.command trailer.x.cmd hook.x.command credential.helper remote.origin.uploadpack remote.origin.vcs
	sequence.editor interactive.diffFilter uploadpack.packObjectsHook`)

// TestKeysOneByOne: whichever key names a program, and whoever set it, no reader runs it.
func TestKeysOneByOne(t *testing.T) {
	for _, set := range append(slices.Collect(slices.Chunk(keys, 1)), keys) {
		for _, scope := range []string{"--local", "--global", "--worktree"} {
			if scope != "--local" && len(set) == 1 {
				continue
			}
			t.Run(fmt.Sprint(set[0], len(set), scope), func(t *testing.T) {
				r := newRig(t)
				t.Setenv("GIT_CONFIG_GLOBAL", r.path("../global"))
				r.write(".gitattributes", "* filter=e diff=e merge=e\n*.ab filter=a=b\n")
				r.write("a", "one\n")
				r.write("x.ab", "one\n")
				r.commit()
				r.git("branch", "topic")
				mark := filepath.Join(t.TempDir(), "mark")
				script := filepath.Join(t.TempDir(), "trap")
				r.must(os.WriteFile(script, []byte("#!/bin/sh\necho sprung >> "+mark+"\ncat\n"), 0o755))
				r.must(os.Symlink(script, filepath.Join(filepath.Dir(script), "post-index-change")))
				r.write("a", "two\n")
				r.write("x.ab", "two\n")
				r.write("new", "1\n")
				if scope == "--worktree" {
					r.git("config", "extensions.worktreeConfig", "true")
				}
				for _, key := range append(slices.Clone(set), "hook.x.event", "log.showSignature") {
					value := script
					switch {
					case key == "core.hooksPath":
						value = filepath.Dir(script)
					case strings.HasPrefix(key, "alias."):
						value = "!" + script
					case key == "hook.x.event":
						value = "post-index-change"
					case key == "log.showSignature":
						value = "true"
					}
					r.git("config", scope, key, value)
				}
				ctx := context.Background()
				_, statusErr := r.status(git.StatusOptions{})
				var errs []error
				for _, o := range everyKind {
					_, err := r.diff(o)
					errs = append(errs, err)
				}
				_, logErr := reader.Log(ctx, r.root, git.LogOptions{Dir: r.top, Limit: 3})
				_, showErr := reader.Show(ctx, r.root, git.ShowOptions{Dir: r.top, Ref: "HEAD"})
				_, branchesErr := reader.Branches(ctx, r.root, r.top)
				_, draftErr := reader.NewDraft(ctx, r.root, git.CommitOptions{Dir: r.top, Files: []string{r.path("a"), r.path("new")}})
				_, trackedErr := reader.NewDraft(ctx, r.root, git.CommitOptions{Dir: r.top})
				_, switchErr := reader.Switch(ctx, r.root, r.top, "topic")
				for _, err := range append(errs, statusErr, logErr, showErr, branchesErr, draftErr, trackedErr, switchErr) {
					if err != nil {
						t.Error(err)
					}
				}
				if text, err := os.ReadFile(mark); err == nil {
					t.Errorf("it ran: %s", text)
				}
			})
		}
	}
}

// TestAPathThatOnlyGitKnows: what its own %(prefix) stands for is not guessed.
func TestAPathThatOnlyGitKnows(t *testing.T) {
	for _, key := range []string{"core.hooksPath", "core.attributesFile", "core.excludesFile"} {
		r := newRig(t)
		r.write("a", "1\n")
		r.commit()
		r.git("config", key, "%(prefix)/../tmp/x")
		_, err := reader.NewDraft(context.Background(), r.root, git.CommitOptions{Dir: r.top})
		asFault(t, err, fault.GitError, strings.ToLower(key), "%(")
	}
}

// Diff leaves no trace in the repository: git's own diff may rewrite the index.
func TestWritesNothing(t *testing.T) {
	r := newRig(t)
	r.write("a", "one\n")
	r.commit()
	r.write("a", "one\n") // other times, which a refresh would record
	before := snapshot(t, r.top)
	for _, o := range everyKind {
		if _, err := r.diff(o); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.status(git.StatusOptions{}); err != nil {
		t.Fatal(err)
	}
	after := snapshot(t, r.top)
	for name, was := range before {
		if after[name] != was {
			t.Errorf("%s changed", name)
		}
	}
	if len(before) != len(after) {
		t.Errorf("%d files became %d", len(before), len(after))
	}
}

// snapshot is the content and time of every file below dir.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = info.ModTime().String() + "\n" + string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A repository made by hand to lead git astray is refused or read as harmless.
func TestCraftedRepositories(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("outside\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, craft := range map[string]func(r *rig){
		"empty index": func(r *rig) { r.write(".git/index", "") },
		"garbage index": func(r *rig) {
			r.write(".git/index", "DIRC\x00\x00\x00\x02\xff\xff\xff\xff0123456789012345678901234567890")
		},
		"head that loops":     func(r *rig) { r.write(".git/HEAD", "ref: HEAD\n") },
		"head that leads out": func(r *rig) { r.write(".git/HEAD", "ref: refs/../../../../../"+outside+"\n") },
		"garbage head":        func(r *rig) { r.write(".git/HEAD", "\x00\xff") },
		"garbage config":      func(r *rig) { r.write(".git/config", "[core\n\"\\\n=[x \"y") },
		"config in a loop":    func(r *rig) { r.write(".git/config", "[include]\npath = config\n") },
		"garbage refs":        func(r *rig) { r.write(".git/packed-refs", "\x00 x\n^^\n") },
		"head is a fifo": func(r *rig) {
			r.remove(".git/HEAD")
			fifo(r.T, r.path(".git/HEAD"))
		},
		"config is a fifo": func(r *rig) {
			r.remove(".git/config")
			fifo(r.T, r.path(".git/config"))
		},
		"attributes are a fifo": func(r *rig) { fifo(r.T, r.path(".gitattributes")) },
		"attributes lead out":   func(r *rig) { r.must(os.Symlink(outside, r.path(".gitattributes"))) },
		"objects are garbage": func(r *rig) {
			r.must(filepath.WalkDir(r.path(".git/objects"), func(path string, d os.DirEntry, err error) error {
				if d.Type().IsRegular() {
					r.must(os.Chmod(path, 0o600))
					r.must(os.WriteFile(path, []byte("garbage"), 0o600))
				}
				return err
			}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.write("a", "one\n")
			r.commit()
			r.write("a", "two\n")
			craft(r)
			for _, o := range everyKind {
				// An error, or a diff of a alone: the point is that neither
				// hangs, panics or shows another file.
				if got, err := r.diff(o); err == nil && len(got.Files) > 1 {
					t.Errorf("%+v: %+v", o, got.Files)
				}
			}
			if got, err := r.status(git.StatusOptions{}); err == nil && len(got.Files) > 4 {
				t.Errorf("status: %+v", got.Files)
			}
		})
	}
}

// TestASubmoduleRunsNothing: what is nested has a configuration of its own, which nobody lists. A gitlink is enough to lead there.
func TestASubmoduleRunsNothing(t *testing.T) {
	r := newRig(t)
	r.write("f", "1\n")
	sub := r.inner("inner")
	r.must(os.Mkdir(sub.top, 0o755))
	sub.git("init", "-q")
	sub.write("i", "1\n")
	sub.commit()
	r.commit()
	mark := filepath.Join(t.TempDir(), "mark")
	sub.git("config", "filter.e.clean", "touch "+mark+"; cat")
	sub.git("config", "core.fsmonitor", "touch "+mark+"; false")
	sub.write(".git/info/attributes", "* filter=e\n")
	sub.write("i", "2\n")
	r.write("f", "2\n")
	ctx := context.Background()
	for _, o := range []git.CommitOptions{{Dir: r.top}, {Dir: r.top, Files: []string{r.path("f")}}} {
		if d, err := reader.NewDraft(ctx, r.root, o); err != nil || len(d.Content) != 1 {
			t.Errorf("%+v, %v", d.Content, err)
		}
	}
	if got, err := r.status(git.StatusOptions{}); err != nil || len(got.Files) != 1 {
		t.Errorf("%+v, %v", got.Files, err)
	}
	r.git("branch", "topic")
	if _, err := reader.Switch(ctx, r.root, r.top, "topic"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Fatal("it ran")
	}
	r.git("add", "-u")
	if _, err := os.Stat(mark); err != nil {
		t.Error("git add does not run it either: this shows nothing")
	}
}

// TestAMailmapOfElsewhere is not read: it would print names from it.
func TestAMailmapOfElsewhere(t *testing.T) {
	r := newRig(t)
	r.write("a", "1\n")
	r.commit()
	r.write("../outside", "Secret line <a@example.com>\n")
	r.git("config", "mailmap.file", r.path("../outside"))
	got, err := reader.Log(context.Background(), r.root, git.LogOptions{Dir: r.top, Limit: 1})
	if err != nil || got[0].Author.Name != "A" {
		t.Errorf("%+v, %v", got, err)
	}
}
