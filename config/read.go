package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"pillion/tools/policy"
)

// Parse reads a settings object; comments and trailing commas are allowed.
// Problems are what the user should be told: unknown keys and values that cannot
// be. Each key stands for itself, so that a mistake in one does not switch off a
// rule in another.
func Parse(raw json.RawMessage) (Settings, []string) {
	var s Settings
	var problems problems
	if len(raw) == 0 {
		return s, nil
	}
	if bytes.Count(raw, []byte("["))+bytes.Count(raw, []byte("{")) > maxNodes {
		return s, []string{"the settings have too many lists and objects and are ignored"}
	}
	plain, err := hujson.Standardize(slices.Clone(raw))
	if err != nil {
		return s, []string{"the settings are not valid JSON and are ignored: " + strings.TrimPrefix(err.Error(), "hujson: ")}
	}
	problems.decode(plain, reflect.ValueOf(&s).Elem(), "")
	problems.check(&s)
	return s, problems
}

// maxNodes bounds how deep the readers of JSON have to go.
const maxNodes = 5000

type problems []string

// How many problems are told, and how long each may be.
const (
	maxProblems = 20
	maxProblem  = 500
)

func (p *problems) add(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(text) > maxProblem {
		text = strings.ToValidUTF8(text[:maxProblem], "") + "…"
	}
	switch {
	case len(*p) < maxProblems:
		*p = append(*p, text)
	case len(*p) == maxProblems:
		*p = append(*p, "the settings have more problems")
	}
}

// decode reads raw into v, which is a part of Settings; at is its key. A null is
// not set.
func (p *problems) decode(raw json.RawMessage, v reflect.Value, at string) {
	if string(raw) == "null" {
		return
	}
	if v.Kind() == reflect.Map || v.Type() == reflect.TypeFor[json.RawMessage]() || v.Type() == reflect.TypeFor[Agents]() {
		if string(bytes.TrimSpace(raw)) == "[]" {
			return // an empty object, as Lua writes it
		}
	}
	switch into := v.Addr().Interface().(type) {
	case interface {
		decode(p *problems, raw json.RawMessage, at string)
	}:
		into.decode(p, raw, at)
		return
	case *json.RawMessage:
		p.decodeRaw(raw, into, at)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		p.decodeObject(raw, v, at)
	case reflect.Slice:
		p.decodeList(raw, v, at)
	default:
		if json.Unmarshal(raw, v.Addr().Interface()) != nil {
			v.SetZero()
			p.add("setting %q is ignored: it must be %s", at, wanted[kindOf(v.Type())])
		}
	}
}

// kindOf is what a type holds, which may be unset.
func kindOf(t reflect.Type) reflect.Kind {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind()
}

var wanted = map[reflect.Kind]string{
	reflect.Map:     "an object of strings",
	reflect.String:  "a text",
	reflect.Int:     "an integer",
	reflect.Int64:   "an integer",
	reflect.Float64: "a number",
	reflect.Bool:    "true or false",
}

// object reads the members of an object, of which there are none where there is no object.
func (p *problems) object(raw json.RawMessage, at string) (object map[string]json.RawMessage) {
	switch err := json.Unmarshal(raw, &object); {
	case err == nil:
	case at == "":
		p.add("the settings are ignored: they must be an object")
	default:
		p.add("setting %q is ignored: it must be an object", at)
	}
	return object
}

func (p *problems) decodeObject(raw json.RawMessage, v reflect.Value, at string) {
	object := p.object(raw, at)
	fields := map[string]int{}
	for i := range v.NumField() {
		fields[nameOf(v.Type().Field(i))] = i
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if i, known := fields[key]; known {
			p.decode(object[key], v.Field(i), join(at, key))
		} else {
			p.add("unknown setting %q is ignored%s", join(at, key), nearest(key, fields))
		}
	}
}

// nameOf is a field's name in JSON.
func nameOf(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return key
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

// nearest is a hint where only the letters' case or the form of the words is wrong.
func nearest(key string, fields map[string]int) string {
	plain := func(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }
	for known := range fields {
		if plain(known) == plain(key) {
			return fmt.Sprintf("; did you mean %q?", known)
		}
	}
	return ""
}

// decodeList reads a list of texts or rules; one that is none does not spoil the
// others.
func (p *problems) decodeList(raw json.RawMessage, v reflect.Value, at string) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		p.add("setting %q is ignored: it must be a list of strings", at)
		return
	}
	for i, raw := range list {
		at, one := fmt.Sprintf("%s[%d]", at, i), reflect.New(v.Type().Elem()).Elem()
		switch {
		case one.Type() == reflect.TypeFor[Rule]():
			if !p.decodeRule(raw, one, at) {
				continue
			}
		case string(raw) == "null" || json.Unmarshal(raw, one.Addr().Interface()) != nil:
			p.add("setting %q is ignored: it must be a string", at)
			continue
		}
		v.Set(reflect.Append(v, one))
	}
}

