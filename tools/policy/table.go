package policy

import (
	"fmt"
	"slices"

	"pillion/internal/fault"
)

// Access is a tool's class: the most that a call of it can do.
type Access string

// The classes.
const (
	Read    Access = "read"
	Edit    Access = "edit"
	Exec    Access = "exec"
	Network Access = "network"
	VCS     Access = "vcs"
	Human   Access = "human"
	Session Access = "session"
	// Skill is no tool's class: it is what a text is judged as that tells an agent what to do.
	Skill Access = "skill"
)

// Mode is how freely a session's agent may work.
type Mode string

// The modes.
const (
	Plan       Mode = "plan"
	Draft      Mode = "draft"
	Default    Mode = "default"
	AutoEdit   Mode = "auto_edit"
	Auto       Mode = "auto"
	FullAccess Mode = "full_access"
)

// modes are all there are, the strictest first.
var modes = []Mode{Plan, Draft, Default, AutoEdit, Auto, FullAccess}

// Stricter says that the mode leaves agents less room than another.
func (m Mode) Stricter(than Mode) bool { return slices.Index(modes, m) < slices.Index(modes, than) }

// Tighter is the stricter of the two modes.
func (m Mode) Tighter(other Mode) Mode {
	if other.Stricter(m) {
		return other
	}
	return m
}

// ParseMode reads a mode by its name on the wire.
func ParseMode(s string) (Mode, error) {
	if slices.Contains(modes, Mode(s)) {
		return Mode(s), nil
	}
	return "", fault.New(fault.InvalidArguments,
		"unknown mode %s: use plan, draft, default, auto_edit, auto or full_access", fault.Quote(s))
}

// Verdict is what happens to a call.
type Verdict string

// The verdicts.
const (
	Run    Verdict = "run"
	Ask    Verdict = "ask"
	Refuse Verdict = "refuse"
)

// table is section 7 of the tool contract, without its special rows.
var table = map[Access]map[Mode]Verdict{
	Read:    {Plan: Run, Draft: Run, Default: Run, AutoEdit: Run, Auto: Run, FullAccess: Run},
	Session: {Plan: Run, Draft: Run, Default: Run, AutoEdit: Run, Auto: Run, FullAccess: Run},
	Human:   {Plan: Run, Draft: Run, Default: Run, AutoEdit: Run, Auto: Run, FullAccess: Run},
	Skill:   {Plan: Ask, Draft: Ask, Default: Ask, AutoEdit: Ask, Auto: Ask, FullAccess: Run},
	Edit:    {Plan: Refuse, Draft: Run, Default: Ask, AutoEdit: Run, Auto: Run, FullAccess: Run},
	Exec:    {Plan: Refuse, Draft: Ask, Default: Ask, AutoEdit: Ask, Auto: Ask, FullAccess: Run},
	Network: {Plan: Refuse, Draft: Ask, Default: Ask, AutoEdit: Ask, Auto: Ask, FullAccess: Run},
	VCS:     {Plan: Refuse, Draft: Ask, Default: Ask, AutoEdit: Ask, Auto: Ask, FullAccess: Run},
}

// verdictOf refuses what the table does not know.
func verdictOf(access Access, mode Mode) Verdict {
	if v, ok := table[access][mode]; ok {
		return v
	}
	return Refuse
}

// classReason says why a class asks at all; what is special about one call, its
// tool says beside it.
var classReason = map[Access]string{
	Edit:    "this tool changes files",
	Exec:    "this tool runs a program",
	Skill:   "a skill tells the agent what to do",
	Network: "this tool reaches the network",
	VCS:     "this tool changes the git repository",
}

// String makes a request readable in a failing test.
func (r Request) String() string {
	return fmt.Sprintf("%s (%s) in %s", r.Tool, r.Access, r.Mode)
}
