package tools

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/tools/match"
	"pillion/tools/policy"
	"pillion/tools/process"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/document"
)

type workspacePath = workspace.Path

// pending is a call between its plan and its deed. It implements approval.Plan:
// the plan can be made again whenever the world has moved.
type pending struct {
	registry *Registry
	call     Call
	tool     Tool

	settings Settings
	judged   int // the session's, as of the plan
	site     site
	snapshot *document.Snapshot
	plan     Plan
	guards   *workspace.GuardFinder // of this machine, once something is to be written
	tops     map[string]string      // of open folders, as PathFact.Top
	parts    []string               // links and files by which a folder may be a repository
	secrets  map[string]secretFile  // by their keys: see grantedOnce
	brought  []string               // folders of what a layer brings, beside the plan's
	tracked  map[string]tracked     // by work trees
	decision policy.Decision
	box      process.Confine // where the command can run unasked
	digest   string

	moved    chan struct{}
	proposed *proposals
	human    choice             // what the user made of the proposal
	comments []approval.Comment // of the review of a draft
	amended  bool               // the arguments are the user's
	first    map[workspacePath]*document.File

	gone     *Answer          // what a plan became that cannot be made any more
	answered string           // what became of the question, if there was one
	outcomes []change.Outcome // of the edits that were made
}

// prepare finds, decodes, plans and judges a call, unless its session is paused.
func (r *Registry) prepare(ctx context.Context, c Call) (*pending, error) {
	if err := paused(c.Session); err != nil {
		return nil, err
	}
	r.resolve(ctx, &c)
	if c.refused != nil {
		return nil, c.refused
	}
	if c.tool.Name == "" {
		return nil, unknownTool(c.Name)
	}
	p := &pending{registry: r, call: c, tool: c.tool, moved: make(chan struct{}, 1), proposed: &proposals{}}
	return p, p.replan(ctx)
}

// canonical undoes the spelling of a name for models, most of which take no dots.
func canonical(name string) string {
	if _, ok := catalogue[name]; ok {
		return name
	}
	for known := range catalogue {
		if strings.ReplaceAll(known, ".", "_") == name {
			return known
		}
	}
	return name
}

// meantTools are words of the names that other tool sets have.
var meantTools = map[string]string{
	"create": "write_file", "bash": "run_command", "shell": "run_command", "exec": "run_command", "grep": "search_in_project",
	"find": "glob", "ls": "list_files", "replace": "edit_file", "rename": "move_file", "remove": "delete_file", "rm": "delete_file", "mv": "move_file", "fetch": "web_fetch",
}

func unknownTool(name string) error {
	err := fault.New(fault.ToolNotFound, "unknown tool: %s", quoteName(name))
	best, score := "", 0.4
	for _, word := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' || r == '.' || r == '-' }) {
		if meant, ok := meantTools[word]; ok {
			return err.WithHint("did you mean %s?", meant)
		}
	}
	for _, t := range Catalogue() {
		if s := match.Similarity(t.Name, name); s > score {
			best, score = t.Name, s
		}
	}
	if best == "" {
		return err.WithHint("tools/list lists the tools")
	}
	return err.WithHint("did you mean %s?", best)
}

func (p *pending) timeout() time.Duration {
	if p.call.Timeout > 0 {
		return p.call.Timeout
	}
	return p.settings.Limits.CallTime
}

// replan makes the plan from a new snapshot and judges it. When that fails the
// last plan stays, with the snapshot that it rests on.
func (p *pending) replan(ctx context.Context) error {
	next := *p // its settings too: as long as no plan is made under new ones, they are not the plan's
	next.settle()
	next.judged = p.call.Session.Judged()
	if err := next.settings.off(p.call.Session, cmp.Or(p.tool.PartOf, p.tool.Name)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, next.timeout())
	defer cancel()
	reload := time.NewTimer(reloadTime)
	defer reload.Stop()
	for {
		if err := next.planOnce(ctx); err != nil {
			return err
		}
		if !next.waitForEditor(ctx, reload.C) {
			break
		}
	}
	request, err := next.policyRequest()
	if err != nil {
		return err
	}
	next.decision = policy.Decide(request)
	next.show(request)
	if a, ok := next.plan.(*Answer); ok && a.Keeps != nil && next.decision.Verdict == policy.Ask {
		next.decision = policy.Decision{Verdict: policy.Run} // the last chunk asks
	}
	next.decision.Offers = next.keepable(next.decision.Offers)
	next.decision.Rememberable = len(next.decision.Offers) > 0
	next.digest = "" // what needs no yes is bound to nothing
	if next.decision.Verdict == policy.Ask {
		next.digest = next.computeDigest()
		next.propose()
	}
	*p = next
	return nil
}

