package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/tools/session"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/layer"
)

// Drafted is what is in a session's draft, as a change of the workspace.
type Drafted struct {
	Set     change.Set
	Left    []layer.Left // what cannot be applied, with why
	Ignored []string     // what git ignores, which stays in the draft
	// Protected are paths whose change an edit would ask about every time.
	Protected map[workspace.Path]string
	Bytes     int64
	Exists    bool

	// Of the review:
	comments []approval.Comment
	took     choice
}

// Submitted is what became of a review of a draft.
type Submitted struct {
	Applied       []AppliedFile `json:"applied"`
	ChangedByUser []string      `json:"changed_by_user"`
	Left          []LeftFile    `json:"left"`
	Discarded     bool          `json:"discarded"`
	Diff          string        `json:"diff"`
}

// AppliedFile is a file that is in the workspace now as the draft has it, or as the user changed that.
type AppliedFile struct {
	Path    string `json:"path"`
	Version string `json:"version,omitempty"` // none of what is gone
}

// LeftFile is one that stays in the draft, or of which a part does.
type LeftFile struct {
	Path     string         `json:"path"`
	Reason   string         `json:"reason,omitempty"`
	Comments []LeftComments `json:"comments"`
}

// LeftComments are the user's on a line.
type LeftComments struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// drafted reads the session's draft.
func (p *pending) drafted(ctx context.Context) (Drafted, error) {
	out := Drafted{Protected: map[workspace.Path]string{}}
	if p.registry.Drafts == nil {
		return out, nil
	}
	d, ok := p.registry.Drafts.Of(p.call.Session.ID())
	if !ok {
		return out, nil
	}
	out.Exists = true
	b := layer.Bringing{
		Layers: d.Layers, Began: d.Began, Label: "Apply a draft",
		Base:    func(c layer.Placed) *layer.Base { return d.Base(c.Path.Abs()) },
		IsBuilt: func(at workspace.Path) bool { return at.IsIgnored(true) },
		Judge: func(all []layer.Placed) func(layer.Placed) (string, error) {
			judge := p.judgeOf(all)
			return func(c layer.Placed) (string, error) {
				if c.Is != nil && c.Is.Mode().IsRegular() {
					out.Bytes += c.Is.Size()
				}
				switch decision, err := judge(c); {
				case err != nil:
					return "", err
				case decision.Verdict == policy.Refuse:
					return decision.Why(), nil
				case isIgnored(c):
					if top := ignoredTop(c.Path).String(); !slices.Contains(out.Ignored, top) {
						out.Ignored = append(out.Ignored, top)
					}
					return ignoredByGit, nil
				case decision.Verdict == policy.Ask:
					out.Protected[c.Path] = decision.Why()
				}
				return "", nil
			}
		},
	}
	set, left, err := b.Set(ctx, p.snapshot)
	if err != nil {
		return out, err
	}
	out.Set = set
	for _, one := range left {
		if one.Reason != ignoredByGit {
			out.Left = append(out.Left, one)
		}
	}
	return out, nil
}

// Edits are what its review asks about.
func (d Drafted) Edits(summary string) (*Edits, error) {
	e := &Edits{Set: d.Set, Draft: &d, Message: strings.TrimSpace(summary), AlwaysAsk: true, Several: true}
	e.Title = "Apply a draft of " + Count(len(d.Set.Files)+len(d.Set.Tree)+len(d.Set.Restores), "file")
	for _, x := range d.Set.Restores {
		if why := d.Protected[x.Path]; why != "" {
			e.Because(policy.ReasonProtected, "%s", why)
		}
	}
	for _, left := range d.Left {
		e.Because("left", "%s stays in the draft: %s", fault.Quote(left.Path), left.Reason)
	}
	e.Learns = func(change.File) bool { return false }
	e.Answer = func(outcomes []change.Outcome) *Answer { return d.Answer(outcomes) }
	return e, CheckAllShown(d.Set, summary)
}

func isIgnored(c layer.Placed) bool {
	return c.Built || c.Path.IsIgnored(c.Is != nil && c.Is.IsDir() || c.Is == nil && c.Was.IsDir())
}

// ignoredTop is the highest folder above a path that git ignores, or the path.
func ignoredTop(at workspace.Path) workspace.Path {
	top := at
	for dir := at.Dir(); !dir.IsRoot(); dir = dir.Dir() {
		if dir.IsIgnored(true) {
			top = dir
		}
	}
	return top
}

const ignoredByGit = "git ignores it"

