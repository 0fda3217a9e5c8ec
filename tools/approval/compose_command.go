package approval

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pillion/internal/fault"
)

// commandArguments are those of a call that its command line does not show.
type commandArguments struct {
	ProcessID string            `json:"process_id"`
	Env       map[string]string `json:"env"`
	Stdin     string            `json:"stdin"`
	Why       string            `json:"why"`

	BackgroundAfter float64 `json:"background_after"`
}

const maxWhy = 300

const goesOn = "runs until it ends, you stop it or the agent disconnects"

func (r *Request) composeCommand() {
	p := &r.Preview
	p.Lines, p.Subject = visibleLines(p.Command), visible(p.Command)
	p.Act, p.Question, p.Deed = "run a command", "Run a command?", "run "+p.Subject
	var given commandArguments
	_ = json.Unmarshal(r.Arguments, &given) //nolint:errcheck // the tool has decoded them
	if given.ProcessID != "" {
		p.Act, p.Question, p.Deed = "start a process", "Start a process?", "start "+p.Subject
		r.add(NewFact("process", "Process", visible(given.ProcessID)+": "+goesOn+"; what the agent types into it is not asked about again"))
	}
	if given.BackgroundAfter > 0 {
		r.add(NewFact("process", "Process", fmt.Sprintf("after %g s it goes on beside the agent and %s", given.BackgroundAfter, goesOn)))
	}
	if what := risk(p.Parts); what != "" {
		p.Act += " that " + what
	}
	r.add(NewFact("why", "The agent says", visible(fault.Clip(strings.TrimSpace(given.Why), maxWhy))))
	r.add(folder(p.Cwd))
	r.add(r.reasons().with(p.onlyPart()))
	r.add(p.parts())
	r.add(NewFact("writes", "Writes", visibleAll(p.Writes)...))
	p.unsaved()
	r.add(NewFact("environment", "Environment", variables(given.Env)...))
	if given.Stdin != "" {
		r.add(NewFact("input", "Input", visibleLines(strings.TrimSuffix(given.Stdin, "\n"))...))
	}
	r.add(sandbox(p.Sandbox))
	r.add(network(*p))
}

func folder(cwd string) Fact {
	if cwd == "" || cwd == "." {
		return Fact{Code: "folder", Label: "Folder", Text: "the workspace folder", Tone: Muted}
	}
	return NewFact("folder", "Folder", visible(cwd))
}

// with is a fact of one value more.
func (f Fact) with(value string) Fact {
	values := nonEmpty(append([]string{f.Text}, f.Items...))
	if value != "" && !slices.Contains(values, value) {
		values = append(values, value)
	}
	return NewFact(f.Code, f.Label, values...)
}

// onlyPart is why a line of one command asks, which needs no list of its parts.
func (p *Preview) onlyPart() string {
	if len(p.Parts) != 1 {
		return ""
	}
	return visible(p.Parts[0].Why)
}

// parts are what a line runs, where that is not just what it says.
func (p *Preview) parts() Fact {
	if len(p.Parts) == 1 && typed(p.Parts[0].Argv) == strings.TrimSpace(p.Command) {
		return Fact{}
	}
	var out []string
	for _, part := range p.Parts {
		why := visible(part.Why)
		if why == "" {
			why = "allowed by a rule"
		}
		out = append(out, fmt.Sprintf("%s   (%s)", typed(part.Argv), why))
	}
	return Fact{Code: "parts", Label: "Runs", Items: out}
}

// typed is an argv as it is written in the line.
func typed(argv []string) string { return strings.Join(visibleAll(argv), " ") }

func variables(env map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, visible(name)+"="+visible(env[name]))
	}
	return out
}

// sandbox says what really holds a command, and promises no more than is so.
func sandbox(name string) Fact {
	f := NewFact("sandbox", "Sandbox", visible(name))
	switch name {
	case "none":
		f.Text = "none: the command has your own rights"
	case "bubblewrap":
		f.Tone, f.Text = Muted, "bubblewrap: it writes only in the workspace, temporary folders and caches of its own, and sees no other processes"
	case "landlock":
		f.Tone, f.Text = Muted, "Landlock: it writes only in the workspace, temporary folders and caches of its own"
	}
	return f
}

// network says nothing of a command that nothing could keep from it.
func network(p Preview) Fact {
	switch {
	case p.Network:
		return NewFact("network", "Network", "allowed")
	case len(p.Hosts) > 0:
		return NewFact("network", "Network", "only "+strings.Join(visibleAll(p.Hosts), ", "))
	case p.Sandbox == "bubblewrap" || p.Sandbox == "landlock":
		return Fact{Code: "network", Label: "Network", Text: "blocked", Tone: Muted}
	}
	return Fact{}
}
