package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"pillion/tools/policy"
)

// Task is the sub-agents that agents may give tasks to.
type Task struct {
	Runners Runners `json:"runners,omitempty"`
}

// Runners are sub-agents by name.
type Runners = Named[Runner]

// Runner is how one is run: ACP or Command. It counts as a whole: what is said of one in
// several places is not mixed.
type Runner struct {
	ACP            []string          `json:"acp,omitempty"`
	Command        []string          `json:"command,omitempty"`
	Env            map[string]string `json:"env,omitempty"`
	InheritEnv     []string          `json:"inheritEnv,omitempty"`
	Writable       []string          `json:"writable,omitempty"`
	WritesItself   bool              `json:"writesItself,omitempty"`   // see docs/agents.md
	Mode           policy.Mode       `json:"mode,omitempty"`           // empty: that of whoever starts it
	TimeoutSeconds float64           `json:"timeoutSeconds,omitempty"` // 0: the default
}

// How long a runner works that names no time, and the longest that it can name.
const (
	runnerTime    = 30 * time.Minute
	longestRunner = 24 * time.Hour
)

// Timeout is how long it may work.
func (r Runner) Timeout() time.Duration {
	if r.TimeoutSeconds == 0 {
		return runnerTime
	}
	return seconds(r.TimeoutSeconds)
}

// Off: one is there or it is not.
func (r Runner) Off() bool { return false }

func (r Runner) off() Runner { return Runner{} }

func (r Runner) over(Runner) Runner { return r }

func (r Runner) inProject(Runner) (counts Runner, field, because string) { return r, "", "" }

// runnerName is a name that an agent can write and a rule can have in it.
var runnerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// checkRunners drops runners that cannot be, each by itself.
func (p *problems) checkRunners(all Runners) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if problem := all[name].check(name); problem != "" {
			p.add("setting %q is ignored: %s", join("task.runners", name), problem)
			delete(all, name)
		}
	}
}

// check says why the runner cannot be used.
func (r Runner) check(name string) string {
	line := slices.Concat(r.ACP, r.Command)
	_, err := policy.ParseMode(string(r.Mode))
	switch {
	case !runnerName.MatchString(name):
		return "a name has letters, digits, dots, hyphens and underscores, at most 64"
	case (len(r.ACP) == 0) == (len(r.Command) == 0):
		return "it must have either acp or command, a list: the program and its arguments"
	case line[0] == "" || strings.ContainsRune(strings.Join(line, ""), 0):
		return "its program must be a name or a file"
	case strings.Contains(line[0], "{objective}"):
		return "its program cannot be the objective"
	case r.Mode != "" && err != nil:
		return "its mode must be plan, default, auto_edit, auto or full_access"
	case r.TimeoutSeconds < 0 || r.TimeoutSeconds > longestRunner.Seconds():
		return fmt.Sprintf("its timeoutSeconds must be between 0 and %.0f", longestRunner.Seconds())
	}
	return ""
}