// largeArguments are planned one after the other: to check and decode them takes many times
// their memory.
const largeArguments = 256 << 10

func (p *pending) planOnce(ctx context.Context) error {
	if len(p.call.Arguments) > largeArguments {
		p.registry.large.Lock()
		defer p.registry.large.Unlock()
	}
	if err := p.checkFolders(); err != nil {
		return err
	}
	own := p.registry.processesOf(p.call.Session)
	p.snapshot, p.guards = p.takeSnapshot(), nil
	if err := p.settings.Limits.checkArguments(p.call.Arguments); err != nil {
		return err
	}
	plan, err := p.tool.plan(ctx, Input{
		Snapshot: p.snapshot, Session: p.call.Session, Limits: p.settings.Limits, Timeout: p.call.Timeout, Tool: p.tool.Name,
		Sandbox: p.settings.Sandbox, protected: p.protectedIn, ChangedBy: p.changedBy,
		Streams: p.call.Stream != nil, Page: p.call.PageBytes, Range: p.call.RangeBytes, Lines: &p.registry.lines, Files: p.registry.Files, Git: p.registry.Git(), Languages: p.registry.Languages,
		LookPath: p.registry.LookPath, Memory: p.settings.Memory, Skills: p.settings.Skills, Search: p.settings.Search, Denied: p.deniesSkill, Runners: p.settings.Runners,
		Taken: own.Taken, Unasked: own.Unasked, First: p.first, Draft: p.drafted,
	}, p.call.Arguments)
	if err != nil {
		refused := p.settings.Limits.advise(fault.From(err))
		if plan = p.refusedEdit(refused); plan == nil {
			return p.withoutSecrets(refused)
		}
	}
	p.plan = plan
	p.rememberFirst()
	if err := p.keepChoice(); err != nil {
		return err
	}
	if e := p.edits(); e != nil && !e.Set.Changes() {
		p.plan = e.unchanged()
	}
	if a, looks := p.plan.(*Answer); looks && a.Err != nil {
		a.Err = p.settings.Limits.advise(a.Err)
		if p.tool.Access == policy.Edit {
			a.Reads = p.opened() // whichever of them its error is about
		}
	}
	return nil
}

// refusedEdit is the plan of an edit that cannot be made: its error tells what is in the files
// that it opened, also by not being another one, so that it is judged as a read of these. Nil where
// it opened none, or is no edit.
func (p *pending) refusedEdit(err *fault.Error) Plan {
	if p.tool.Access != policy.Edit {
		return nil
	}
	if len(p.snapshot.Rests()) == 0 {
		return nil
	}
	a := &Answer{Err: err}
	if named := namedBy(p.call); named != (namedFiles{}) {
		a.Result = named
	}
	return a
}

// opened are the files that the plan rests on.
func (p *pending) opened() []workspace.Path {
	return slices.SortedFunc(maps.Keys(p.snapshot.Rests()), func(x, y workspace.Path) int { return strings.Compare(x.String(), y.String()) })
}

// cannotBeMade: it is such an edit, and nobody has to be asked to say so.
func (p *pending) cannotBeMade() bool {
	a, looks := p.plan.(*Answer)
	return looks && a.Err != nil && p.tool.Access == policy.Edit && p.decision.Verdict == policy.Run
}

// checkFolders refuses what would be done in folders of which the editor has to say which
// it means.
func (p *pending) checkFolders() error {
	if p.tool.Access == policy.Session || p.tool.Access == policy.Human {
		return nil
	}
	return p.registry.Documents.Workspace().CheckFolders()
}

// takeSnapshot is a snapshot of this moment.
func (p *pending) takeSnapshot() *document.Snapshot {
	snapshot := p.registry.Documents.Snapshot(p.settings.Limits.ReadBytes)
	snapshot.Expect(func(abs string) (bytes, version string) { return p.call.Session.Bytes(abs, string(document.UTF8)) })
	if p.settings.Limits.CodeLab {
		snapshot.OnlyUTF8()
	}
	return snapshot
}

