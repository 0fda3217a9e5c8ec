package code

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

var _ = tools.Define(tools.NewEdit(tools.Spec{
	Name:        "lsp_code_actions",
	Title:       "Code actions",
	Description: "Lists the language server's fixes and refactorings for a line or range, or makes one, which the user approves.",
	Destructive: true,
	Success:     true,
	Results:     []any{codeActionsResult{}, codeEditsResult{}, askedAbout{}},
}, planCodeActions))

type codeActionsArgs struct {
	Path      string    `json:"path"`
	Line      *int      `json:"line,omitempty" jsonschema:"from 0" minimum:"0"`
	Character *int      `json:"character,omitempty" jsonschema:"UTF-16 units; default: the whole line" minimum:"0"`
	Range     *rangeArg `json:"range,omitempty" jsonschema:"instead of line; end is exclusive"`
	Only      []string  `json:"only,omitempty" jsonschema:"kinds, such as quickfix"`
	Apply     string    `json:"apply,omitempty" jsonschema:"title or index of the one to make"`
}

type rangeArg struct {
	Start positionArg `json:"start"`
	End   positionArg `json:"end"`
}

type positionArg struct {
	Line      int `json:"line" minimum:"0"`
	Character int `json:"character" minimum:"0"`
}

type codeAction struct {
	Index     int    `json:"index"`
	Title     string `json:"title"`
	Kind      string `json:"kind,omitempty"`
	Preferred bool   `json:"preferred,omitempty"`
	Disabled  string `json:"disabled,omitempty"` // why it cannot be made
}

type codeActionsResult struct {
	Path      string       `json:"path"`
	Actions   []codeAction `json:"actions"`
	Count     int          `json:"count"` // of all, also of those left out
	Truncated bool         `json:"truncated"`
	tools.AnsweredBy
}

const (
	mostActions = 100
	mostKinds   = 20
)

func planCodeActions(ctx context.Context, in tools.Input, args codeActionsArgs) (*tools.Edits, error) {
	f, err := readCodeFile(in, args.Path)
	if err != nil {
		return nil, err
	}
	where, err := args.where(f)
	if err != nil {
		return nil, err
	}
	q := question{file: f, at: where.Start}
	if q.ask, err = languagesOf(in); err != nil {
		return tools.OnlyAnswer(q.failed(language.Server{}, err)), nil
	}
	actions, by, err := q.ask.Actions(ctx, in.Snapshot, f.Path, where, args.Only)
	if err != nil {
		return tools.OnlyAnswer(q.failed(by, err)), nil
	}
	if args.Apply == "" {
		a := actionsAnswer(f, actions, tools.Answered(by))
		a.Reads = []workspace.Path{f.Path}
		return tools.OnlyAnswer(a), nil
	}
	chosen, err := choose(actions, args.Apply)
	if err == nil && len(chosen.Edits) == 0 && chosen.Resolvable {
		chosen, err = q.ask.Resolve(ctx, in.Snapshot, f.Path, chosen)
	}
	if err == nil && len(chosen.Edits) == 0 {
		err = fault.New(fault.ExecutionFailed, "the action %s is a command of the server, which Pillion does not run", fault.Quote(fault.Clip(chosen.Title, tools.LongLine))).
			WithHint("make the change with edit_file")
	}
	if err != nil {
		return tools.OnlyAnswer(q.failed(by, err)), nil
	}
	title := fault.Clip(chosen.Title, tools.LongLine)
	return planCodeEdits(in, codeEditsResult{Title: title, AnsweredBy: tools.Answered(by)}, "Code action: "+fault.Quote(title), chosen.Edits)
}

