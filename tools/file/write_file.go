package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/workspace/change"
	"pillion/workspace/diff"
	"pillion/workspace/document"
)

var _ = tools.Define(tools.NewEdit(tools.Spec{
	Name:        "write_file",
	Title:       "Write file",
	Description: "Creates a file or replaces its whole content; read an existing one first, and use edit_file for a part. The user approves, edits or rejects. Returns the diff, and problems it caused or fixed.",
	Idempotent:  true,
	Destructive: true,
	Success:     true,
	Results:     []any{changedFile{}, chunkResult{}},
	Restate: func(e *tools.Edits) map[string]any {
		return map[string]any{"content": e.Set.Files[0].After.Text, "chunk": nil}
	},
}, planWriteFile))

type writeFileArgs struct {
	Path            string    `json:"path"`
	Content         string    `json:"content"`
	Encoding        string    `json:"encoding,omitempty"`
	CreateDirs      *bool     `json:"create_dirs,omitempty" default:"true"`
	Backup          *bool     `json:"backup,omitempty" jsonschema:"keep a readable copy outside" default:"true"`
	ExpectedVersion string    `json:"expected_version,omitempty" jsonschema:"from read_file; newer changes are merged"`
	Chunk           *chunkArg `json:"chunk,omitempty" jsonschema:"of a large file: which part content is; written with the last"`
}

// changedFile are the fields that write_file and edit_file share.
type changedFile struct {
	Path         string           `json:"path"`
	Operation    change.Operation `json:"operation"`
	BytesWritten int              `json:"bytes_written"`
	Size         int              `json:"size"`
	Additions    int              `json:"additions"`
	Deletions    int              `json:"deletions"`
	Diff         string           `json:"diff"`
	DiffOmitted  bool             `json:"diff_omitted,omitempty"`
	Version      string           `json:"version"`
	Merged       bool             `json:"merged"`
	MergedDiff   string           `json:"merged_diff,omitempty"`
	Saved        bool             `json:"saved"`
	Formatted    bool             `json:"formatted,omitempty"`
	Replacements int              `json:"replacements,omitempty"`
	BackupPath   string           `json:"backup_path,omitempty"`
}

func planWriteFile(_ context.Context, in tools.Input, args writeFileArgs) (*tools.Edits, error) {
	if size := int64(len(args.Content)); size > in.Limits.WriteBytes {
		err := fault.New(fault.FileTooLarge, "the content has %d bytes, over the limit of %d", size, in.Limits.WriteBytes).
			With("size", size).With("limit", in.Limits.WriteBytes)
		if wholeBytes(in.Limits) == in.Limits.WriteBytes {
			return nil, err.WithHint("split it into several files")
		}
		return nil, err.WithHint("write it in chunks, each of them smaller (up to %d bytes in all), or make the change with edit_file", wholeBytes(in.Limits))
	}
	switch {
	case args.Chunk == nil:
		return planWhole(in, args, args.Content)
	case !args.Chunk.Last:
		return keepChunk(in, args)
	}
	sent := args.Content
	var err error
	if args.Content, err = args.whole(in); err != nil {
		return nil, err
	}
	e, err := planWhole(in, args, sent)
	if err == nil {
		e.Chunks = args.Chunk.ID
	}
	return e, err
}

