// Package language is what can be asked about code, and what the answers look like.
//
// Of says which language a file is in. The other types are the questions and answers
// that pass between the tools and whoever knows the code: a language server of ours
// (package lspbridge) or the editor's own. Positions count from 0, characters in
// UTF-16 code units, as LSP does; LSP's own types stop where they are decoded.
//
// Deliberately not here: asking anybody anything.
package language

import (
	"encoding/json"
	"time"

	"pillion/workspace"
	"pillion/workspace/document"
)

// ServerStatus is how the server of a language stands: server_status of the results.
type ServerStatus string

// The states of a server.
const (
	Running      ServerStatus = "running"
	Starting     ServerStatus = "starting"
	Restarting   ServerStatus = "restarting"
	Editor       ServerStatus = "editor" // the editor's own server answered
	NotInstalled ServerStatus = "not_installed"
	Failed       ServerStatus = "failed"
)

// Server is who answered, or should have.
type Server struct {
	Name   string // as people call it: pylsp
	Status ServerStatus
}

// Freshness is what is known of a list of diagnostics. Only Fresh says that they are
// about the text as it is; an empty list is "clean" with Fresh alone.
type Freshness string

// What can be known.
const (
	Fresh         Freshness = "fresh"
	Stale         Freshness = "stale"          // of an older text, or nobody knows of which
	TimedOut      Freshness = "timeout"        // nothing came in time
	NoServer      Freshness = "no_server"      // none for this language, or none that reports
	LinterMissing Freshness = "linter_missing" // the server runs, the program that finds faults is not there
	Interrupted   Freshness = "restarting"
)

// Severity is LSP's.
type Severity int

// LSP's severities.
const (
	Error Severity = iota + 1
	Warning
	Information
	Hint
)

func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	case Information:
		return "information"
	case Hint:
		return "hint"
	}
	return "error" // LSP leaves it to the client; nothing is played down
}

// Diagnostic is one fault that a server found. Two are the same if they are equal.
type Diagnostic struct {
	Range    document.Range `json:"range"`
	Severity Severity       `json:"severity"`
	Code     any            `json:"code,omitempty"` // a string or a json.Number
	Source   string         `json:"source,omitempty"`
	Message  string         `json:"message"`
}

// Report is what is known of one file.
type Report struct {
	Server      Server
	Diagnostics []Diagnostic
	Freshness   Freshness
	Version     int32         // of the document as the server was told it, 0 if nobody knows
	Age         time.Duration // since they came
	Hint        string        // what to do about a missing server or linter
}

// Location is a place in a file. One outside the workspace has no Path, and shows
// what stands there.
type Location struct {
	URI     string
	Path    workspace.Path // zero outside
	Range   document.Range
	Excerpt string
}

// Symbol is a name that a file defines.
type Symbol struct {
	Name      string
	Detail    string
	Kind      string // LSP's symbol kind in a word: function
	Container string
	Location  Location
	Children  []Symbol
}

// FileEdits are the changes of one file, as a rename or an action asks for them.
type FileEdits struct {
	Path  workspace.Path
	Edits []document.TextEdit
}

// Action is one of the things that a server offers to do.
type Action struct {
	Title     string
	Kind      string // LSP's: quickfix, refactor.extract, source.organizeImports
	Preferred bool
	Disabled  string // why it cannot be done, "" if it can
	Edits     []FileEdits
	// Resolvable: its edits are known only once it is asked about.
	Resolvable bool
	Index      int             // its place in the server's list
	Own        json.RawMessage // as the server gave it: what it resolves
}

// Caused is what a change of one file did to its diagnostics.
type Caused struct {
	Server    Server
	Freshness Freshness // of what follows: nothing is said to be fixed that is not Fresh
	New       []Diagnostic
	Fixed     []Diagnostic
	Remaining int
	// Compared: what was wrong before is known. If not, New are those on changed lines.
	Compared bool
	// Elsewhere are files that were not changed, and in which the server found more. There may
	// be others, at which it was not asked to look, or has not in time.
	Elsewhere []Elsewhere
}

// Elsewhere is a file that was not changed, with the errors and warnings that are new.
type Elsewhere struct {
	Path workspace.Path
	New  []Diagnostic
}
