// Package policy answers one question: may this call run, must a user be asked,
// or is it refused?
//
// Decide is the entry point; everything it looks at is in the Request. The order
// is fixed: deny rules and repository internals refuse; then the class × mode
// table of the tool contract speaks; protected paths, secrets, ask rules and
// AlwaysAsk turn "run" into "ask"; allow rules and the grants of the session turn
// "ask" into "run", but only an ask that came from the table alone.
//
// Deliberately not here: I/O, state, path resolution and the system places that a
// wide root holds (the workspace refuses those before a plan exists, and hands in
// resolved PathFacts).
//
// A command line is judged part by part. Two readers take it apart: ReadCommand,
// with a parser for POSIX shells, sees every command that stands anywhere in the
// line, for the dialog and for rules that restrict; readPlain knows nothing but
// literal words and the four operators between them. A rule with a wildcard allows
// only where the two agree, and programs.go has nothing against it.
package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"pillion/internal/fault"
)

// Request is all that policy looks at.
type Request struct {
	Tool    string
	Access  Access
	Mode    Mode
	Paths   []PathFact // every path the plan touches, as the workspace resolved them
	Shows   bool       // it is an edit that cannot be made, and tells what is in the files: rules for reading count too
	Keys    []KeyFact  // of the files whose text the call shows, those in which keys seem to be
	Command *Command   // for tools that run a command line
	Host    string     // for tools that reach one, with its port unless that is the usual one
	Subject string     // what a call uses by its name: the runner of a task, a skill
	// Theirs: a project brought what has the name, which it chose.
	Theirs bool
	// Definition is of a tool of another program what that declares it to be.
	Definition string
	Rules      Rules  // from settings
	Grants     []Rule // what the user granted this session
	// Once are the keys of questions that were answered with yes in this session: those of
	// Decision.OncePerSession.
	Once map[string]bool
	// AlwaysAsk is set when the call itself demands a user: requiresApproval,
	// git.push, the strict presets.
	AlwaysAsk bool
	// Box says that commands which only look can run where they can do nothing else, so that nobody has
	// to be asked about them, by the table or by a rule that is not about them, and Layer that others can run
	// there with a layer over the workspace.
	Box, Layer bool
	InDraft    bool // what it changes goes into a draft
	// Covered is set when an earlier yes of the session holds for this call: it is
	// input for a process whose start was approved.
	Covered bool

	reading   *CommandReading // of Command, made by Decide
	looks     bool            // likewise: it only looks
	protected []string        // why of Paths, likewise
}

// PathFact is one path of a plan, with what the workspace knows about it.
type PathFact struct {
	Path       string // slash separated, relative to its root
	Write      bool   // the call itself creates, changes, moves or deletes it
	Executable bool   // an existing file with an x bit
	// MadeExecutable: it has none, and gets it.
	MadeExecutable bool
	MadeLink       bool   // it becomes a symbolic link, or leads elsewhere as one
	Gone           bool   // the call is one that changes some files and deletes others, of which it is one
	HardLinks      int    // how many names an existing file has whose content is replaced
	LosesOwner     string // the user whose existing file it is, and would not be any more
	InEditor       bool   // it is open, and the editor saves it
	ReadOnly       bool   // an existing file that may not be written to
	Root           string // the root's absolute path
	Top            string // the top of the repository that the root lies in, likewise; "" where there is none
	Folder         string // the root's name, where tools print it in front (multi-root), else empty
	Apart          bool   // it is outside the folders: the user's settings name it
	LinkTarget     string // in Path's form; set when Path resolves elsewhere in the root
	// BareRepository says that the path lies in a folder laid out as a bare
	// repository, which its name need not show.
	BareRepository bool
	// Guarded is what the file does, under whatever name it is reached, "" if nothing is known of
	// it: "can make the shell run programs: it is your ~/.zshrc".
	Guarded string
}

// KeyFact is a file with the kind of key that is in what the call shows of it, as KeyIn
// names it.
type KeyFact struct {
	PathFact
	Kind string
}

// names lists what the path is called, as tools print it: itself, and what it
// resolves to.
func (p PathFact) names() []string {
	if p.LinkTarget == "" || p.LinkTarget == p.Path {
		return []string{p.printed(p.Path)}
	}
	return []string{p.printed(p.Path), p.printed(p.LinkTarget)}
}

// judged are where the path is, and what it resolves to.
func (p PathFact) judged() []judged {
	out := []judged{judgedAt(p.Root, p.Top, p.Path)}
	if p.LinkTarget != "" && p.LinkTarget != p.Path {
		out = append(out, judgedAt(p.Root, p.Top, p.LinkTarget))
	}
	return out
}

// isSecret says whether it looks like a file with secrets, by any of its names.
func (p PathFact) isSecret() bool { return slices.ContainsFunc(p.judged(), judged.isSecret) }

// real is the name of the file that a read or write would reach.
func (p PathFact) real() string {
	names := p.names()
	return names[len(names)-1]
}

// printed leads a path with its root's name, so that no rule for a file of one
// root holds in another.
func (p PathFact) printed(name string) string { return path.Join(p.Folder, name) }

