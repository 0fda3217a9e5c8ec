package sample

// Step is one move of the scripted agent: a sentence, then a call. A step
// without a tool is talk alone.
type Step struct {
	Say       string
	Tool      string // the canonical name, as in the tool contract
	Arguments map[string]any
}

// What the agent mends: one file, one line.
const (
	buggyFile = "kettle/clock.py"
	buggyLine = `    return f"{minutes}:{seconds}"`
	fixedLine = `    return f"{minutes}:{seconds:02d}"`
)

// Ride is the scripted agent's work: find the bug, read around it, mend it,
// run the tests, show the diff.
func Ride() []Step {
	return []Step{
		{
			Say:       "White tea wants four minutes and five seconds, but the clock shows 4:5. I look for what writes the clock.",
			Tool:      "search_in_project",
			Arguments: map[string]any{"query": "clock.face"},
		},
		{
			Say:       "clock.face writes it, and a test expects 4:05. I read the function.",
			Tool:      "read_file",
			Arguments: map[string]any{"path": buggyFile},
		},
		{
			Say:       "The seconds are printed without a leading zero. I would like to fix that line.",
			Tool:      "edit_file",
			Arguments: map[string]any{"path": buggyFile, "old_string": buggyLine, "new_string": fixedLine},
		},
		{
			Say:       "Now the project's own tests.",
			Tool:      "run_command",
			Arguments: map[string]any{"command": "./run-tests.sh"},
		},
		{
			Say:       "And this is everything that I changed.",
			Tool:      "git.diff",
			Arguments: map[string]any{},
		},
		{Say: "The clock shows 4:05 now. Nothing is committed: that is for you to do."},
	}
}
