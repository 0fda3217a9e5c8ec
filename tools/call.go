package tools

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/tools/dialects"
	"pillion/tools/found"
	"pillion/tools/policy"
	"pillion/tools/schema"
	"pillion/tools/session"
	"pillion/workspace/change"
	"pillion/workspace/journal"
)

// execute is Execute of a canonical call. The summary is for people.
func (r *Registry) execute(ctx context.Context, c Call) (result Result, summary string) {
	if c.CallID == "" {
		c.CallID = rand.Text()
	}
	if c.Output == nil {
		c.Output = func(string, string) {}
	}
	started := time.Now()
	ctx, leave := r.running.enter(ctx, c)
	defer leave()
	r.resolve(ctx, &c)
	c.Session.Begin()
	r.report(c, nil, Activity{State: Queued}, started)
	var answer *Answer
	var p *pending
	var err error
	if r.goesToDraft(c) {
		answer, err = r.inDraft(ctx, c, started)
	} else if p, err = r.admit(ctx, c); err == nil {
		answer, err = r.run(ctx, p, started)
	}
	if err != nil {
		answer = failed(c, err)
	}
	answer.noteStopped(ctx)
	result = c.tool.result(answer)
	if !answer.Paged {
		result.page(c.PageBytes, answer.Rest)
	}
	if answer.elsewhere == nil && c.tool.onDraft() && (r.IsDraft || r.goesToDraft(c)) {
		result.add("draft", true)
	}
	result.Deed = c.tool.Access != policy.Read
	result.addChangedOutside(r.changedOutside(c.Session, started))
	result.addTodosChanged(c.Session.TodosNews())
	result.addCausedLater(c.Session.TakeLater())
	c.Session.Count(p.counts(answer.Err))
	state := Done
	if result.IsError {
		state = Failed
	}
	r.report(c, p, Activity{State: state, Summary: answer.summary(), Shows: r.shown.keep(c, answer.Display), Problem: answer.problem}, started)
	if r.Audit != nil {
		r.Audit(r.audited(c, p, answer, result, started))
	}
	return result, answer.summary()
}

// failed is the answer of a call that came to nothing. Of a file that was to be
// changed it still says which.
func failed(c Call, err error) *Answer {
	a := &Answer{Err: fault.From(err)}
	if named := namedBy(c); named != (namedFiles{}) {
		a.Result = named
	}
	return a
}

// namedFiles are what the arguments of an edit name.
type namedFiles struct {
	Path string `json:"path,omitempty"`
	From string `json:"from,omitempty"` // of a move
	To   string `json:"to,omitempty"`
}

func namedBy(c Call) (named namedFiles) {
	if c.tool.Access != policy.Edit || json.Unmarshal(c.Arguments, &named) != nil {
		return namedFiles{}
	}
	return named
}

func (a *Answer) summary() string {
	if a.Err != nil {
		return a.Err.Message
	}
	return a.Summary
}

// run takes a call from its plan to its answer.
func (r *Registry) run(ctx context.Context, p *pending, started time.Time) (*Answer, error) {
	c := p.call
	p.warm()
	switch p.decision.Verdict {
	case policy.Refuse:
		return nil, p.refusal()
	case policy.Ask:
		if err := r.approve(ctx, p, started); err != nil {
			p.dropChunks(nil, err)
			return p.ended(err)
		}
	}
	r.report(c, p, Activity{State: Running, Summary: p.title()}, started)
	answer, err := r.do(ctx, p, started)
	if err != nil {
		return p.ended(err)
	}
	p.noteAmended(answer)
	if err := p.learn(answer); err != nil {
		return nil, err
	}
	p.dropChunks(answer, nil)
	p.noteNext(answer)
	p.noteBroken(answer)
	p.noteCaused(ctx, answer)
	return answer, nil
}

// ended is what a call comes to that was given up with an error: of a plan that cannot be
// made any more what it would have answered, which says more.
func (p *pending) ended(err error) (*Answer, error) {
	var over settled
	switch {
	case errors.As(err, &over):
		return over.answer, nil
	case p.gone != nil && err == error(p.gone.Err):
		return p.gone, nil
	case errors.Is(err, errElsewhere):
		return &Answer{Summary: "approved; the agent does it itself"}, nil
	}
	return nil, err
}

