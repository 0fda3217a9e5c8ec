package tools

import (
	"context"
	"time"

	"pillion/internal/fault"
	"pillion/internal/web"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/tools/session"
	"pillion/tools/skills"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/document"
	"pillion/workspace/git"
	"pillion/workspace/layer"
	"pillion/workspace/lines"
	"pillion/workspace/search"
)

// Input is all that a plan is made from.
type Input struct {
	Snapshot *document.Snapshot
	Session  *session.Session
	Limits   Limits
	Timeout  time.Duration // what the caller allows the call, 0 if it does not say
	Tool     string        // whose plan it is
	Sandbox  Sandbox
	Streams  bool         // the caller takes content in chunks
	Page     int          // Call.PageBytes; where it is set, the text is all that a model gets
	Range    int          // Call.RangeBytes
	Lines    *lines.Cache // where the lines of large files are
	Files    *search.Files
	Git      *git.Reader
	// Languages answers questions about code. Nil: nobody does.
	Languages Languages
	Runners   map[string]Runner
	// LookPath finds a program of the user's, none that the workspace brought along.
	LookPath func(name string) (string, error)
	Memory   workspace.Path                   // as in Settings
	Skills   func(only string) []skills.Skill // as in Settings
	Search   web.Search                       // likewise
	// Draft reads the session's draft.
	Draft func(context.Context) (Drafted, error)
	// Denied says that the settings deny a skill by its name.
	Denied func(skill string) bool
	// Taken is why the session cannot start a process of that name now; nil if it can.
	Taken func(processID string) error
	// Unasked says whether its process of that name was started in a mode that asks for
	// nothing.
	Unasked func(processID string) bool

	// First are the files to be changed as they were in the first plan of the call; empty
	// while that is made.
	First map[workspace.Path]*document.File

	protected func(root workspace.Path) []string // see protectedPaths
	// ChangedBy is the other agent that changed a file last, as far as the journal knows.
	ChangedBy func(p workspace.Path) string
}

// Limits are the sizes of the contract's section 1; all are settings.
type Limits struct {
	ReadBytes   int64
	WriteBytes  int64
	DiffBytes   int64
	OutputBytes int64 // kept of each output stream of a command
	CallTime    time.Duration
	CommandTime time.Duration // default of run_command
	CommandMax  time.Duration
	IndexBytes  int64 // of the index of what is in files
	CodeLab     bool  // see CodeLab
	// CleanPatches: patches only where git has nothing that is not committed.
	CleanPatches bool
}

// DefaultLimits are those of the contract.
var DefaultLimits = Limits{
	ReadBytes:   10 << 20,
	WriteBytes:  5 << 20,
	DiffBytes:   5 << 20,
	OutputBytes: 1 << 20,
	CallTime:    30 * time.Second,
	CommandTime: 120 * time.Second,
	CommandMax:  600 * time.Second,
	IndexBytes:  256 << 20,
}

// Plan is what a call would do: an *Answer, an *Edits or an *Action.
type Plan interface {
	// touches are the paths that policy judges.
	touches() []touch
}

type touch struct {
	path  workspace.Path
	write bool
	file  *document.File // of a write: what is there now
	entry *entry         // of a change of the tree
	// elsewhere is the absolute name of a write that is in no open folder, which then has no path.
	elsewhere string
	// executable: of a write, a file that is made so.
	executable bool
	tracked    bool // of a read: it is of what git has at the path, and through no link
}

// Answer is the plan of a call that only looks, and the outcome of the others.
type Answer struct {
	// Result becomes structuredContent, led by "ok". A struct, an Appender, or nil.
	Result any
	// Text is what the model reads first; Notes follow it, each a part of its own.
	Text    string
	Notes   []string
	Media   []Part // images and audio
	Summary string // one line for the activity list
	Display *Display
	// Reads are the files whose content the answer shows.
	Reads []workspace.Path
	// Shows is of each of Reads the text that the agent gets; nil: it is in Text.
	Shows map[workspace.Path]string
	// Whole, if set, gives the differences in Text with all lines of the files: whether a part is of a key, another may say.
	Whole func() (string, error)
	// Tracked says that Reads are what git has at these paths: files that are gone, links
	// themselves. So no path has to lead anywhere.
	Tracked bool
	// Stream, if set, sends what Result leaves out. It runs once, when all has been
	// decided.
	Stream func(ctx context.Context, send func(Chunk) error) error
	// Saw is what the session knows of files afterwards.
	Saw map[workspace.Path]string
	// Knows is more of it, of files that the call changed.
	Knows map[workspace.Path]Knowledge
	// Lines is what of its one file a reading answer shows, nil for all of it.
	Lines *LinesRead
	// Keeps is a chunk that the session is to remember, chunks the id of those that it
	// may forget.
	Keeps  *KeptPiece
	chunks string
	// caused is what a change did to the diagnostics of its files; nil: nobody knows.
	caused any
	broken []brokenFile
	// problem is the first of what it broke.
	problem *Problem
	// Rest says how to get what a page of Text leaves out; empty: by asking for less.
	Rest string
	// Paged: the tool has made the page, or exactly this much was asked for.
	Paged bool
	// unkept is what the call changed and the journal does not have, as a clause; GoesOn says
	// that it will change more.
	unkept string
	// NotBrought is what a command changed that nobody was asked about, and what is as it was.
	NotBrought []layer.Left
	GoesOn     bool
	// elsewhere is the result as another sidecar has made it, which is all of it.
	elsewhere *Result
	// Err makes the answer a failure that still carries Result.
	Err *fault.Error
}

