package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"pillion/agents/install"
	"pillion/agents/relay"
	"pillion/tools/session"
	"pillion/tools/session/kept"
)

// prompter is what agents' hooks run when their user writes to them: not for people.
const prompter = "prompt"

const (
	promptTime = 2 * time.Second // the agent waits meanwhile
	mostPrompt = 64 << 20        // bytes
)

// promptEvent is what of a hook's input counts.
type promptEvent struct {
	SessionID string `json:"session_id"`
	Cwd       string `json:"cwd"`
	Prompt    string `json:"prompt"`
	Submitted string `json:"submitted_prompt"` // Qwen Code's: its prompt may be a tool's result
	Source    string `json:"source"`           // Claude Code's: who wrote it
}

// prompt has the sidecar of an agent's session know how the user's prompt begins. It prints
// nothing and never fails: what it prints would be the agent's to read.
func prompt(args []string) {
	text, err := io.ReadAll(io.LimitReader(os.Stdin, mostPrompt))
	var event promptEvent
	if err != nil || len(args) != 1 || json.Unmarshal(text, &event) != nil {
		return
	}
	if args[0] == "qwen" {
		event.Prompt = event.Submitted
	}
	if event.Prompt == "" || event.Source != "" && event.Source != "user" && event.Source != "sdk" {
		return // it is not the user's
	}
	harden()
	ctx, cancel := context.WithTimeout(context.Background(), promptTime)
	defer cancel()
	process := processName(cmp.Or(os.Getenv("CLAUDE_PID"), strconv.Itoa(os.Getppid())))
	here, _ := os.Getwd() //nolint:errcheck // then it is the other
	for _, folder := range slices.Compact([]string{event.Cwd, here}) {
		for _, name := range []string{sessionName(os.Getenv), event.SessionID, process} {
			proof := kept.LoadKey(install.Name(args[0]), folder, name)
			if proof.Secret != "" && tellPrompt(ctx, folder, proof, event.Prompt) {
				return
			}
		}
	}
}

func tellPrompt(ctx context.Context, folder string, of session.Proof, text string) bool {
	sidecars, _ := relay.FindAll(folder) //nolint:errcheck // nobody is told
	for _, s := range sidecars {
		if relay.Tell(ctx, s, of, session.FirstWords(text)) == nil {
			return true
		}
	}
	return false
}
