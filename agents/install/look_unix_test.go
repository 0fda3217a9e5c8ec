//go:build unix

package install

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A repository may hold anything where its .git is looked for, and looking must end.
func TestLookDoesNotWaitForAPipe(t *testing.T) {
	o := options(t)
	must(t, syscall.Mkfifo(filepath.Join(o.Project, ".git"), 0o600))
	done := make(chan error, 1)
	go func() {
		_, err := Look("claude", o)
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("it waits")
	}
}

// What is said of a broken file is pasted into issues: it repeats no word of the file.
func TestBrokenFilesAreNotQuoted(t *testing.T) {
	const secret = "sk-ant-api03-0123456789"
	for agent, file := range map[string]string{"claude": ".claude.json", "qwen": ".qwen/settings.json", "codex": ".codex/config.toml", "gemini": ".gemini/settings.json"} {
		for _, text := range []string{secret, `{"env": ` + secret + `}`, `{"env": "` + secret, "key = " + secret, `key = "` + secret} {
			o := options(t)
			put(t, filepath.Join(o.Home, file), text)
			if _, err := Look(agent, o); err == nil || strings.Contains(err.Error(), "sk-ant") {
				t.Errorf("%s, %q: %v", agent, text, err)
			}
		}
	}
}
