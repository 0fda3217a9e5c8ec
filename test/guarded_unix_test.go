//go:build unix

package test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
)

// TestWhatProgramsReadIsGuardedUnderAnyName: a repository of dotfiles, into which the home's files
// are links, and ~/.config as the folder. What Pillion, agents, shells and editors read from there
// asks although mode and rules let everything else be written.
func TestWhatProgramsReadIsGuardedUnderAnyName(t *testing.T) {
	t.Parallel()
	home, dotfiles := t.TempDir(), t.TempDir()
	for _, dir := range []string{home + "/.config/empty", dotfiles + "/p", dotfiles + "/sea", dotfiles + "/via", dotfiles + "/bits", home + "/.ssh", home + "/.config/git", home + "/.config/nvim/lua"} {
		must(t, os.MkdirAll(dir, 0o755))
	}
	for _, file := range []string{"p/settings.json", "rc", "sea/config.fish", "own.json", "notes.txt", "mem.txt"} {
		must(t, os.WriteFile(filepath.Join(dotfiles, file), []byte("{}\n"), 0o600))
	}
	for link, target := range map[string]string{
		home + "/.config/pillion": dotfiles + "/via/pillion", dotfiles + "/via/pillion": "../p", // by way of a link in the folder
		home + "/.zshrc": dotfiles + "/rc", home + "/.config/fish": dotfiles + "/sea", home + "/.claude": dotfiles + "/robot", // which is not there yet
		home + "/.ssh/authorized_keys": dotfiles + "/keys", home + "/.config/nvim/lua/p.lua": dotfiles + "/plug", dotfiles + "/sea/conf.d": "../bits", dotfiles + "/bits/x.fish": "../shellbits", // of a folder that is the home's own
		home + "/.codex": dotfiles + "/new/er", home + "/.vimrc": "../" + filepath.Base(filepath.Dir(dotfiles)) + "/" + filepath.Base(dotfiles) + "/vi",
	} {
		must(t, os.Symlink(target, link))
	}
	must(t, os.WriteFile(home+"/.gitconfig", []byte("[include]\n\tpath = "+dotfiles+"/work.inc\n[includeIf \"gitdir:~/never/\"]\n\tpath = "+dotfiles+"/never.inc\n[core]\n\thooksPath = "+dotfiles+"/ours\n"), 0o600))
	must(t, os.WriteFile(home+"/.config/git/config", []byte("[includeIf \"gitdir:/never/\"]\n\tpath = "+dotfiles+"/second.inc\n"), 0o600))
	must(t, os.WriteFile(dotfiles+"/second.inc", []byte("[include]\n\tpath = third.inc\n"), 0o600))
	free := map[string]any{"mode": "auto_edit", "permissions": map[string]any{"allow": []string{"write_file", "delete_file", "move_file", "create_directory", "save_memory"}}, "memory": map[string]any{"file": dotfiles + "/mem.txt"}}

	type call struct {
		tool      string
		arguments object
		want      string
	}
	write := func(path, want string) call {
		return call{"write_file", object{"path": path, "content": "x\n"}, want}
	}
	for dir, calls := range map[string][]call{
		dotfiles: {
			write("notes.txt", "run"), write("via/x", "run"), write("new/x", "run"),
			write("p/settings.json", "ask"), write("p/new.json", "ask"), write("rc", "ask"), write("sea/config.fish", "ask"), write("sea/functions/x.fish", "ask"),
			write("robot/settings.json", "ask"), write("new/er/config.toml", "ask"), write("mem.txt", "ask"), write("work.inc", "ask"), write("never.inc", "ask"), write("ours/pre-commit", "ask"), write("second.inc", "ask"), write("third.inc", "ask"), write("keys", "ask"), write("plug", "ask"), write("shellbits", "ask"),
			{"delete_file", object{"path": "via/pillion"}, "ask"},
			{"move_file", object{"from": "notes.txt", "to": "robot"}, "ask"},
			{"move_file", object{"from": "rc", "to": "x"}, "ask"},
			{"create_directory", object{"path": "new/er"}, "ask"},
			{"save_memory", object{"fact": "x"}, "ask"},
			{"run_command", object{"command": "echo x > p/settings.json"}, "ask"},
		},
		home + "/.config": {
			write("notes.txt", "ask"), write("empty/x", "ask"), // whoever reads it
			write("Code/User/settings.json", "ask"), write("systemd/user/x.service", "ask"), write("autostart/x.desktop", "ask"), write("git/config", "ask"), write("kitty/x.conf", "ask"), write("bspwm/bspwmrc", "ask"), write("gh/config.yml", "ask"),
		},
	} {
		e := spawn(t, testrig.Options{Home: home, Dirs: []string{dir}, Settings: free})
		for _, c := range calls {
			if dir == dotfiles && c.tool == "run_command" {
				e.Must("session/setMode", object{"mode": "full_access"}, nil)
			}
			wantDecision(t, e, c.tool, c.arguments, c.want)
		}
	}
}