// planWhole plans to write the content. The call itself sent this much of it.
func planWhole(in tools.Input, args writeFileArgs, sent string) (*tools.Edits, error) {
	if _, err := encodingToWrite(args.Encoding); err != nil {
		return nil, err
	}
	before, err := readForWriting(in, args.Path, args.Encoding)
	if err != nil {
		return nil, err
	}
	marked := false
	args.Content, marked = before.Encoding.TakeMark(args.Content)
	b := basisFor(in, before, args.ExpectedVersion, true)
	insists := args.insists(b)
	if insists {
		b.moved = false
	}
	text, ours, err := args.text(before, &b)
	if err != nil {
		return nil, err
	}
	after, err := args.recoded(before, document.Content{Text: text, Encoding: before.Encoding, BOM: before.BOM || marked})
	if err != nil {
		return nil, err
	}
	f, err := change.New(before, after)
	if err != nil {
		return nil, err
	}
	f.Merged = b.moved
	f.CreateDirs = !in.Limits.CodeLab
	if args.CreateDirs != nil {
		f.CreateDirs = *args.CreateDirs
	}
	if err := cmp.Or(checkFolder(f), checkShown(f, sent)); err != nil {
		return nil, err
	}
	e := &tools.Edits{Title: writeTitle(f), Answer: func(o []change.Outcome) *tools.Answer {
		extra := changedFile{}
		if b.moved {
			extra.MergedDiff = fault.Clip(diff.Unified(diff.Hunks(ours, o[0].Text, 3)), conflictClip)
		}
		return changedAnswer(in, o[0], extra)
	}}
	e.Set = change.Only(f, e.Title)
	e.Set.Backup = args.Backup == nil || *args.Backup
	if b.moved {
		e.Because("merged", "%s", b.reason())
		e.Believes = b.believe(document.Content{Text: ours, Encoding: after.Encoding, BOM: after.BOM}, true)
	}
	if unread := args.unread(in, before, b); unread != "" {
		if e.AlwaysAsk = before.Dirty; before.Dirty {
			unread += ", with text of yours that is not saved"
		}
		e.Because("unread", "%s", unread)
	}
	if insists {
		e.AlwaysAsk = true
		e.Because("takes_back", "%s", takesBack(before))
	}
	if before.Exists && before.Encoding != after.Encoding {
		e.Because("encoding", "it changes the file's encoding from %s to %s", before.Encoding, after.Encoding)
	}
	return e, nil
}

// insists says whether the agent gives the text again that it last wrote or read, while the file
// holds another one. There is nothing of its own to merge: it wants that text back.
func (a writeFileArgs) insists(b basis) bool {
	return b.moved && b.remembered && !b.proposed && !b.standing && document.KeepLineEnds(b.text, a.Content) == b.text
}

func takesBack(f *document.File) string {
	if !f.Exists {
		return "it brings back what was deleted since the agent wrote or read this same text"
	}
	return "it takes back what changed since the agent wrote or read this same text"
}

// unread says what of the file the agent replaces without having read it. A version that it
// names is of a text that it knows, but for text that is not saved and that it was only shown
// a part of.
func (a writeFileArgs) unread(in tools.Input, before *document.File, b basis) string {
	_, seen := in.Session.Seen(tools.FileName(before.Path))
	switch {
	case !before.Exists:
	case a.ExpectedVersion != "" && !(before.Dirty && (seen || len(before.Text) > conflictClip)):
	case b.version == "" || b.proposed:
		return "it replaces a whole file that the agent has not read"
	case in.Session.SeenWhole(tools.FileName(before.Path)) == "":
		return "it replaces a whole file that the agent has only partly read"
	}
	return ""
}

// recoded is the content in the encoding that the agent named, if it did.
func (a writeFileArgs) recoded(before *document.File, c document.Content) (document.Content, error) {
	if c.Encoding == "" {
		c.Encoding = document.UTF8
	}
	if a.Encoding == "" {
		return c, nil
	}
	marked := c.BOM && !before.BOM
	enc, bom, err := before.Recoded(a.Encoding)
	c.Encoding, c.BOM = enc, bom || marked
	return c, err
}

// text is what is to be written: the agent's own text, with the line ends that the
// file had for it, and where somebody else changed the file since, both.
func (a writeFileArgs) text(f *document.File, b *basis) (text, ours string, err error) {
	if b.moved {
		ours = document.KeepLineEnds(b.text, a.Content)
		text, err = b.merge(f, ours)
		if err == nil || !b.proposed {
			return text, ours, err
		}
		b.moved = false // the session knows no text of it: the user is shown what would be replaced now
	}
	if !f.Exists {
		return a.Content, a.Content, nil
	}
	text = document.KeepLineEnds(f.Text, a.Content)
	return text, text, nil
}

// checkFolder says before anyone is asked that there is no folder to write to.
func checkFolder(f change.File) error {
	if f.CreateDirs {
		return nil
	}
	_, err := f.Target.Dir().Stat()
	if errors.Is(err, fault.New(fault.FileNotFound, "")) {
		return fault.New(fault.FileNotFound, "the folder of %s does not exist; set create_dirs to true to create it", fault.Quote(f.Path().String()))
	}
	return err
}

func writeTitle(f change.File) string {
	if f.Operation() == change.Create {
		return "Create " + fault.Quote(f.Path().String())
	}
	return "Replace " + fault.Quote(f.Path().String())
}