// settleDraft has the draft know what the user took of it. What nobody has to say anything about any more ends.
func (p *pending) settleDraft(outcomes []change.Outcome) error {
	var gone []string
	left := map[string]Rest{}
	for _, o := range outcomes {
		switch {
		case o.Tree != nil && !o.Tree.LeftOut:
			gone = append(gone, o.Tree.Source.Abs())
		case o.Tree != nil || o.File.Before == nil || o.File.LeftOut: // what was left stands on what it stood on; a link is among the restores
		default:
			path := o.File.Path()
			own, changed := p.human.files[path]
			if !changed || own.own {
				gone = append(gone, path.Abs())
				continue
			}
			proposed := o.File.After
			proposed.Text = own.proposed
			data, err := proposed.Encode()
			if err != nil {
				return err
			}
			proposed.Text = o.Text
			base, err := proposed.Encode()
			if err != nil {
				return err
			}
			left[path.Abs()] = Rest{data, base}
		}
	}
	for _, x := range p.edits().Set.Restores {
		gone = append(gone, x.Path.Abs())
	}
	if err := p.registry.Drafts.Settle(p.call.Session.ID(), gone, left); err != nil {
		return err
	}
	return p.endEmpty()
}

// endEmpty ends a draft that has nothing in it.
func (p *pending) endEmpty() error {
	p.snapshot = p.takeSnapshot()
	d, err := p.drafted(context.Background())
	if err != nil || d.Set.Changes() || len(d.Left)+len(d.Ignored) > 0 {
		return err
	}
	return p.registry.Drafts.End(p.call.Session.ID())
}

// Answer tells what became of the set.
func (d Drafted) Answer(outcomes []change.Outcome) *Answer {
	out := Submitted{Applied: []AppliedFile{}, ChangedByUser: []string{}, Left: []LeftFile{}}
	comments := map[string][]LeftComments{}
	for _, c := range d.comments {
		comments[c.Path] = append(comments[c.Path], LeftComments{c.Line, c.Text})
	}
	leave := func(path, reason string) {
		said := comments[path]
		if said == nil {
			said = []LeftComments{}
		}
		delete(comments, path)
		out.Left = append(out.Left, LeftFile{path, reason, said})
	}
	var diff strings.Builder
	for _, o := range outcomes {
		switch {
		case o.Tree != nil:
			if o.Tree.LeftOut {
				leave(o.Tree.Source.String(), "")
			} else {
				out.Applied = append(out.Applied, AppliedFile{Path: o.Tree.Source.String()})
			}
		case o.File.Before == nil: // a link
		case o.File.LeftOut:
			leave(o.File.Path().String(), "")
		default:
			path := o.File.Path()
			out.Applied = append(out.Applied, AppliedFile{path.String(), o.Version})
			diff.WriteString(o.File.Diff(o.Hunks))
			if own, changed := d.took.files[path]; changed {
				if out.ChangedByUser = append(out.ChangedByUser, path.String()); !own.own {
					leave(path.String(), "only some hunks were applied")
				}
			}
		}
	}
	for _, x := range d.Set.Restores {
		if slices.Contains(d.took.links, x.Path) {
			leave(x.Path.String(), "")
		} else {
			out.Applied = append(out.Applied, AppliedFile{Path: x.Path.String()})
		}
	}
	for _, one := range d.Left {
		leave(one.Path, one.Reason)
	}
	for _, path := range d.Ignored {
		leave(path, ignoredByGit)
	}
	out.Diff = diff.String()
	return out.answer()
}

// answer says it in words, too.
func (s Submitted) answer() *Answer {
	var text strings.Builder
	switch {
	case s.Discarded:
		text.WriteString("The user discarded the draft: nothing was applied, and all of it is gone.")
	case len(s.Applied)+len(s.Left) == 0:
		text.WriteString("The draft is empty: there is nothing to apply.")
	case len(s.Applied) == 0:
		text.WriteString("Nothing was applied; the draft is as it was.")
	default:
		fmt.Fprintf(&text, "The user applied %s of the draft to the workspace.", Count(len(s.Applied), "file"))
	}
	if len(s.ChangedByUser) > 0 {
		fmt.Fprintf(&text, "\nThey changed or took only a part of: %s.", strings.Join(QuoteAll(s.ChangedByUser), ", "))
	}
	for i, one := range s.Left {
		if i == MostFilesSaid {
			fmt.Fprintf(&text, "\n%d more stay in the draft.", len(s.Left)-i)
			break
		}
		fmt.Fprintf(&text, "\nstays in the draft: %s", fault.Quote(one.Path))
		if one.Reason != "" {
			text.WriteString(" (" + one.Reason + ")")
		}
		for _, c := range one.Comments {
			fmt.Fprintf(&text, "\n%s:%d: %s", one.Path, c.Line, c.Text)
		}
	}
	return &Answer{Result: s, Text: text.String(), Summary: fmt.Sprintf("%s applied, %d left", Count(len(s.Applied), "file"), len(s.Left))}
}

