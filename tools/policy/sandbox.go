package policy

import (
	"path"
	"slices"
)

// Covers says whether rules are about this command, read as narrowly as rules that
// allow are.
func Covers(rules []Rule, tool string, c Command) bool {
	return allowed(Request{Tool: tool, Command: &c, Rules: Rules{Allow: rules}, reading: ReadCommand(c.Line)})
}

// RunsGit says whether the line runs git, and beside it nothing but what only looks or
// goes to a folder: what else runs while a repository is open for writing could lay
// out in it what the user's next git runs.
func (r *CommandReading) RunsGit() bool {
	git := func(p part) bool { return len(p.words) > 0 && p.words[0].literal && p.words[0].text == "git" }
	harmless := func(p part) bool {
		if len(p.words) == 0 || !p.words[0].literal {
			return false
		}
		name := p.words[0].text
		return goes(name) || readers[name] && hazards[name] == nil
	}
	return !r.unreadable && slices.ContainsFunc(r.parts, git) && !slices.ContainsFunc(r.parts, func(p part) bool {
		return !git(p) && !harmless(p)
	})
}

// Targets are the files that the line names as what its output goes to. A name
// that does not begin with / is left out where the line may go to another folder
// first.
func (r *CommandReading) Targets() []string {
	if r.unreadable {
		return nil
	}
	moves := slices.ContainsFunc(r.parts, func(p part) bool {
		return len(p.words) > 0 && (!p.words[0].literal || slices.Contains(movers, p.words[0].text))
	})
	var out []string
	for _, w := range r.writes {
		if w.literal && w.text != "" && (path.IsAbs(w.text) || !moves) {
			out = append(out, w.text)
		}
	}
	return out
}

// Absolute are the absolute paths that stand in the line as words.
func (r *CommandReading) Absolute() []string {
	var out []string
	for _, p := range r.parts {
		for _, w := range p.words {
			if w.literal && path.IsAbs(w.text) {
				out = append(out, w.text)
			}
		}
	}
	return out
}

// movers can have the shell go to another folder.
var movers = []string{"cd", "pushd", "popd", "chdir", ".", "source", "eval", "command", "builtin"}
