package change

import (
	"context"
	"time"

	"pillion/internal/fault"
	"pillion/workspace/diff"
	"pillion/workspace/document"
)

// bufferStep changes a file through the editor that has it open. A buffer that
// was clean is saved; one that was not keeps the human's unsaved text, with the
// change in it.
type bufferStep struct {
	file      File
	label     string
	committer *Committer

	result BufferResult
	text   string // read back after the edit
}

func (b *bufferStep) stage() error {
	if b.file.Before.Behind {
		return moved(b.file)
	}
	if _, err := b.file.After.Encode(); err != nil {
		return err
	}
	return nil
}

func (b *bufferStep) apply(ctx context.Context) error {
	result, err := b.edit(ctx, b.file.Before.Buffer.Version, b.file.Before.Text, b.file.After.Text, !b.file.Before.Dirty)
	if err != nil {
		return err
	}
	b.result = result
	return b.readBack(ctx)
}

func (b *bufferStep) edit(ctx context.Context, version int32, from, to string, save bool) (BufferResult, error) {
	result, err := b.committer.Editor.Edit(ctx, BufferEdit{
		URI:     b.file.Before.Buffer.URI,
		Version: version,
		Edits:   document.Edits(from, to),
		Save:    save,
		Label:   b.label,
	})
	name := fault.Quote(b.file.Path().String())
	switch {
	case err != nil:
		return result, fault.New(fault.ExecutionFailed, "the editor could not change %s: %w", name, err)
	case !result.Applied && b.current(version) == from && result.Reason != "":
		return result, fault.New(fault.ExecutionFailed, "the editor did not change %s: %s", name, fault.Escape(result.Reason))
	case !result.Applied:
		return result, moved(b.file)
	}
	return result, nil
}

// current is the text of the open buffer if it is still at this version.
func (b *bufferStep) current(version int32) string {
	if now := b.committer.Documents.Buffer(b.file.Path()); now != nil && now.Version == version {
		return now.Text
	}
	return ""
}

// readBack waits until the editor's own notifications have brought the buffer to
// the version that it reported, and takes the text from there: what the editor
// says it applied is not believed.
func (b *bufferStep) readBack(ctx context.Context) error {
	changed := make(chan struct{}, 1)
	defer b.committer.Documents.Notify(changed)()
	deadline := time.NewTimer(readBackTime)
	defer deadline.Stop()
	for {
		now := b.committer.Documents.Buffer(b.file.Path())
		if now != nil && now.Version >= b.result.Version {
			b.text = now.Text
			return b.verify()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return fault.New(fault.ExecutionFailed, "the editor said that it changed %s but never showed the new text; read the file to see what is there",
				fault.Quote(b.file.Path().String()))
		}
	}
}

const readBackTime = 10 * time.Second

// verify refuses an edit that the editor claims but did not make. A text that
// differs from both is a formatter's, or the human typing on.
func (b *bufferStep) verify() error {
	if b.text == b.file.Before.Text && b.file.After.Text != b.file.Before.Text {
		return fault.New(fault.ExecutionFailed, "the editor reported the change of %s as made but the text is as before",
			fault.Quote(b.file.Path().String()))
	}
	return nil
}

func (b *bufferStep) undo(ctx context.Context) {
	now := b.committer.Documents.Buffer(b.file.Path())
	if now == nil || now.Text != b.text {
		return // the human went on typing: that text is theirs
	}
	b.edit(ctx, now.Version, b.text, b.file.Before.Text, !b.file.Before.Dirty) //nolint:errcheck // nothing is left to try
}

func (b *bufferStep) finish() Outcome {
	now := b.file.After
	now.Text = b.text
	data, err := now.Encode()
	if err != nil {
		data = []byte(b.text)
	}
	hunks := diff.Hunks(b.file.Before.Text, b.text, contextLines)
	return Outcome{
		File:      b.file,
		Operation: b.file.Operation(),
		Hunks:     hunks,
		Bytes:     len(data),
		Version:   document.Version(data),
		Saved:     !b.result.Dirty,
		Formatted: b.text != b.file.After.Text && !b.result.Dirty,
	}
}

func (b *bufferStep) discard() {}
