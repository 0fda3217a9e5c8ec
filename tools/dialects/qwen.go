package dialects

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/fault"
)

// qwen is the tool set of Qwen Code and Gemini CLI. A result is what the model reads, what
// the user sees, and an error.
var qwen = &Dialect{
	Name:  "qwen",
	fail:  func(err *fault.Error, object any) any { return qwenFailure(err, object) },
	reads: func(object any, _ Outcome) []Part { return qwenParts(object) },
	found: func(args any, o Outcome) any { return qwenAnswer(args, o) },
	wrap:  func(tool string, object any) any { return qwenWrapped(tool, object) },
	Tools: []Tool{
		row(Tool{Name: "list_directory", Title: "ListFiles", Canonical: "list_files", Description: "Lists the files and folders of a folder."}, qwenList, qwenListAnswer),
		row(Tool{Name: "read_file", Title: "ReadFile", Canonical: "read_file", Description: "Reads a file, with the user's unsaved changes; of a long one the lines that offset and limit name."}, qwenRead, qwenReadAnswer),
		row(Tool{Name: "read_many_files", Title: "ReadManyFiles", Canonical: "read_many_files", Description: "Reads several files, named by paths or globs, with a header for each."}, qwenReadMany, qwenAnswer[qwenReadManyArgs]),
		row(Tool{Name: "write_file", Title: "WriteFile", Canonical: "write_file", Description: "Writes a whole file."}, qwenWrite, qwenAnswer[qwenWriteArgs]),
		row(Tool{Name: "edit", Title: "Edit", Canonical: "edit_file", Description: "Replaces text in a file. old_string must be in it exactly once, unless expected_replacements or replace_all says otherwise."}, qwenEdit, qwenAnswer[qwenEditArgs]),
		row(Tool{Name: "glob", Title: "Glob", Canonical: "glob", Description: "Finds files by a pattern such as **/*.ts, newest first."}, qwenGlob, qwenAnswer[qwenGlobArgs]),
		row(Tool{Name: "grep_search", Title: "Grep", Canonical: "search_in_project", Description: "Finds lines that match a regular expression, whatever their case."}, qwenGrep, qwenAnswer[qwenGrepArgs]),
		row(Tool{Name: "search_file_content", Title: "Grep", Canonical: "search_in_project", Description: "The same as grep_search."}, qwenGrep, qwenAnswer[qwenGrepArgs]),
		row(Tool{Name: "run_shell_command", Title: "Shell", Canonical: "run_command", Description: "Runs a shell command and returns what it printed."}, qwenShell, qwenShellAnswer),
		row(Tool{Name: "exit_plan_mode", Title: "ExitPlanMode", Canonical: "exit_plan_mode", Description: "Shows the user a plan; approved, the session leaves plan mode."}, qwenPlan, qwenAnswer[qwenPlanArgs]),
		row(Tool{Name: "todo_write", Title: "TodoWrite", Canonical: "todo_write", Description: "Replaces your to-do list, which the user sees: the whole list each time, at most one item in_progress."}, qwenTodos, qwenTodosAnswer),
		row(Tool{Name: "web_fetch", Title: "WebFetch", Canonical: "web_fetch", Description: "Gets a web page as Markdown, or a text file."}, qwenFetch, qwenAnswer[qwenFetchArgs]),
		row(Tool{Name: "web_search", Title: "WebSearch", Canonical: "web_search", Description: "Searches the web."}, qwenSearch, qwenAnswer[qwenSearchArgs]),
		row(Tool{Name: "save_memory", Title: "SaveMemory", Canonical: "save_memory", Description: "Adds a fact to the user's memory file, for later sessions."}, qwenMemory, qwenAnswer[qwenMemoryArgs]),
		row(Tool{Name: "task", Title: "Task", Canonical: "task", Description: "Gives a task to another agent that the user configured, waits for it and returns its last message."}, qwenTask, qwenAnswer[qwenTaskArgs]),
	},
}

// qwenResult is the result of each tool. LLMContent is a text, or a list of parts.
type qwenResult struct {
	LLMContent    any          `json:"llmContent"`
	ReturnDisplay any          `json:"returnDisplay"`
	Error         *fault.Error `json:"error,omitempty"`
	// FunctionResponse is llmContent as Google's models take it, where that is asked for.
	FunctionResponse *qwenResponse `json:"functionResponse,omitempty"`
}

type qwenResponse struct {
	Name     string     `json:"name"`
	Response qwenOutput `json:"response"`
}

type qwenOutput struct {
	Output string `json:"output"`
}

// qwenParts is llmContent as parts.
func qwenParts(object any) []Part {
	r, _ := object.(qwenResult)
	if text, is := r.LLMContent.(string); is {
		return []Part{{Type: "text", Text: text}}
	}
	parts, _ := r.LLMContent.([]Part)
	return parts
}

