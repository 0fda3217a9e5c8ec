// Package journal keeps what agents changed, so that it can be put back: the bytes
// from before and after each change set, who made it, and what became of it.
//
// Open gives the Store. Store.Begin writes a change set down before it is made and is
// durable when it returns; Pending.Done and Pending.Undone say how it ended, and Store.Made
// writes down what is made already. A change set that has neither, and whose program is
// gone, was interrupted: see Interrupted.
// The store is shared: each program appends to segments of its own (segment.go says
// how they look) and reads everybody's.
//
// Deliberately not here: change sets and how they are made or put back (workspace/
// change), workspaces, agents, the wire. The store knows bytes, paths and entries.
package journal

import (
	"errors"
	"io"
	"io/fs"
	"time"
)

// Origin is whose change set it was.
type Origin struct {
	CallID    string `json:"callId,omitempty"`
	SessionID string `json:"sessionId,omitempty"`
	Agent     string `json:"agent,omitempty"`
	Via       string `json:"via,omitempty"`
	Tool      string `json:"tool,omitempty"`
	Title     string `json:"title,omitempty"`
	// Reverts names the change sets that this one puts back, by ID, with blanks between them.
	Reverts string `json:"reverts,omitempty"`
	Turn    int    `json:"turn,omitempty"`
	Prompt  string `json:"prompt,omitempty"` // how what the user wrote begins that the turn came of
}

// The types of a State.
const (
	TypeFile      = "file"
	TypeDirectory = "directory"
	TypeSymlink   = "symlink"
)

// State is what stands at a path. Of a file to be kept either Data is set, or Path
// for what is too large to be held in memory.
type State struct {
	Type string `json:"type"`
	Data []byte `json:"-"`
	Path string `json:"-"` // absolute: where Begin reads the content from
	// Open, if set, gives the content instead.
	Open func() (io.ReadCloser, error) `json:"-"`
	Mode fs.FileMode                   `json:"mode,omitempty"`
	Link string                        `json:"link,omitempty"` // where a symbolic link leads
	// Encoding of a text, as package document names it; "" where it is not known.
	Encoding string `json:"encoding,omitempty"`
	// Version is the first half of the content's hash, in hex, if it is known: what the
	// store has already is then not hashed again.
	Version string `json:"-"`
	// Unsaved: it is the text of a buffer, which is not on disk.
	Unsaved bool `json:"unsaved,omitempty"`
	// Children are all that a folder held, at any depth, each folder before what is in
	// it. Of a folder that was moved there are none: it still holds them.
	Children []Child `json:"children,omitempty"`

	// Size, Hash (SHA-256 of the content, in hex) and Chunks are filled in by Begin and
	// Done: whoever reads a file again to remove it can tell whether it is the one kept.
	Size   int64    `json:"size,omitempty"`
	Hash   string   `json:"hash,omitempty"`
	Chunks []string `json:"chunks,omitempty"`
}

// Child is an entry of a folder that is kept.
type Child struct {
	Name string `json:"name"` // slash separated, relative to the folder
	State
}

// Record is what happens to one path.
type Record struct {
	Operation string `json:"operation"`
	Name      string `json:"name"` // as tools print it
	Path      string `json:"path"` // absolute, links followed
	To        string `json:"to,omitempty"`
	ToName    string `json:"toName,omitempty"`
	Before    *State `json:"before,omitempty"` // nil: nothing there
	After     *State `json:"after,omitempty"`
	// Over is what a move replaced at To; nil: nothing.
	Over *State `json:"over,omitempty"`
	// Buffer is the user's unsaved text, if there is any.
	Buffer *State `json:"buffer,omitempty"`
	// Temp is the absolute name of a file that is to be swept if nobody did.
	Temp string `json:"temp,omitempty"`
	// MadeFolders are absolute, outermost first.
	MadeFolders []string `json:"madeFolders,omitempty"`
	Additions   int      `json:"additions,omitempty"`
	Deletions   int      `json:"deletions,omitempty"`
}

// EntryState is what became of a change set.
type EntryState string

// The states of an Entry.
const (
	StatePending        EntryState = "pending" // it is being made, or its program is gone
	StateDone           EntryState = "done"
	StateUndone         EntryState = "undone"
	StateInterrupted    EntryState = "interrupted"
	StateReverted       EntryState = "reverted"
	StatePartlyReverted EntryState = "partly_reverted"
)

// Entry is one change set.
type Entry struct {
	Origin
	ID      string     `json:"id"`
	Time    time.Time  `json:"time"`
	Records []Record   `json:"records"`
	State   EntryState `json:"-"`
	Why     string     `json:"-"` // of one that was undone or interrupted
	// Reverted are the paths that a revert has put back.
	Reverted map[string]bool `json:"-"`
	// Unswept: a temporary file that a record names could not be removed.
	Unswept bool `json:"-"`

	segment string
}

// Options are how a Store keeps.
type Options struct {
	MaxBytes int64         // of all segments together; 0: DefaultMaxBytes
	MaxAge   time.Duration // 0: DefaultMaxAge
	NoSync   bool          // a crash of the machine may lose the last changes
}

// What is kept unless the user says otherwise.
const (
	DefaultMaxBytes = 500 << 20
	DefaultMaxAge   = 30 * 24 * time.Hour
)

// ErrSource is wrapped when a file that was to be kept cannot be read.
var ErrSource = errors.New("it cannot be read")

// ErrTooLarge is wrapped when one change set is larger than all that may be kept.
var ErrTooLarge = errors.New("it is larger than the whole journal may be")
