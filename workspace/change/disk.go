package change

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/handle"
	"pillion/workspace/journal"
)

// diskStep replaces a file on disk by compare-and-swap on its content: the new
// text is written beside it and synced, the two names are exchanged, and what
// was displaced is compared with what the plan was made from. If it is something
// else, the names are exchanged back.
//
// A file that has a second hard link loses it, after a yes to that: the other name
// keeps the old text. To write into the file itself would be neither whole at every
// moment nor compared with the plan.
type diskStep struct {
	file      File
	committer *Committer

	data   []byte
	kept   *journal.State // the same, as the journal has it
	folder handle.Folder
	ours   handle.Sighting // of the temporary file
	blind  bool            // somebody may write into what was displaced: nobody tells
	named  string          // what the temporary file is to be called: the journal knows it first
	temp   string          // name in folder, "" when there is none
	placed handle.Sighting // what apply put in the file's place; nothing as long as it did not
	made   []string        // folders that stage made, outermost first
}

func (d *diskStep) name() string { return d.file.Target.Base() }

// creates: there is no file on disk, though there may be a buffer.
func (d *diskStep) creates() bool { return d.file.Before.DiskVersion == document.Absent }

func (d *diskStep) stage() error {
	if err := d.file.Before.DiskFault; err != nil {
		return err
	}
	err := d.encode()
	if err != nil {
		return err
	}
	d.folder, d.made, err = d.committer.system().OpenFolder(d.file.Target.Dir(), d.file.CreateDirs)
	if err == nil {
		err = d.writeTemp()
	}
	// A link came into the way, or a folder went that was there or was made.
	if errors.Is(err, syscall.ENOTDIR) || d.file.CreateDirs && errors.Is(err, fs.ErrNotExist) {
		return moved(fault.Quote(d.file.Path().String()))
	}
	return d.fault(err)
}

// encode makes the bytes that are to be there, once.
func (d *diskStep) encode() error {
	if d.data != nil {
		return nil
	}
	after := d.file.After
	after.Text = d.file.Before.OnDisk(after.Text)
	var err error
	d.data, err = after.View()
	return err
}

func (d *diskStep) writeTemp() error {
	mode := fs.FileMode(0o600) // until it has the mode of the file that it replaces
	if d.creates() {
		mode = d.file.newMode()
	}
	d.temp = d.named
	var f *os.File
	err := d.folder.Try("create", func() (err error) {
		f, err = d.folder.Root.OpenFile(d.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|handle.NonBlocking, mode)
		return err
	})
	if err != nil {
		d.temp = ""
		return err
	}
	defer f.Close()
	if err := d.folder.Write(f, d.data); err != nil {
		return err
	}
	if !d.creates() {
		if err := d.keepAttributes(f); err != nil {
			return err
		}
	}
	if err := d.folder.Calls.Sync(f); err != nil {
		return err
	}
	d.ours.Version = d.version()
	d.ours.Info, err = f.Stat()
	return err
}

// versionLength is that of document.Version.
const versionLength = 32

// version is that of the bytes that are to be there. The journal has hashed them
// already.
func (d *diskStep) version() string {
	if d.kept != nil && len(d.kept.Hash) > versionLength {
		return d.kept.Hash[:versionLength]
	}
	return document.Version(d.data)
}

// keepAttributes gives the new file the mode, owner and extended attributes of
// the one that it replaces.
func (d *diskStep) keepAttributes(f *os.File) error {
	info, old, err := d.folder.OpenRegular(d.name())
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case old == nil:
		return moved(fault.Quote(d.file.Path().String()))
	}
	defer old.Close()
	if d.file.Target.ReadOnly(info) && !d.file.Before.ReadOnly || workspace.HardLinks(info) > 1 && d.file.Before.HardLinks < 2 {
		return moved(fault.Quote(d.file.Path().String())) // to be asked about
	}
	handle.CopyAttributes(old, f)
	mode := handle.KeepOwner(info, f)
	return d.folder.Try("chmod", func() error { return f.Chmod(mode) })
}