// TestACommandCannotWriteWhatProgramsRead: in the sandbox, by whatever name, also where Pillion has no
// settings yet.
func TestACommandCannotWriteWhatProgramsRead(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	must(t, os.MkdirAll(home+"/.config/sea", 0o755))
	must(t, os.WriteFile(home+"/.config/rc", []byte("old\n"), 0o600))
	must(t, os.WriteFile(home+"/.bashrc", []byte("old\n"), 0o600))
	must(t, errors.Join(os.Symlink(".config/rc", home+"/.zshrc"), os.Symlink("sea", home+"/.config/fish"), os.Link(home+"/.bashrc", home+"/.config/linked")))
	e := spawn(t, testrig.Options{Home: home, Dirs: []string{home + "/.config"}, Settings: map[string]any{"sandbox": "prefer"}})
	e.Must("session/setMode", object{"mode": "full_access"}, nil)
	e.Write("w.py", "for name in ('rc', 'linked', 'sea/config.fish', 'fish/x', 'pillion/settings.json', 'free'):\n  try: open(name, 'w').write('new')\n  except OSError: pass\n")
	r := e.Call("run_command", object{"command": "python3 w.py"})
	if r.StructuredContent["sandbox"] != "bubblewrap" {
		t.Log("not run: there is no bubblewrap")
		return
	}
	got, _ := filepath.Glob(home + "/.config/*/*")
	if rc, _ := os.ReadFile(home + "/.config/rc"); string(rc) != "old\n" || len(got) != 0 {
		t.Errorf("it wrote %v, and %q", got, rc)
	}
	if linked, _ := os.ReadFile(home + "/.bashrc"); string(linked) != "old\n" {
		t.Errorf("it wrote %q by another name", linked)
	}
	if _, err := os.Stat(home + "/.config/free"); err != nil {
		t.Errorf("the command wrote nothing at all: %v %+v", err, r)
	}
}

// TestACommandCannotWriteWhatIsHiddenInAHome: but where the user's settings open it.
func TestACommandCannotWriteWhatIsHiddenInAHome(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, name := range []string{".foo/x", ".opened/x", ".foorc", "docs/x"} {
		put(t, filepath.Join(home, name), "old\n")
	}
	e := spawn(t, testrig.Options{Home: home, Dirs: []string{home}, Settings: map[string]any{"sandbox": "prefer", "sandboxWritable": []string{home + "/.opened"}}})
	e.Must("session/setMode", object{"mode": "full_access"}, nil)
	e.Write("w.py", "for name in ('.foo/x', '.foo/new', '.opened/x', '.foorc', 'docs/x'):\n  try: open(name, 'w').write('new\\n')\n  except OSError: pass\n")
	r := e.Call("run_command", object{"command": "python3 w.py"})
	if r.StructuredContent["sandbox"] != "bubblewrap" {
		t.Log("not run: there is no bubblewrap")
		return
	}
	for name, want := range map[string]string{".foo/x": "old\n", ".foorc": "old\n", ".opened/x": "new\n", "docs/x": "new\n"} {
		if text, err := os.ReadFile(filepath.Join(home, name)); err != nil || string(text) != want {
			t.Errorf("%s is %q, %v: %+v", name, text, err, r)
		}
	}
	if _, err := os.Stat(home + "/.foo/new"); err == nil {
		t.Error("it made a file")
	}
}

// TestNoFolderBecomesARepository: git would run programs for whoever looks into it. Of what is missing no
// call makes the last part, whatever the call is about.
func TestNoFolderBecomesARepository(t *testing.T) {
	t.Parallel()
	e := spawn(t, testrig.Options{Settings: map[string]any{"mode": "auto_edit"}})
	for _, name := range []string{"d/HEAD", "d/objects/.keep", "new/HEAD", "parts/refs/x", "whole/objects/x", "whole/refs/x"} {
		e.Write(name, "ref: refs/heads/main\n")
	}
	added := func(names ...string) object {
		diff := ""
		for _, name := range names {
			diff += "diff --git a/" + name + " b/" + name + "\nnew file mode 100644\n--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+x\n"
		}
		return object{"diff": diff}
	}
	for _, c := range []struct {
		tool      string
		arguments object
		want      string
	}{
		{"write_file", object{"path": "d/notes.txt", "content": "x"}, "run"},
		{"write_file", object{"path": "d/refs/x", "content": "x"}, "refuse"},
		{"write_file", object{"path": "d/Refs/heads/x", "content": "x"}, "refuse"},
		{"write_file", object{"path": "d/commondir", "content": "x"}, "refuse"}, // the rest is then in another folder
		{"create_directory", object{"path": "d/refs"}, "refuse"},
		{"create_directory", object{"path": "d/refs/heads"}, "refuse"},
		{"move_file", object{"from": "parts/refs", "to": "d/refs"}, "refuse"},
		{"move_file", object{"from": "parts", "to": "d/refs"}, "refuse"},
		{"move_file", object{"from": "d/HEAD", "to": "whole/HEAD"}, "refuse"},
		{"apply_patch", added("d/a.txt"), "run"},
		{"apply_patch", added("new/objects/x", "new/notes.txt"), "run"},
		{"apply_patch", added("new/objects/x", "new/refs/x"), "refuse"}, // together
	} {
		wantDecision(t, e, c.tool, c.arguments, c.want)
	}
	for _, line := range []string{"mkdir d/refs", "mkdir -p d/refs/heads", "touch d/commondir"} {
		e.Must("session/setMode", object{"mode": "full_access"}, nil)
		wantDecision(t, e, "run_command", object{"command": line}, "ask")
	}
}

