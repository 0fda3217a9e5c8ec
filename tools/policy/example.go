package policy

import "slices"

// commandTools are those whose rules are about command lines; the rules of all
// others are about paths. A test in package tools compares them with the tools.
var commandTools = []string{"run_command", "run_persistent"}

// RunsCommands says whether a tool's rules are about command lines.
func RunsCommands(tool string) bool { return slices.Contains(commandTools, tool) }

// Holds says whether the rule, as one that allows (Run), asks (Ask) or denies
// (Refuse), decides the call that example stands for: a command line in the rule's
// own folder, or a path that is written to. Why not is told where it is known.
func (r Rule) Holds(kind Verdict, example string) (holds bool, why []string) {
	request := Request{Tool: r.Tool, Access: Edit, Mode: FullAccess, Paths: []PathFact{{Path: example, Write: true}}}
	if RunsCommands(r.Tool) {
		request.Access, request.Paths, request.Command = Exec, nil, &Command{Line: example, Cwd: r.Folder, POSIX: true}
	}
	switch kind {
	case Run:
		request.Mode, request.Rules.Allow = Default, []Rule{r}
		decision := Decide(request)
		return decision.Verdict == Run, Texts(decision.Reasons)
	case Ask:
		request.Rules.Ask = []Rule{r}
	default:
		request.Rules.Deny = []Rule{r}
	}
	with := Decide(request)
	request.Rules = Rules{}
	without := Decide(request)
	return with.Verdict != without.Verdict || !slices.Equal(with.Reasons, without.Reasons), nil
}