func paused(s *session.Session) error {
	reason, paused := s.Paused()
	if !paused {
		return nil
	}
	return fault.New(fault.Cancelled, "this session is paused: %s", reason).
		WithHint("stop here and wait until the user resumes the session")
}

// admit counts the call and plans it. What can only look is counted first: its plan
// is all its work. Any other call is counted by its plan: one that would change
// nothing, or came to no plan, has looked.
func (r *Registry) admit(ctx context.Context, c Call) (*pending, error) {
	if err := paused(c.Session); err != nil {
		return nil, err
	}
	access := c.tool.Access
	looks := access == policy.Read || access == policy.Session || access == policy.Human || access == ""
	if looks {
		if err := allowRate(c, session.Reads); err != nil {
			return nil, err
		}
	}
	p, err := r.prepare(ctx, c)
	if looks || p == nil {
		return p, err
	}
	if _, only := p.plan.(*Answer); access == policy.VCS && !only && !r.IsDraft && InDraft(c.Session) && r.hasDraft(ctx, DraftOwner(c.Session)) {
		return p, fault.New(fault.PolicyDenied, "the draft has changes that the repository does not know").WithHint("call submit_changes first: what the user takes is in the workspace then")
	}
	kind := session.Changes
	if _, only := p.plan.(*Answer); only || err != nil {
		kind = session.Reads
	}
	if over := allowRate(c, kind); over != nil {
		return p, over
	}
	return p, err
}

func allowRate(c Call, kind session.Kind) error {
	wait, ok := c.Session.Allow(kind)
	if ok {
		return nil
	}
	return fault.New(fault.RateLimited, "too many calls in the last minute; wait %d ms", wait.Milliseconds()).
		With("retry_after_ms", wait.Milliseconds())
}

// ask is the program's one approval site.
func (r *Registry) ask(ctx context.Context, p approval.Plan) (approval.Answer, error) {
	return r.Approvals.Ask(ctx, p)
}

// approve asks the user about the plan.
func (r *Registry) approve(ctx context.Context, p *pending, started time.Time) (err error) {
	leave, err := r.waiting.reserve(p.weight())
	if err != nil {
		return err
	}
	defer leave()
	r.report(p.call, p, Activity{State: Waiting, Summary: p.title()}, started)
	stop := p.watch()
	defer stop()
	if p.call.Waits != nil {
		p.call.Waits(true)
		defer func() {
			if err == nil { // else it ends, and nothing was done
				p.call.Waits(false)
			}
		}()
	}
	answer, err := r.ask(ctx, p)
	p.noteAnswer(answer, err)
	switch {
	case errors.Is(err, approval.ErrUnavailable):
		return fault.New(fault.ApprovalUnavailable, "this call needs the user's approval and nobody could be asked: %w", err)
	case errors.Is(err, approval.ErrExpired):
		return fault.New(fault.UserRejected, "nobody answered the approval in time; nothing was changed")
	case err != nil:
		return err
	}
	return p.decided(ctx, answer, p.take(ctx, answer))
}

// do carries the plan out. Edits whose file moved in the last moment are planned
// again, and made if they still are the edits that were approved.
func (r *Registry) do(ctx context.Context, p *pending, started time.Time) (*Answer, error) {
	for attempt := 0; ; attempt++ {
		if err := p.checkFolders(); err != nil {
			return nil, err
		}
		var edits *Edits
		switch plan := p.plan.(type) {
		case *Answer:
			p.warmRead(plan)
			return plan, p.stream(ctx, plan)
		case *Action:
			switch held, err := r.stillHolds(ctx, p, started); {
			case err != nil:
				return nil, err
			case !held && attempt < maxReplans:
				continue
			case !held:
				return nil, fault.New(fault.ConcurrentModification, "the files that the command runs keep changing; nothing was run")
			}
			return plan.Run(ctx, Effects{
				Processes: r.processesOf(p.call.Session), Human: r.Human, Output: p.call.Output, Snapshot: p.takeSnapshot, Fetch: p.fetch, Search: p.search,
				Agents: r.Agents, Found: p.callFound, Observe: p.observe, ReadsGit: p.decision.ReadsGit, Box: p.boxed(), Apart: p.decision.Apart, Layer: p.layer(),
			})
		case *Edits:
			edits = plan
		}
		answer, err := r.commit(ctx, p, edits)
		if !errors.Is(err, change.ErrMoved) || attempt == maxReplans {
			return answer, err
		}
		continuity, err := p.renew(ctx)
		if err != nil {
			return nil, err
		}
		if continuity == approval.Different && p.decision.Verdict != policy.Run {
			if err := r.approve(ctx, p, started); err != nil {
				return nil, err
			}
		}
	}
}

