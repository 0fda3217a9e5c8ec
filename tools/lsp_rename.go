package tools

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"pillion/internal/fault"
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
	return in.codeEdits(codeEditsResult{answeredBy: answered(by)}, title, proposed)
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
