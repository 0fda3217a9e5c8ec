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
	"pillion/internal/testrig/machine"
	"pillion/workspace/git"
)

// trap is a program that leaves a mark, to be named by a repository.
type trap struct{ program, mark string }

func newTrap(r *rig) trap {
	r.Helper()
	p := trap{filepath.Join(r.TempDir(), "trap"), filepath.Join(r.TempDir(), "mark")}
	r.Must(os.WriteFile(p.program, []byte("#!/bin/sh\necho sprung >> "+p.mark+"\ncat\n"), 0o755))
	return p
}

func (p trap) sprung() bool {
	_, err := os.Stat(p.mark)
	return err == nil
}

// Keys that can name a program each. Git itself runs those of the first list by one of the lines, so
// the trap is good; for the others it needs a terminal, an editor, a remote or a merge.
var (
	runByGit = strings.Fields(`core.fsmonitor core.hooksPath diff.e.textconv diff.e.command diff.external filter.e.clean filter.e.process filter.a=b.clean filter.lfs.clean gpg.program alias.d include.path`)
	others   = strings.Fields(`core.pager core.editor core.askPass core.sshCommand core.gitProxy core.alternateRefsCommand
	filter.e.smudge merge.e.driver gpg.ssh.program gpg.ssh.defaultKeyCommand
	pager.log pager.status pager.diff alias.status alias.diff alias.log trailer.x.command trailer.x.cmd hook.x.command credential.helper remote.origin.uploadpack remote.origin.vcs
	sequence.editor interactive.diffFilter uploadpack.packObjectsHook`)
	lines = []string{"status", "diff", "show --ext-diff", "log", "d", "checkout -f HEAD -- ."}
)

// sign puts a signature, which nobody has checked, on the last commit.
func (r *rig) sign() {
	r.Helper()
	head, tail, _ := strings.Cut(r.git("cat-file", "commit", "HEAD"), "\n\n")
	r.commitOf(head + "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n =abcd\n -----END PGP SIGNATURE-----\n\n" + tail)
}