// TestNoFolderBecomesARepositoryByLinks: nor by a file commondir, and nothing is written where these lead.
func TestNoFolderBecomesARepositoryByLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	head := "ref: refs/heads/main\n"
	for name, text := range map[string]string{
		"r/HEAD": head, "w/HEAD": head, "w/commondir": "../real\n", "v/HEAD": head, "b/HEAD": head, "b/objects/x": "", "b/refs/x": "", "half/objects/x": "", "plain/x": "x", "chain/HEAD": head, "chain/commondir": "../mid/../common\n", "else/x/y": "",
	} {
		put(t, filepath.Join(dir, name), text)
	}
	for link, target := range map[string]string{
		"r/config": "../c.txt", "r/objects": "../o", "r/refs": "../o", "v/commondir": "../named", "b/hooks/pre-commit": "../../h.sh", "half/refs": "../half-refs", "half/HEAD": "../half-head", "plain/config": "../plain.conf", "mid": "else/x",
	} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, link)), 0o755))
		must(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	put(t, filepath.Join(dir, ".gitignore"), "w\n")
	git := exec.Command("sh", "-c", "git init -q && git add -f w")
	git.Dir = dir
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git: %s", out)
	}
	e := spawn(t, testrig.Options{Dirs: []string{dir}, Settings: map[string]any{"mode": "auto_edit"}})
	write := func(name string) (string, object) { return "write_file", object{"path": name, "content": "x"} }
	for name, want := range map[string]string{
		"c.txt": "refuse", "o/x": "refuse", "real/config": "refuse", "real/hooks/x": "refuse", "named": "refuse", "h.sh": "refuse", "half-refs/x": "refuse", "half-head": "refuse", "else/common/config": "refuse",
		"real/notes.txt": "run", "plain.conf": "run", "else/x/z": "run", "common/config": "run",
	} {
		tool, arguments := write(name)
		wantDecision(t, e, tool, arguments, want)
	}
	for _, name := range []string{"o", "real/objects", "real/refs"} {
		wantDecision(t, e, "create_directory", object{"path": name}, "refuse")
	}
	wantDecision(t, e, "move_file", object{"from": "plain", "to": "o"}, "refuse")
	e.Must("session/setMode", object{"mode": "full_access"}, nil)
	wantDecision(t, e, "run_command", object{"command": "mkdir o"}, "ask")
}

// TestWhatIsHiddenInAHomeIsGuarded: where the home is open, or what holds it, each hidden entry asks but
// the harmless, whoever reads it, and so does what the start-up files of shells read. A project that lies in
// such an entry is as any other.
func TestWhatIsHiddenInAHomeIsGuarded(t *testing.T) {
	t.Parallel()
	above := t.TempDir()
	home := above + "/me"
	for _, name := range []string{".config/x/y", ".local/src/project/a.txt", ".dotfiles/zsh/aliases.zsh", ".dotfiles/more.sh", "docs/a.txt", "go/pkg/mod/x/y.go", ".foorc", "shell/env", "shell/more"} {
		lay(t, filepath.Join(home, name), "x\n")
	}
	must(t, os.WriteFile(home+"/.zshrc", []byte("[ -f \"$HOME/shell/env\" ] && . ${HOME}/shell/env\nsource ~/.dotfiles/zsh/aliases.zsh\n"), 0o600))
	must(t, os.WriteFile(home+"/shell/env", []byte(". \"$HOME/shell/more\"\n"), 0o600))
	must(t, errors.Join(os.Symlink("shell/linked", home+"/.unknownrc"), os.Symlink(".dotfiles", home+"/.unknown.d")))
	for dir, calls := range map[string]map[string]string{
		home: {
			"docs/a.txt": "run", "docs/.hidden": "ask", "docs/.editorconfig": "run", ".gitignore": "run", "shell/other": "run", ".local/src/project/a.txt": "ask",
			".local/bin/env": "ask", ".foorc": "ask", ".new.d/x": "ask", ".config/x/y": "ask", ".config/new/y": "ask", ".local/share/thumbnailers/x.thumbnailer": "ask", ".cache/pillion/commands/x/go/y": "ask",
			"go/pkg/mod/x/y.go": "ask", ".m2/repository/x.jar": "ask", "shell/env": "ask", "shell/more": "ask", "shell/linked": "ask",
		},
		above:                        {"me/.foorc": "ask", "me/docs/a.txt": "run", "me/.new.d/x": "ask", "notes.txt": "run"},
		home + "/.local/src/project": {"a.txt": "run", ".hidden": "ask", ".editorconfig": "run"},
		home + "/.dotfiles":          {"notes.txt": "run", "zsh/aliases.zsh": "ask", "more.sh": "run"},
		home + "/.local":             {"src/project/a.txt": "ask", "share/x": "ask"},
	} {
		e := spawn(t, testrig.Options{Home: home, Dirs: []string{dir}, Settings: map[string]any{"mode": "auto_edit"}})
		wantWrites(t, e, calls)
	}
}

