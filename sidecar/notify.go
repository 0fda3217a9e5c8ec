package sidecar

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// systemFolders are where programs of the system are, and none of a project's.
var systemFolders = []string{"/usr/bin", "/usr/local/bin", "/run/current-system/sw/bin", "/opt/homebrew/bin"}

// notifiers show a notification; the title and the text follow their words. Of Windows there
// is none.
var notifiers = []struct {
	program, quiet, sounding []string
	escapes                  *strings.Replacer
}{{
	escapes:  strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;"), // desktops read markup in the text
	program:  []string{"notify-send", "--app-name=Pillion"},
	quiet:    []string{"--"},
	sounding: []string{"--hint=string:sound-name:message-new-instant", "--"},
}, {
	escapes:  strings.NewReplacer(),
	program:  []string{"osascript", "-e", "on run argv", "-e"},
	quiet:    []string{"display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", "--"},
	sounding: []string{"display notification (item 2 of argv) with title (item 1 of argv) sound name \"Glass\"", "-e", "end run", "--"},
}}

const notifyTime = 5 * time.Second

// notify shows a notification of the system, and waits for nothing. Where there is no program
// for it, or no desktop, there is none.
func notify(text string, sound bool) {
	for _, n := range notifiers {
		for _, folder := range systemFolders {
			program := filepath.Join(folder, n.program[0])
			if _, err := os.Stat(program); err == nil {
				end := n.quiet
				if sound {
					end = n.sounding
				}
				go run(program, slices.Concat(n.program[1:], end, []string{"Pillion", n.escapes.Replace(text)}))
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
