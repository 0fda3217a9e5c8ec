package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"pillion/internal/fault"
	"pillion/workspace/change"
	"pillion/workspace/diff"
)

var _ = define(NewEdit(Spec{
	Name:  "lsp_rename",
	Title: "Rename a name",
	Description: "Renames the name at a place in a file wherever it is used, in all files, as the language's server knows them; names that are only spelt alike stay. " +
		"The human sees the difference and approves or rejects it as a whole. Lines and characters are counted from 0.",
	Destructive: true,
	Success:     true,
}, planRename))

type renameArgs struct {
	placeArgs
	NewName string `json:"new_name" jsonschema:"what it is to be called"`
}

func planRename(ctx context.Context, in Input, args renameArgs) (*Edits, error) {
	if err := args.checkName(); err != nil {
		return nil, err
	}
	q, refused, err := args.question(in)
	if err != nil {
		return nil, err
	}
	if refused != nil {
		return onlyAnswer(refused), nil
	}
	proposed, by, err := q.ask.Rename(ctx, in.Snapshot, q.file.Path, q.at, args.NewName)
	if err != nil {
		return onlyAnswer(q.failed(by, err)), nil
	}
	if len(proposed) == 0 {
		err := fault.New(fault.ExecutionFailed, "%s", q.nothing(answered(by), "name to rename"))
		return onlyAnswer(q.failed(by, err)), nil
	}
	title := fmt.Sprintf("Rename %s to %s", fault.Quote(q.file.word(q.at)), fault.Quote(args.NewName))
	e, err := in.codeEdits(codeEditsResult{answeredBy: answered(by)}, title, proposed)
	if err == nil {
		e.noteStray(q.file.word(q.at), args.NewName)
	}
	return e, err
}

// mostStray is how many places are named.
const mostStray = 5

// noteStray names lines that a rename changes and that have neither name: some servers
// write whole files anew, and one that had an older text would bring it back.
func (e *Edits) noteStray(was, is string) {
	if was == "" {
		return
	}
	var stray []string
	for _, f := range e.Set.Files {
		before, after := diff.SplitLines(f.Before.Text), diff.SplitLines(f.After.Text)
		for _, d := range diff.Lines(before, after) {
			old, now := before[d.OldStart:d.OldEnd], after[d.NewStart:d.NewEnd]
			if len(old) != len(now) || !allHave(old, was) || !allHave(now, is) {
				stray = append(stray, fmt.Sprintf("%s line %d", fault.Quote(f.Path().String()), d.OldStart+1)) // as the dialog counts
			}
		}
	}
	if len(stray) == 0 {
		return
	}
	if more := len(stray) - mostStray; more > 0 {
		stray = append(stray[:mostStray], fmt.Sprintf("%d more", more))
	}
	reason := "it changes more than the name: see " + strings.Join(stray, ", ")
	e.Reasons = append(e.Reasons, reason)
	answer := e.Answer
	e.Answer = func(o []change.Outcome) *Answer {
		a := answer(o)
		a.Notes = append(a.Notes, "("+reason+")")
		return a
	}
}

func allHave(lines []string, name string) bool {
	return !slices.ContainsFunc(lines, func(line string) bool { return !strings.Contains(line, name) })
}

func (a renameArgs) checkName() error {
	switch {
	case strings.TrimSpace(a.NewName) == "":
		return invalid("new_name is empty; it is what the name is to be")
	case strings.ContainsFunc(a.NewName, unicode.IsControl), len(a.NewName) > longWord:
		return invalid("new_name is no name: it has control characters, or more than %d bytes", longWord)
	}
	return nil
}