// encodingToWrite is encodingNamed, but for encodings in which any bytes stand for a text that does not look like them.
func encodingToWrite(name string) (document.Encoding, error) {
	enc, err := encodingNamed(name)
	if enc.IsStateful() {
		return "", fault.New(fault.EncodingError, "encoding %s cannot be named for writing: as programs read it, it would be another text than the user is shown", fault.Quote(name)).
			WithHint("leave encoding out, which writes UTF-8 and keeps the encoding of a file that is open in the editor; or use run_command with iconv")
	}
	return enc, err
}

// readForWriting is the file as it is, or an absent one.
func readForWriting(in tools.Input, name, encoding string) (*document.File, error) {
	p, err := in.Snapshot.Workspace().Resolve(name)
	if err != nil {
		return nil, err
	}
	if err := tools.RefuseGits(p); err != nil {
		return nil, err
	}
	f, err := in.Snapshot.ReadIfExists(p, "")
	code := fault.CodeOf(err)
	if encoding != "" && (code == fault.EncodingError || code == fault.BinaryFile) { // UTF-16 without a mark looks binary

		enc, lookupErr := document.LookupEncoding(encoding)
		if lookupErr != nil {
			return nil, lookupErr
		}
		f, err = in.Snapshot.ReadIfExists(p, enc)
	}
	return f, err
}

// changedAnswer tells what became of a file; extra holds what only the tool knows.
func changedAnswer(in tools.Input, o change.Outcome, extra changedFile) *tools.Answer {
	r := extra
	r.Path, r.Operation = o.File.Path().String(), o.Operation
	r.Diff = o.File.Diff(o.Hunks)
	r.Merged, r.BackupPath = o.File.Merged, o.Backup
	r.Version, r.Saved, r.Formatted, r.Size = o.Version, o.Saved, o.Formatted, o.Bytes
	r.Additions, r.Deletions = diff.Count(o.Hunks)
	if o.Operation != change.Unchanged {
		r.BytesWritten = o.Bytes
	}
	a := &tools.Answer{Result: r, Text: changedText(in, r), Rest: tools.RestOfDiff, Summary: fmt.Sprintf("%s +%d −%d", fault.Quote(r.Path), r.Additions, r.Deletions)}
	shown := 0
	if most := 6 * (len(o.File.Before.Text) + len(o.File.After.Text) + len(r.Diff)); most >= tools.ShownBytes/3 { // else it fits, however it is escaped
		shown = tools.WireSize(o.File.Before.Text, o.File.After.Text, r.Diff)
	}
	if why := tools.OmitDiff(&r.Diff, &r.DiffOmitted, in.Limits.DiffBytes); why != "" {
		a.Result = r
		a.Text = changedText(in, r) + why
	}
	if shown < tools.ShownBytes/3 {
		a.Display = tools.DisplayDiff(o.Preview())
	}
	return a
}

func changedText(in tools.Input, r changedFile) string {
	name := fault.Quote(r.Path)
	differs := ""
	if r.MergedDiff != "" {
		differs = "\nFrom your text to what the file holds:\n" + r.MergedDiff
	}
	switch {
	case r.Operation == change.Unchanged && (differs != "" || r.Replacements > 0):
		return name + " is unchanged: this change is in it already." + differs
	case r.Operation == change.Unchanged:
		return name + " is unchanged: it already has this content."
	}
	verb := map[change.Operation]string{change.Create: "Created", change.Overwrite: "Changed"}[r.Operation]
	text := fmt.Sprintf("%s %s (+%d −%d).", verb, name, r.Additions, r.Deletions)
	if in.Page > 0 {
		text = strings.TrimSuffix(text, ".") + ", now version " + r.Version + "."
	}
	if !r.Saved {
		text += " The user has unsaved changes in this file: the edit is in their buffer and not on disk."
	}
	if r.Formatted {
		text += " The editor formatted the file on save; the diff shows the result."
	}
	if r.Merged {
		text += " The file had changed since you read it; your change was merged with the newer text, which you have not read."
	}
	return text + backupNote(r.BackupPath) + "\n" + r.Diff + differs
}

// backupNote tells where the text is that was replaced or deleted.
func backupNote(path string) string {
	if path == "" {
		return ""
	}
	return " The old content is in " + fault.Quote(path) + "."
}

// checkShown refuses a change that is too large for a dialog to show, which shows the
// arguments as well.
func checkShown(f change.File, arguments ...string) error {
	return tools.CheckAllShown(change.Set{Files: []change.File{f}}, arguments...)
}
