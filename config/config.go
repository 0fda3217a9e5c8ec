// Package config is the settings: one struct, read from what the editor sends
// and from the user's own file. Package main reads it and hands each part of the
// program its own piece.
package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"pillion/tools/policy"
)

// Settings is everything that can be set. Its JSON form is the object that
// editors send as initializationOptions and under "pillion", and the content of
// the user's pillion/settings.json.
type Settings struct {
	// Path is where the editor finds the sidecar; the sidecar has no use for it.
	Path  string `json:"path,omitempty"`
	Trace Trace  `json:"trace,omitzero"`
	// Mode is the mode of a new session: plan, default or auto_edit.
	Mode        policy.Mode `json:"mode,omitempty"`
	Permissions Permissions `json:"permissions,omitzero"`
	Approvals   Approvals   `json:"approvals,omitzero"`
	Limits      Limits      `json:"limits,omitzero"`
}

// Trace is the editor's own logging of the wire.
type Trace struct {
	Server string `json:"server,omitempty"` // off, messages or verbose
}

// Permissions are rules of the form tool or tool(specifier). Deny beats ask
// beats allow.
type Permissions struct {
	Allow []string `json:"allow,omitempty"`
	Ask   []string `json:"ask,omitempty"`
	Deny  []string `json:"deny,omitempty"`
}

// Approvals sets how long a dialog waits.
type Approvals struct {
	ExpireSeconds float64 `json:"expireSeconds,omitempty"` // 0: as long as the agent waits
}

// Limits are the sizes and times of the tool contract; 0 keeps its default.
type Limits struct {
	ReadBytes      int64   `json:"readBytes,omitempty"`
	WriteBytes     int64   `json:"writeBytes,omitempty"`
	DiffBytes      int64   `json:"diffBytes,omitempty"`
	OutputBytes    int64   `json:"outputBytes,omitempty"`
	CallSeconds    float64 `json:"callSeconds,omitempty"`
	CommandSeconds float64 `json:"commandSeconds,omitempty"`
	ChangesAMinute int     `json:"changesPerMinute,omitempty"`
	ReadsAMinute   int     `json:"readsPerMinute,omitempty"`
}

// Parse reads a settings object. Problems are what the human should be told:
// unknown keys and values that cannot be; the rest of the object still counts.
func Parse(raw json.RawMessage) (Settings, []string) {
	var s Settings
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return s, nil
	}
	problems := unknownKeys(raw, reflect.TypeFor[Settings](), "")
	if err := json.Unmarshal(raw, &s); err != nil {
		return Settings{}, append(problems, "the settings cannot be read and are ignored: "+err.Error())
	}
	return s, append(problems, s.check()...)
}

func unknownKeys(raw json.RawMessage, t reflect.Type, at string) []string {
	var object map[string]json.RawMessage
	if t.Kind() != reflect.Struct || json.Unmarshal(raw, &object) != nil {
		return nil
	}
	fields := map[string]reflect.Type{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[name] = f.Type
	}
	var out []string
	for _, key := range slices.Sorted(mapKeys(object)) {
		field, known := fields[key]
		if !known {
			out = append(out, fmt.Sprintf("unknown setting %q is ignored", at+key))
			continue
		}
		out = append(out, unknownKeys(object[key], field, at+key+".")...)
	}
	return out
}

func mapKeys(m map[string]json.RawMessage) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}

// check drops what cannot be, and says so.
func (s *Settings) check() []string {
	var problems []string
	switch s.Mode {
	case "", policy.Plan, policy.Default, policy.AutoEdit:
	case policy.FullAccess:
		problems = append(problems, "mode full_access cannot be a setting; choose it for a session, in the editor")
		s.Mode = ""
	default:
		problems = append(problems, fmt.Sprintf("mode %q does not exist; use plan, default or auto_edit", s.Mode))
		s.Mode = ""
	}
	for _, list := range []*[]string{&s.Permissions.Allow, &s.Permissions.Ask, &s.Permissions.Deny} {
		*list = slices.DeleteFunc(*list, func(rule string) bool {
			_, err := policy.ParseRule(rule)
			if err != nil {
				problems = append(problems, fmt.Sprintf("rule %q is ignored: %v", rule, err))
			}
			return err != nil
		})
	}
	return problems
}

// UserFile is where the user's own settings are.
func UserFile() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "pillion", "settings.json"), err
}

// ReadUser reads the user's own file; there need not be one.
func ReadUser() (Settings, []string) {
	name, err := UserFile()
	if err != nil {
		return Settings{}, nil
	}
	raw, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Settings{}, nil
	case err != nil:
		return Settings{}, []string{"the user's settings cannot be read: " + err.Error()}
	}
	s, problems := Parse(raw)
	for i, p := range problems {
		problems[i] = name + ": " + p
	}
	return s, problems
}

// Over lays the editor's settings over the user's: a value that is set wins, and
// rules add up.
func (s Settings) Over(user Settings) Settings {
	out := s
	out.Permissions = Permissions{
		Allow: slices.Concat(user.Permissions.Allow, s.Permissions.Allow),
		Ask:   slices.Concat(user.Permissions.Ask, s.Permissions.Ask),
		Deny:  slices.Concat(user.Permissions.Deny, s.Permissions.Deny),
	}
	if out.Mode == "" {
		out.Mode = user.Mode
	}
	if out.Approvals == (Approvals{}) {
		out.Approvals = user.Approvals
	}
	if out.Limits == (Limits{}) {
		out.Limits = user.Limits
	}
	return out
}

// Rules are the permissions as policy takes them.
func (p Permissions) Rules() policy.Rules {
	return policy.Rules{Allow: rules(p.Allow), Ask: rules(p.Ask), Deny: rules(p.Deny)}
}

func rules(list []string) []policy.Rule {
	var out []policy.Rule
	for _, text := range list {
		if r, err := policy.ParseRule(text); err == nil { // check has told of the others
			out = append(out, r)
		}
	}
	return out
}

// Expiry is how long a dialog waits, 0 for ever.
func (a Approvals) Expiry() time.Duration { return seconds(a.ExpireSeconds) }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Call is CallSeconds as a duration; Command is CommandSeconds.
func (l Limits) Call() time.Duration { return seconds(l.CallSeconds) }

// Command is the default time of a command.
func (l Limits) Command() time.Duration { return seconds(l.CommandSeconds) }