func (a *Answer) touches() []touch {
	out := make([]touch, 0, len(a.Reads)+1)
	if a.Keeps != nil {
		out = append(out, touch{path: a.Keeps.File, write: true})
	}
	for _, p := range a.Reads {
		out = append(out, touch{path: p, tracked: a.Tracked})
	}
	return out
}

// Edits is the plan of a call that changes files.
type Edits struct {
	Set     change.Set
	Title   string            // what the dialog is headed with
	Reasons []approval.Reason // what the user should know beside the diff
	// AlwaysAsk says that no mode and no rule can give this very call its yes.
	AlwaysAsk bool
	// Reads are files whose content the set brings elsewhere, without changing them.
	Reads []workspace.Path
	// Believes is what the agent has in mind of a file that was merged; the set has that
	// file alone.
	Believes Knowledge
	Chunks   string // the id of the chunks that the set was made from
	Several  bool   // it may be of several files, so that its result names each
	// Draft is of a review of a draft, and Message what the agent says of it.
	Draft   *Drafted
	Message string
	// Learns says of which files the session knows the new text; nil: of all.
	Learns func(change.File) bool
	// Answer tells what became of the set.
	Answer func([]change.Outcome) *Answer
}

// answer tells what became of the set, and what the session knows by it.
func (e *Edits) answer(outcomes []change.Outcome) *Answer {
	a := e.Answer(outcomes)
	a.chunks = e.Chunks
	if a.Knows == nil {
		a.Knows = map[workspace.Path]Knowledge{}
	}
	for _, o := range outcomes {
		if o.Tree != nil || e.Learns != nil && !e.Learns(o.File) {
			continue
		}
		k := Knowledge{Version: o.Version, Encoding: o.File.After.Encoding, Text: o.Text, HasText: true, IsBytes: o.IsBytes}
		if o.File.Merged {
			k = e.Believes
			k.Result = o.Version
		}
		a.Knows[o.File.Path()] = k
	}
	a.Saw = map[workspace.Path]string{}
	for path, k := range a.Knows {
		a.Saw[path] = k.Version
		if k.Result != "" {
			a.Saw[path] = k.Result
		}
	}
	return a
}

// unchanged is the answer of a set that would change nothing: it shows what is
// there, as reading does, and there is nothing to ask about.
func (e *Edits) unchanged() *Answer {
	a := e.answer(e.Set.Unchanged())
	for _, f := range e.Set.Files {
		a.Reads = append(a.Reads, f.Path())
	}
	return a
}

func (e *Edits) touches() []touch {
	out := make([]touch, 0, len(e.Set.Files))
	for _, f := range e.Set.Files {
		out = append(out, touch{path: f.Path(), write: true, file: f.Before, executable: f.Executable})
	}
	for _, c := range e.Set.Tree {
		out = append(out, treeTouches(c)...)
	}
	for _, p := range e.Reads {
		out = append(out, touch{path: p})
	}
	return out
}

// Action is the plan of a call that does something other than change files.
type Action struct {
	Title   string
	Preview approval.Preview
	Command *policy.Command // of a call that runs a command line
	Boxed   bool            // that can run in the box; see Effects.Box
	Layered bool            // that can run there with layers, which are looked at at its end
	Host    string          // of a call that reaches one, as policy has it
	Subject string          // of a call that names what no path is, as policy has it
	Skill   bool            // it loads a skill, whose name is the subject
	Theirs  bool            // which is the project's
	// Definition is of a found tool what policy knows it by.
	Definition string
	Reasons    []approval.Reason
	// Description is a sentence on what this very call would do; empty: the tool's own.
	Description string
	// Covered says that an earlier yes of this session holds for the call too: what the
	// table alone would ask is not asked.
	Covered bool
	// AlwaysAsk says that no mode and no rule can give this very call its yes.
	AlwaysAsk bool
	// Reads are the files whose content goes elsewhere by it, and Tracked as in an Answer.
	Reads   []workspace.Path
	Tracked bool
	// Writes are the files that it has another program write; policy judges them as it does those of Edits.
	Writes  []Written
	written []touch // which these are, once they were looked at
	// Shows makes the preview, once it is known which of Writes come first in it; nil: Preview is whole.
	Shows func([]Shown) approval.Preview
	// Watch are folders in which a change may be one of what the plan rests on.
	Watch []string
	// Run does it. Nothing has happened before, and it is called at most once.
	Run func(ctx context.Context, effects Effects) (*Answer, error)
}

// Because adds a reason for the user to look twice.
func (e *Edits) Because(code, format string, args ...any) {
	e.Reasons = append(e.Reasons, approval.Because(code, format, args...))
}

// Because adds a reason for the user to look twice.
func (a *Action) Because(code, format string, args ...any) {
	a.Reasons = append(a.Reasons, approval.Because(code, format, args...))
}

func (a *Action) touches() []touch {
	out := make([]touch, 0, len(a.Reads))
	for _, p := range a.Reads {
		out = append(out, touch{path: p, tracked: a.Tracked})
	}
	if len(a.written) < len(a.Writes) {
		for _, w := range a.Writes {
			a.written = append(a.written, w.touch())
		}
	}
	return append(out, a.written...)
}

// Chunk is a piece of a file whose content is streamed: whole lines, but where a
// line is longer than a chunk.
type Chunk struct {
	Content   string `json:"content"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
}