// rememberFirst keeps what the first plan rests on: see Input.First.
func (p *pending) rememberFirst() {
	e := p.edits()
	if e == nil || p.first != nil {
		return
	}
	p.first = map[workspacePath]*document.File{}
	for _, f := range e.Set.Files {
		if f.Before.Exists {
			p.first[f.Path()] = f.Before
		}
	}
}

// withoutSecrets takes the lines of a file out of an error about it, when reading
// it would have to be asked for.
func (p *pending) withoutSecrets(err error) error {
	e := fault.From(err)
	key, granted := keyShown(e), p.call.Session.GrantedOnce()
	for path := range p.snapshot.Rests() {
		why := ""
		if IsSecret(path) && !Knows(p.call.Session, p.snapshot, path) {
			why = "looks like a file with secrets"
		} else if identity, yes := granted[policy.SecretKey(path.String())]; key != "" && (!yes || identity != path.Identity()) {
			why = "seems to hold " + key
		}
		if why != "" {
			return fault.New(e.Code, "%s", e.Message).WithHint("%s %s; read_file asks the user for it", fault.Quote(path.String()), why)
		}
	}
	return err
}

// keyShown is the kind of key in what an error shows beside the agent's own text, "" if none.
func keyShown(e *fault.Error) string {
	if kind := policy.KeyIn(strings.ReplaceAll(e.Hint, "·", " ")); kind != "" {
		return kind
	}
	for name, value := range e.Details {
		text, is := value.(string)
		if !is {
			text = string(mustMarshal(value))
		}
		if kind := policy.KeyIn(strings.ReplaceAll(text, "·", " ")); kind != "" && name != "your_text" {
			return kind
		}
	}
	return ""
}