// TestWhatARepositorysSettingsNameIsGuarded: its settings belong to the user, and so does what they make git
// read and run.
func TestWhatARepositorysSettingsNameIsGuarded(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	git := func(at string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = at, append(os.Environ(), "HOME="+home)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
	}
	for _, name := range []string{"team/git.inc", "team/strip.py", "team/mon.sh", "team/alias.sh", "team/top.sh", "team/notes.txt", "hook.sh", "src/main.go", "lib/deep/inc"} {
		lay(t, filepath.Join(dir, name), "\n")
	}
	git(dir, "init", "-q")
	git(dir, "init", "-q", "lib/deep")
	for key, value := range map[string]string{
		"include.path": "../team/git.inc", "includeIf.onbranch:x.path": "../team/other.inc", "core.hooksPath": "ci/hooks", "core.attributesFile": "team/attributes",
		"filter.nb.clean": "python3 'team/strip.py' src", "core.fsmonitor": "team/mon.sh", "alias.x": "!sh -c 'PATH=x team/alias.sh'", "alias.y": "!$(git rev-parse --show-toplevel)/team/top.sh",
		"merge.m.driver": "sh hook.sh %A", "diff.d.textconv": "bin/late.sh", "alias.co": "checkout", "user.name": "team/notes.txt",
	} {
		git(dir, "config", key, value)
	}
	git(dir+"/lib/deep", "config", "include.path", "../inc")
	must(t, os.WriteFile(home+"/.gitconfig", []byte("[filter \"own\"]\n\tsmudge = sh team/own.sh\n"), 0o600))
	e := spawn(t, testrig.Options{Home: home, Dirs: []string{dir}, Settings: map[string]any{"mode": "auto_edit"}})
	wantWrites(t, e, map[string]string{
		"team/git.inc": "ask", "team/other.inc": "ask", "ci/hooks/pre-commit": "ask", "team/attributes": "ask", "team/strip.py": "ask", "team/mon.sh": "ask", "team/alias.sh": "ask", "team/top.sh": "ask",
		"hook.sh": "ask", "bin/late.sh": "ask", "team/own.sh": "ask", "lib/deep/inc": "ask",
		"team/notes.txt": "run", "src/main.go": "run", "checkout": "run", "sh": "run", "lib/deep/notes.txt": "run", "ci/notes.txt": "run", "bin/other.sh": "run",
	})
}

// TestWhatProtectedLinksLeadToIsGuarded: writing where such a link leads is writing what has its name.
func TestWhatProtectedLinksLeadToIsGuarded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, exec.Command("git", "init", "-q", dir).Run())
	put(t, filepath.Join(dir, ".gitignore"), ".claude\n")
	for _, folder := range []string{"team/p", "cfg", "docs", ".cursor", ".github", "sub/.husky", ".pillion", ".agents"} {
		must(t, os.MkdirAll(filepath.Join(dir, folder), 0o755))
	}
	for link, target := range map[string]string{
		".pillion/settings.json": "../team/p/s.json", ".vscode": "cfg/vscode", ".claude": "robots", "robots/skills": "../know", ".mcp.json": "cfg/servers.json", ".envrc": "cfg/env", "sub/CLAUDE.md": "../docs/style.md",
		".cursor/rules": "../docs/rules", ".github/workflows": "../cfg/ci", ".github/README.md": "../docs/readme.md", ".gitattributes": "cfg/attributes", "sub/.husky/pre-commit": "../../cfg/husky.sh",
		".git/info/attributes": "../../cfg/own", ".git/hooks/pre-push": "../../cfg/push.sh", "plain": "docs/plain.md",
	} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, link)), 0o755))
		must(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	e := spawn(t, testrig.Options{Dirs: []string{dir}, Settings: map[string]any{"mode": "auto_edit"}})
	wantWrites(t, e, map[string]string{
		"team/p/s.json": "ask", "cfg/vscode/tasks.json": "ask", "robots/settings.json": "ask", "know/x/SKILL.md": "ask", "cfg/servers.json": "ask", "cfg/env": "ask", "docs/style.md": "ask", "docs/rules/x.mdc": "ask",
		"cfg/ci/x.yml": "ask", "cfg/attributes": "ask", "cfg/husky.sh": "ask", "cfg/own": "ask", "cfg/push.sh": "ask",
		"docs/readme.md": "run", "docs/plain.md": "run", "team/p/x.json": "run", "cfg/x": "run", "sub/x.md": "run",
	})
}

