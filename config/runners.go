package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/tools/policy"
)

// Task is the sub-agents that agents may give tasks to.
type Task struct {
	Runners Runners `json:"runners,omitempty"`
}

// Runners are sub-agents by name. An entry counts as a whole: what is said of one in
// several places is not mixed.
type Runners map[string]Runner

// Runner is how one is run: ACP or Command.
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

func (r Runners) over(under any) any {
	out := maps.Clone(under.(Runners))
	if out == nil {
		return r
	}
	maps.Copy(out, r)
	return out
}

// hold needs trust for each entry that is not the user's own: it says which program runs.
func (r Runners) hold(key string, own any, trusted bool, loosens *[]string) any {
	out := Runners{}
	for _, name := range slices.Sorted(maps.Keys(r)) {
		mine := reflect.DeepEqual(r[name], own.(Runners)[name])
		if !mine {
			*loosens = append(*loosens, fmt.Sprintf("%s %s %s", key, fault.Quote(name), fault.Escape(asJSON(r[name]))))
		}
		if mine || trusted {
			out[name] = r[name]
		}
	}
	return out.orNone()
}

// both are the runners that two folders agree on.
func (r Runners) both(other any) any {
	out := Runners{}
	for name, runner := range r {
		if reflect.DeepEqual(runner, other.(Runners)[name]) {
			out[name] = runner
		}
	}
	return out.orNone()
}

func (r Runners) orNone() Runners {
	if len(r) == 0 {
		return nil
	}
	return r
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fault.Quote(err.Error())
	}
	return string(text)
}

// runnerName is a name that an agent can write and a rule can have in it.
var runnerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

func (p *problems) decodeRunners(raw json.RawMessage, into *Runners, at string) {
	out := Runners{}
	p.decodeEntries(raw, at, "runners", func(name string, raw json.RawMessage, at string) {
		var r Runner
		p.decodeObject(raw, reflect.ValueOf(&r).Elem(), at)
		if problem := r.check(name); problem != "" {
			p.add("setting %q is ignored: %s", at, problem)
			return
		}
		out[name] = r
	})
	*into = out.orNone()
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
		return "its mode must be plan, default, auto_edit or full_access"
	case r.TimeoutSeconds < 0 || r.TimeoutSeconds > longestRunner.Seconds():
		return fmt.Sprintf("its timeoutSeconds must be between 0 and %.0f", longestRunner.Seconds())
	}
	return ""
}
