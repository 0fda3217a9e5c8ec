package rpc

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"pillion/internal/fault"
	"pillion/tools/approval"
)

// focusedParams leave focused out where the user is in the window.
type focusedParams struct {
	Focused *bool `json:"focused"`
}

// focused notes whether the user is in this window.
func (s *server) focused(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := params[focusedParams](raw)
	if err != nil {
		return nil, err
	}
	away := p.Focused != nil && !*p.Focused
	s.away.Store(away)
	if !away {
		s.running().Focused()
	}
	return nil, nil
}

// notifyAway shows a notification of the system where the user has left the window: an editor's
// own would not be seen.
func (d *dialogs) notifyAway(by approval.Agent, wants string) {
	if d.server.away.Load() {
		go notifySystem("Pillion", fault.Line(fault.Clip(by.Name, 40)+" "+fault.Clip(wants, 200)))
	}
}

// systemFolders are where programs of the system are, and none of a project's.
var systemFolders = []string{"/usr/bin", "/usr/local/bin", "/run/current-system/sw/bin", "/opt/homebrew/bin"}

// notifiers show a notification; the title and the text follow their words. Of Windows there
// is none.
var notifiers = [][]string{
	{"notify-send", "--app-name=Pillion", "--"},
	{"osascript", "-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", "--"},
}

const notifyTime = 5 * time.Second

// notifySystem does nothing where there is no such program, or no desktop.
func notifySystem(title, text string) {
	ctx, cancel := context.WithTimeout(context.Background(), notifyTime)
	defer cancel()
	for _, words := range notifiers {
		for _, folder := range systemFolders {
			program := filepath.Join(folder, words[0])
			if _, err := os.Stat(program); err == nil {
				_ = exec.CommandContext(ctx, program, append(append([]string{}, words[1:]...), title, text)...).Run()
				return
			}
		}
	}
}
