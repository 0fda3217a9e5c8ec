package file

import (
	"context"
	"fmt"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/match"
	"pillion/workspace/change"
	"pillion/workspace/document"
)

var _ = tools.Define(tools.NewEdit(tools.Spec{
	Name:        "edit_file",
	Title:       "Edit file",
	Description: "Replaces text in a file; prefer it to write_file for changing part of one. old_string must match exactly and be unique, so include the lines around it, unless replace_all is set. The user approves, edits or rejects. Returns the diff, and problems that the edit caused or fixed.",
	Destructive: true,
	Success:     true,
	Results:     []any{changedFile{}},
	Restate:     restateEdit,
}, planEditFile))

type editFileArgs struct {
	Path                 string     `json:"path"`
	OldString            *string    `json:"old_string,omitempty" jsonschema:"empty creates the file"`
	NewString            string     `json:"new_string,omitempty" jsonschema:"empty deletes"`
	ReplaceAll           bool       `json:"replace_all,omitempty"`
	ExpectedReplacements int        `json:"expected_replacements,omitempty" minimum:"1" default:"1"`
	Edits                []textEdit `json:"edits,omitempty" jsonschema:"several, in order, instead of old_string and new_string"`
	ExpectedVersion      string     `json:"expected_version,omitempty" jsonschema:"from read_file; newer changes are merged"`
	Encoding             string     `json:"encoding,omitempty"`
}

type textEdit struct {
	OldString            string `json:"old_string"`
	NewString            string `json:"new_string" jsonschema:"empty deletes"`
	ReplaceAll           bool   `json:"replace_all,omitempty"`
	ExpectedReplacements int    `json:"expected_replacements,omitempty" minimum:"1" default:"1"`
}

func planEditFile(ctx context.Context, in tools.Input, args editFileArgs) (*tools.Edits, error) {
	if args.creates() {
		return planCreate(in, args)
	}
	edits, err := args.list()
	if err != nil {
		return nil, err
	}
	p, err := in.Snapshot.Workspace().Resolve(args.Path)
	if err != nil {
		return nil, err
	}
	if err := tools.RefuseGits(p); err != nil {
		return nil, err
	}
	enc, err := encodingToWrite(args.Encoding)
	if err != nil {
		return nil, err
	}
	before, err := in.Snapshot.Read(p, enc)
	if err != nil {
		return nil, err
	}
	b := basisFor(in, before, args.ExpectedVersion, false)
	done, err := makeEdits(ctx, before, b, edits, in.Limits.WriteBytes)
	if err != nil {
		return nil, b.sayMoved(in, before, err)
	}
	text := done.text
	if size := int64(len(text)); size > in.Limits.WriteBytes && size > int64(len(before.Text)) {
		return nil, fault.New(fault.FileTooLarge, "the file would have %d bytes, over the limit of %d", size, in.Limits.WriteBytes)
	}
	f, err := change.New(before, document.Content{Text: text, Encoding: before.Encoding, BOM: before.BOM})
	if err != nil {
		return nil, err
	}
	if err := checkShown(f, stringsOf(edits)...); err != nil {
		return nil, err
	}
	f.Merged = done.merged
	e := &tools.Edits{Title: "Edit " + fault.Quote(p.String()), Reasons: lenient(done.notes)}
	if done.merged {
		e.Because("merged", "%s", b.reason())
		e.Believes = done.believes
	}
	e.Set = change.Only(f, e.Title)
	e.Answer = func(o []change.Outcome) *tools.Answer {
		a := changedAnswer(in, o[0], changedFile{Replacements: done.count})
		a.Notes = append(a.Notes, done.notes...)
		return a
	}
	return e, nil
}

// creates says whether it is how some agents create a file: the empty text replaced.
func (a editFileArgs) creates() bool {
	return a.OldString != nil && *a.OldString == "" && a.NewString != "" && len(a.Edits) == 0
}

// planCreate never replaces a file that is there.
func planCreate(in tools.Input, args editFileArgs) (*tools.Edits, error) {
	before, err := readForWriting(in, args.Path, args.Encoding)
	if err != nil {
		return nil, err
	}
	if before.Exists && before.Text != "" {
		return nil, fault.Invalid("old_string is empty and %s is not; give the text to replace", fault.Quote(before.Path.String()))
	}
	return planWhole(in, writeFileArgs{Path: args.Path, Content: args.NewString, Encoding: args.Encoding, ExpectedVersion: args.ExpectedVersion}, args.NewString)
}

// restateEdit says a change as one replacement: of the lines from the first to the last
// that differ, with as many around them as make the text unique.
func restateEdit(e *tools.Edits) map[string]any {
	f := e.Set.Files[0]
	if f.Before.Text == "" {
		return map[string]any{"old_string": "", "new_string": f.After.Text, "edits": nil}
	}
	before, after := strings.SplitAfter(f.Before.Text, "\n"), strings.SplitAfter(f.After.Text, "\n")
	head, tail, most := 0, 0, min(len(before), len(after))
	for head < most && before[head] == after[head] {
		head++
	}
	for tail < most-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	old := func() string { return strings.Join(before[head:len(before)-tail], "") }
	for strings.Count(f.Before.Text, old()) != 1 && head+tail > 0 { // the empty text is everywhere
		head, tail = max(head-1, 0), max(tail-1, 0)
	}
	edit := textEdit{OldString: old(), NewString: strings.Join(after[head:len(after)-tail], "")}
	return map[string]any{"edits": []textEdit{edit}, "old_string": nil, "new_string": nil, "replace_all": nil, "expected_replacements": nil}
}