// Decision is the answer.
type Decision struct {
	Verdict Verdict
	By      By         // who decided; empty where a user is asked
	Code    fault.Code // of a refusal
	// Reasons say why it asks or refuses. Empty when it runs.
	Reasons []Reason
	// Rememberable is true exactly when Offers is not empty.
	Rememberable bool
	Offers       []Offer
	// OncePerSession is set when all that is asked is asked once in a session: a yes holds
	// for these keys, each of one file or host, such as "secret(.env)". The user reads them
	// among the session's rules.
	OncePerSession []string
	// ReadsGit says that a rule lets the line run and that there is a git in it that only reads,
	// by listed options: nobody was asked whether it may run what a repository's configuration
	// names, or print a secret.
	ReadsGit bool
	// Box says that the command is to run in the box; Apart, also not in a folder of the workspace.
	Box, Apart bool
	// Layer says that it is to run in the box with a layer over the workspace, in which it may write.
	Layer bool
	// Parts and Writes are what a command that asks would run, and what it says
	// that it would write to.
	Parts  []CommandPart
	Writes []string
}

// Reason is why a call asks or is refused: a code for programs, and a clause for people,
// lower case, no full stop, names escaped.
type Reason struct{ Code, Text string }

// The codes of reasons.
const (
	ReasonClass      = "class"      // of every call of the tool
	ReasonAlways     = "always"     // no rule can allow it
	ReasonRule       = "rule"       // of the settings
	ReasonMode       = "mode"       // the session's
	ReasonProtected  = "protected"  // what it writes to
	ReasonOutside    = "outside"    // likewise
	ReasonRepository = "repository" // a repository's own files
	ReasonSecret     = "secret"     // what it reads
	ReasonNext       = "runs_next"  // the user's own next command runs what it writes
	ReasonNetwork    = "network"    // what it may reach
	ReasonChanged    = "changed"    // it is not what was approved
)

func reasons(code string, texts ...string) []Reason {
	out := make([]Reason, 0, len(texts))
	for _, text := range texts {
		out = append(out, Reason{code, text})
	}
	return out
}

// Texts are those of reasons.
func Texts(reasons []Reason) []string {
	var out []string
	for _, r := range reasons {
		out = append(out, r.Text)
	}
	return out
}

// Why is the reasons as one clause.
func (d Decision) Why() string { return strings.Join(Texts(d.Reasons), "; ") }

// By is who decided, if no user was asked.
type By string

// Who decides.
const (
	ByMode   By = "mode"   // the table of classes and modes
	ByRule   By = "rule"   // of the settings
	ByGrant  By = "grant"  // an earlier yes of the session
	ByPolicy By = "policy" // what nobody can allow
)

// by is who let a call run that the table alone would not have.
func (r Request) by(once []onceQuestion) By {
	if slices.ContainsFunc(once, func(q onceQuestion) bool { return r.Once[q.key] }) {
		return ByGrant
	}
	if verdictOf(r.Access, r.Mode) != Ask {
		return ByMode
	}
	r.Grants = nil
	if !r.Covered && allowed(r) {
		return ByRule
	}
	return ByGrant
}

// Decide says what may happen to the call.
func Decide(r Request) Decision {
	apart := false
	if r.Command != nil {
		r.reading = ReadCommand(r.Command.Line)
		r.looks, apart = r.Command.LooksOnly()
		r.looks = r.looks && r.Box && r.Access == Exec // nothing is excused where it cannot be held to that
	}
	r.protected = protectedReasons(r)
	d, plain := decide(r), r
	plain.looks = false
	switch {
	case r.Command == nil:
	case d.Verdict == Run && r.looks && decide(plain).Verdict != Run:
		d.By, d.Box, d.Apart, d.ReadsGit = ByMode, true, apart, true
	case d.Verdict == Run && r.layered() && (r.InDraft || !r.Covered && !allowed(r)):
		d.By, d.Box, d.Layer = ByMode, true, true
	case d.Verdict == Ask:
		d.Parts, d.Writes = explain(r)
	case d.Verdict == Run:
		d.ReadsGit = verdictOf(r.Access, r.Mode) == Ask && r.lineWhy() == "" && r.reading.readsGit()
	}
	return d
}

func decide(r Request) Decision {
	if d, refused := refuse(r); refused {
		return d
	}
	if r.Access == Human {
		return Decision{Verdict: Run, By: ByMode} // its dialog is the question
	}
	firm, once := firmQuestions(r), onceQuestions(r)
	open, asks := r.unanswered(once), r.asks()
	switch {
	case len(firm) == 0 && len(open) == 0 && !asks:
		return Decision{Verdict: Run, By: r.by(once)}
	case len(firm) == 0 && !asks:
		d := Decision{Verdict: Ask, Reasons: onceReasons(open)}
		for _, q := range open {
			d.OncePerSession = append(d.OncePerSession, q.key)
		}
		return d
	}
	d := Decision{Verdict: Ask}
	if asks {
		d.Reasons = append(d.Reasons, r.classReasons()...)
	}
	d.Reasons = append(d.Reasons, firm...)
	d.Reasons = append(d.Reasons, onceReasons(once)...)
	if len(firm) == 0 {
		d.Offers = offersWith(r, open)
		d.Rememberable = len(d.Offers) > 0
	}
	return d
}

