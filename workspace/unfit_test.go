package workspace_test

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pillion/workspace"
)

func TestUnfit(t *testing.T) {
	outer := t.TempDir()
	home := filepath.Join(outer, "homes", "me")
	tree(t, outer, map[string]string{
		"homes/me/project/file":            "",
		"homes/me/.ssh/keys/file":          "",
		"homes/me/.config/nvim/a":          "",
		"homes/me/.config/gcloud/a":        "",
		"homes/me/.config/pillion/a":       "",
		"homes/me/.cursor/worktrees/x/y/a": "",
		"homes/me/.mozilla/firefox/a":      "",
		"to-home":                          "->homes/me",
		"to-ssh":                           "->homes/me/.ssh",
	})
	t.Setenv("HOME", filepath.Join(outer, "to-home")) // a home that is a link
	for dir, want := range map[string]string{
		"/":                                          "root of the file system",
		home:                                         "your home",
		filepath.Join(outer, "to-home"):              "your home",
		filepath.Join(home, "..", "me"):              "your home",
		filepath.Join(outer, "homes"):                "contains home folders",
		outer:                                        "contains home folders",
		filepath.Join(home, ".ssh"):                  "private",
		filepath.Join(home, ".ssh", "keys"):          "private",
		filepath.Join(outer, "to-ssh"):               "private",
		filepath.Join(home, ".config/gcloud"):        "private",
		filepath.Join(home, ".config/nvim"):          "",
		filepath.Join(home, ".config/pillion"):       "private",
		filepath.Join(home, ".cursor/worktrees/x/y"): "",
		filepath.Join(home, ".mozilla/firefox"):      "private",
		filepath.Join(home, ".config"):               "many programs",
		filepath.Join(home, "project"):               "",
		filepath.Join(home, "project/file"):          "not a folder",
		filepath.Join(home, "gone"):                  "cannot be found",
	} {
		if why := workspace.Unfit(dir); !strings.Contains(why, want) || want == "" && why != "" {
			t.Errorf("of %s it says %q, want %q", dir, why, want)
		}
	}
	if runtime.GOOS != "linux" {
		return
	}
	for _, dir := range []string{"/etc", "/proc/self", "/home", "/root", "/proc/self/root/etc", "/proc/self/root" + home, "/usr", "/var", "/usr/share", "/mnt", "/var/tmp", "/usr/local/lib"} {
		if workspace.Unfit(dir) == "" {
			t.Errorf("%s is fit", dir)
		}
	}
	if why := workspace.Unfit("/usr/share/doc"); why != "" {
		t.Errorf("/usr/share/doc %s", why)
	}
}
