package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/diff"
	"pillion/workspace/document"
)

type workspacePath = workspace.Path

// pending is a call between its plan and its deed. It implements approval.Plan:
// the plan can be made again whenever the world has moved.
type pending struct {
	registry *Registry
	call     Call
	tool     Tool

	snapshot *document.Snapshot
	plan     Plan
	decision policy.Decision
	digest   string

	moved    chan struct{}
	proposed map[string]change.Set   // each set that was on show, by its digest
	human    map[workspacePath]human // what the human made of the proposal
	amended  bool                    // the arguments are the human's
}

// human is a proposal as the human changed it.
type human struct {
	proposed string // the agent's text
	base     string // the text that both started from
	text     string // the human's
}

// prepare finds, decodes, plans and judges a call.
func (r *Registry) prepare(ctx context.Context, c Call) (*pending, error) {
	t, ok := catalogue[c.Name]
	if !ok {
		return nil, unknownTool(c.Name)
	}
	p := &pending{registry: r, call: c, tool: t, moved: make(chan struct{}, 1), proposed: map[string]change.Set{}}
	return p, p.replan(ctx)
}

func unknownTool(name string) error {
	err := fault.New(fault.ToolNotFound, "unknown tool: %s", fault.Quote(name))
	best, score := "", 0.4
	for _, t := range Catalogue() {
		if s := similarity(t.Name, name); s > score {
			best, score = t.Name, s
		}
	}
	if best == "" {
		return err.WithHint("ask tools/list for the tools there are")
	}
	return err.WithHint("did you mean %s?", best)
}

func (p *pending) timeout() time.Duration {
	if p.call.Timeout > 0 {
		return p.call.Timeout
	}
	return p.registry.Limits.CallTime
}

// replan makes the plan from a new snapshot and judges it. When that fails the
// last plan stays, with the snapshot that it rests on.
func (p *pending) replan(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout())
	defer cancel()
	next := *p
	for {
		if err := next.planOnce(ctx); err != nil {
			return err
		}
		if !next.waitForEditor(ctx) {
			break
		}
	}
	request, err := next.policyRequest()
	if err != nil {
		return err
	}
	next.decision = policy.Decide(request)
	next.digest = next.computeDigest()
	if e := next.edits(); e != nil {
		next.proposed[next.digest] = e.Set
	}
	*p = next
	return nil
}

func (p *pending) planOnce(ctx context.Context) error {
	p.snapshot = p.registry.Documents.Snapshot(p.registry.Limits.ReadBytes)
	plan, err := p.tool.plan(ctx, Input{Snapshot: p.snapshot, Session: p.call.Session, Limits: p.registry.Limits, Timeout: p.call.Timeout}, p.call.Arguments)
	if err != nil {
		return p.withoutSecrets(err)
	}
	p.plan = plan
	if e := p.edits(); e != nil && !e.Set.Changes() {
		p.plan = e.unchanged()
	}
	return p.keepHumanEdit()
}

// withoutSecrets takes the lines of a file out of an error about it, when reading
// it would have to be asked for.
func (p *pending) withoutSecrets(err error) error {
	e := fault.From(err)
	for path := range p.snapshot.Rests() {
		if _, known := seen(p.call.Session, path); !known && looksSecret(path) {
			return fault.New(e.Code, "%s", e.Message).
				WithHint("read_file shows %s after the human agreed: it looks like a file that holds secrets", fault.Quote(path.String()))
		}
	}
	return err
}

