package tools

import (
	"fmt"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/change"
)

// CheckAllShown refuses a change that is too large for one dialog to show, with the arguments that it shows as well.
func CheckAllShown(s change.Set, arguments ...string) error {
	texts, raw := arguments, 0
	for _, f := range s.Files {
		if !f.IsBinary() { // of which only sizes are shown
			texts = append(texts, f.Before.Text, f.After.Text)
		}
	}
	for _, c := range s.Tree {
		if c.Text == nil {
			continue
		}
		if texts = append(texts, c.Text.Text); c.Operation == change.Delete {
			texts = append(texts, c.Text.Text) // its difference, nearly
		}
	}
	for _, text := range texts {
		raw += len(text)
	}
	if raw < ShownBytes/16 {
		return nil // also with its difference, and if every character is escaped
	}
	for _, f := range s.Files {
		texts = append(texts, f.Diff(f.Hunks()))
	}
	size := WireSize(texts...)
	if size <= ShownBytes {
		return nil
	}
	what := Count(len(s.Files)+len(s.Tree), "file")
	if len(s.Files) == 1 && len(s.Tree) == 0 {
		what = fault.Quote(s.Files[0].Path().String())
	}
	return fault.New(fault.FileTooLarge, "the change of %s is too large to show: the message would have %d bytes, over the limit of %d",
		what, size, ShownBytes).
		WithHint("change it in parts with edit_file, or with a program in run_command")
}

// ShownBytes is what fits into a message to the editor beside the rest of it.
const ShownBytes = 31 << 20

// WireSize is how many bytes texts have as JSON.
func WireSize(texts ...string) int {
	size := 0
	for _, text := range texts {
		size += len(text) + 3*strings.Count(text, "\u2028") + 3*strings.Count(text, "\u2029")
		for i := range len(text) {
			switch c := text[i]; {
			case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t':
				size++
			case c < ' ' || c == '<' || c == '>' || c == '&':
				size += 5
			}
		}
	}
	return size
}

// ShortDiff bounds a diff that is in the text as well, and MostFilesSaid the files that are
// named there.
const (
	ShortDiff     = 8 << 10
	MostFilesSaid = 50
)

// FormattedNote follows what is said of a file that did not stay as it was written.
const FormattedNote = ", formatted by the editor on save"

// OnlyAnswer is the plan of a call that could change files and does not.
func OnlyAnswer(a *Answer) *Edits {
	return &Edits{Answer: func([]change.Outcome) *Answer { return a }}
}

// OmitDiff takes a diff over the limit out of a result, and gives what a model reads of it.
func OmitDiff(diff *string, omitted *bool, most int64) string {
	size := len(*diff)
	if int64(size) <= most {
		return ""
	}
	*diff, *omitted = "", true
	return fmt.Sprintf("(The diff has %d bytes, over the limit of %d, and is left out.)", size, most)
}

// RestOfDiff is how to get what a page leaves out of a diff.
const RestOfDiff = "the diff is longer; use read_file for the files"