// stillHolds says whether what the user said yes to is still what is there: the
// scripts that a command names are as they were. If not it has asked again.
func (r *Registry) stillHolds(ctx context.Context, p *pending, started time.Time) (bool, error) {
	if p.digest == "" || !r.Documents.Moved(p.snapshot) {
		return true, nil
	}
	continuity, err := p.renew(ctx)
	if err == nil && continuity == approval.Different && p.decision.Verdict == policy.Ask {
		err = r.approve(ctx, p, started)
	}
	return false, err
}

// maxReplans bounds the race with somebody who changes the file all the time.
const maxReplans = 5

func (r *Registry) commit(ctx context.Context, p *pending, edits *Edits) (*Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout())
	defer cancel()
	outcomes, err := r.Committer.Commit(ctx, edits.Set, p.origin())
	if err != nil {
		return nil, err
	}
	if edits.Draft != nil {
		outcomes = slices.DeleteFunc(outcomes, func(o change.Outcome) bool { return o.Tree == nil && o.File.Before == nil }) // links
		edits.Draft.comments, edits.Draft.took = p.comments, p.human
	}
	p.outcomes = outcomes
	answer := edits.answer(outcomes)
	p.noteHumanEdit(answer, outcomes)
	if edits.Draft != nil {
		if err := p.settleDraft(outcomes); err != nil {
			answer.Notes = append(answer.Notes, "(what was applied may still be in the draft: "+fault.From(err).Message+")")
		}
	}
	return answer, nil
}

// origin is whose change it is, for the journal.
func (p *pending) origin() journal.Origin {
	agent, turn := p.call.Session.Agent(), p.call.Session.Turn()
	return journal.Origin{
		CallID: p.call.CallID, SessionID: p.call.Session.ID(), Turn: turn, Prompt: p.call.Session.Prompt(turn),
		Agent: agent.Name, Via: agent.Via, Tool: p.tool.Name, Title: p.title(),
	}
}

// stream sends what the answer leaves out of its result.
func (p *pending) stream(ctx context.Context, a *Answer) error {
	if a.Stream == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.timeout())
	defer cancel()
	return a.Stream(ctx, func(c Chunk) error { return p.call.Stream(ctx, c) })
}

// Execute is the one door. Whatever side a call comes from, and whatever its session
// calls the tools, it is found, decoded, planned, judged, approved if need be, checked
// once more, and done behind it. It never fails as such: what went wrong is in the result.
func (r *Registry) Execute(ctx context.Context, c Call) Result {
	d, _ := dialects.Find(c.Session.Dialect())
	if d == nil {
		result, _ := r.execute(ctx, c)
		return result
	}
	call := r.translate(ctx, d, &c)
	result, summary := r.execute(ctx, c)
	return translated(d, call, result, dialects.Outcome{Summary: summary, Wrapped: c.Wrapped})
}

// translate makes a dialect's call the canonical one. A tool that was found has its own
// name and arguments in every dialect.
func (r *Registry) translate(ctx context.Context, d *dialects.Dialect, c *Call) dialects.Call {
	t := d.Tool(c.Name)
	if t == nil && catalogue[canonical(c.Name)].Name == "" {
		if r.resolve(ctx, c); c.tool.Name != "" || c.refused != nil {
			return d.Found(c.Name)
		}
	}
	if t == nil {
		c.refused = fault.New(fault.ToolNotFound, "unknown tool: %s", quoteName(c.Name)).WithHint("tools/list lists the tools")
		return dialects.Call{}
	}
	call, err := t.Call(func(into any) error { return schema.Decode(schemaOf(t.Arguments), c.Arguments, into) })
	c.Name, c.refused = call.Name, err
	if err == nil {
		c.Arguments = call.Arguments
	}
	return call
}

