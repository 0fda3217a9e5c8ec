package tools

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pillion/audit"
	"pillion/internal/fault"
	"pillion/internal/web"
	"pillion/tools/approval"
	"pillion/tools/dialects"
	"pillion/tools/found"
	"pillion/tools/policy"
	"pillion/tools/session"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/document"
	"pillion/workspace/git"
	"pillion/workspace/lines"
	"pillion/workspace/search"
)

// Registry is the tools that are on, with all that their calls need. Its fields
// are set once, before the first call.
type Registry struct {
	Documents *document.Store
	Committer *change.Committer
	Approvals *approval.Queue
	Processes Processes
	Human     Human
	// Settings says what holds now; it is asked anew for each plan.
	Settings func() Settings
	// Remember keeps a rule for a folder beyond the session, so that it is one of
	// the folder's own from then on. Nil: there is no such place.
	Remember func(root string, rule policy.Rule) error
	// Languages answers questions about code. Nil: nobody does.
	Languages Languages
	// Agents runs sub-agents. Nil: nobody does.
	Agents Agents
	// Drafts has sessions in mode draft work on drafts. Nil: nobody does.
	Drafts Drafts
	// IsDraft says that the folders are a draft, of the one whose layers are mounted here.
	IsDraft bool
	// Files is the list of files; nil is a list that is always made anew.
	Files *search.Files
	// GitStarter starts the git program to read; nil just starts it. See git.Reader.
	GitStarter git.Starter
	// Web fetches pages.
	Web web.Fetcher
	// Found are the tools of other programs. Nil: there are none.
	Found *found.Set
	// Guarded lists the files and folders that a person has to approve changes of, wherever in the
	// workspace they turn out to be; written are folders of what a call writes. Nil: there are none.
	Guarded func(written []string) []workspace.Guarded
	// SearchPath is where commands look for programs, in any order.
	SearchPath []string
	// LookPath finds a program of the user's, none that the workspace brought along.
	// Nil: there are none.
	LookPath func(name string) (string, error)
	// Activity hears of each call as its state changes; it must not block.
	Activity func(Activity)
	// Audit hears of each call once its result is known; it must not block.
	Audit func(audit.Record)
	// Watch signals ch when one of the files may have changed on disk, until stop
	// is called. It may miss changes: an approval is checked by content in the end.
	Watch func(ch chan<- struct{}, dirs []string) (stop func())

	running   running
	waiting   room
	composing sync.Mutex             // held while a request is composed
	large     sync.Mutex             // held while a plan is made of large arguments
	limits    atomic.Pointer[Limits] // of the latest plan
	protected protectedPaths
	lines     lines.Cache
	shown     shown
}

// Call is one call of a tool.
type Call struct {
	Name      string
	Arguments json.RawMessage
	CallID    string
	Session   *session.Session
	// RequiresApproval: true asks whatever the rules say; it never loosens them.
	RequiresApproval bool
	Timeout          time.Duration // 0: the tool's own
	// Waits hears when the user is asked about the call, and when that is over: before anything is
	// done. Nil: nobody needs to know.
	Waits func(waits bool)
	// Amended gives the arguments that the user wrote, as the tool takes them; nil: as they are.
	Amended func(json.RawMessage) json.RawMessage
	// PageBytes is about how much text the result may have: what is more comes in pages,
	// or is cut and says so, and it has the versions of files, since a model gets nothing
	// else. 0: no limit but the settings'.
	PageBytes int
	// RangeBytes is how much text the lines may have that are asked for exactly. 0: no limit.
	RangeBytes int
	Output     func(stream, text string)
	// Decided hears what the user answered, each time that the call is asked about, before
	// anything is done. If it gives false, nothing is: whoever called does it. Nil: nobody
	// needs to know.
	Decided func(Decision) (here bool)
	// Wrapped: a dialect of Google's agents gives the result as a function response too.
	Wrapped bool
	// Stream takes the content of a file in chunks, and may wait before it takes the
	// next. Nil: the content is in the result.
	Stream func(context.Context, Chunk) error

	tool    Tool  // whose call it is; zero: nobody's
	byUser  bool  // the user wanted it, and has nobody to give reasons to
	refused error // why it could not be translated from its session's dialect
}

// Definitions are all tools, by name; the order never varies.
func (r *Registry) Definitions() []Definition { return r.DefinitionsFiltered(nil) }

// DefinitionsFiltered are the tools named in allowed, in the order of the
// catalogue; nil means all of them, and an empty list none.
func (r *Registry) DefinitionsFiltered(allowed []string) []Definition {
	out := []Definition{}
	for _, t := range Catalogue() {
		if allowed == nil || slices.Contains(allowed, t.Name) {
			out = append(out, t.Definition())
		}
	}
	more, _ := r.foundDefinitions(allowed)
	return append(out, more...)
}

// Need is what a call would need before it could run.
type Need struct {
	Verdict   policy.Verdict    `json:"decision"` // run, ask or refuse
	Reasons   []string          `json:"reasons"`
	Sentence  string            `json:"sentence,omitempty"` // what this call will do, unless it is refused
	Title     string            `json:"title,omitempty"`
	Preview   *approval.Preview `json:"preview,omitempty"`
	Decisions []approval.Choice `json:"decisions,omitempty"`
	Digest    string            `json:"digest,omitempty"`
	Error     *fault.Error      `json:"error,omitempty"`
}

// ApprovalRequest says what approval a call would need, without running it.
func (r *Registry) ApprovalRequest(ctx context.Context, c Call) Need {
	if d, _ := dialects.Find(c.Session.Dialect()); d != nil {
		r.translate(ctx, d, &c)
	}
	p, err := r.prepare(ctx, c)
	if err != nil {
		return Need{Verdict: policy.Refuse, Reasons: []string{err.Error()}, Error: fault.From(err)}
	}
	n := Need{Verdict: p.decision.Verdict, Reasons: reasonTexts(p.reasons())}
	if n.Verdict == policy.Refuse {
		n.Error = p.refusal()
		return n
	}
	request := p.Request()
	n.Sentence = p.sentence(request)
	if n.Verdict == policy.Ask {
		n.Title, n.Preview, n.Decisions, n.Digest = request.Title, &request.Preview, request.Decisions, request.Digest
	}
	return n
}

// Git reads repositories by the user's own git.
func (r *Registry) Git() *git.Reader {
	return &git.Reader{Starter: r.GitStarter, Program: func() string {
		if r.LookPath == nil {
			return ""
		}
		file, _ := r.LookPath("git") //nolint:errcheck // there is none
		return file
	}}
}
