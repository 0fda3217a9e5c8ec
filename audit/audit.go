// Package audit keeps a log of every call: who called what, who allowed it, and what
// became of it. Never what a file holds or a command printed.
//
// Open gives the Log. Append never waits: a goroutine of the Log's own writes, a few
// times a second. All sidecars of a user write into one file, a line of JSON for each
// call, under a lock. Each line names the one before by its hash, over the ends of
// files, restarts and sidecars, so that a line that was changed, removed or moved is
// found by Verify. See chain.go for what the chain proves, and what it does not.
//
// Deliberately not here: what a call is, and deciding anything.
package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// Record is one call.
type Record struct {
	Time    time.Time `json:"time"`
	Session string    `json:"session"`
	Agent   string    `json:"agent"`
	Via     string    `json:"via,omitempty"`
	Call    string    `json:"call"`
	Tool    string    `json:"tool"`
	Access  string    `json:"access,omitempty"`
	Folder  string    `json:"folder,omitempty"` // of the first path, else the workspace's first; absolute
	Paths   []string  `json:"paths,omitempty"`  // as tools print them
	More    int       `json:"more,omitempty"`   // paths and files that are left out
	// Command is the command line; CommandHash stands for it where the settings want
	// it so.
	Command     string `json:"command,omitempty"`
	CommandHash string `json:"command_hash,omitempty"`
	// Decision is run, ask or refuse, empty where it did not come to one. By is who
	// decided: mode, rule, grant (an earlier yes), policy, human or nobody.
	Decision string `json:"decision,omitempty"`
	By       string `json:"by,omitempty"`
	Answer   string `json:"answer,omitempty"` // the user's: approve, edit, reject, cancel
	Why      string `json:"why,omitempty"`    // of a refusal
	Outcome  string `json:"outcome"`          // done or failed
	Code     string `json:"code,omitempty"`
	MS       int64  `json:"ms"`
	Bytes    int    `json:"bytes"` // of the result, or of what was written
	Files    []File `json:"files,omitempty"`
	// Deleted is how many files were deleted or emptied.
	Deleted int `json:"deleted,omitempty"`
	// Protected: it was about a path that is protected, or that no agent may reach.
	Protected bool `json:"protected,omitempty"`
}

// File is what became of one file. Before and After are versions as tools show them.
type File struct {
	Path      string `json:"path"`
	To        string `json:"to,omitempty"`
	Operation string `json:"operation"`
	Before    string `json:"before,omitempty"`
	After     string `json:"after,omitempty"`
}

// Options are how much is kept.
type Options struct {
	FileBytes int64 // of one file; 0: DefaultFileBytes
	Files     int   // at most, the newest; 0: DefaultFiles
}

// What is kept unless a test says otherwise.
const (
	DefaultFileBytes = 10 << 20
	DefaultFiles     = 10
)

const (
	maxWaiting = 8192                   // calls that wait to be written
	delay      = 200 * time.Millisecond // in which calls are gathered
	lockTime   = 2 * time.Second
)

// Log is one program's way to the log. A nil Log keeps nothing.
type Log struct {
	dir     string
	options Options
	logf    func(format string, args ...any)

	writing sync.Mutex // held by whoever writes; guards told
	told    bool

	mu      sync.Mutex // guards all below
	waiting []Record
	dropped int // calls that found no place
	timer   *time.Timer
	closed  bool
}

// Open gives the log in a folder of its own, which is made when there is something to
// write.
func Open(dir string, o Options, logf func(format string, args ...any)) *Log {
	if o.FileBytes <= 0 {
		o.FileBytes = DefaultFileBytes
	}
	if o.Files <= 0 {
		o.Files = DefaultFiles
	}
	return &Log{dir: dir, options: o, logf: logf}
}

// Append takes a call down. It does not wait: where more comes than can be written,
// the log says how many are missing.
func (l *Log) Append(r Record) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return
	case len(l.waiting) >= maxWaiting:
		l.dropped++
		return
	}
	l.waiting = append(l.waiting, r)
	if l.timer == nil {
		l.timer = time.AfterFunc(delay, l.Flush)
	}
}

// Flush writes what waits.
func (l *Log) Flush() {
	if l == nil {
		return
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	batch, dropped := l.waiting, l.dropped
	l.waiting, l.dropped, l.timer = nil, 0, nil
	l.mu.Unlock()
	if len(batch) == 0 && dropped == 0 {
		return
	}
	err := l.write(batch, dropped)
	if err == nil {
		l.told = false
		return
	}
	l.mu.Lock()
	l.dropped += dropped + len(batch)
	l.mu.Unlock()
	if !l.told {
		l.told = true
		l.logf("cannot write calls to the audit log: %v", err)
	}
}

// Close writes what waits, and takes nothing more.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	l.closed = true
	if l.timer != nil {
		l.timer.Stop()
	}
	l.mu.Unlock()
	l.Flush()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting, l.dropped = nil, 0 // a Flush that the timer began in the meantime has nothing left to do
	return nil
}

// write appends to the file that all share, whoever wrote last.
func (l *Log) write(batch []Record, dropped int) error {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	unlock, err := lock(l.dir)
	if err != nil {
		return err
	}
	defer unlock()
	end, err := findEnd(l.dir)
	if err != nil {
		return err
	}
	out := &appender{dir: l.dir, options: l.options, end: end}
	defer out.close()
	if dropped > 0 {
		if err := out.add(entry{Time: time.Now(), Dropped: dropped}); err != nil {
			return err
		}
	}
	for i := range batch {
		if err := out.add(entry{Record: &batch[i]}); err != nil {
			return err
		}
	}
	return out.finish()
}

// lock keeps other programs out. It is no part of what it guards, so that it can stay
// when files are renamed.
func lock(dir string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), lockTime)
	defer cancel()
	one := flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))
	switch held, err := one.TryLockContext(ctx, 5*time.Millisecond); {
	case err != nil:
		return nil, fmt.Errorf("another program has the audit log locked: %w", err)
	case !held:
		return nil, fmt.Errorf("another program has the audit log locked")
	}
	return func() { one.Unlock() }, nil //nolint:errcheck // it ends with the program
}

// entry is a line: a call, or what is to be said of the log itself.
type entry struct {
	N    int64  `json:"n"`
	Prev string `json:"prev"`
	*Record
	Time    time.Time `json:"time,omitzero"`     // where there is no Record
	Dropped int       `json:"dropped,omitempty"` // calls before this that are missing
	Torn    bool      `json:"torn,omitempty"`    // the line before was not written to its end
}

func (e entry) bytes() ([]byte, error) {
	if e.Record != nil {
		e.Time = e.Record.Time
	}
	line, err := json.Marshal(e)
	return append(line, '\n'), err
}
