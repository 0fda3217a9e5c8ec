package dialects

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"pillion/internal/fault"
)

// coder is the tool set of the Go program "coder". Its results are objects with "ok", and
// "error" is a text.
var coder = &Dialect{
	Name:  "coder",
	words: map[string]string{"timeout_seconds": "timeout"},
	fail:  func(err *fault.Error, object any) any { return coderFailure(err, object) },
	add:   coderTold,
	found: func(_ any, o Outcome) any { return fields[coderFound](o) },
	reads: func(object any, o Outcome) []Part {
		media := slices.DeleteFunc(slices.Clone(o.Content), func(p Part) bool { return p.Type == "text" })
		return append([]Part{{Type: "text", Text: string(encode(object))}}, media...)
	},
	Tools: []Tool{
		row(Tool{Name: "read", Title: "Read", Canonical: "read_file", Description: "Reads lines of a file, with the user's unsaved changes."}, coderRead, coderReadAnswer),
		row(Tool{Name: "write", Title: "Write", Canonical: "write_file", Description: "Writes a whole file."}, coderWrite, plain[coderWriteResult]),
		row(Tool{Name: "list", Title: "List", Canonical: "list_files", Description: "Lists a folder."}, coderList, coderListAnswer),
		row(Tool{Name: "glob", Title: "Glob", Canonical: "glob", Description: "Finds files by a pattern such as **/*.go."}, coderGlob, plain[coderGlobResult]),
		row(Tool{Name: "grep", Title: "Grep", Canonical: "search_in_project", Description: "Finds lines that match a regular expression, which minds case."}, coderGrep, plain[coderGrepResult]),
		row(Tool{Name: "patch", Title: "Patch", Canonical: "apply_patch", Description: "Applies a unified diff, as a whole or not at all."}, coderPatch, coderPatchAnswer),
		row(Tool{Name: "bash", Title: "Bash", Canonical: "run_command", Description: "Runs a shell command and returns what it printed."}, coderBash, plain[coderBashResult]),
		row(Tool{Name: "lsp_diagnostics", Title: "Diagnostics", Canonical: "lsp_diagnostics", Description: "Lists what a language server finds wrong in a file."}, coderSame[coderPath]("lsp_diagnostics"), coderObject[coderPath]),
		row(Tool{Name: "lsp_definition", Title: "Definition", Canonical: "lsp_definition", Description: "Finds where a name is defined."}, coderSame[coderPosition]("lsp_definition"), coderObject[coderPosition]),
		row(Tool{Name: "lsp_hover", Title: "Hover", Canonical: "lsp_hover", Description: "Says what a language server knows of a name."}, coderSame[coderPosition]("lsp_hover"), coderObject[coderPosition]),
		row(Tool{Name: "todoread", Title: "Read to-dos", Canonical: "todo_read", Description: "Lists your to-dos."}, coderSame[coderNothing]("todo_read"), coderTodos[coderNothing]),
		row(Tool{Name: "todowrite", Title: "Write to-dos", Canonical: "todo_write", Description: "Replaces your to-do list, which the user sees: the whole list each time, at most one item in_progress."}, coderTodoWrite, coderTodos[coderTodoArgs]),
		row(Tool{Name: "skill", Title: "Skill", Canonical: "skill", Description: "Lists skills: instructions for kinds of work. Loads one by name, which the user approves."}, coderSame[coderSkillArgs]("skill"), coderObject[coderSkillArgs]),
		row(Tool{Name: "task", Title: "Task", Canonical: "task", Description: "Gives an objective to another agent that the user configured, waits for it and returns its summary."}, coderSame[coderTaskArgs]("task"), plain[coderTaskResult]),
	},
}

// coderFound is what a tool of another program gave.
type coderFound struct {
	OK         bool            `json:"ok"`
	Output     string          `json:"output"`
	Structured json.RawMessage `json:"structured,omitempty"`
	Truncated  bool            `json:"truncated"`
}

type coderReadArgs struct {
	Path   string `json:"path" jsonschema:"relative to the workspace"`
	Offset int    `json:"offset,omitempty" jsonschema:"first line" default:"1"`
	Limit  int    `json:"limit,omitempty" jsonschema:"lines, at most 200" default:"50"`
}