// lenient are notes on how an edit was matched, as reasons.
func lenient(notes []string) []approval.Reason {
	var out []approval.Reason
	for _, note := range notes {
		out = append(out, approval.Because("lenient", "%s", note))
	}
	return out
}

func stringsOf(edits []textEdit) []string {
	var out []string
	for _, e := range edits {
		out = append(out, e.OldString, e.NewString)
	}
	return out
}

// list is the replacements, in whichever way they were given.
func (a editFileArgs) list() ([]textEdit, error) {
	single := a.OldString != nil || a.NewString != "" || a.ReplaceAll || a.ExpectedReplacements != 0
	switch {
	case single && len(a.Edits) > 0:
		return nil, fault.Invalid("give old_string and new_string, or edits, not both")
	case len(a.Edits) > 0:
	case a.OldString == nil:
		return nil, fault.Invalid("argument old_string is missing: give the text to replace").WithHint("to create a file use write_file")
	default:
		a.Edits = []textEdit{{*a.OldString, a.NewString, a.ReplaceAll, a.ExpectedReplacements}}
	}
	for i, e := range a.Edits {
		switch {
		case e.OldString == "":
			return nil, fault.Invalid("old_string of edit %d is empty; give the text to replace", i+1)
		case e.OldString == e.NewString:
			return nil, fault.Invalid("old_string and new_string of edit %d are the same; nothing would change", i+1)
		}
	}
	return a.Edits, nil
}

// edited is a text with the replacements made in it.
type edited struct {
	text     string
	count    int
	notes    []string // where matching was lenient
	merged   bool
	believes tools.Knowledge // of a file that had moved on: what the agent has in mind now
}

// makeEdits makes the replacements in what the file holds now, even if the agent had
// an older text in mind. Where they have no place any more, they are made in that one
// and merged.
func makeEdits(ctx context.Context, f *document.File, b basis, edits []textEdit, most int64) (edited, error) {
	if b.moved && b.explicit && !b.remembered {
		return edited{}, b.conflict(f, "")
	}
	now, err := applyEdits(ctx, f, f.Text, edits, most)
	if !b.moved || b.proposed && err == nil {
		return now, err
	}
	ours, fits := edited{}, false
	if b.remembered {
		var oldErr error
		ours, oldErr = applyEdits(ctx, f, b.text, edits, most)
		fits = oldErr == nil
	}
	if err != nil && fits {
		now = ours
		now.text, err = b.merge(f, ours.text)
	}
	now.merged = true
	now.believes = b.believe(document.Content{Text: ours.text, Encoding: f.Encoding, BOM: f.BOM}, fits)
	return now, err
}

// applyEdits makes the replacements in text, in order. Each may multiply what the one
// before has left: no text on the way grows far over the limit.
func applyEdits(ctx context.Context, f *document.File, text string, edits []textEdit, most int64) (edited, error) {
	out := edited{text: text}
	bound := max(2*most, int64(len(text)))
	for i, e := range edits {
		if err := ctx.Err(); err != nil {
			return edited{}, err
		}
		found := match.Text(out.text, e.OldString)
		if err := e.checkCount(out.text, found); err != nil {
			return edited{}, numbered(err, f, i, len(edits))
		}
		if size := found.Size(out.text, e.NewString); size > bound {
			return edited{}, fault.New(fault.FileTooLarge, "the file would have %d bytes, over the limit of %d", size, most)
		}
		if found.Leniency != "" {
			out.notes = append(out.notes, fmt.Sprintf("old_string of edit %d matched only %s", i+1, found.Leniency))
		}
		out.text = found.Replace(out.text, e.NewString)
		out.count += len(found.Spans)
	}
	return out, nil
}

func (e textEdit) checkCount(text string, found match.Found) error {
	n := len(found.Spans)
	want := max(1, e.ExpectedReplacements)
	if n == 1 && want == 1 && !e.ReplaceAll && found.Twin != nil {
		n, found.Spans = 2, append(found.Spans, *found.Twin)
	}
	switch {
	case n == 0:
		return match.Missing(text, e.OldString)
	case e.ReplaceAll && e.ExpectedReplacements == 0, n == want:
		return nil
	case n < want:
		return fault.New(fault.EditNoMatch, "old_string is in the file %s, not %d times", times(n), want).
			With("found", n).With("lines", found.Lines(text)).
			WithHint("set expected_replacements to %d if these are the right ones, otherwise read the file again", n)
	}
	return fault.New(fault.EditAmbiguous, "old_string is in the file %s, at lines %s", times(n), match.List(found.Lines(text), n)).
		With("found", n).With("lines", found.Lines(text)).With("nearest", found.Context(text)).
		WithHint("add surrounding lines until it is unique, or set replace_all")
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// numbered puts the file's name, and of several edits the number, into a failure.
func numbered(err error, f *document.File, i, of int) error {
	e := *fault.From(err)
	e.Message = fault.Quote(f.Path.String()) + ": " + e.Message
	if of > 1 {
		e.Message = strings.Replace(e.Message, "old_string", fmt.Sprintf("old_string of edit %d", i+1), 1)
		e.Message += "; no edit was made"
	}
	return &e
}