// The contract's bound on a command's time, in seconds.
const longestCommand = 600

// check drops what cannot be, and says so.
func (p *problems) check(s *Settings) {
	switch s.Mode {
	case "", policy.Plan, policy.Draft, policy.Default, policy.AutoEdit, policy.Auto:
	case policy.FullAccess:
		p.add("mode full_access cannot be a setting; choose it for a session, in the editor")
		s.Mode = ""
	default:
		p.add("mode %q does not exist; use plan, draft, default, auto_edit or auto", s.Mode)
		s.Mode = ""
	}
	leaves("", func(key string, values []reflect.Value) { p.checkValue(keyOf(key), values[0]) }, reflect.ValueOf(s).Elem())
	if s.Limits.CommandSeconds > longestCommand {
		p.add("limits.commandSeconds is limited to %d", longestCommand)
		s.Limits.CommandSeconds = longestCommand
	}
	p.checkRules(&s.Permissions.Allow, policy.Run)
	p.checkRules(&s.Permissions.Ask, policy.Ask)
	p.checkRules(&s.Permissions.Deny, policy.Refuse)
	p.checkRules(&s.SandboxNetworkFor, policy.Run)
	p.checkMCPServers(s.MCPServers)
	p.checkRunners(s.Task.Runners)
	p.checkSkills(&s.Skills)
	if file := s.Memory.File; file != "" && file != ProjectMemory && !filepath.IsAbs(file) && !strings.HasPrefix(file, "~/") {
		p.add("memory.file %q is ignored: it must be an absolute path, start with ~/, or be project", file)
		s.Memory.File = ""
	}
	p.checkFolders(&s.SandboxWritable, "sandboxWritable")
	p.checkFolders(&s.Box.Home, "box.home")
}

// checkValue holds a word against those that are known, and a number against what it could mean.
func (p *problems) checkValue(k Key, set reflect.Value) {
	v := set
	if v.Kind() == reflect.Pointer {
		v = v.Elem() // of what is not set no value at all
	}
	switch {
	case v.Kind() == reflect.String && k.words != "":
		known := strings.Fields(strings.NewReplacer(",", "", " or ", " ").Replace(k.words))
		if v.String() == "" || slices.Contains(known, v.String()) {
			return
		}
		instead := ""
		if k.mistaken != "" {
			instead = ". Using " + k.mistaken
		}
		p.add("%s %q does not exist; use %s%s", k.Name, v.String(), k.words, instead)
		v.SetString(k.mistaken)
	case v.CanInt() || v.CanFloat():
		if n, most := number(v), cmp.Or(k.most, math.MaxInt32); n < 0 || n > most {
			p.add("%s is ignored: it must be between 0 and %.0f", k.Name, most)
			set.SetZero()
		}
	}
}

func (p *problems) checkFolders(list *[]string, at string) {
	*list = slices.DeleteFunc(*list, func(dir string) bool {
		bad := !filepath.IsAbs(dir) && !strings.HasPrefix(dir, "~/")
		if bad {
			p.add("folder %q of %s is ignored: it must be an absolute path, or start with ~/", dir, at)
		}
		return bad
	})
}

func (p *problems) checkSkills(s *Skills) {
	p.checkFolders(&s.Folders, "skills.folders")
	s.Allow = slices.DeleteFunc(s.Allow, func(name string) bool {
		if !skillPattern.MatchString(name) {
			p.add("%q of skills.allow is ignored: names have a-z, 0-9 and hyphens, and * stands for any of them", name)
			return true
		}
		return false
	})
	for i, name := range s.Deny {
		if !skillPattern.MatchString(name) {
			p.add("%q of skills.deny is no pattern of names, which have a-z, 0-9 and hyphens, and * for any of them. Denying all skills", name)
			s.Deny[i] = "*" // a mistake must not loosen anything
		}
	}
}

var skillPattern = regexp.MustCompile(`^[a-z0-9*-]+$`)

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
