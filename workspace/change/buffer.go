package change

import (
	"context"
	"time"

	"pillion/internal/fault"
	"pillion/workspace/diff"
	"pillion/workspace/document"
)

// bufferStep changes a file through the editor that has it open. A buffer that
// was clean is saved; one that was not keeps the user's unsaved text, with the
// change in it.
type bufferStep struct {
	file  File
	label string
	// several: the set has other changes as well. A file that was clean and cannot be
	// saved is then a set that cannot be made whole; alone, its text may wait in the buffer.
	several   bool
	committer *Committer

	result BufferResult
	// What was read back after the edit; seen is nil as long as nothing was.
	seen *document.Buffer
	disk diskState
}

// diskState is the file on disk after the edit.
type diskState struct {
	readable bool // as text, in the file's encoding
	text     string
	data     []byte
}

func (b *bufferStep) buffer() *document.Buffer { return b.file.Before.Buffer }

func (b *bufferStep) name() string { return fault.Quote(b.file.Path().String()) }

func (b *bufferStep) stage() error {
	before, after := b.file.Before, b.file.After
	switch {
	case b.committer.Editor == nil:
		return fault.New(fault.PermissionDenied, "%s has unsaved changes, and no editor is open to change it", b.name())
	case after.Encoding != before.Encoding || after.BOM != before.BOM:
		return fault.New(fault.EncodingError, "%s is open in the editor, which saves it as %s", b.name(), before.Encoding).
			WithHint("leave out encoding, or ask the user to save the file as %s", after.Encoding)
	}
	if target, err := b.buffer().Path.Target(); err != nil || target != b.file.Target {
		return moved(b.name()) // the name in the editor leads elsewhere now
	}
	_, err := after.Encode()
	return err
}

// apply is not cut short by a cancelled call: an edit that is on its way is made
// whole, or its failure is known.
func (b *bufferStep) apply(ctx context.Context) error {
	if !b.file.Before.Dirty && b.movedOnDisk() {
		return moved(b.name()) // saving would write over it
	}
	ctx = context.WithoutCancel(ctx)
	if err := b.edit(ctx); err != nil {
		return err
	}
	return b.readBack(ctx)
}

func (b *bufferStep) movedOnDisk() bool {
	data, _, err := b.file.Target.ReadFile(max(b.file.Before.DiskSize, 1))
	if err != nil {
		return b.file.Before.DiskFault == nil && b.file.Before.DiskVersion != document.Absent
	}
	return document.Version(data) != b.file.Before.DiskVersion
}

func (b *bufferStep) edit(ctx context.Context) error {
	var err error
	b.result, err = b.send(ctx, b.buffer(), b.file.After.Text, !b.file.Before.Dirty)
	now := b.current()
	atPlan := now != nil && now.Version == b.buffer().Version && (b.result.Version == 0 || b.result.Version == now.Version)
	switch {
	case err != nil && now != nil && !atPlan && now.Text == b.file.After.Text:
		b.result = BufferResult{Applied: true, Version: now.Version, Dirty: true} // it is made, whatever came after
		return nil
	case err != nil:
		return fault.New(fault.ExecutionFailed, "the editor could not change %s: %w", b.name(), err).
			WithHint("read the file to check it")
	case b.result.Applied:
		return nil
	case atPlan && b.result.Reason != "":
		return fault.New(fault.ExecutionFailed, "the editor did not change %s: %s", b.name(), fault.Escape(b.result.Reason))
	}
	return moved(b.name())
}

func (b *bufferStep) send(ctx context.Context, from *document.Buffer, to string, save bool) (BufferResult, error) {
	return b.committer.Editor.Edit(ctx, BufferEdit{
		URI:     from.URI,
		Version: from.Version,
		Edits:   document.Edits(from.Text, to),
		Save:    save,
		Label:   b.label,
	})
}

// current is the buffer as it is now, nil when the editor closed it.
func (b *bufferStep) current() *document.Buffer {
	if now := b.committer.Documents.Buffer(b.buffer().Path); now != nil && now.URI == b.buffer().URI {
		return now
	}
	return nil
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
		now := b.current()
		switch {
		case now == nil:
			return b.closed()
		case now.Version >= b.result.Version && b.isSettled(now):
			return b.take(now)
		}
		var settled <-chan time.Time
		if now.Version >= b.result.Version {
			settled = time.After(settleTime)
		}
		select {
		case <-changed:
		case <-settled:
			return b.take(now)
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			if now.Version >= b.result.Version {
				return b.take(now)
			}
			return fault.New(fault.ExecutionFailed, "the editor reported a change of %s but never sent the new text; read the file to check it", b.name())
		}
	}
}

const (
	readBackTime = 10 * time.Second
	// settleTime is how long a text that is not what was wanted must stay as it is:
	// an editor without a plugin may tell of one edit in several changes.
	settleTime = 200 * time.Millisecond
)

func (b *bufferStep) isSettled(now *document.Buffer) bool {
	return now.Text == b.file.After.Text || b.buffer().Told || !b.result.Dirty
}

// closed judges an edit whose buffer was closed before anybody looked: by the disk.
func (b *bufferStep) closed() error {
	b.readDisk()
	if !b.result.Dirty && b.disk.readable && b.holds(b.file.After.Text) {
		last := *b.buffer()
		last.Version, last.Text = b.result.Version, b.file.After.Text
		b.seen = &last
		return nil
	}
	return fault.New(fault.ExecutionFailed, "the editor closed %s during the change; read the file to check it", b.name())
}