// TestLinksAreFollowedAsTheKernelDoes: a ".." behind a link is above where that leads, in links, in settings of git and in lines.
// What would turn such a way asks as well.
func TestLinksAreFollowedAsTheKernelDoes(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %s", out)
	}
	for _, name := range []string{"deep/dir/x", "deep/now/x", "other/dir/x", "sub/x", ".git/info/x"} {
		put(t, filepath.Join(dir, name), "x\n")
	}
	for link, target := range map[string]string{
		"lnk": "deep/dir", ".vscode": "lnk/../cfg", ".mcp.json": "lnk/../m.json", ".claude": dir + "/lnk/../robots", "sub/AGENTS.md": "../lnk/../style.md", ".idea": "lnk/../now",
		"late": "deep/new/dir", "late2": "other/dir", ".cursor": "late/../rules", ".zed": "gone/../zed", ".git/info/attributes": "../../lnk/../attributes",
	} {
		must(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	put(t, filepath.Join(dir, ".git/config"), "[include]\n\tpath = ../lnk/../inc.conf\n[core]\n\thooksPath = lnk/../hooks\n[filter \"x\"]\n\tclean = sh lnk/../clean.sh\n")
	put(t, filepath.Join(dir, "deep/inc.conf"), "[include]\n\tpath = dir/../next.conf\n")
	put(t, filepath.Join(home, ".zshrc"), ". "+dir+"/lnk/../rc.sh\nsource "+dir+"/lnk/../rc.d/*.sh\n")
	e := spawn(t, testrig.Options{Home: home, Dirs: []string{dir}, Settings: map[string]any{"mode": "auto_edit", "mcp": map[string]any{"mcpServerCommand": "python3 lnk/../serve.py"}}})
	for name, want := range map[string]string{
		"deep/cfg/tasks.json": "ask", "deep/m.json": "ask", "deep/robots/settings.json": "ask", "deep/style.md": "ask", "deep/now/x.xml": "ask", "deep/new/rules/x.mdc": "ask", "zed/tasks.json": "ask", "deep/attributes": "ask",
		"deep/inc.conf": "ask", "deep/next.conf": "ask", "deep/hooks/pre-commit": "ask", "deep/clean.sh": "ask", "deep/rc.sh": "ask", "deep/rc.d/x.sh": "ask", "deep/serve.py": "ask",
		"deep/x": "run", "deep/other/x": "run", "cfg2/x": "run", "other/x": "run",
	} {
		wantDecision(t, e, "write_file", object{"path": name, "content": "new\n"}, want)
	}
	for _, c := range []struct {
		tool      string
		arguments object
	}{
		{"delete_file", object{"path": "lnk"}},
		{"delete_file", object{"path": "late"}},
		{"create_directory", object{"path": "gone"}},
		{"create_directory", object{"path": "deep/new"}},
		{"move_file", object{"from": "late2", "to": "gone"}},
		{"move_file", object{"from": "other", "to": "deep/new"}},
	} {
		wantDecision(t, e, c.tool, c.arguments, "ask")
	}
}

// TestTrackedLinksAreGuardedThoughIgnored: git ignores nothing that it tracks, in submodules and above the open folder too.
func TestTrackedLinksAreGuardedThoughIgnored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "repo/.gitignore"), "pkg/\n.vscode\nsub/lib/deps/\n")
	for link, target := range map[string]string{
		"repo/sub/pkg/.vscode": "../../cfg", "repo/sub/pkg/CLAUDE.md": "../docs/n.md", "repo/.mcp.json": "sub/servers.json", "repo/sub/lib/deps/.envrc": "../env", "repo/sub/pkg/plain": "../docs/plain",
	} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, link)), 0o755))
		must(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	for _, line := range []string{"init -q repo/sub/lib", "-C repo/sub/lib add -Af", "-C repo/sub/lib -c user.name=a -c user.email=a@b commit -qm x", "init -q repo", "-C repo add -Af"} {
		cmd := exec.Command("git", strings.Fields(line)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %s", line, out)
		}
	}
	e := spawn(t, testrig.Options{Dirs: []string{dir + "/repo/sub"}, Settings: map[string]any{"mode": "auto_edit"}})
	for name, want := range map[string]string{
		"docs/n.md": "ask", "lib/env": "ask", "servers.json": "ask", "docs/plain": "run", "docs/other.md": "run",
	} {
		wantDecision(t, e, "write_file", object{"path": name, "content": "new\n"}, want)
	}
	wantDecision(t, spawn(t, testrig.Options{Dirs: []string{dir + "/repo"}, Settings: map[string]any{"mode": "auto_edit"}}), "write_file", object{"path": "cfg/tasks.json", "content": "new\n"}, "ask")
}

// TestWhatSettingsRunIsGuarded: Pillion runs it outside the sandbox, yours and what a trusted project names.
func TestWhatSettingsRunIsGuarded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"tools/list.sh", "tools/call.sh", "tools/server.py", "tools/in.py", "my tools/x.sh", "lsp.sh", "key.sh", "token.sh", "run.py", "acp.py", "own.py", "check.sh", "go.mod", "docs/plan.md"} {
		lay(t, filepath.Join(dir, name), "\n")
	}
	e := spawn(t, testrig.Options{Dirs: []string{dir}, Settings: map[string]any{
		"mode": "auto_edit", "permissions": map[string]any{"ask": []string{"read_file(docs/plan.md)"}},
		"tools":      map[string]any{"toolDiscoveryCommand": "sh tools/list.sh", "toolCallCommand": "sh <tools/call.sh"},
		"mcpServers": map[string]any{"a": map[string]any{"command": "python3", "args": []string{"tools/server.py"}}, "b": map[string]any{"command": "python3", "args": []string{"in.py", "my tools/x.sh"}, "cwd": "tools"}},
		"mcp":        map[string]any{"mcpServerCommand": "./bin/late"}, "web": map[string]any{"search": map[string]any{"keyCommand": "sh key.sh"}}, "gateway": map[string]any{"tokenCommand": "cat x | ./token.sh"},
		"languageServers": map[string]any{"servers": map[string]any{"x": map[string]any{"command": []string{"sh", "lsp.sh"}, "languages": []string{"go"}, "rootMarkers": []string{"go.mod"}, "settings": map[string]any{"check": map[string]any{"overrideCommand": []string{dir + "/check.sh"}}}}}},
		"task":            map[string]any{"runners": map[string]any{"y": map[string]any{"command": []string{"python3", "run.py"}}, "z": map[string]any{"acp": []string{"python3", "acp.py"}}}},
	}})
	want := map[string]string{
		"tools/list.sh": "ask", "tools/call.sh": "ask", "tools/server.py": "ask", "tools/in.py": "ask", "my tools/x.sh": "ask", "bin/late": "ask", "key.sh": "ask", "token.sh": "ask", "lsp.sh": "ask", "check.sh": "ask", "run.py": "ask", "acp.py": "ask",
		"own.py": "run", "docs/plan.md": "run", "command": "run", "python3": "run",
	}
	wantWrites(t, e, want)
	e.Write(settingsFile, `{"mcpServers": {"theirs": {"command": "python3", "args": ["own.py"]}}}`)
	trust(t, e)
	wantDecision(t, e, "write_file", object{"path": "own.py", "content": "new\n"}, "ask")
}