type coderReadResult struct {
	OK        bool   `json:"ok"`
	Path      string `json:"path"`
	Content   string `json:"content"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	HasMore   bool   `json:"has_more"`
}

// How many lines coder's read gives.
const coderLines, coderMostLines = 50, 200

func coderRead(a coderReadArgs) (string, any, error) {
	first, lines := max(1, a.Offset), a.Limit
	if lines <= 0 {
		lines = coderLines
	}
	return "read_file", map[string]any{"path": a.Path, "start_line": first, "end_line": first + min(lines, coderMostLines) - 1}, nil
}

func coderReadAnswer(a coderReadArgs, o Outcome) coderReadResult {
	f := fields[struct {
		Path      string `json:"path"`
		Content   string `json:"content"`
		StartLine int    `json:"start_line"`
		EndLine   int    `json:"end_line"`
		LinesRead int    `json:"lines_read"`
		HasMore   bool   `json:"has_more"`
	}](o)
	r := coderReadResult{OK: true, Path: cmp.Or(f.Path, a.Path), Content: f.Content}
	if f.LinesRead > 0 {
		r.StartLine, r.EndLine, r.HasMore = f.StartLine, f.EndLine, f.HasMore
	}
	return r
}

type coderWriteArgs struct {
	Path    string `json:"path" jsonschema:"relative to the workspace"`
	Content string `json:"content"`
}

type coderWriteResult struct {
	OK        bool   `json:"ok"`
	Path      string `json:"path"`
	Operation string `json:"operation"`
	Size      int    `json:"size"`
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	Diff      string `json:"diff"`
}

func coderWrite(a coderWriteArgs) (string, any, error) { return "write_file", a, nil }

type coderListArgs struct {
	Path string `json:"path,omitempty" jsonschema:"folder; default the workspace"`
}

type coderListResult struct {
	OK    bool        `json:"ok"`
	Path  string      `json:"path"`
	Items []coderItem `json:"items"`
}

type coderItem struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	IsDir bool   `json:"is_dir"`
	Size  int64  `json:"size_bytes"`
}

func coderList(a coderListArgs) (string, any, error) { return "list_files", a, nil }

func coderListAnswer(a coderListArgs, o Outcome) coderListResult {
	r := coderListResult{OK: true, Path: cmp.Or(a.Path, "."), Items: []coderItem{}}
	for _, f := range fields[listed](o).Files {
		r.Items = append(r.Items, coderItem{f.Name, f.Path, f.Type == "directory", f.Size})
	}
	return r
}

// listed is list_files' result.
type listed struct {
	Files []struct {
		Name string `json:"name"`
		Path string `json:"path"`
		Type string `json:"type"`
		Size int64  `json:"size"`
	} `json:"files"`
	Truncated bool `json:"truncated"`
}

type coderGlobArgs struct {
	Pattern string `json:"pattern" jsonschema:"relative to the workspace"`
}

type coderGlobResult struct {
	OK      bool     `json:"ok"`
	Matches []string `json:"matches"`
}

func coderGlob(a coderGlobArgs) (string, any, error) { return "glob", a, nil }

type coderGrepArgs struct {
	Pattern    string `json:"pattern" jsonschema:"regular expression (RE2)"`
	Path       string `json:"path,omitempty" jsonschema:"folder or file"`
	MaxMatches int    `json:"max_matches,omitempty" default:"200"`
}

type coderGrepResult struct {
	OK      bool         `json:"ok"`
	Count   int          `json:"count"`
	Matches []coderMatch `json:"matches"`
}

type coderMatch struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

func coderGrep(a coderGrepArgs) (string, any, error) {
	most := a.MaxMatches
	if most <= 0 {
		most = 200
	}
	return "search_in_project", map[string]any{"query": a.Pattern, "regex": true, "case_sensitive": true, "path": a.Path, "max_matches": most}, nil
}

type coderPatchArgs struct {
	Patch  string `json:"patch" jsonschema:"a unified diff"`
	DryRun bool   `json:"dry_run,omitempty"`
}

type coderPatchResult struct {
	OK      bool           `json:"ok"`
	Applied bool           `json:"applied"`
	Results []coderPatched `json:"results"`
}

type coderPatched struct {
	Path         string `json:"path"`
	Operation    string `json:"operation"`
	HunksApplied int    `json:"hunks_applied"`
	Error        string `json:"error,omitempty"`
}

func coderPatch(a coderPatchArgs) (string, any, error) { return "apply_patch", a, nil }

func coderPatchAnswer(_ coderPatchArgs, o Outcome) coderPatchResult {
	f := fields[struct {
		Applied bool `json:"applied"`
		Results []struct {
			coderPatched
			Error *fault.Error `json:"error"`
		} `json:"results"`
	}](o)
	r := coderPatchResult{OK: true, Applied: f.Applied, Results: []coderPatched{}}
	for _, one := range f.Results {
		if one.Error != nil {
			one.coderPatched.Error = coderError(one.Error)
		}
		r.Results = append(r.Results, one.coderPatched)
	}
	return r
}

type coderBashArgs struct {
	Command string  `json:"command"`
	Timeout float64 `json:"timeout,omitempty" jsonschema:"seconds" minimum:"0" maximum:"600" default:"120"`
}

type coderBashResult struct {
	OK         bool   `json:"ok"`
	Command    string `json:"command"`
	ExitCode   *int   `json:"exit_code"`
	Stdout     string `json:"stdout"`
	Stderr     string `json:"stderr"`
	Truncated  bool   `json:"truncated"`
	DurationMS int64  `json:"duration_ms"`
}

func coderBash(a coderBashArgs) (string, any, error) {
	return "run_command", map[string]any{"command": a.Command, "timeout_seconds": a.Timeout}, nil
}

type coderPath struct {
	Path string `json:"path" jsonschema:"relative to the workspace"`
}

type coderPosition struct {
	Path      string `json:"path" jsonschema:"relative to the workspace"`
	Line      int    `json:"line" jsonschema:"from 0" minimum:"0"`
	Character int    `json:"character" jsonschema:"UTF-16 units" minimum:"0"`
}

type coderNothing struct{}

type coderSkillArgs struct {
	Action string `json:"action" jsonschema:"list or load"`
	Name   string `json:"name,omitempty"`
}

type coderTodoArgs struct {
	Todos []map[string]any `json:"todos" jsonschema:"each {id, content, status: pending, in_progress or completed, priority: high, medium or low}; further fields are kept"`
}

type coderTodoResult struct {
	OK         bool             `json:"ok"`
	SessionID  string           `json:"session_id"`
	Items      []map[string]any `json:"items"`
	Count      int              `json:"count"`
	InProgress map[string]any   `json:"in_progress"` // null: none is
}

// todoFields are those of an item that the canonical tool knows.
var todoFields = []string{"id", "content", "status", "priority"}

// coderTodoWrite puts the further fields of an item aside.
func coderTodoWrite(a coderTodoArgs) (string, any, error) {
	list := make([]map[string]any, 0, len(a.Todos))
	for _, given := range a.Todos {
		item, extra := map[string]any{}, map[string]any{}
		for key, value := range given {
			if slices.Contains(todoFields, key) {
				item[key] = value
			} else {
				extra[key] = value
			}
		}
		if len(extra) > 0 {
			item["extra"] = extra
		}
		list = append(list, item)
	}
	return "todo_write", map[string]any{"todos": list}, nil
}

// coderTodos puts them back.
func coderTodos[A any](_ A, o Outcome) coderTodoResult {
	r := fields[coderTodoResult](o)
	r.OK = true
	if r.Items == nil {
		r.Items = []map[string]any{}
	}
	for _, item := range append(slices.Clone(r.Items), r.InProgress) {
		extra, _ := item["extra"].(map[string]any)
		delete(item, "extra")
		maps.Copy(item, extra)
	}
	return r
}

// coderSame is a tool that takes what the canonical one does.
func coderSame[A any](canonical string) func(A) (string, any, error) {
	return func(a A) (string, any, error) { return canonical, a, nil }
}

// coderObject is the canonical object.
func coderObject[A any](_ A, o Outcome) map[string]any { return fields[map[string]any](o) }

// told are fields that say what happened to the user's work: nobody may miss them.
var told = []string{"changed_outside", "todos_changed", "caused_later", "edited_by_human", "human_diff", "arguments", "merged", "saved", "unsaved", "invalid"}

// coderTold adds them where they say something.
func coderTold(object any, o Outcome) any {
	known := fields[map[string]json.RawMessage](o)
	out := encode(object)
	for _, key := range told {
		usual := map[string]string{"merged": "false", "saved": "true"}[key]
		if value, is := known[key]; is && string(value) != usual && !bytes.Contains(out, []byte(`"`+key+`":`)) {
			out = append(append(append(append(out[:len(out)-1], `,"`...), key...), `":`...), value...)
			out = append(out, '}')
		}
	}
	return json.RawMessage(out)
}

// plain are those fields of the canonical object that the dialect has too.
func plain[R, A any](_ A, o Outcome) R { return fields[R](o) }

// coderFailure is the object of a call that failed: of what the tool would have answered,
// it has what is known.
func coderFailure(err *fault.Error, object any) json.RawMessage {
	known := map[string]any{}
	if object != nil {
		_ = json.Unmarshal(encode(object), &known) //nolint:errcheck // an object of ours
	}
	out, ran := encode(coderFailed{Error: coderError(err)}), known["exit_code"] != nil // then all that a command has is known
	for _, key := range slices.Sorted(maps.Keys(known)) {
		value := known[key]
		if key == "ok" || key == "error" || key != "applied" && !ran && (value == nil || reflect.ValueOf(value).IsZero() || fmt.Sprint(value) == "[]") {
			continue
		}
		out = append(append(out[:len(out)-1], ','), encode(map[string]any{key: value})[1:]...)
	}
	return out
}

type coderFailed struct {
	OK    bool   `json:"ok"`
	Error string `json:"error"`
}

// coderError is an error in coder's words.
func coderError(err *fault.Error) string {
	lead := map[fault.Code]string{
		fault.InvalidArguments: "args: ", fault.PathOutsideWorkspace: "permission denied: ", fault.PermissionDenied: "permission denied: ",
		fault.PolicyDenied: "permission denied: ", fault.PatchApplyFailed: "context mismatch: ",
	}[err.Code]
	text := err.Message
	if lead != "" && !strings.HasPrefix(text, lead) {
		text = lead + text
	}
	if err.Hint != "" {
		text += "; " + err.Hint
	}
	return text
}

type coderTaskArgs struct {
	Agent     string `json:"agent"`
	Objective string `json:"objective" jsonschema:"all that it needs to know"`
}

type coderTaskResult struct {
	OK      bool   `json:"ok"`
	Agent   string `json:"agent"`
	Summary string `json:"summary"`
}
