//go:build unix

package test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pillion/internal/testrig"
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
			write("notes.txt", "run"), write("empty/x", "run"),
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