// TestAnOpenFolderKeepsItsName: what lies in it is what it would be from the folder above, unless it is a
// repository's own top.
func TestAnOpenFolderKeepsItsName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, top := range []string{"repo", "repo/.claude/worktrees/own"} {
		must(t, exec.Command("git", "init", "-q", filepath.Join(dir, top)).Run())
	}
	for folder, want := range map[string]string{
		"repo/.vscode": "ask", "repo/.claude": "ask", "repo/.claude/skills/x": "ask", "repo/.pillion": "ask", "repo/.github/workflows": "ask", "repo/.husky": "ask", "repo/.cursor/rules": "ask", ".config/nvim": "ask", "repo/.bzr/branch": "ask",
		"repo/.git/hooks": "refuse", "repo/.git": "refuse", "x.git/hooks": "refuse",
		"repo": "run", "repo/src": "run", "repo/.claude/worktrees/own": "run", "repo/.claude/worktrees/own/pkg": "run", "plain": "run", "repo/.github/docs": "run",
	} {
		must(t, os.MkdirAll(filepath.Join(dir, folder), 0o755))
		e := spawn(t, testrig.Options{Dirs: []string{filepath.Join(dir, folder)}, Settings: map[string]any{"mode": "auto_edit"}})
		wantDecision(t, e, "write_file", object{"path": "notes", "content": "new\n"}, want)
	}
	e := spawn(t, testrig.Options{Dirs: []string{dir + "/repo/.github"}, Settings: map[string]any{"mode": "auto_edit"}})
	wantWrites(t, e, map[string]string{"workflows/x.yml": "ask", "notes": "run"})
	home := t.TempDir()
	for folder, want := range map[string]map[string]string{
		".config/awesome": {"rc.lua": "ask", "notes": "ask"}, ".local/share/fish": {"vendor_conf.d/x.fish": "ask"}, ".config/unknown": {"x.lua": "run"}, ".config/lazygit": {"config.yml": "ask", "notes": "run"},
	} {
		must(t, os.MkdirAll(filepath.Join(home, folder), 0o755))
		wantWrites(t, spawn(t, testrig.Options{Home: home, Dirs: []string{filepath.Join(home, folder)}, Settings: map[string]any{"mode": "auto_edit"}}), want)
	}
}

// TestTheFolderOfASecretIsOpened: it is one all the same, whatever looks at it.
func TestTheFolderOfASecretIsOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/.config/hcloud"
	lay(t, dir+"/cli.toml", "token = \"sentinel\"\n")
	for _, line := range []string{"init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm x"} {
		cmd := exec.Command("git", strings.Fields(line)...)
		cmd.Dir = dir
		must(t, cmd.Run())
	}
	lay(t, dir+"/cli.toml", "token = \"sentinel 2\"\n")
	e := spawn(t, testrig.Options{Dirs: []string{dir}, Settings: map[string]any{"mode": "auto_edit"}})
	for tool, arguments := range map[string]object{
		"read_file": {"path": "cli.toml"}, "read_many_files": {"paths": []string{"cli.toml"}}, "git.diff": {}, "git.show": {"ref": "HEAD"}, "run_command": {"command": "cat cli.toml"}, "write_file": {"path": "cli.toml", "content": "x"},
	} {
		check.Same(t, tool, asks(e, tool, arguments), "ask")
	}
	if got := e.Call("search_in_project", object{"query": "sent"}).Text(); strings.Contains(got, "sentinel") {
		t.Errorf("a search shows it: %s", got)
	}
}

// TestWhatVariablesNameIsGuarded: files of the workspace, by any variable.
func TestWhatVariablesNameIsGuarded(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	must(t, os.Symlink(filepath.Join(dir, "linked"), filepath.Join(home, "link")))
	must(t, os.Mkdir(filepath.Join(dir, "lib"), 0o755))
	for name, value := range map[string]string{
		"BASH_ENV": dir + "/env", "LESSOPEN": "|" + dir + "/less.sh %s", "GIT_SSH_COMMAND": "ssh -F '" + dir + "/ssh.conf'", "ANSIBLE_CONFIG": home + "/link", "PYTHONPATH": "/x:" + dir + "/lib:" + dir + "/one.zip",
	} {
		t.Setenv(name, value)
	}
	e := spawn(t, testrig.Options{Dirs: []string{dir}, Home: home, Settings: map[string]any{"mode": "auto_edit"}})
	wantWrites(t, e, map[string]string{"env": "ask", "less.sh": "ask", "ssh.conf": "ask", "linked": "ask", "one.zip": "ask", "lib/x": "run", "notes": "run"})
}

