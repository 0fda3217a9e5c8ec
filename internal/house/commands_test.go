package house

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// counterparts are VS Code's commands and the subcommands of :Pillion that do the
// same. Where there is none, the reason stands behind a hash.
var counterparts = map[string]string{
	"approve":                "approve",
	"approveAndRemember":     "session",
	"approveSelected":        "approve", // what is ticked
	"applyReview":            "approve",
	"applySelected":          "approve",
	"cancelReview":           "cancel",
	"cancelReviewWithReason": "cancel", // :Pillion cancel REASON
	"chooseHunks":            "# the diff itself",
	"toggleHunk":             "# a key of the diff",
	"addComment":             "comment",
	"deleteComment":          "comment", // with nothing written
	"editCommand":            "edit",
	"editMessage":            "edit",
	"reject":                 "reject",
	"rejectWithReason":       "reject", // :Pillion reject REASON
	"reviewDraft":            "draft",
	"discardDraft":           "draft",
	"cancel":                 "cancel",
	"saveAndRun":             "save",
	"answerTogether":         "together",
	"show":                   "show",
	"readMessage":            "# the panel below the diff has it",
	"showWaiting":            "# :Pillion by itself",
	"answerPrompt":           "# an entry of :Pillion",
	"resume":                 "resume",
	"sessions":               "sessions",
	"rules":                  "rules",
	"forgetRule":             "rules",    // a key of it
	"openRule":               "rules",    // an entry of it
	"endSession":             "sessions", // the same
	"todos":                  "todos",
	"addTodo":                "todos", // a key of it
	"removeTodo":             "todos",
	"moveTodoUp":             "todos",
	"moveTodoDown":           "todos",
	"changeMode":             "mode",
	"processes":              "processes",
	"showProcess":            "processes", // an entry of it
	"killProcess":            "kill",
	"showUntrusted":          "trust", // the page that asks
	"trust":                  "trust",
	"ignoreRules":            "trust",
	"journal":                "journal",
	"revertChange":           "revert", // of change, turn, since or agent
	"revertTurn":             "revert",
	"restoreToHere":          "revert",
	"revertAgent":            "revert",
	"showChange":             "journal",
	"showTurn":               "journal",
	"showAgentChanges":       "journal",
	"keepBlock":              "accept", // of the whole file
	"undoBlock":              "revert",
	"nextChange":             "# Neovim has none yet",
	"previousChange":         "# likewise",
	"revertNow":              "# a key of the preview",
	"openRevertDiff":         "# a link of the preview",
	"openChanged":            "# an entry of the journal",
	"openCall":               "log", // a key of it
	"goToProblem":            "log", // the same
	"accept":                 "accept",
	"acceptAll":              "accept",
	"pauseAgent":             "pause",
	"revertUnusual":          "# a button; the journal has it too",
	"dismissUnusual":         "# likewise",
	"restart":                "restart",
	"stop":                   "stop",
	"showLog":                "log",
	"explainFailure":         "# the status bar's click; here the message says it, and :Pillion doctor",
	"connectAgent":           "connect",
	"connectNow":             "connect",
	"startAgent":             "agent",
	"sendSelection":          "send", // with a range
	"showConversation":       "conversation",
	"connectGateway":         "gateway",
	"disconnectGateway":      "disconnect",
	"forgetGatewayToken":     "# Neovim keeps no token",
	"sendMessage":            "send",
	"addFileToContext":       "context",
	"addSelectionToContext":  "context", // with a range
	"removeFromContext":      "context",
	"clearContext":           "context",
	"doctor":                 "doctor",
	"showTools":              "tools",
	"getStarted":             "# :help pillion-tutorial",
}

// neovimsOwn are subcommands without a command in VS Code, and why.
var neovimsOwn = map[string]string{
	"next":      "VS Code's view shows all that waits, to click on",
	"prev":      "likewise",
	"write":     "VS Code's terminal of a process is typed into",
	"turn":      "VS Code's Approve and Remember lists the rules of all scopes",
	"workspace": "likewise",
	"start":     "VS Code's Restart starts it too",
	"who":       "in VS Code the mark says it when the mouse is over it",
}

// variants are one command under another name: in a view, for a key, with the word for what it does.
var variants = regexp.MustCompile(`(InView|ByKey|As[A-Z]\w+)$`)

// TestCommandsHaveCounterparts: what a person can do in one editor they can do in
// the other.
func TestCommandsHaveCounterparts(t *testing.T) {
	vscode, neovim := vscodeCommands(t), neovimCommands(t)
	missing := slices.Clone(neovim)
	for _, name := range vscode {
		other, known := counterparts[name]
		switch {
		case !known:
			t.Errorf("VS Code has pillion.%s; which subcommand of :Pillion is its counterpart? Say so in counterparts", name)
		case strings.HasPrefix(other, "#"):
		case !slices.Contains(neovim, other):
			t.Errorf("VS Code has pillion.%s, and :Pillion has no %s", name, other)
		}
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == other })
	}
	for _, name := range missing {
		if neovimsOwn[name] == "" {
			t.Errorf(":Pillion has %s, and VS Code has no such command", name)
		}
	}
	for _, name := range append(slices.Collect(maps.Keys(counterparts)), slices.Collect(maps.Keys(neovimsOwn))...) {
		if !slices.Contains(vscode, name) && !slices.Contains(missing, name) {
			t.Errorf("%s is in this test's tables, and in neither editor", name)
		}
	}
}

func vscodeCommands(t *testing.T) []string {
	var manifest struct {
		Contributes struct {
			Commands []struct {
				Command string `json:"command"`
			} `json:"commands"`
		} `json:"contributes"`
	}
	if err := json.Unmarshal(read(t, "vscode-extension/package.json"), &manifest); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range manifest.Contributes.Commands {
		name := variants.ReplaceAllString(strings.TrimPrefix(c.Command, "pillion."), "")
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

const neovimTable = "nvim-plugin/lua/pillion/commands.lua"

var (
	luaCommands = regexp.MustCompile(`(?sm)^M\.table = \{\n(.*?)^\}`)
	luaCommand  = regexp.MustCompile(`(?m)^  (\w+) = `)
)

func neovimCommands(t *testing.T) []string {
	table := luaCommands.FindSubmatch(read(t, neovimTable))
	if table == nil {
		t.Fatalf("%s has no M.table; is it written in another way now?", neovimTable)
	}
	var out []string
	for _, found := range luaCommand.FindAllSubmatch(table[1], -1) {
		out = append(out, string(found[1]))
	}
	return out
}