func qwenWrapped(tool string, object any) qwenResult {
	r, _ := object.(qwenResult)
	text := ""
	for _, p := range qwenParts(r) {
		text += p.Text
	}
	r.FunctionResponse = &qwenResponse{tool, qwenOutput{text}}
	return r
}

// qwenDiff is the display of a change.
type qwenDiff struct {
	FileDiff        string `json:"fileDiff"`
	FileName        string `json:"fileName"`
	OriginalContent string `json:"originalContent"`
	NewContent      string `json:"newContent"`
}

func qwenAnswer[A any](_ A, o Outcome) qwenResult {
	r := qwenResult{LLMContent: o.Content, ReturnDisplay: cmp.Or(o.Markdown, o.Summary)}
	if !slices.ContainsFunc(o.Content, func(p Part) bool { return p.Type != "text" }) {
		texts := make([]string, 0, len(o.Content))
		for _, p := range o.Content {
			texts = append(texts, p.Text)
		}
		r.LLMContent = strings.Join(texts, "\n")
	}
	if o.Diff != nil {
		r.ReturnDisplay = qwenDiff{o.Diff.Diff, path.Base(o.Diff.Name), o.Diff.Before, o.Diff.After}
	}
	return r
}

// qwenTold says what a result's own text said of the user's work, for those that replace it.
func qwenTold(o Outcome) string {
	f := fields[struct {
		ChangedOutside []string        `json:"changed_outside"`
		TodosChanged   []string        `json:"todos_changed"`
		CausedLater    []string        `json:"caused_later"`
		Arguments      json.RawMessage `json:"arguments"`
	}](o)
	text := ""
	for _, name := range f.ChangedOutside {
		text += "\n(changed by somebody else since you read it: " + fault.Quote(name) + ")"
	}
	if len(f.TodosChanged) > 0 {
		text += "\n(the user changed your to-do list: " + strings.Join(f.TodosChanged, ", ") + ")"
	}
	if len(f.CausedLater) > 0 {
		text += "\n(known only now, of your earlier edits: " + strings.Join(f.CausedLater, "\n") + ")"
	}
	if len(f.Arguments) > 0 {
		text += "\n(The user changed the arguments before approving. This was run: " + string(f.Arguments) + ")"
	}
	return text
}

func qwenFailure(err *fault.Error, object any) qwenResult {
	r, _ := object.(qwenResult)
	text := "Error: " + err.Message
	if err.Hint != "" {
		text += "\n" + err.Hint
	}
	if said, is := r.LLMContent.(string); !is || said == "" || strings.HasPrefix(said, string(err.Code)+": ") {
		r.LLMContent = text
	}
	r.ReturnDisplay, r.Error = "Error: "+err.Message, err
	return r
}

// absolute holds a path to what Qwen Code asks for.
func absolute(argument, name string) error {
	if name == "" || filepath.IsAbs(name) || path.IsAbs(name) {
		return nil
	}
	return fault.Invalid("%s must be an absolute path, got %s", argument, fault.Quote(name)).WithHint("put the workspace folder in front")
}

type qwenListArgs struct {
	Path             string   `json:"path" jsonschema:"absolute path of the folder"`
	Ignore           []string `json:"ignore,omitempty" jsonschema:"globs of names to leave out"`
	RespectGitIgnore *bool    `json:"respect_git_ignore,omitempty" default:"true"`
}

func qwenList(a qwenListArgs) (string, any, error) {
	return "list_files", map[string]any{"path": a.Path, "include_ignored": a.RespectGitIgnore != nil && !*a.RespectGitIgnore}, absolute("path", a.Path)
}

// qwenListAnswer lists folders first, as Qwen Code does.
func qwenListAnswer(a qwenListArgs, o Outcome) qwenResult {
	r := qwenAnswer(a, o)
	if o.Err != nil {
		return r
	}
	var folders, files []string
	f := fields[listed](o)
	for _, e := range f.Files {
		if slices.ContainsFunc(a.Ignore, func(glob string) bool { fits, err := path.Match(glob, e.Name); return err == nil && fits }) {
			continue
		}
		if e.Type == "directory" {
			folders = append(folders, "[DIR] "+fault.Escape(e.Name))
		} else {
			files = append(files, fault.Escape(e.Name))
		}
	}
	lines := append(folders, files...)
	r.ReturnDisplay = fmt.Sprintf("Listed %d item(s).", len(lines))
	if len(lines) == 0 {
		r.LLMContent = "Directory " + fault.Escape(a.Path) + " is empty."
		return r
	}
	if f.Truncated {
		lines = append(lines, "(there are more)")
	}
	r.LLMContent = "Directory listing for " + fault.Escape(a.Path) + ":\n" + strings.Join(lines, "\n") + qwenTold(o)
	return r
}

