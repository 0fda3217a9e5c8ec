package change

import (
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/handle"
	"pillion/workspace/journal"
)

// displacedFiles holds files that were replaced or deleted open for a while, where the system
// does not tell who has a file open for writing: such a program would go on to write
// into what has no name any more. What it writes goes into the journal, and the user
// is told. Where the system does tell, such a file is not replaced in the first place.
type displacedFiles struct {
	mu   sync.Mutex // guards held
	held int
	// pauses are between the looks; nil: latePauses. Set by tests.
	pauses []time.Duration
}

// latePauses end after six minutes; a program that waits longer is not heard.
var latePauses = []time.Duration{500 * time.Millisecond, 2 * time.Second, 10 * time.Second, 50 * time.Second, 5 * time.Minute}

// maxHeld bounds the files that are held open at a time; of more, the newest are not.
const maxHeld = 64

// displaced is a file that has no name any more.
type displaced struct {
	file    *os.File
	info    fs.FileInfo // as it was seen last
	version string
	path    workspace.Path
	looks   int
}

// holdOn opens the file temp, which is about to be removed, if it is not known that
// nobody writes to it.
func (c *Committer) holdOn(f handle.Folder, temp, version string, path workspace.Path) {
	if temp == "" {
		return
	}
	f.Fails = nil // whatever happens here, the set is made
	_, file, _ := f.OpenRegular(temp)
	if file == nil {
		return
	}
	if _, known := handle.HasWriters(file); known && !f.Blind {
		file.Close()
		return
	}
	c.hold(file, version, path)
}

// hold takes the file over.
func (c *Committer) hold(file *os.File, version string, path workspace.Path) {
	d := &displaced{file: file, version: version, path: path}
	var err error
	d.info, err = file.Stat()
	c.late.mu.Lock()
	defer c.late.mu.Unlock()
	if err != nil || c.Journal.current() == JournalOff || c.late.held >= maxHeld {
		file.Close()
		return
	}
	c.late.held++
	c.late.wait(c, d)
}

func (l *displacedFiles) wait(c *Committer, d *displaced) {
	pauses := l.pauses
	if pauses == nil {
		pauses = latePauses
	}
	if d.looks >= len(pauses) {
		l.held--
		d.file.Close()
		return
	}
	time.AfterFunc(pauses[d.looks], func() {
		c.lookAt(d)
		l.mu.Lock()
		defer l.mu.Unlock()
		d.looks++
		l.wait(c, d)
	})
}

// lookAt keeps what was written since the last look.
func (c *Committer) lookAt(d *displaced) {
	info, err := d.file.Stat()
	if err != nil || info.Size() == d.info.Size() && info.ModTime().Equal(d.info.ModTime()) || info.Size() > maxReadBack {
		return
	}
	d.info = info
	data, err := handle.ReadAll(d.file, info.Size(), maxReadBack)
	if err != nil || document.Version(data) == d.version {
		return
	}
	d.version = document.Version(data)
	name := fault.Quote(d.path.String())
	p, err := c.Journal.Store.Begin(
		journal.Origin{CallID: "late-" + workspace.NewTemp(), Agent: "Pillion", Tool: "late_write", Title: "Text that a program wrote into " + name + " after it was replaced"},
		[]journal.Record{{Operation: "kept", Name: d.path.String(), Path: d.path.Abs(), Before: &journal.State{Type: journal.TypeFile, Mode: info.Mode(), Data: data}}},
	)
	told := fmt.Sprintf("a program that had %s open wrote into it after it was replaced; its text is in the journal, as late_write", name)
	if err == nil {
		err = p.Done(nil)
	}
	if err != nil {
		told = fmt.Sprintf("a program that had %s open wrote into it after it was replaced, and its text could not be kept: %v", name, err)
	}
	c.Journal.report(told)
}
