package git

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/git"
)

var _ = tools.Define(tools.NewRead(tools.Spec{
	Name:        "git.show",
	Title:       "Git show",
	Description: "Shows a commit with its diff, or with path a file or folder as it was in that commit.",
	Success:     true,
	Results:     []any{gitShownCommit{}, gitShownFile{}},
}, planGitShow))

type gitShowArgs struct {
	Ref  string `json:"ref" jsonschema:"commit, branch or tag; also REF:PATH"`
	Path string `json:"path,omitempty"`
}

// gitShownCommit is the result for a commit.
type gitShownCommit struct {
	Commit       git.LogCommit `json:"commit"`
	Tag          *git.Tag      `json:"tag,omitempty"`
	Diff         string        `json:"diff"`
	DiffTo       string        `json:"diff_to"`
	FilesChanged int           `json:"files_changed"`
	Additions    int           `json:"additions"`
	Deletions    int           `json:"deletions"`
	Within       string        `json:"within,omitempty"`
	Note         string        `json:"note,omitempty"`
}

// gitShownFile is the result for a path in a commit.
type gitShownFile struct {
	Commit  git.LogCommit    `json:"commit"`
	Path    string           `json:"path"`
	Type    git.Kind         `json:"type"`
	Hash    string           `json:"hash"`
	Size    *int             `json:"size,omitempty"`
	Content *string          `json:"content,omitempty"`
	Entries []git.ShownEntry `json:"entries,omitempty"`
	Note    string           `json:"note,omitempty"`
}

func planGitShow(ctx context.Context, in tools.Input, args gitShowArgs) (*tools.Answer, error) {
	p, err := tools.OneFolder(in, "path", args.Path)
	if err != nil {
		return nil, err
	}
	defer in.Files.Urgent()()
	o := git.ShowOptions{Dir: p.Abs(), File: !p.IsRoot(), Ref: args.Ref, Context: 3, MaxDiff: in.Limits.DiffBytes, MaxBytes: in.Limits.ReadBytes}
	got, err := in.Git.Show(ctx, p.RootDir(), o)
	if err != nil {
		return nil, err
	}
	if got.Kind == "" {
		a := shownCommit(p, got)
		a.Whole = func() (string, error) {
			o.Ref, o.Context, o.MaxDiff = got.Commit.Hash, allLines, mostWhole
			got, err := in.Git.Show(ctx, p.RootDir(), o)
			return got.Diff.Diff, err
		}
		return a, nil
	}
	return shownFile(p, got)
}

func shownCommit(p workspace.Path, got git.Shown) *tools.Answer {
	result := gitShownCommit{
		Commit: got.Commit, Tag: got.Tag, Diff: got.Diff.Diff, DiffTo: got.Parent, Within: got.Within,
		FilesChanged: got.Diff.FilesChanged, Additions: got.Diff.Additions, Deletions: got.Diff.Deletions,
	}
	var notes []string
	if n := len(got.Commit.Parents); n > 1 {
		notes = append(notes, fmt.Sprintf("this is a merge of %d commits; the diff is to the first of them, so it has all that came with the others", n))
	}
	if got.Within != "" {
		notes = append(notes, "only what the commit changed in the workspace's folder is shown, "+fault.Quote(got.Within)+" of the repository")
	}
	result.Note = strings.Join(notes, "; ")
	var text strings.Builder
	if got.Tag != nil {
		fmt.Fprintf(&text, "tag %s\nTagger: %s <%s>\nDate:   %s\n\n%s\n\n", got.Tag.Name, got.Tag.Tagger.Name, got.Tag.Tagger.Email, got.Tag.Date, got.Tag.Message)
	}
	text.WriteString(commitText(got.Commit))
	if result.Note != "" {
		text.WriteString("\n(" + result.Note + ")\n")
	}
	if result.Diff != "" {
		text.WriteString("\n" + result.Diff)
	}
	return &tools.Answer{
		Result: result, Text: text.String(), Rest: "give path, a file or folder, for a part of it",
		Summary: fmt.Sprintf("%s: %s, +%d −%d", got.Commit.Short, tools.Count(result.FilesChanged, "file"), result.Additions, result.Deletions),
		Display: &tools.Display{Kind: "markdown", Text: fmt.Sprintf("```diff\n%s\n```", fault.Escape(text.String()))},
		Reads:   changedPaths(p, got.Diff), Tracked: true,
	}
}

func shownFile(p workspace.Path, got git.Shown) (*tools.Answer, error) {
	at := p.Top().Join(got.Path)
	result := gitShownFile{Commit: got.Commit, Path: got.Path, Type: got.Kind, Hash: got.Hash, Entries: got.Entries}
	answer := &tools.Answer{Summary: fmt.Sprintf("%s at %s", fault.Quote(got.Path), got.Commit.Short)}
	switch got.Kind {
	case git.KindFolder:
		answer.Text = entriesText(got.Entries)
	case git.KindSubmodule:
		result.Note = "a submodule; hash is the commit of its own repository"
		answer.Text = got.Hash
	default:
		content, note, err := textOf(got)
		if err != nil {
			return nil, err
		}
		size := len(got.Content)
		result.Size, result.Content, result.Note = &size, &content, note
		answer.Text = content
		answer.Reads, answer.Tracked = []workspace.Path{at}, true
		if note != "" {
			answer.Notes = []string{note}
		}
	}
	answer.Result = result
	answer.Rest = "the file is longer: have its diff to another commit, or run git show with head, tail or grep"
	return answer, nil
}

func entriesText(entries []git.ShownEntry) string {
	var out strings.Builder
	for _, e := range entries {
		out.WriteString(fault.Escape(e.Name))
		if e.Kind == git.KindFolder {
			out.WriteString("/")
		}
		out.WriteString("\n")
	}
	return out.String()
}

// textOf is a file's content as text. What is not UTF-8 shows as U+FFFD, as in
// diffs.
func textOf(got git.Shown) (text, note string, err error) {
	content, err := document.Decode(got.Content, "")
	switch fault.CodeOf(err) {
	case "":
		return content.Text, "", nil
	case fault.EncodingError:
		if utf8.Valid(got.Content) {
			return "", "", err
		}
		return strings.ToValidUTF8(string(got.Content), "\ufffd"), "the file is not UTF-8: what cannot be decoded is shown as U+FFFD", nil
	}
	return "", "", fault.New(fault.CodeOf(err), "%s is binary in the commit %s, %d bytes", fault.Quote(got.Path), got.Commit.Short, len(got.Content)).
		With("size", len(got.Content)).WithHint("use run_command with a program for its format with git show")
}