// translated is a result in a dialect.
func translated(d *dialects.Dialect, call dialects.Call, result Result, o dialects.Outcome) Result {
	o.Fields, o.Err = result.Structured, result.Err
	for _, p := range result.Content {
		o.Content = append(o.Content, dialects.Part{Type: p.Type, Text: p.Text, MIMEType: p.MIMEType, Data: p.Data})
	}
	if shown := result.Display; shown != nil {
		o.Markdown = shown.Text
		if len(shown.Files) == 1 {
			f := shown.Files[0]
			o.Diff = &dialects.Diff{Name: f.Path, Diff: f.Diff, Before: f.FilePreview.Before, After: f.FilePreview.After}
		}
	}
	object, content := d.Answer(call, o)
	out := Result{Structured: mustMarshal(object), IsError: result.IsError, Display: result.Display, Err: result.Err}
	for _, p := range content {
		out.Content = append(out.Content, Part{Type: p.Type, Text: p.Text, MIMEType: p.MIMEType, Data: p.Data})
	}
	return out
}

// CheckDialect says whether there is such a dialect.
func CheckDialect(name string) error {
	if _, known := dialects.Find(name); !known {
		return fmt.Errorf("unknown dialect %s: use pillion, %s", fault.Quote(name), strings.Join(dialects.Names(), " or "))
	}
	return nil
}

// DefinitionsIn are the tools that are on for a session, in a dialect; empty is the
// session's own. Allowed may have the dialect's names, or the canonical ones.
func (r *Registry) DefinitionsIn(dialect string, owner *session.Session, allowed []string) []Definition {
	out, _ := r.NotedIn(dialect, owner, allowed)
	return out
}

// NotedIn is DefinitionsIn, with notes on what other programs offer and was refused.
func (r *Registry) NotedIn(dialect string, owner *session.Session, allowed []string) ([]Definition, []found.Note) {
	more, notes := r.foundDefinitions(allowed)
	settings := r.Settings()
	all := append(DialectDefinitions(cmp.Or(dialect, owner.Dialect()), allowed), more...)
	all = slices.DeleteFunc(all, func(d Definition) bool {
		return settings.off(owner, d.canonical) != nil
	})
	if settings.Limits.CodeLab {
		for i := range all {
			all[i].InputSchema = codeLabSchema(all[i].InputSchema)
		}
	}
	return all, notes
}

// DialectDefinitions are the tools of a dialect, all of them or those that are named in
// allowed.
func DialectDefinitions(dialect string, allowed []string) []Definition {
	d, _ := dialects.Find(dialect)
	if d == nil {
		return (&Registry{}).DefinitionsFiltered(allowed)
	}
	out := []Definition{}
	for _, t := range d.Tools {
		if allowed == nil || slices.Contains(allowed, t.Name) || slices.Contains(allowed, t.Canonical) {
			out = append(out, definitionOf(t))
		}
	}
	return out
}

func definitionOf(t dialects.Tool) Definition {
	own := catalogue[t.Canonical].Definition()
	own.Name, own.Title, own.Description = t.Name, t.Title, t.Description
	own.InputSchema = mustMarshal(schemaOf(t.Arguments))
	own.results = func() json.RawMessage { return mustMarshal(schemaOf(t.Result)) }
	return own
}

var dialectSchemas sync.Map // by reflect.Type

// schemaOf is schema.Of, once for each type.
func schemaOf(of reflect.Type) *jsonschema.Schema {
	if s, ok := dialectSchemas.Load(of); ok {
		return s.(*jsonschema.Schema)
	}
	s, _ := dialectSchemas.LoadOrStore(of, schema.Of(of))
	return s.(*jsonschema.Schema)
}