type qwenReadArgs struct {
	AbsolutePath string `json:"absolute_path,omitempty"`
	FilePath     string `json:"file_path,omitempty" jsonschema:"the same as absolute_path"`
	Offset       *int   `json:"offset,omitempty" jsonschema:"first line, from 0" minimum:"0"`
	Limit        int    `json:"limit,omitempty" jsonschema:"lines" minimum:"1"`
}

func qwenRead(a qwenReadArgs) (string, any, error) {
	name := cmp.Or(a.AbsolutePath, a.FilePath)
	if name == "" || a.AbsolutePath != "" && a.FilePath != "" {
		return "", nil, fault.Invalid("give the file as absolute_path or as file_path")
	}
	args := map[string]any{"path": name}
	first := 1
	if a.Offset != nil {
		first += *a.Offset
		args["start_line"] = first
	}
	if a.Limit > 0 {
		args["start_line"], args["end_line"] = first, first+a.Limit-1
	}
	return "read_file", args, absolute("absolute_path", name)
}

// qwenReadAnswer counts lines as Qwen Code does, from 0.
func qwenReadAnswer(a qwenReadArgs, o Outcome) qwenResult {
	r := qwenAnswer(a, o)
	f := fields[struct {
		Content   *string `json:"content"`
		StartLine int     `json:"start_line"`
		EndLine   int     `json:"end_line"`
		Total     int     `json:"total_lines"`
		HasMore   bool    `json:"has_more"`
		Cut       int     `json:"cut_line_bytes"`
	}](o)
	if o.Err != nil || f.Content == nil || f.Cut > 0 {
		return r
	}
	text := *f.Content
	switch {
	case f.HasMore:
		text += fmt.Sprintf("\n(lines %d to %d of %d, counted from 0; go on with offset %d)", f.StartLine-1, f.EndLine-1, f.Total, f.EndLine)
	case text == "" && f.Total > 0:
		text = fmt.Sprintf("(the file has %d lines; there is nothing from offset %d on)", f.Total, f.StartLine-1)
	}
	r.LLMContent = text + qwenTold(o)
	return r
}

type qwenReadManyArgs struct {
	Paths              []string `json:"paths" jsonschema:"files, folders or globs"`
	Include            []string `json:"include,omitempty" jsonschema:"globs"`
	Exclude            []string `json:"exclude,omitempty" jsonschema:"globs"`
	Recursive          *bool    `json:"recursive,omitempty" jsonschema:"folders with all below them" default:"true"`
	UseDefaultExcludes *bool    `json:"useDefaultExcludes,omitempty" jsonschema:"leave out node_modules and the like" default:"true"`
}

// defaultExcludes are what nobody means who names a folder.
var defaultExcludes = []string{"**/node_modules/**", "**/.git/**", "**/.vscode/**", "**/.idea/**", "**/dist/**", "**/build/**", "**/coverage/**", "**/__pycache__/**"}

func qwenReadMany(a qwenReadManyArgs) (string, any, error) {
	var paths []string
	include, exclude := slices.Clone(a.Include), slices.Clone(a.Exclude)
	flat := a.Recursive != nil && !*a.Recursive
	for _, name := range a.Paths {
		switch {
		case strings.ContainsAny(name, "*?[{"):
			include = append(include, name)
		case flat: // the file, or the files in the folder
			include = append(include, name, strings.TrimSuffix(name, "/")+"/*")
		default:
			paths = append(paths, name)
		}
	}
	if a.UseDefaultExcludes == nil || *a.UseDefaultExcludes {
		exclude = append(exclude, defaultExcludes...)
	}
	return "read_many_files", map[string]any{"paths": paths, "include": include, "exclude": exclude}, nil
}

type qwenWriteArgs struct {
	FilePath string `json:"file_path" jsonschema:"absolute path"`
	Content  string `json:"content"`
}

func qwenWrite(a qwenWriteArgs) (string, any, error) {
	return "write_file", map[string]any{"path": a.FilePath, "content": a.Content}, absolute("file_path", a.FilePath)
}

type qwenEditArgs struct {
	FilePath             string `json:"file_path" jsonschema:"absolute path"`
	OldString            string `json:"old_string" jsonschema:"empty creates the file"`
	NewString            string `json:"new_string"`
	ExpectedReplacements int    `json:"expected_replacements,omitempty" minimum:"1" default:"1"`
	ReplaceAll           bool   `json:"replace_all,omitempty"`
}