// TestWhatStartUpFilesReadIsGuarded: as people lay dotfiles out.
func TestWhatStartUpFilesReadIsGuarded(t *testing.T) {
	t.Parallel()
	for start, guarded := range map[string]string{
		"DOTFILES_DIR=\"$HOME/dotfiles\"\n. \"$DOTFILES_DIR/system/plain\"\n":                       "system/plain",
		"for f in $HOME/dotfiles/bash/*.sh; do . $f; done\n":                                        "bash/new.sh",
		"for f in ~/dotfiles/bash/{a,b}*\ndo\n  [ -r \"$f\" ] && source \"$f\"\ndone\n":             "bash/a",
		"export ZSH=$HOME/dotfiles\nfor f ($ZSH/zsh/*.zsh) source $f\nsource $ZSH/late/lit.zsh\n":   "late/lit.zsh",
		"source $UNSET_HERE/system/plain\n":                                                         "system/plain",
		"D=${X_UNSET:-$HOME/dotfiles}; . ${D}/one\n":                                                "one",
		". ~/dotfiles/system/plain\n":                                                               "deep/er.sh", // which reads this
		"DIR=\"$HOME/dotfiles\"; for f in a b; do source \"$DIR/parts/$f.sh\"; done\n":              "parts/a.sh",
		"here=$(cd x; pwd)\n. \"$HOME/dotfiles/any/$here\"\nalias x='cp ~/dotfiles/docs/* .; ls'\n": "any/x/y",
		"DOT=$(dirname $(readlink -f ~/.bashrc))\nfor f in $DOT/bash/*.sh; do source $f; done\n":    "bash/new.sh",
		"for f in \\\n  ~/dotfiles/bash/a \\\n  ~/dotfiles/one; do\n  source \"$f\"\ndone\n":        "bash/a",
		"bash ~/dotfiles/system/plain\n":                                                            "deep/er.sh",
		"eval \"$(cat ~/dotfiles/system/plain)\"\n":                                                 "system/plain",
		"export PYTHONSTARTUP=~/dotfiles/system/plain\n":                                            "system/plain",
		"fpath=(~/dotfiles/bash $fpath)\n":                                                          "bash/f",
		"cd ~/dotfiles/bash && . ./a\n":                                                             "bash/a",
		"for f in ~/dotfiles/bash/{a,b}; do . \"$f\"; done\n":                                       "bash/a",
		"alias p='cd ~/dotfiles/docs' my-plugin='ls'\nexport PERL5LIB=~/dotfiles/bash\n":            "bash/x.pm",
		"ZSH_CUSTOM=~/dotfiles/bash\nzinit light ~/dotfiles/system\n":                               "system/x.plugin.zsh",
	} {
		home := t.TempDir()
		for _, name := range []string{"system/plain", "bash/a", "deep/er.sh", "docs/notes", "free"} {
			lay(t, filepath.Join(home, "dotfiles", name), "source ~/dotfiles/deep/er.sh\n")
		}
		must(t, os.WriteFile(home+"/.bashrc", []byte(start), 0o600))
		e := spawn(t, testrig.Options{Home: home, Dirs: []string{home + "/dotfiles"}, Settings: map[string]any{"mode": "auto_edit"}})
		for name, want := range map[string]string{guarded: "ask", "docs/notes": "run", "free": "run"} {
			if got := asks(e, "write_file", object{"path": name, "content": "new\n"}); got != want {
				t.Errorf("%q: %s: %s, want %s", start, name, got, want)
			}
		}
	}
}

// TestLinksAreGuardedThoughGitSaysTooLittle: its settings include more than is followed, and no repository is open.
func TestLinksAreGuardedThoughGitSaysTooLittle(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	must(t, os.MkdirAll(home+"/dots", 0o755))
	var settings strings.Builder
	for i := range 200 {
		name := fmt.Sprintf("%s/inc%d", home, i)
		must(t, os.WriteFile(name, nil, 0o600))
		settings.WriteString("[include]\npath = " + name + "\n")
	}
	for name, text := range map[string]string{".gitconfig": settings.String(), "dots/myrc": "", "dots/plain": "", ".bashrc": "source ~/dots/plain\n"} {
		must(t, os.WriteFile(filepath.Join(home, name), []byte(text), 0o600))
	}
	must(t, os.Symlink("dots/myrc", home+"/.zshrc"))
	e := spawn(t, testrig.Options{Home: home, Dirs: []string{home + "/dots"}, Settings: map[string]any{"mode": "auto_edit"}})
	for _, name := range []string{"myrc", "plain"} {
		check.Same(t, name, asks(e, "write_file", object{"path": name, "content": "new\n"}), "ask")
	}
}