func (d *diskStep) apply(context.Context) error {
	if !d.isShownAsPlanned() {
		return moved(fault.Quote(d.file.Path().String()))
	}
	if d.creates() {
		return d.place()
	}
	return d.replace()
}

// isShownAsPlanned: the editor has the file open as it had then, if at all. A
// user who opened it or typed since then gets the change through the editor.
func (d *diskStep) isShownAsPlanned() bool {
	now, then := d.committer.Documents.Buffer(d.file.Target), d.file.Before.Buffer
	return now == nil || then != nil && now.URI == then.URI && now.Version == then.Version
}

func (d *diskStep) place() error {
	switch err := d.folder.Rename(d.temp, d.name()); {
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		return moved(fault.Quote(d.file.Path().String()))
	case err != nil:
		return d.fault(err)
	}
	d.temp, d.placed = "", d.ours
	if err := d.folder.Sync(); err != nil {
		return cmp.Or(d.takeAway(), d.fault(err))
	}
	return nil
}

func (d *diskStep) replace() error {
	if !d.seemsPlanned() {
		return moved(fault.Quote(d.file.Path().String()))
	}
	err := d.folder.Exchange(d.temp, d.name(), func() error {
		if d.isPlanned(d.seen(d.name())) {
			return nil
		}
		return fs.ErrNotExist
	})
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrExist):
		return moved(fault.Quote(d.file.Path().String()))
	case err != nil:
		return d.fault(err)
	}
	d.placed = d.ours
	displaced := d.seenWhenQuiet(d.temp)
	if d.isPlanned(displaced) {
		d.blind = displaced.Blind
		if err = d.folder.Sync(); err == nil {
			return nil
		}
	}
	// Somebody wrote in between, or still does: theirs goes back. Or it does not last.
	if _, failed := d.takeBack(); failed != nil {
		return failed
	}
	switch {
	case displaced.Busy:
		return fault.New(fault.ConcurrentModification, "another program has %s open for writing; it is unchanged", fault.Quote(d.file.Path().String())).
			WithHint("try again when that program is done")
	case err != nil || displaced.Err != nil:
		return d.fault(errors.Join(err, displaced.Err))
	}
	return moved(fault.Quote(d.file.Path().String()))
}

// seemsPlanned spares an exchange that would have to be taken back. It reads the file
// only where its times are not those of the plan.
func (d *diskStep) seemsPlanned() bool {
	info, err := d.folder.Root.Lstat(d.name())
	switch before := d.file.Before; {
	case err != nil || !info.Mode().IsRegular():
		return false
	case info.Size() == before.DiskSize && info.ModTime().Equal(before.Modified):
		return true
	}
	return d.isPlanned(d.seen(d.name()))
}

// isPlanned compares with what the plan was made from.
func (d *diskStep) isPlanned(s handle.Sighting) bool {
	return !s.Busy && s.Version != "" && s.Version == d.file.Before.DiskVersion
}

func (d *diskStep) seen(name string) handle.Sighting {
	return d.folder.Look(name, d.limit(), false, d.planned())
}

func (d *diskStep) seenWhenQuiet(name string) handle.Sighting {
	return d.folder.Look(name, d.limit(), true, d.planned())
}

// planned is what the plan was made from, where its text is its bytes.
func (d *diskStep) planned() handle.Content {
	before := d.file.Before
	if before.Source != document.FromDisk || before.Encoding != document.UTF8 || before.BOM {
		return handle.Content{}
	}
	return handle.Content{Bytes: before.Text, Version: before.DiskVersion}
}

// limit is the size of what is worth reading: longer files are none that is known.
func (d *diskStep) limit() int64 { return max(d.file.Before.DiskSize, int64(len(d.data))) }

func (d *diskStep) undo(context.Context) error {
	if d.placed.Info == nil {
		return nil
	}
	if d.creates() {
		return d.takeAway()
	}
	ours, err := d.takeBack()
	if err == nil && !ours {
		err = d.stays()
	}
	return err
}

func (d *diskStep) stays() error {
	return fault.New(fault.ExecutionFailed, "%s was left as it is: somebody wrote to it after this change", fault.Quote(d.file.Path().String()))
}