func qwenEdit(a qwenEditArgs) (string, any, error) {
	args := map[string]any{"path": a.FilePath, "old_string": a.OldString, "new_string": a.NewString}
	if a.ReplaceAll {
		args["replace_all"] = true
	}
	if a.ExpectedReplacements > 0 {
		args["expected_replacements"] = a.ExpectedReplacements
	}
	return "edit_file", args, absolute("file_path", a.FilePath)
}

type qwenGlobArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitempty" jsonschema:"folder; default the workspace"`
}

func qwenGlob(a qwenGlobArgs) (string, any, error) {
	return "glob", map[string]any{"pattern": a.Pattern, "path": a.Path, "sort": "modified"}, nil
}

type qwenGrepArgs struct {
	Pattern string `json:"pattern" jsonschema:"regular expression (RE2)"`
	Path    string `json:"path,omitempty" jsonschema:"folder; default the workspace"`
	Include string `json:"include,omitempty" jsonschema:"glob, such as *.ts"`
}

func qwenGrep(a qwenGrepArgs) (string, any, error) {
	return "search_in_project", map[string]any{"query": a.Pattern, "regex": true, "path": a.Path, "glob": a.Include}, nil
}

type qwenShellArgs struct {
	Command      string `json:"command"`
	Description  string `json:"description,omitempty" jsonschema:"what it does, for the user"`
	Directory    string `json:"directory,omitempty" jsonschema:"where; default the workspace"`
	IsBackground bool   `json:"is_background,omitempty" jsonschema:"it goes on as a process"`
}

// backgroundAfter is when a call answers whose command is to go on, in seconds.
const backgroundAfter = 0.5

func qwenShell(a qwenShellArgs) (string, any, error) {
	args := map[string]any{"command": a.Command, "cwd": a.Directory, "why": a.Description}
	if a.IsBackground {
		args["background_after"] = backgroundAfter
	}
	return "run_command", args, nil
}

// qwenShellAnswer names no tool that Qwen Code's agents have not.
func qwenShellAnswer(a qwenShellArgs, o Outcome) qwenResult {
	r := qwenAnswer(a, o)
	f := fields[struct {
		Process string `json:"process_id"`
		Stdout  string `json:"stdout"`
		Stderr  string `json:"stderr"`
	}](o)
	if printed := f.Stdout + f.Stderr; printed != "" && o.Err == nil {
		r.ReturnDisplay = printed
	}
	if f.Process != "" && o.Err == nil {
		r.LLMContent = fmt.Sprintf("It goes on in the background, as process %s, until the session ends. So far it printed:\n%s", f.Process, f.Stdout+f.Stderr) + qwenTold(o)
	}
	return r
}

type qwenPlanArgs struct {
	Plan string `json:"plan" jsonschema:"Markdown"`
}

func qwenPlan(a qwenPlanArgs) (string, any, error) { return "exit_plan_mode", a, nil }

type qwenTodoArgs struct {
	Todos []qwenTodo `json:"todos"`
}

type qwenTodo struct {
	ID       string `json:"id"`
	Content  string `json:"content"`
	Status   string `json:"status" jsonschema:"pending, in_progress or completed"`
	Priority string `json:"priority,omitempty" jsonschema:"high, medium or low" default:"\"medium\""`
}

func qwenTodos(a qwenTodoArgs) (string, any, error) {
	if a.Todos == nil {
		a.Todos = []qwenTodo{}
	}
	return "todo_write", a, nil
}

// qwenTodosAnswer shows people the list too, not only how far it is.
func qwenTodosAnswer(a qwenTodoArgs, o Outcome) qwenResult {
	r := qwenAnswer(a, o)
	if text, is := r.LLMContent.(string); is && o.Err == nil {
		r.ReturnDisplay = text
	}
	return r
}

type qwenFetchArgs struct {
	URL    string `json:"url"`
	Prompt string `json:"prompt" jsonschema:"what you want of the page; given back with it"`
}

func qwenFetch(a qwenFetchArgs) (string, any, error) { return "web_fetch", a, nil }

type qwenSearchArgs struct {
	Query string `json:"query"`
}

func qwenSearch(a qwenSearchArgs) (string, any, error) { return "web_search", a, nil }

type qwenMemoryArgs struct {
	Fact string `json:"fact" jsonschema:"one short sentence"`
}

func qwenMemory(a qwenMemoryArgs) (string, any, error) { return "save_memory", a, nil }

type qwenTaskArgs struct {
	Description string `json:"description" jsonschema:"three to five words, for you"`
	Prompt      string `json:"prompt" jsonschema:"all that the agent needs to know"`
	Agent       string `json:"subagent_type" jsonschema:"the agent, by the name that the user gave it"`
}

func qwenTask(a qwenTaskArgs) (string, any, error) {
	return "task", map[string]any{"agent": a.Agent, "objective": a.Prompt}, nil
}