// TestKeysOneByOne: whichever key names a program, and whoever set it, no reader runs it.
func TestKeysOneByOne(t *testing.T) {
	keys := slices.Concat(runByGit, others)
	every := machine.Cases(3, 1) // rides try each by itself
	for i, set := range append(slices.Collect(slices.Chunk(keys, 1)), keys) {
		if len(set) == 1 && i%every != 0 {
			continue
		}
		for _, scope := range []string{"--local", "--global", "--worktree"} {
			if scope != "--local" && len(set) == 1 {
				continue
			}
			t.Run(fmt.Sprint(set[0], len(set), scope), func(t *testing.T) {
				r := newRig(t)
				t.Setenv("GIT_CONFIG_GLOBAL", r.Abs("../global"))
				r.Write(".gitattributes", "* filter=e diff=e merge=e\n*.ab filter=a=b\n*.lfs filter=lfs\n")
				for _, name := range []string{"a", "x.ab", "x.lfs", "same"} {
					r.Write(name, "one\n")
				}
				r.commit()
				r.sign()
				r.git("branch", "topic")
				trap := newTrap(r)
				for _, hook := range []string{"post-index-change", "post-checkout"} {
					r.Must(os.Symlink(trap.program, filepath.Join(filepath.Dir(trap.program), hook)))
				}
				r.Write("../included", "[core]\n\tfsmonitor = "+trap.program+"\n")
				for name, text := range map[string]string{"a": "two\n", "x.ab": "two\n", "x.lfs": "two\n", "new": "1\n"} {
					r.Write(name, text)
				}
				r.Remove("same")
				r.Write("same", "one\n") // which there is something to note of in the index
				if scope == "--worktree" {
					r.git("config", "extensions.worktreeConfig", "true")
				}
				for _, key := range append(slices.Clone(set), "hook.x.event", "log.showSignature") {
					value := trap.program
					switch {
					case key == "core.hooksPath":
						value = filepath.Dir(trap.program)
					case key == "include.path":
						value = r.Abs("../included")
					case strings.HasPrefix(key, "alias."):
						value = "!" + trap.program
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
				_, logErr := reader.Log(ctx, r.root, git.LogOptions{Dir: r.Dir, Limit: 3})
				_, fileErr := reader.Log(ctx, r.root, git.LogOptions{Dir: r.Abs("a"), Limited: true, Limit: 3})
				_, showErr := reader.Show(ctx, r.root, git.ShowOptions{Dir: r.Dir, Ref: "HEAD"})
				_, contentErr := reader.Show(ctx, r.root, git.ShowOptions{Dir: r.Abs("a"), Ref: "HEAD", File: true})
				_, branchesErr := reader.Branches(ctx, r.root, r.Dir)
				_, draftErr := reader.NewDraft(ctx, r.root, git.CommitOptions{Dir: r.Dir, Files: []string{r.Abs("a"), r.Abs("new")}})
				_, trackedErr := reader.NewDraft(ctx, r.root, git.CommitOptions{Dir: r.Dir})
				_, switchErr := reader.Switch(ctx, r.root, r.Dir, "topic")
				for _, err := range append(errs, statusErr, logErr, fileErr, showErr, contentErr, branchesErr, draftErr, trackedErr, switchErr) {
					if err != nil {
						t.Error(err)
					}
				}
				if trap.sprung() {
					t.Fatal("it ran")
				}
				if len(set) == 1 && slices.Contains(runByGit, set[0]) && !slices.ContainsFunc(lines, func(line string) bool {
					_, _ = r.try("", strings.Fields(line)...)
					return trap.sprung()
				}) {
					t.Error("git does not run it either: this shows nothing")
				}
			})
		}
	}
}

// TestAnEmbeddedBareRepositoryRunsNothing: git would take a folder of the work tree for one.
func TestAnEmbeddedBareRepositoryRunsNothing(t *testing.T) {
	r := newRig(t)
	r.Write("a", "one\n")
	r.commit()
	r.sign()
	trap := newTrap(r)
	r.git("clone", "-q", "--bare", r.Dir, r.Abs("bare"))
	r.git("-C", "bare", "config", "log.showSignature", "true")
	r.git("-C", "bare", "config", "gpg.program", trap.program)
	for _, file := range []bool{false, true} {
		_, _ = reader.Log(context.Background(), r.root, git.LogOptions{Dir: r.Abs("bare"), Limited: true, Limit: 10})
		_, _ = reader.Show(context.Background(), r.root, git.ShowOptions{Dir: r.Abs("bare"), Ref: "HEAD", File: file})
	}
	if trap.sprung() {
		t.Fatal("the repository's program was run")
	}
	if r.git("-C", "bare", "log"); !trap.sprung() {
		t.Error("git does not run it either: this shows nothing")
	}
}

// TestAPathThatOnlyGitKnows: what its own %(prefix) stands for is not guessed.
func TestAPathThatOnlyGitKnows(t *testing.T) {
	for _, key := range []string{"core.hooksPath", "core.attributesFile", "core.excludesFile"} {
		r := newRig(t)
		r.Write("a", "1\n")
		r.commit()
		r.git("config", key, "%(prefix)/../tmp/x")
		_, err := reader.NewDraft(context.Background(), r.root, git.CommitOptions{Dir: r.Dir})
		asFault(t, err, fault.GitError, strings.ToLower(key), "%(")
	}
}

// Diff leaves no trace in the repository: git's own diff may rewrite the index.
func TestWritesNothing(t *testing.T) {
	r := newRig(t)
	r.Write("a", "one\n")
	r.commit()
	r.Write("a", "one\n") // other times, which a refresh would record
	before := snapshot(t, r.Dir)
	for _, o := range everyKind {
		_, err := r.diff(o)
		r.Must(err)
	}
	_, err := r.status(git.StatusOptions{})
	r.Must(err)
	after := snapshot(t, r.Dir)
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
	machine.Must(t, err)
	return files
}

// A repository made by hand to lead git astray is refused or read as harmless.
func TestCraftedRepositories(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	machine.Must(t, os.WriteFile(outside, []byte("outside\n"), 0o600))
	for name, craft := range map[string]func(r *rig){
		"empty index": func(r *rig) { r.Write(".git/index", "") },
		"garbage index": func(r *rig) {
			r.Write(".git/index", "DIRC\x00\x00\x00\x02\xff\xff\xff\xff0123456789012345678901234567890")
		},
		"head that loops":     func(r *rig) { r.Write(".git/HEAD", "ref: HEAD\n") },
		"head that leads out": func(r *rig) { r.Write(".git/HEAD", "ref: refs/../../../../../"+outside+"\n") },
		"garbage head":        func(r *rig) { r.Write(".git/HEAD", "\x00\xff") },
		"garbage config":      func(r *rig) { r.Write(".git/config", "[core\n\"\\\n=[x \"y") },
		"config in a loop":    func(r *rig) { r.Write(".git/config", "[include]\npath = config\n") },
		"garbage refs":        func(r *rig) { r.Write(".git/packed-refs", "\x00 x\n^^\n") },
		"head is a fifo": func(r *rig) {
			r.Remove(".git/HEAD")
			machine.Fifo(r.TB, r.Abs(".git/HEAD"))
		},
		"config is a fifo": func(r *rig) {
			r.Remove(".git/config")
			machine.Fifo(r.TB, r.Abs(".git/config"))
		},
		"attributes are a fifo": func(r *rig) { machine.Fifo(r.TB, r.Abs(".gitattributes")) },
		"attributes lead out":   func(r *rig) { r.Link(outside, ".gitattributes") },
		"objects are garbage": func(r *rig) {
			r.Must(filepath.WalkDir(r.Abs(".git/objects"), func(path string, d os.DirEntry, err error) error {
				if d.Type().IsRegular() {
					r.Must(os.Chmod(path, 0o600))
					r.Must(os.WriteFile(path, []byte("garbage"), 0o600))
				}
				return err
			}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.Write("a", "one\n")
			r.commit()
			r.Write("a", "two\n")
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
	r.Write("f", "1\n")
	sub := r.inner("inner")
	r.Must(os.Mkdir(sub.Dir, 0o755))
	sub.git("init", "-q")
	sub.Write("i", "1\n")
	sub.commit()
	r.commit()
	mark := filepath.Join(t.TempDir(), "mark")
	sub.git("config", "filter.e.clean", "touch "+mark+"; cat")
	sub.git("config", "core.fsmonitor", "touch "+mark+"; false")
	sub.Write(".git/info/attributes", "* filter=e\n")
	sub.Write("i", "2\n")
	r.Write("f", "2\n")
	ctx := context.Background()
	for _, o := range []git.CommitOptions{{Dir: r.Dir}, {Dir: r.Dir, Files: []string{r.Abs("f")}}} {
		if d, err := reader.NewDraft(ctx, r.root, o); err != nil || len(d.Content) != 1 {
			t.Errorf("%+v, %v", d.Content, err)
		}
	}
	if got, err := r.status(git.StatusOptions{}); err != nil || len(got.Files) != 1 {
		t.Errorf("%+v, %v", got.Files, err)
	}
	r.git("branch", "topic")
	if _, err := reader.Switch(ctx, r.root, r.Dir, "topic"); err != nil {
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
	r.Write("a", "1\n")
	r.commit()
	r.Write("../outside", "Secret line <a@example.com>\n")
	r.git("config", "mailmap.file", r.Abs("../outside"))
	got, err := reader.Log(context.Background(), r.root, git.LogOptions{Dir: r.Dir, Limit: 1})
	if err != nil || got[0].Author.Name != "A" {
		t.Errorf("%+v, %v", got, err)
	}
}