// unanswered are the questions that no rule and no earlier yes answers.
func (r Request) unanswered(once []onceQuestion) []onceQuestion {
	return slices.DeleteFunc(slices.Clone(once), func(q onceQuestion) bool { return q.named || r.Once[q.key] })
}

// asks says whether the table has the call ask, and nothing answers that.
func (r Request) asks() bool {
	if r.InDraft && r.Access == Exec { // what a rule lets run may be what nobody has seen
		return !r.boxed() && !r.layered()
	}
	return verdictOf(r.Access, r.Mode) == Ask && !r.Covered && !allowed(r) && !r.boxed() && !r.layered()
}

// knownToDiffer says that a rule for commands is about none of a line that only looks, where it is only
// about a program and its words. Then no other program is run, whatever the words are.
func (r Request) knownToDiffer(rule Rule) bool {
	wanted, readable := rule.restricted()
	return r.looks && readable && rule.Specifier != "" && !slices.ContainsFunc(r.reading.parts, func(p part) bool {
		return len(p.words) > 0 && programName(p.words[0].text) == wanted[0]
	})
}

// boxed says whether the call is a command that only looks, and where it runs it can do nothing else.
func (r Request) boxed() bool {
	return r.looks && !r.AlwaysAsk
}

// layered says whether the call is a command that the box holds with a layer over the workspace: it wants no network,
// has no git that writes, and names no secret nor what is outside, of which the box would show nothing.
func (r Request) layered() bool {
	if !r.Layer || r.Access != Exec || r.AlwaysAsk || !r.Command.POSIX || len(r.Command.Hosts) > 0 {
		return false
	}
	if r.Mode != Draft && (r.Mode != Auto || r.reading.RunsGit()) { // on a draft no git can write
		return false
	}
	unseen := func(name string) bool {
		fact := r.Command.fact(name)
		return name != "" && !isNoFile(name) && (fact.Outside && !fact.Temporary || fact.secret(name))
	}
	return !slices.ContainsFunc(r.reading.parts, func(p part) bool {
		for _, w := range p.words[min(1, len(p.words)):] {
			if slices.ContainsFunc(pathsIn(w.text), unseen) {
				return true
			}
		}
		return slices.ContainsFunc(p.redirs, func(redir redirection) bool {
			return !redir.copies() && redir.target != "/dev/null" && unseen(redir.target)
		})
	})
}

// What is said of a rule of the settings.
const (
	denies    = "the settings deny it with the rule %s"
	asksFirst = "the settings ask first with the rule %s"
)

// refuse finds what no user is asked about.
func refuse(r Request) (Decision, bool) {
	for _, rule := range r.Rules.Deny {
		if rule.judge(r) == matches {
			return refusal(ByRule, Reason{ReasonRule, fmt.Sprintf(denies, rule)}), true
		}
	}
	if denied := r.hostRules(r.Rules.Deny, denies); len(denied) > 0 {
		return refusal(ByRule, denied...), true
	}
	if own := repositoryReasons(r); len(own) > 0 {
		return refusal(ByPolicy, reasons(ReasonRepository, own...)...), true
	}
	verdict := verdictOf(r.Access, r.Mode)
	special := append(reasons(ReasonProtected, r.protected...), reasons(ReasonSecret, secretReasons(secretReads(r))...)...)
	switch {
	case verdict == Refuse && r.Mode != Plan:
		return refusal(ByPolicy, Reason{ReasonMode, fmt.Sprintf("unknown access class %q or mode %q", r.Access, r.Mode)}), true
	case r.Mode == Plan && (verdict == Refuse && !r.boxed() || len(special) > 0 && r.Access != Human):
		return refusal(ByMode, append([]Reason{
			{ReasonMode, "this session is in plan mode, which only reads; present the plan to the user first"},
		}, special...)...), true
	}
	return Decision{}, false
}

func refusal(by By, reasons ...Reason) Decision {
	return Decision{Verdict: Refuse, By: by, Code: fault.PolicyDenied, Reasons: reasons}
}

// firmQuestions lists why the call asks whatever was allowed or granted.
func firmQuestions(r Request) []Reason {
	out := append(reasons(ReasonProtected, r.protected...), reasons(ReasonOutside, writeReasons(r)...)...)
	if r.AlwaysAsk {
		out = append(out, Reason{ReasonAlways, "this call always needs approval"})
	}
	for _, rule := range r.Rules.Deny {
		if rule.judge(r) == unclear && !r.knownToDiffer(rule) {
			out = append(out, Reason{ReasonRule, fmt.Sprintf("the settings may deny it: the rule %s cannot be judged for this call", rule)})
		}
	}
	for _, rule := range r.Rules.Ask {
		if j := rule.judge(r); j == matches || j == unclear && !r.knownToDiffer(rule) {
			out = append(out, Reason{ReasonRule, fmt.Sprintf(asksFirst, rule)})
		}
	}
	return append(out, r.hostRules(r.Rules.Ask, asksFirst)...)
}