// take refuses an edit that the editor claims but did not make. A text that
// differs otherwise is a formatter's, or the user typing on.
func (b *bufferStep) take(now *document.Buffer) error {
	before, after := b.file.Before.Text, b.file.After.Text
	switch {
	case now.Text == before && after != before:
		return fault.New(fault.ExecutionFailed, "the editor reported the change of %s as made, but the text is unchanged", b.name()).
			WithHint("the user or a formatter may have undone it")
	case !b.buffer().Told && !isMade(before, after, now.Text):
		return fault.New(fault.ConcurrentModification, "the text of %s changed in the editor at the same moment, and does not contain this change as it was made", b.name()).
			WithHint("read it again, and repeat the change if it is missing")
	}
	b.seen = now
	b.readDisk()
	if b.several && b.isLeftUnsaved() {
		return fault.New(fault.ExecutionFailed, "the editor could not save %s; the file is unchanged", b.name()).
			WithHint("the disk may be full, or the file read-only")
	}
	return nil
}

// isLeftUnsaved: the editor was to save, the user did not type on, and the disk does
// not have the text.
func (b *bufferStep) isLeftUnsaved() bool {
	return !b.file.Before.Dirty && b.result.Dirty && b.seen.Version == b.result.Version && !b.holds(b.seen.Text)
}

// isMade reports whether now has the lines that are new in after, and has not
// those that are gone from it. Editors without a plugin answer "applied" for edits
// that they skipped.
func isMade(before, after, now string) bool {
	old, wanted, have := countLines(before), countLines(after), countLines(now)
	moved := true // nothing but the order of lines was to change
	for line, n := range wanted {
		if n > old[line] {
			moved = false
			if have[line] < n {
				return false
			}
		}
	}
	for line, n := range old {
		if n > wanted[line] {
			moved = false
			if have[line] > wanted[line] {
				return false
			}
		}
	}
	return !moved || now == after
}

func countLines(text string) map[string]int {
	lines := map[string]int{}
	for _, line := range diff.SplitLines(text) {
		lines[line]++
	}
	return lines
}

func (b *bufferStep) readDisk() {
	data, _, err := b.file.Target.ReadFile(maxReadBack)
	if err != nil {
		return
	}
	c, err := document.Decode(data, b.file.Before.Encoding)
	b.disk = diskState{readable: err == nil, text: c.Text, data: data}
}

// maxReadBack bounds the file that is read to tell whether it was saved; editors
// do not keep larger ones in sync.
const maxReadBack = 64 << 20

func (b *bufferStep) holds(text string) bool { return document.Content{Text: b.disk.text}.Same(text) }

// isSaved believes the editor only where the disk cannot be asked.
func (b *bufferStep) isSaved() bool {
	return !b.result.Dirty && (!b.disk.readable || b.holds(b.seen.Text))
}

// undo takes the change out of what the user has made of it since, or leaves it.
func (b *bufferStep) undo(ctx context.Context) error {
	if b.seen == nil {
		return nil
	}
	made := b.file.After.Text
	if b.isExact() {
		made = b.seen.Text // with what a formatter added
	}
	now := b.current()
	if now == nil {
		return fault.New(fault.ExecutionFailed, "%s keeps its change: the editor closed it", b.name())
	}
	back, ok := b.file.Before.Text, true
	if now.Text != made {
		back, ok = Merge(made, back, now.Text)
	}
	if !ok {
		return fault.New(fault.ExecutionFailed, "%s keeps its change: the user edited the same lines", b.name())
	}
	result, err := b.send(ctx, now, back, !b.file.Before.Dirty && now.Text == made)
	if err != nil || !result.Applied {
		return fault.New(fault.ExecutionFailed, "%s keeps its change: the editor did not undo it", b.name())
	}
	b.seen = nil
	return nil
}

// isExact: what was read back is what the editor saved, and nothing that the
// user typed after it answered.
func (b *bufferStep) isExact() bool { return !b.result.Dirty && b.seen.Version == b.result.Version }

func (b *bufferStep) finish() Outcome {
	o := Outcome{
		File:      b.file,
		Operation: b.file.Operation(),
		Hunks:     diff.Hunks(b.file.Before.Text, b.seen.Text, contextLines),
		Saved:     b.isSaved(),
	}
	o.Formatted = o.Saved && b.isExact() && b.seen.Text != b.file.After.Text
	var data []byte
	o.Text, data = b.left()
	o.Bytes, o.Version = len(data), document.Version(data)
	return o
}

// left is the text that was read back, on disk if it was saved.
func (b *bufferStep) left() (text string, data []byte) {
	if b.isSaved() && b.disk.readable {
		return b.disk.text, b.disk.data
	}
	now := b.file.After
	now.Text = b.seen.Text
	return now.Text, bytesOf(now)
}

// bytesOf is a text as it would be saved; what cannot be saved is kept as it is shown.
func bytesOf(c document.Content) []byte {
	data, err := c.Encode()
	if err != nil {
		return []byte(c.Text)
	}
	return data
}

func (b *bufferStep) discard(*remains) {}