// reviewed is what the user made of a draft when they applied nothing; nil where they did.
func (p *pending) reviewed(a approval.Answer) error {
	e := p.edits()
	switch {
	case e == nil || e.Draft == nil:
		return nil
	case a.DecisionID == DiscardID:
		if err := p.registry.Drafts.End(p.call.Session.ID()); err != nil {
			return err
		}
		s := Submitted{Applied: []AppliedFile{}, ChangedByUser: []string{}, Left: []LeftFile{}, Discarded: true}
		return settled{s.answer()}
	case a.Decision == approval.Reject && (a.Reason() == "" || p.call.byUser):
		none, d := e.Set, *e.Draft
		d.comments = a.Comments
		for _, x := range none.Restores {
			d.took.links = append(d.took.links, x.Path)
		}
		none.Files, none.Tree = slices.Clone(none.Files), slices.Clone(none.Tree)
		for i := range none.Files {
			none.Files[i].LeaveOut()
		}
		for i := range none.Tree {
			none.Tree[i].LeaveOut()
		}
		return settled{d.Answer(none.Unchanged())}
	}
	p.comments = a.Comments
	return nil
}

// settled ends a call with an answer.
type settled struct{ answer *Answer }

func (settled) Error() string { return "the call is over" }

// DiscardID is the decision that takes a draft away.
const DiscardID = "discard"

// DraftInfo is a draft as people see it.
type DraftInfo struct {
	SessionID string      `json:"sessionId"`
	Agent     string      `json:"agent"`
	Files     []DraftFile `json:"files"`
	Bytes     int64       `json:"bytes"`
	Started   string      `json:"started"`
	Commands  bool        `json:"commands"` // commands run on it
	Ended     bool        `json:"ended,omitempty"`
}

// DraftFile is a file in it.
type DraftFile struct {
	Path      string `json:"path"`
	Kind      string `json:"kind"` // created, changed or deleted
	Added     int    `json:"added"`
	Removed   int    `json:"removed"`
	Ignored   bool   `json:"ignored,omitempty"`
	Protected bool   `json:"protected,omitempty"`
}

// DraftOf is a session's draft; false: there is none, or nothing is in it.
func (r *Registry) DraftOf(ctx context.Context, owner *session.Session) (DraftInfo, bool) {
	if r.Drafts == nil {
		return DraftInfo{}, false
	}
	kept, ok := r.Drafts.Of(owner.ID())
	if !ok {
		return DraftInfo{}, false
	}
	d, err := r.lookInto(ctx, owner)
	out := DraftInfo{SessionID: kept.Session, Agent: kept.Agent, Files: []DraftFile{}, Bytes: d.Bytes, Started: kept.Started.Format("2006-01-02T15:04:05Z07:00"), Commands: true}
	if err != nil {
		return out, true
	}
	kinds := map[change.Operation]string{change.Create: "created", change.Delete: "deleted"}
	for _, f := range d.Set.Preview() {
		kind := kinds[f.Operation]
		if kind == "" {
			kind = "changed"
		}
		out.Files = append(out.Files, DraftFile{Path: f.Path, Kind: kind, Added: f.Additions, Removed: f.Deletions})
	}
	for _, one := range d.Left {
		out.Files = append(out.Files, DraftFile{Path: one.Path, Kind: "changed"})
	}
	for _, path := range d.Ignored {
		out.Files = append(out.Files, DraftFile{Path: path, Kind: "created", Ignored: true})
	}
	for path := range d.Protected {
		for i := range out.Files {
			if out.Files[i].Path == path.String() {
				out.Files[i].Protected = true
			}
		}
	}
	return out, len(out.Files) > 0
}

// DraftSet is what a session's draft would change.
func (r *Registry) DraftSet(ctx context.Context, owner *session.Session) (change.Set, error) {
	d, err := r.lookInto(ctx, owner)
	return d.Set, err
}

func (r *Registry) lookInto(ctx context.Context, owner *session.Session) (Drafted, error) {
	p := &pending{registry: r, call: Call{Session: owner}, tool: catalogue["submit_changes"]}
	p.settle()
	p.snapshot = p.takeSnapshot()
	return p.drafted(ctx)
}

// DiscardDraft takes paths out of a session's draft, or all of it where none are named.
func (r *Registry) DiscardDraft(session string, paths []string) error {
	if r.Drafts == nil {
		return errors.New("there are no drafts here")
	}
	defer r.Documents.Touched() // a review of it is another now
	if paths == nil {
		return r.Drafts.End(session)
	}
	var gone []string
	for _, path := range paths {
		at, err := r.Documents.Workspace().Resolve(path)
		if err != nil {
			return err
		}
		gone = append(gone, at.Abs())
	}
	return r.Drafts.Settle(session, gone, map[string]Rest{})
}

// OpenDraft makes a session's draft, if it has none.
func (r *Registry) OpenDraft(owner *session.Session) error {
	switch {
	case r.IsDraft:
		return nil
	case r.Drafts == nil:
		return errNoDrafts
	}
	return r.Drafts.Open(owner)
}

// ReviewDraft has the user review a session's draft, as if its agent had called submit_changes.
func (r *Registry) ReviewDraft(ctx context.Context, owner *session.Session) Result {
	result, _ := r.execute(ctx, Call{Name: "submit_changes", Arguments: []byte("{}"), Session: owner, byUser: true})
	return result
}

// hasDraft says whether the session's draft has files.
func (r *Registry) hasDraft(ctx context.Context, owner *session.Session) bool {
	_, has := r.DraftOf(ctx, owner)
	return has
}
