package sidecar

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// systemFolders are where programs of the system are, and none of a project's.
var systemFolders = []string{"/usr/bin", "/usr/local/bin", "/run/current-system/sw/bin", "/opt/homebrew/bin"}

// notifiers show a notification; the title and the text follow their words. Of Windows there
// is none.
var notifiers = [][]string{
	{"notify-send", "--app-name=Pillion", "--"},
	{"osascript", "-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", "--"},
}

const notifyTime = 5 * time.Second

// notify shows a notification of the system, and waits for nothing. Where there is no program
// for it, or no desktop, there is none.
func notify(text string) {
	for _, words := range notifiers {
		for _, folder := range systemFolders {
			program := filepath.Join(folder, words[0])
			if _, err := os.Stat(program); err == nil {
				go run(program, append(append([]string{}, words[1:]...), "Pillion", text))
				return
			}
		}
	}
}

func run(program string, words []string) {
	ctx, cancel := context.WithTimeout(context.Background(), notifyTime)
	defer cancel()
	_ = exec.CommandContext(ctx, program, words...).Run() // the request is in the editor all the same
}