// waitForEditor reports true, after a wait, when an edit rests on an open file
// that the editor is about to reload: a plan made then would be on a text that
// the editor does not have.
func (p *pending) waitForEditor(ctx context.Context, tooLong <-chan time.Time) bool {
	e := p.edits()
	if e == nil || !slices.ContainsFunc(e.Set.Files, func(f change.File) bool { return f.Before.Behind }) {
		return false
	}
	changed := make(chan struct{}, 1)
	defer p.registry.Documents.Notify(changed)()
	if p.registry.Documents.Moved(p.snapshot) {
		return true
	}
	select {
	case <-changed:
		return true
	case <-tooLong:
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
	part := func(s string) { writePart(h, s) }
	part(p.tool.Name)
	fmt.Fprintf(h, "%d:", len(p.call.Arguments))
	h.Write(p.call.Arguments) //nolint:errcheck // a hash takes everything
	rests := p.snapshot.Rests()
	for _, path := range slices.SortedFunc(maps.Keys(rests), func(a, b workspacePath) int { return strings.Compare(a.Abs(), b.Abs()) }) {
		part(path.Abs())
		part(rests[path])
	}
	outside := p.snapshot.RestsOutside()
	for _, name := range slices.Sorted(maps.Keys(outside)) {
		part(name)
		part(outside[name])
	}
	switch plan := p.plan.(type) {
	case *Edits:
		for _, f := range plan.Set.Files {
			part(f.Target.Abs())
			part(f.After.Text)
			part(fmt.Sprint(f.After.Encoding, f.After.BOM, f.LeftOut, f.Executable))
		}
		for _, c := range plan.Set.Tree {
			part(fmt.Sprint(c.Operation, c.Recursive, c.Overwrite, c.Mode))
			part(c.Source.Abs())
			if c.Operation == change.Move {
				part(c.Target.Abs())
			}
		}
		for _, x := range plan.Set.Restores {
			part(x.Path.Abs())
			part(x.State.Link)
		}
	case *Action:
		part(string(mustMarshal(plan.Preview)))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// writePart hashes a text, which may be large, without a copy of it.
func writePart(h hash.Hash, s string) {
	fmt.Fprintf(h, "%d:", len(s))
	var piece [8 << 10]byte
	for s != "" {
		n := copy(piece[:], s)
		h.Write(piece[:n]) //nolint:errcheck // a hash takes everything
		s = s[n:]
	}
}

// Moved signals that the plan may rest on something that has changed.
func (p *pending) Moved() <-chan struct{} { return p.moved }

// watch has Moved signalled by the editor's buffers and by the disk.
func (p *pending) watch() (stop func()) {
	stops := []func(){p.registry.Documents.Notify(p.moved)}
	if p.registry.Watch != nil {
		stops = append(stops, p.registry.Watch(p.moved, p.folders()))
	}
	select {
	case p.moved <- struct{}{}: // for what happened since the plan was made, of which nobody was told
	default:
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

func (p *pending) folders() []string {
	var out []string
	if a, acts := p.plan.(*Action); acts {
		out = slices.Clone(a.Watch)
	}
	add := func(path workspace.Path) {
		if dir := filepath.Dir(path.Abs()); !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	for path := range p.snapshot.Rests() {
		add(path)
		if target, err := path.Target(); err == nil {
			add(target) // of a link, what it leads to changes as well
		}
	}
	return out
}

// Again makes the plan anew, if anything that it rests on has changed, or what the
// settings say of it.
func (p *pending) Again(ctx context.Context) (approval.Continuity, error) {
	e := p.edits() // what is in a draft changes without a file of the workspace
	if (e == nil || e.Draft == nil) && !p.registry.Documents.Moved(p.snapshot) && p.registry.Settings().Revision == p.settings.Revision && p.call.Session.Judged() == p.judged {
		if p.decision.Verdict == policy.Refuse {
			return approval.Different, p.refusal() // nothing has made it possible since
		}
		return approval.Same, nil
	}
	return p.renew(ctx)
}

// renew makes the plan anew, even on files that hold what they held: a file that
// the user has opened since is changed another way.
func (p *pending) renew(ctx context.Context) (approval.Continuity, error) {
	oldDigest, old, before := p.digest, p.edits(), *p
	if err := p.replan(ctx); err != nil {
		return approval.Different, err
	}
	if a, only := p.plan.(*Answer); only && old != nil && a.Err != nil { // it cannot be made any more
		err := p.withoutSecrets(a.Err)
		*p = before
		p.gone = a
		return approval.Different, err
	}
	p.warm()
	now := p.edits()
	switch {
	case p.digest == oldDigest, p.decision.Verdict == policy.Run:
		return approval.Same, nil // what needs no yes is covered by any
	case p.decision.Verdict == policy.Refuse:
		return approval.Different, p.refusal()
	case old != nil && now != nil && change.OnlyMoved(old.Set, now.Set), before.onlySaved(p):
		return approval.Shifted, nil
	}
	return approval.Different, nil
}

// onlySaved reports whether nothing is different now but that the user saved some
// of what a command would not have seen: what they judged is the same.
func (p *pending) onlySaved(now *pending) bool {
	old, isAction := p.plan.(*Action)
	next, stillIs := now.plan.(*Action)
	if !isAction || !stillIs || !maps.Equal(p.snapshot.Rests(), now.snapshot.Rests()) ||
		!maps.Equal(p.snapshot.RestsOutside(), now.snapshot.RestsOutside()) {
		return false
	}
	was, is := old.Preview, next.Preview
	for _, name := range is.Unsaved {
		if !slices.Contains(was.Unsaved, name) {
			return false
		}
	}
	was.Unsaved, is.Unsaved = nil, nil
	return bytes.Equal(mustMarshal(was), mustMarshal(is))
}

func (p *pending) refusal() *fault.Error {
	err := fault.New(p.decision.Code, "%s", p.decision.Why())
	if p.call.Session.Mode() == policy.Plan {
		return err.WithHint("the session is in plan mode: read, and propose a plan; the user ends plan mode")
	}
	return err.WithHint("do it another way, or ask the user to do it")
}

// changedBy is the other agent that changed the file last: the journal's newest change sets say so.
func (p *pending) changedBy(at workspace.Path) string {
	const most = 50
	if p.registry.Committer == nil {
		return ""
	}
	entries, err := p.registry.Committer.History(change.Selection{}, most)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if slices.Contains(e.Paths, at.String()) {
			if e.SessionID == p.call.Session.ID() {
				return ""
			}
			return e.Agent.Name
		}
	}
	return ""
}
