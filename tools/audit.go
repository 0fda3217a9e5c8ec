package tools

import (
	"encoding/json"
	"errors"
	"time"

	"pillion/audit"
	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/tools/session"
	"pillion/workspace"
	"pillion/workspace/change"
)

// What the log has of one call at most: names are the agent's to choose.
const (
	mostAudited = 50 // paths and files
	longAudited = 1024
	longName    = 128
	maxNamed    = 16 << 10 // of arguments that are read for the paths they name
)

// audited is the call as the audit log keeps it: no content, no output, no arguments
// but paths and the command line. p is nil of a call that came to no plan.
func (r *Registry) audited(c Call, p *pending, answer *Answer, result Result, started time.Time) audit.Record {
	agent := c.Session.Agent()
	rec := audit.Record{
		Time: started, Session: c.Session.ID(), Agent: agent.Name, Via: agent.Via, Call: c.CallID, Tool: fault.Clip(c.Name, longName), Outcome: string(Done),
		MS: time.Since(started).Milliseconds(), Bytes: len(result.Structured),
	}
	if result.Err != nil {
		rec.Outcome, rec.Code = string(Failed), string(result.Err.Code)
		rec.Protected = result.Err.Code == fault.PathOutsideWorkspace || result.Err.Code == fault.PermissionDenied && (p == nil || p.plan == nil)
	}
	if result.Err != nil && errors.Is(result.Err, errOnlyGit) {
		rec.Decision, rec.By, rec.Why, rec.Protected = string(policy.Refuse), string(policy.ByPolicy), fault.Clip(result.Err.Message, longAudited), true
	}
	if p != nil {
		rec.Access = string(p.tool.Access)
	}
	if p != nil && p.plan != nil && !p.cannotBeMade() {
		p.audit(&rec)
	}
	if answer.elsewhere != nil {
		rec.Access, rec.Command = string(c.tool.Access), fault.Clip(commandOf(c), longAudited)
	}
	if len(rec.Paths)+len(rec.Files) == 0 && rec.Command == "" {
		rec.Paths = named(c.Arguments)
	}
	if rec.Folder == "" {
		rec.Folder = r.firstFolder()
	}
	return rec
}

// audit adds what the plan and its deed tell.
func (p *pending) audit(rec *audit.Record) {
	rec.Decision, rec.By = string(p.decision.Verdict), string(p.decision.By)
	switch p.decision.Verdict {
	case policy.Ask:
		rec.By, rec.Answer = "human", p.answered
		if p.answered == "" {
			rec.By = "nobody"
		}
	case policy.Refuse:
		rec.Why = fault.Clip(p.decision.Why(), longAudited)
		rec.Protected = rec.Protected || p.decision.By == policy.ByPolicy
	}
	switch plan := p.plan.(type) {
	case *Answer:
		for _, path := range plan.Reads {
			addPath(rec, path)
		}
	case *Action:
		if plan.Command != nil {
			rec.Command = fault.Clip(plan.Command.Line, longAudited)
		}
		for _, o := range p.outcomes {
			addOutcome(rec, o)
		}
	case *Edits:
		if p.outcomes == nil {
			for _, t := range plan.touches() {
				addPath(rec, t.path)
			}
			return
		}
		rec.Bytes = 0
		for _, o := range p.outcomes {
			addOutcome(rec, o)
		}
	}
}

func addPath(rec *audit.Record, p workspace.Path) {
	if rec.Folder == "" {
		rec.Folder = p.RootDir()
	}
	if len(rec.Paths) >= mostAudited {
		rec.More++
		return
	}
	rec.Paths = append(rec.Paths, p.String())
}

// addOutcome notes what became of a file, by the hashes of its content.
func addOutcome(rec *audit.Record, o change.Outcome) {
	f := audit.File{Operation: string(o.Operation)}
	var p workspace.Path
	if o.Tree != nil {
		p = o.Tree.Path
	} else {
		p = o.File.Path()
	}
	rec.Folder = p.RootDir()
	f.Path = p.String()
	if o.Tree != nil {
		f.Operation = string(o.Tree.Operation)
		if o.Tree.Operation == change.Move {
			f.To = o.Tree.To.String()
		}
		if o.Tree.Operation == change.Delete {
			rec.Deleted += max(o.Tree.Entries, 1)
		}
	} else {
		f.Before, f.After = o.File.Before.Version, o.Version
		rec.Bytes += o.Bytes
		if o.File.Before.Text != "" && o.Text == "" {
			rec.Deleted++
		}
	}
	if len(rec.Files) >= mostAudited {
		rec.More++
		return
	}
	rec.Files = append(rec.Files, f)
}

// named are the paths that the arguments of a call name which came to no plan, or whose
// answer shows no file.
func named(arguments json.RawMessage) (out []string) {
	if len(arguments) > maxNamed {
		return nil
	}
	var names struct{ Path, From, To, CWD string }
	if json.Unmarshal(arguments, &names) != nil {
		return nil
	}
	for _, name := range []string{names.Path, names.From, names.To, names.CWD} {
		if name != "" {
			out = append(out, fault.Clip(name, longAudited))
		}
	}
	return out
}

// firstFolder is where the log says that it happened.
func (r *Registry) firstFolder() string {
	if r.Documents == nil {
		return ""
	}
	for _, root := range r.Documents.Workspace().Roots() {
		return root.Abs()
	}
	return ""
}

// counts is what the session's statistics have of a call that has ended. p is nil of one
// that came to no plan.
func (p *pending) counts(err *fault.Error) session.Counts {
	c := session.Counts{Calls: 1}
	switch {
	case p != nil && (p.answered == string(approval.Reject) || p.answered == string(approval.Cancel)):
		c.Rejected = 1
	case p != nil && len(p.outcomes) > 0:
		c.Changes = 1
	case err == nil:
	case err.Code == fault.PolicyDenied, err.Code == fault.PathOutsideWorkspace, err.Code == fault.RateLimited,
		err.Code == fault.PermissionDenied && (p == nil || p.plan == nil):
		c.Refused = 1
	}
	return c
}

// noteAnswer keeps what became of the question.
func (p *pending) noteAnswer(a approval.Answer, err error) {
	switch {
	case err == nil && a.Decision == approval.Approve && p.amended:
		p.answered = string(approval.Edit) // they were shown their own version
	case err == nil:
		p.answered = string(a.Decision)
	case errors.Is(err, approval.ErrExpired):
		p.answered = "expired"
	}
}