// TestWhatOtherSettingsNameIsGuarded: those of agents, editors, ssh, tmux and vim.
func TestWhatOtherSettingsNameIsGuarded(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := home + "/project"
	for name, text := range map[string]string{
		"project/.claude/settings.json": `{"permissions": {"allow": ["Read(docs/plan.md)"]}, "statusLine": {"command": "sh tools/line.sh"}, "hooks": {"Stop": [{"hooks": [{"command": "$CLAUDE_PROJECT_DIR/tools/hook.sh"}]}]}}`,
		"project/.mcp.json":             `{"mcpServers": {"x": {"command": "python3", "args": ["tools/serve.py"]}}}`, "project/.vscode/tasks.json": "{ // mine\n\"command\": \"${workspaceFolder}/tools/task.sh\" }",
		".claude/settings.json": `{"apiKeyHelper": "~/project/tools/key.sh"}`, ".ssh/config": "Host x\n  Include ~/project/ssh.inc\n", ".tmux.conf": "source-file ~/project/tmux.inc\n", ".vimrc": "if filereadable('x') | silent! source $HOME/project/vim.inc | endif\nset runtimepath+=~/project/rt\n",
		".zshenv": "export ZDOTDIR=$HOME/z\n", "z/.zshrc": "source ~/project/z.inc\n", ".config/fish/functions/f.fish": "set D ~/project/fun\nsource $D/f.inc\n", "project/fun/f.inc": "", ".config/emacs/init.el": "(load \"~/project/my\")\n", ".vim/plugin/a.vim": "source ~/project/plug.inc\n", ".tcshrc": "source ~/project/csh.inc\n",
		".config/nvim/lua/plugins/a.lua": "return { dir = \"~/project/my.nvim\" }\n", "project/my.nvim/x": "", "project/dot/bash/bashrc": "DOT=\"$(dirname \"$(readlink -f \"${BASH_SOURCE[0]}\")\")\"\n. \"$DOT/aliases.sh\"\n", "project/dot/bash/aliases.sh": "", "project/dot/bash/other.sh": "",
		".xprofile": ". ~/project/x.inc\n", ".config/fish/conf.d/a.fish": "source ~/project/fish.inc\n", ".config/nvim/init.lua": `dofile(os.getenv("HOME").."/project/init.inc")`, "project/ssh.inc": "Include ~/project/more.inc\n", "project/init.inc": "", "project/.config/fish/conf.d/b.fish": "source ~/project/conf.inc\n", "project/rt/x": "",
		"project/tools/line.sh": "", "project/tools/hook.sh": "", "project/tools/serve.py": "", "project/tools/task.sh": "", "project/tools/key.sh": "", "project/docs/plan.md": "", "project/tools/free.sh": "",
	} {
		lay(t, filepath.Join(home, name), text)
	}
	must(t, os.Symlink("project/dot/bash/bashrc", home+"/.bashrc"))
	e := spawn(t, testrig.Options{Home: home, Dirs: []string{dir}, Settings: map[string]any{"mode": "auto_edit"}})
	wantWrites(t, e, map[string]string{
		"z.inc": "ask", "fun/f.inc": "ask", "fun/other": "run", "my.el": "ask", "my.elc": "ask", "my": "ask", "my.py": "run", "plug.inc": "ask", "csh.inc": "ask", "my.nvim/lua/x.lua": "ask", "dot/bash/aliases.sh": "ask", "dot/bash/other.sh": "run",
		"tools/line.sh": "ask", "tools/hook.sh": "ask", "tools/serve.py": "ask", "tools/task.sh": "ask", "tools/key.sh": "ask", "ssh.inc": "ask", "tmux.inc": "ask", "vim.inc": "ask",
		"conf.inc": "ask", "x.inc": "ask", "fish.inc": "ask", "init.inc": "ask", "more.inc": "ask", "rt/plugin/x.vim": "ask", "docs/plan.md": "run", "tools/free.sh": "run",
	})
}

// TestWhatPathLeadsToIsGuarded: whoever puts a program there has it run by its name, also by Pillion.
func TestWhatPathLeadsToIsGuarded(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	for _, name := range []string{"mine/bin/old", "bin/old", "rc/bin/old", "fish/bin/old", "notes/old", "gopath/bin/old", "venv/bin/old", "real/old"} {
		put(t, filepath.Join(home, name), "old\n")
	}
	put(t, dir+"/venv/bin/old", "old\n")
	put(t, home+"/.bashrc", "export PATH=\"$HOME/rc/bin:$PATH\"\n")
	put(t, home+"/.config/fish/config.fish", "fish_add_path -p ~/fish/bin\n")
	must(t, os.Symlink("real", home+"/linked"))
	must(t, os.Chmod(home+"/notes/old", 0o755))
	t.Setenv("PATH", strings.Join([]string{home + "/mine/bin", home + "/linked", dir + "/venv/bin", os.Getenv("PATH")}, ":"))
	t.Setenv("GOPATH", home+"/gopath")
	e := spawn(t, testrig.Options{Home: home, Dirs: []string{dir}})
	e.Must("session/setMode", object{"mode": "full_access"}, nil)
	for name, want := range map[string]string{
		"mine/bin/git": "ask", "bin/git": "ask", "rc/bin/git": "ask", "fish/bin/git": "ask", "go/bin/gopls": "ask", ".cargo/bin/x": "ask", "gopath/bin/gopls": "ask", "linked/x": "ask", "real/x": "ask", "notes/old": "ask", "notes/new": "run", "venv/bin/x": "run",
	} {
		wantDecision(t, e, "run_command", object{"command": "echo x > " + home + "/" + name}, want)
	}
	wantDecision(t, e, "run_command", object{"command": "echo x > venv/bin/x"}, "run") // the project's own
	wantDecision(t, e, "run_command", object{"command": "cp a " + home + "/mine/bin/x"}, "ask")

	e = spawn(t, testrig.Options{Home: home, Dirs: []string{home}, Settings: map[string]any{"mode": "auto_edit"}})
	for name, want := range map[string]string{"mine/bin/git": "ask", "bin/git": "ask", "rc/bin/git": "ask", "real/x": "ask", "notes/new": "run"} {
		wantDecision(t, e, "write_file", object{"path": name, "content": "x\n"}, want)
	}
	e = spawn(t, testrig.Options{Home: home, Dirs: []string{home + "/mine/bin"}, Settings: map[string]any{"mode": "auto_edit"}})
	wantDecision(t, e, "write_file", object{"path": "git", "content": "x\n"}, "run") // who opens it works on it
}
