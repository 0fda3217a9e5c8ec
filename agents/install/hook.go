package install

import (
	"runtime"
	"strings"
)

// promptHook has the agent tell of each prompt: by `pillion prompt`, in the place of the shell
// so that its parent is the agent, and by nothing once the program is gone. Empty on Windows,
// where what runs a hook's command is not known.
func promptHook(o Options, agent, event string, timeout int) []edit {
	if runtime.GOOS == "windows" {
		return nil
	}
	run := "' prompt " + agent // a user's own command ends otherwise
	program := "'" + strings.ReplaceAll(o.Binary, "'", `'\''`)
	command := "[ ! -x " + program + "' ] || exec " + program + run
	return []edit{{
		path: []string{"hooks", event}, item: run,
		value: map[string]any{"hooks": []any{map[string]any{"type": "command", "command": command, "timeout": timeout}}},
		why:   "adds a hook that names each turn in your editor by the first words of your prompt (hooks." + event + ")",
	}}
}