// where is the range that is asked about: a whole line, a place in it, or the one given.
func (a codeActionsArgs) where(f *codeFile) (document.Range, error) {
	switch {
	case (a.Line == nil) == (a.Range == nil):
		return document.Range{}, fault.Invalid("give line or range, not both")
	case a.Character != nil && a.Line == nil:
		return document.Range{}, fault.Invalid("character needs line; range has its own characters")
	case len(a.Only) > mostKinds:
		return document.Range{}, fault.Invalid("only names %d kinds, over the limit of %d", len(a.Only), mostKinds)
	case a.Character != nil:
		at, err := f.position(*a.Line, *a.Character)
		return document.Range{Start: at, End: at}, err
	case a.Line != nil:
		start, err := f.position(*a.Line, 0)
		if err != nil {
			return document.Range{}, err
		}
		return document.Range{Start: start, End: document.Position{Line: start.Line, Character: document.Units(f.line(start))}}, nil
	}
	start, err := f.position(a.Range.Start.Line, a.Range.Start.Character)
	if err != nil {
		return document.Range{}, err
	}
	end, err := f.position(a.Range.End.Line, a.Range.End.Character)
	if err == nil && start.Compare(end) > 0 {
		err = fault.Invalid("the range ends before it starts")
	}
	return document.Range{Start: start, End: end}, err
}

// choose finds an action by its title, or its number in the list.
func choose(actions []language.Action, named string) (language.Action, error) {
	var found []language.Action
	for _, a := range actions {
		if fault.Clip(a.Title, tools.LongLine) == named {
			found = append(found, a)
		}
	}
	if n, err := strconv.Atoi(named); err == nil && len(found) == 0 && n >= 0 && n < len(actions) {
		found = actions[n : n+1]
	}
	var titles []string
	for _, a := range actions[:min(len(actions), mostActions)] {
		titles = append(titles, fault.Clip(a.Title, tools.LongLine))
	}
	switch {
	case len(found) == 0:
		return language.Action{}, fault.Invalid("no action %s here", fault.Quote(fault.Clip(named, tools.LongLine))).
			With("titles", titles).WithHint("give one of these titles, or leave out apply to list them")
	case len(found) > 1:
		return language.Action{}, fault.Invalid("there are %s called %s", tools.Count(len(found), "action"), fault.Quote(named)).WithHint("give the index of the one you mean")
	case found[0].Disabled != "":
		return language.Action{}, fault.New(fault.ExecutionFailed, "the action %s is not possible here: %s", fault.Quote(named), tools.OneLine(found[0].Disabled))
	}
	return found[0], nil
}

func actionsAnswer(f *codeFile, actions []language.Action, by tools.AnsweredBy) *tools.Answer {
	r := codeActionsResult{Path: f.Path.String(), Actions: []codeAction{}, Count: len(actions), Truncated: len(actions) > mostActions, AnsweredBy: by}
	name := fault.Quote(r.Path)
	texts := []string{fmt.Sprintf("%s for %s (%s); apply one by its title or index:", tools.Count(r.Count, "action"), name, by)}
	for i, a := range actions[:min(len(actions), mostActions)] {
		one := codeAction{i, fault.Clip(a.Title, tools.LongLine), fault.Clip(a.Kind, tools.LongWord), a.Preferred, fault.Clip(a.Disabled, tools.LongLine)}
		if one.Disabled == "" && len(a.Edits) == 0 && !a.Resolvable {
			one.Disabled = "it is a command of the server, which Pillion does not run"
		}
		r.Actions = append(r.Actions, one)
		line := fmt.Sprintf("%d: %s", i, one.Title)
		if one.Kind != "" {
			line += " (" + one.Kind + ")"
		}
		if one.Preferred {
			line += ", preferred"
		}
		if one.Disabled != "" {
			line += ", not possible: " + one.Disabled
		}
		texts = append(texts, tools.OneLine(line))
	}
	a := &tools.Answer{Result: r, Text: strings.Join(texts, "\n"), Summary: tools.Count(r.Count, "action") + " for " + name}
	if r.Count == 0 {
		a.Text = fmt.Sprintf("%s has no actions there in %s", by, name)
	}
	return a
}
