package code

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/diff"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

var _ = tools.Define(tools.NewEdit(tools.Spec{
	Name:        "lsp_rename",
	Title:       "Rename a name",
	Description: "Renames the name at a position wherever it is used. The user approves the diff as a whole.",
	Destructive: true,
	Success:     true,
	Results:     []any{codeEditsResult{}, askedAbout{}},
}, planRename))

type renameArgs struct {
	placeArgs
	NewName string `json:"new_name"`
}

func planRename(ctx context.Context, in tools.Input, args renameArgs) (*tools.Edits, error) {
	if err := args.checkName(); err != nil {
		return nil, err
	}
	q, refused, err := args.question(in)
	if err != nil {
		return nil, err
	}
	if refused != nil {
		return tools.OnlyAnswer(refused), nil
	}
	proposed, by, err := q.ask.Rename(ctx, in.Snapshot, q.file.Path, q.at, args.NewName)
	if err != nil {
		return tools.OnlyAnswer(q.failed(by, err)), nil
	}
	if len(proposed) == 0 {
		err := fault.New(fault.ExecutionFailed, "%s", q.nothing(tools.Answered(by), "name to rename"))
		return tools.OnlyAnswer(q.failed(by, err)), nil
	}
	title := fmt.Sprintf("Rename %s to %s", fault.Quote(q.file.word(q.at)), fault.Quote(args.NewName))
	e, err := planCodeEdits(in, codeEditsResult{AnsweredBy: tools.Answered(by)}, title, proposed)
	if err != nil {
		return nil, err
	}
	if err := refuseRewritten(e, proposed, q.file.word(q.at), args.NewName); err != nil {
		return tools.OnlyAnswer(q.failed(by, err)), nil
	}
	noteStray(e, q.file.word(q.at), args.NewName)
	return e, nil
}

// refuseRewritten refuses whole texts in which more than the name is another: the server
// has made them of an older text, such as that on disk of a file with unsaved changes,
// and what was written since would be lost.
func refuseRewritten(e *tools.Edits, proposed []language.FileEdits, was, is string) error {
	whole := map[workspace.Path]bool{}
	for _, f := range proposed {
		whole[f.Path] = slices.ContainsFunc(f.Edits, func(t document.TextEdit) bool { return t.Range.Start.Line != t.Range.End.Line })
	}
	for _, f := range e.Set.Files {
		if whole[f.Path()] && !onlyRenamed(f.Before.Text, f.After.Text, was, is) {
			return fault.New(fault.ConcurrentModification, "the server would replace all of %s based on an older text; nothing was changed", fault.Quote(f.Path().String())).
				WithHint("ask the user to save it and try again, or change the name there with edit_file")
		}
	}
	return nil
}

// onlyRenamed says if two texts are the same but for a name.
func onlyRenamed(before, after, was, is string) bool {
	for before != "" && after != "" {
		old, now := lead(before), lead(after)
		if old != now && (old != was || now != is) {
			return false
		}
		before, after = before[len(old):], after[len(now):]
	}
	return before == after
}

// lead is the name that a text begins with, or what stands before the first.
func lead(text string) string {
	letter := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
	first, _ := utf8.DecodeRuneInString(text)
	named := letter(first)
	if end := strings.IndexFunc(text, func(r rune) bool { return letter(r) != named }); end >= 0 {
		return text[:end]
	}
	return text
}

// mostStray is how many places are named.
const mostStray = 5

// noteStray names lines that a rename changes and that have neither name: some servers
// write whole files anew, and one that had an older text would bring it back.
func noteStray(e *tools.Edits, was, is string) {
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
	e.Because("stray", "%s", reason)
	answer := e.Answer
	e.Answer = func(o []change.Outcome) *tools.Answer {
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
		return fault.Invalid("new_name is empty; give the new name")
	case strings.ContainsFunc(a.NewName, unicode.IsControl), len(a.NewName) > tools.LongWord:
		return fault.Invalid("new_name is invalid: it has control characters, or more than %d bytes", tools.LongWord)
	}
	return nil
}
