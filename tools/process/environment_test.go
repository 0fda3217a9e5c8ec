package process

import (
	"slices"
	"strings"
	"testing"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestEnvironment(t *testing.T) {
	got := environment([]string{
		"PATH=/old", "PATH=/bin", "HOME=/home/me", "LC_ALL=C", "TERM=xterm", "PAGER=less", "GOPATH=/go",
		"HTTP_PROXY=http://proxy:1", "https_proxy=http://me:secret@proxy:1", "GOPROXY=https://u@host",
		"NVIM=/run/nvim", "NVIM_LISTEN_ADDRESS=x", "VSCODE_IPC_HOOK=x", "PILLION_TOKEN=x", "GIT_DIR=x", "GIT_ASKPASS=x",
		"LD_PRELOAD=x", "LD_LIBRARY_PATH=x", "DYLD_INSERT_LIBRARIES=x", "DISPLAY=:0", "WAYLAND_DISPLAY=w", "XAUTHORITY=x",
		"SSH_AUTH_SOCK=/s", "DBUS_SESSION_BUS_ADDRESS=x", "XDG_RUNTIME_DIR=/run", "BASH_ENV=x", "ENV=x", "CDPATH=/",
		"BASH_FUNC_ls%%=() { :; }", "NODE_OPTIONS=x", "PYTHONPATH=x", "AWS_SECRET_ACCESS_KEY=x", "GITHUB_TOKEN=x",
		"OPENAI_API_KEY=x", "SystemRoot=C:", "=C:=C:\\", "nonsense", "TZ=a\x00b",
	}, false)
	want := []string{
		"GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "GOPATH=/go", "HOME=/home/me", "HTTP_PROXY=http://proxy:1",
		"LC_ALL=C", "MANPAGER=cat", "NO_COLOR=1", "PAGER=cat", "PATH=/bin", "TERM=dumb",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestEnvironmentOfWindows(t *testing.T) {
	got := environment([]string{"Path=C:\\bin", "SystemRoot=C:\\Windows", "ComSpec=cmd", "Nvim=x", "pathext=.EXE"}, true)
	for _, want := range []string{"Path=C:\\bin", "SystemRoot=C:\\Windows", "ComSpec=cmd", "pathext=.EXE"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
	if slices.Contains(got, "Nvim=x") {
		t.Errorf("%q", got)
	}
}

// No name on a list is one that must never be there.
func TestListsHoldNothingDangerous(t *testing.T) {
	for _, name := range slices.Concat(passed, passedURLs, passedWindows) {
		for _, part := range []string{"TOKEN", "SECRET", "KEY", "PASSWORD", "SOCK", "DISPLAY"} {
			if strings.Contains(name, part) {
				t.Errorf("%s is passed", name)
			}
		}
		for _, prefix := range []string{"GIT_", "LD_", "DYLD_", "NVIM", "VSCODE_", "PILLION_", "SSH_"} {
			if strings.HasPrefix(name, prefix) && name != "NVIM_DIR" {
				t.Errorf("%s is passed", name)
			}
		}
	}
}

func TestMerge(t *testing.T) {
	base := []string{"A=1", "B=2"}
	got := merge(base, map[string]string{"B": "3=4", "C": ""})
	if !slices.Equal(got, []string{"A=1", "B=3=4", "C="}) || base[1] != "B=2" {
		t.Errorf("%q, base %q", got, base)
	}
}