// waitForEditor reports true, after a wait, when an edit rests on an open file
// that the editor is about to reload: a plan made then would be on a text that
// the editor does not have.
func (p *pending) waitForEditor(ctx context.Context) bool {
	e := p.edits()
	if e == nil || !slices.ContainsFunc(e.Set.Files, func(f change.File) bool { return f.Before.Behind }) {
		return false
	}
	changed := make(chan struct{}, 1)
	defer p.registry.Documents.Notify(changed)()
	if p.registry.Documents.Moved(p.snapshot) {
		return true
	}
	timer := time.NewTimer(reloadTime)
	defer timer.Stop()
	select {
	case <-changed:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// reloadTime is how long an editor may take to show a change on disk.
const reloadTime = 3 * time.Second

func (p *pending) edits() *Edits {
	e, _ := p.plan.(*Edits)
	return e
}

// computeDigest binds a yes to the bytes: the tool, its arguments, everything the
// plan rests on, and what the plan would do.
func (p *pending) computeDigest() string {
	h := sha256.New()
	part := func(s string) { fmt.Fprintf(h, "%d:%s", len(s), s) }
	part(p.tool.Name)
	part(string(p.call.Arguments))
	rests := p.snapshot.Rests()
	for _, path := range slices.SortedFunc(maps.Keys(rests), func(a, b workspacePath) int { return strings.Compare(a.Abs(), b.Abs()) }) {
		part(path.Abs())
		part(rests[path])
	}
	switch plan := p.plan.(type) {
	case *Edits:
		for _, f := range plan.Set.Files {
			part(f.Target.Abs())
			part(f.After.Text)
			part(string(f.After.Encoding))
		}
	case *Action:
		part(string(mustMarshal(plan.Preview)))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Request is the question to the human about the plan as it stands.
func (p *pending) Request() approval.Request {
	agent := p.call.Session.Agent()
	return approval.Request{
		CallID:      p.call.CallID,
		SessionID:   p.call.Session.ID(),
		Agent:       approval.Agent{Name: agent.Name, Via: agent.Via},
		Tool:        p.tool.Name,
		Title:       p.title(),
		Description: p.description(),
		Reasons:     p.reasons(),
		Arguments:   p.call.Arguments,
		Preview:     p.preview(),
		Decisions:   p.choices(),
		Digest:      p.digest,
	}
}

func (p *pending) title() string {
	switch plan := p.plan.(type) {
	case *Edits:
		return plan.Title
	case *Action:
		return plan.Title
	case *Answer:
		if len(plan.Reads) > 0 {
			return "Read " + fault.Quote(plan.Reads[0].String())
		}
	}
	return p.tool.Title
}

// description is a sentence on what this very call would do.
func (p *pending) description() string {
	switch plan := p.plan.(type) {
	case *Edits:
		return describeEdits(plan)
	case *Action:
		if plan.Command != nil {
			return "Runs this command line with /bin/sh. Whatever it starts ends with it."
		}
	case *Answer:
		return "Shows the agent what these files hold."
	}
	return p.tool.Description
}

func describeEdits(e *Edits) string {
	added, deleted := 0, 0
	for _, f := range e.Set.Files {
		a, d := diff.Count(f.Hunks())
		added, deleted = added+a, deleted+d
	}
	return fmt.Sprintf("Changes %s: %s added, %s removed.", count(len(e.Set.Files), "file"), count(added, "line"), count(deleted, "line"))
}

func (p *pending) reasons() []string {
	out := slices.Clone(p.decision.Reasons)
	switch plan := p.plan.(type) {
	case *Edits:
		out = append(out, plan.Reasons...)
	case *Action:
		out = append(out, plan.Reasons...)
	}
	if p.call.RequiresApproval && len(out) == 0 {
		out = append(out, "the agent's gateway wants every such call approved")
	}
	if out == nil {
		out = []string{}
	}
	return out
}

func (p *pending) preview() approval.Preview {
	switch plan := p.plan.(type) {
	case *Edits:
		return approval.Preview{Kind: "diff", Files: plan.Set.Preview()}
	case *Action:
		return plan.Preview
	}
	return approval.Preview{Kind: "text", Markdown: p.readPreview()}
}

func (p *pending) readPreview() string {
	reads := p.plan.touches()
	if len(reads) == 0 {
		return fmt.Sprintf("The agent wants to use %s with these arguments:\n\n    %s\n", p.tool.Name, fault.Escape(string(p.call.Arguments)))
	}
	var out strings.Builder
	out.WriteString("The agent wants to read:\n")
	for _, t := range reads {
		out.WriteString("\n- `" + fault.Quote(t.path.String()) + "`")
	}
	return out.String()
}

// choices are the decisions on offer, the refusing one first.
func (p *pending) choices() []approval.Choice {
	out := []approval.Choice{
		{ID: approval.RejectID, Title: "Reject", Scope: approval.Once},
		{ID: approval.ApproveID, Title: "Approve", Scope: approval.Once},
	}
	for _, o := range p.decision.Offers {
		out = append(out, approval.Choice{ID: o.ID, Title: o.Title, Scope: approval.Scope(o.Scope), Rule: o.Rule.String()})
	}
	return out
}

// Moved signals that the plan may rest on something that has changed.
func (p *pending) Moved() <-chan struct{} { return p.moved }

// watch has Moved signalled by the editor's buffers and by the disk.
func (p *pending) watch() (stop func()) {
	stops := []func(){p.registry.Documents.Notify(p.moved)}
	if p.registry.Watch != nil {
		stops = append(stops, p.registry.Watch(p.moved, p.folders()))
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

func (p *pending) folders() []string {
	var out []string
	for path := range p.snapshot.Rests() {
		if dir := filepath.Dir(path.Abs()); !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// Again makes the plan anew, if anything that it rests on has changed.
func (p *pending) Again(ctx context.Context) (approval.Continuity, error) {
	if !p.registry.Documents.Moved(p.snapshot) {
		return approval.Same, nil
	}
	oldDigest, old := p.digest, p.edits()
	if err := p.replan(ctx); err != nil {
		return approval.Different, err
	}
	now := p.edits()
	switch {
	case p.digest == oldDigest, p.decision.Verdict == policy.Run:
		return approval.Same, nil // what needs no yes is covered by any
	case p.decision.Verdict == policy.Refuse:
		return approval.Different, p.refusal()
	case old != nil && now != nil && change.OnlyMoved(old.Set, now.Set):
		return approval.Shifted, nil
	}
	return approval.Different, nil
}

func (p *pending) refusal() *fault.Error {
	err := fault.New(p.decision.Code, "%s", strings.Join(p.decision.Reasons, "; "))
	if p.call.Session.Mode() == policy.Plan {
		return err.WithHint("the session is in plan mode: look, and propose a plan; the human leaves plan mode")
	}
	return err.WithHint("do it another way, or ask the human to do it")
}

// take acts on an answer: remembers what is to be remembered, and makes the
// human's own version of the proposal the plan.
func (p *pending) take(ctx context.Context, a approval.Answer) error {
	switch a.Decision {
	case approval.Reject:
		return rejected(a.Feedback)
	case approval.Cancel:
		p.call.Session.Pause("the human cancelled " + p.tool.Name)
		return fault.New(fault.Cancelled, "the human cancelled this call and paused the session%s", said(a.Feedback)).
			WithHint("stop here; do not try again until the human resumes the session")
	case approval.Edit:
		return p.takeEdit(ctx, a)
	case approval.Approve:
		p.remember(a.DecisionID)
		return nil
	}
	return fault.New(fault.UserRejected, "the editor gave no usable answer (%s); nothing was changed", fault.Quote(string(a.Decision)))
}

func rejected(feedback string) error {
	err := fault.New(fault.UserRejected, "the human rejected this%s", said(feedback))
	if feedback == "" {
		return err.WithHint("do not repeat the call as it is; ask what they want instead, or go another way")
	}
	return err.With("feedback", feedback).WithHint("go on as the human says")
}

func said(feedback string) string {
	if feedback == "" {
		return ""
	}
	return ": " + feedback
}

// remember keeps the rule of a remembering decision, exactly as it was shown.
func (p *pending) remember(decisionID string) {
	if key := p.decision.OncePerSession; key != "" {
		p.call.Session.GrantOnce(key)
	}
	for _, o := range p.decision.Offers {
		if o.ID == decisionID {
			p.call.Session.Grant(o.Rule)
		}
	}
}

// takeEdit plans with the arguments or the text that the human gave.
func (p *pending) takeEdit(ctx context.Context, a approval.Answer) error {
	if len(a.ModifiedArguments) > 0 {
		p.call.Arguments, p.amended = a.ModifiedArguments, true
		if err := p.replan(ctx); err != nil {
			return err
		}
		if p.decision.Verdict == policy.Refuse {
			return p.refusal()
		}
		return nil
	}
	e := p.edits()
	if e == nil || len(a.After) == 0 {
		return fault.New(fault.InvalidArguments, "the editor's answer is an edit but carries neither text nor arguments; nothing was changed")
	}
	return p.Adopt(a)
}

// Adopt makes the human's version the proposal. Where it was given for an older
// one, the two are merged.
func (p *pending) Adopt(a approval.Answer) error {
	shown, ok := p.proposed[a.Digest]
	if !ok {
		return fault.New(fault.ConcurrentModification, "the answer was given for a proposal that was never shown; nothing was changed")
	}
	p.human = map[workspacePath]human{}
	for _, f := range shown.Files {
		text, edited := a.After[f.Path().String()]
		if edited {
			p.human[f.Path()] = human{proposed: f.After.Text, base: f.Before.Text, text: document.KeepLineEnds(f.Before.Text, text)}
		}
	}
	if len(p.human) != len(a.After) {
		return fault.New(fault.InvalidArguments, "the editor's answer names a file that the proposal does not have; nothing was changed")
	}
	if err := p.keepHumanEdit(); err != nil {
		return err
	}
	p.digest = p.computeDigest()
	return nil
}

// keepHumanEdit lays the human's version over a plan that was made again.
func (p *pending) keepHumanEdit() error {
	e, ok := p.plan.(*Edits)
	if !ok {
		return nil
	}
	for i, f := range e.Set.Files {
		edit, ok := p.human[f.Path()]
		if !ok {
			continue
		}
		text, merged := edit.text, true
		if f.Before.Text != edit.base {
			text, merged = change.Merge(edit.base, edit.text, f.Before.Text)
		}
		if !merged {
			return fault.New(fault.ConcurrentModification, "%s changed while the human edited the proposal, and the two do not fit together; nothing was changed",
				fault.Quote(f.Path().String())).With("human_text", edit.text).With("current_text", f.Before.Text)
		}
		e.Set.Files[i].After.Text = text
	}
	return nil
}