// takeBack exchanges the names back. When something else than ours comes out,
// somebody has replaced ours meanwhile: theirs is newer than what was just put
// back, and takes its place in turn; it then reports false.
func (d *diskStep) takeBack() (ours bool, err error) {
	expected := d.placed
	for turn := range maxTurns {
		back := d.seen(d.temp)
		err := d.folder.Exchange(d.temp, d.name(), handle.Anything)
		if errors.Is(err, fs.ErrNotExist) {
			d.placed = handle.Sighting{}
			return true, nil // they removed the file, and so it shall be
		}
		if err != nil {
			break
		}
		came := d.seenWhenQuiet(d.temp)
		if came.Err != nil && came.Version == "" && turn == 0 && !came.Is(expected) {
			return true, d.leave() // it may be ours or not; what was there before is back
		}
		if came.Is(expected) {
			d.placed = handle.Sighting{}
			d.folder.Sync() //nolint:errcheck // there is nothing else to go back to
			return turn == 0, nil
		}
		expected = back
	}
	return false, d.rescue()
}

// maxTurns bounds the race with somebody who replaces the file all the time.
const maxTurns = 100

// rescue leaves the temporary file, which holds somebody's text, and says so.
func (d *diskStep) rescue() error {
	kept := d.file.Target.Dir().Join(d.temp).String()
	d.temp, d.placed = "", handle.Sighting{}
	return fault.New(fault.ExecutionFailed, "%s could not be restored; its former text is in %s",
		fault.Quote(d.file.Path().String()), fault.Quote(kept))
}

// leave keeps what came out, for it could not be looked at.
func (d *diskStep) leave() error {
	kept := d.file.Target.Dir().Join(d.temp).String()
	d.temp, d.placed = "", handle.Sighting{}
	return fault.New(fault.ExecutionFailed, "%s is unchanged; a temporary version could not be checked and is in %s",
		fault.Quote(d.file.Path().String()), fault.Quote(kept))
}

// takeAway removes the file that was created, if it still is as it was.
func (d *diskStep) takeAway() error {
	placed := d.placed
	d.placed = handle.Sighting{}
	if err := d.folder.Rename(d.name(), d.named); err != nil {
		return nil //nolint:nilerr // somebody was first
	}
	d.temp = d.named
	came := d.seenWhenQuiet(d.temp)
	if came.Is(placed) {
		return nil
	}
	if came.Err != nil {
		return d.leave()
	}
	if err := d.folder.Rename(d.temp, d.name()); err != nil {
		return d.rescue()
	}
	d.temp = ""
	return d.stays()
}

func (d *diskStep) finish() Outcome {
	d.made = nil
	return Outcome{
		File:      d.file,
		Operation: d.file.Operation(),
		Hunks:     d.file.Hunks(),
		Bytes:     len(d.data),
		Version:   d.ours.Version,
		Text:      d.file.After.Text,
		IsBytes:   string(d.data) == d.file.After.Text,
		Saved:     true,
	}
}

// discard removes the temporary file, which after an exchange holds the old
// content, and the folders that a failed change made.
func (d *diskStep) discard(left *remains) {
	if d.folder.Root != nil {
		if d.temp != "" {
			if d.blind && d.placed.Info != nil {
				d.committer.holdOn(d.folder, d.temp, d.file.Before.DiskVersion, d.file.Target)
			}
			left.temp(d.file.Target.Dir().Join(d.temp), d.folder.RemoveOne(d.temp))
		}
		d.folder.Close()
	}
	d.committer.unmakeFolders(d.file.Target, d.made, left)
}

func (d *diskStep) fault(err error) error {
	var known *fault.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	name := fault.Quote(d.file.Path().String())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.FileNotFound, "the folder of %s does not exist; create it first", name)
	case errors.Is(err, fs.ErrPermission):
		return fault.New(fault.PermissionDenied, "permission denied: %s or its folder cannot be written", name)
	}
	return fault.New(fault.ExecutionFailed, "%s could not be written: %w; it is unchanged", name, handle.Cause(err))
}
