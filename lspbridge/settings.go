package lspbridge

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"
)

// Settings are what is set about language servers.
type Settings struct {
	Servers []Server // the first that fits is taken
	// PreferOwn has questions of navigation go to our own servers first, not to the
	// editor's; EditorDiagnostics has diagnostics taken from the editor.
	PreferOwn         bool
	EditorDiagnostics bool
	EditWait          time.Duration // how long Caused waits
	Idle              time.Duration // after which a server is stopped; 0: never
}

// Server is a program that knows languages.
type Server struct {
	Name      string
	Command   []string
	Languages []string // LSP's language ids
	// Settings are what it is told when it asks for its configuration: an object of
	// sections. Options are its initializationOptions.
	Settings    json.RawMessage
	Options     json.RawMessage
	RootMarkers []string // names of files of which one lies in the root of a project
	Env         map[string]string
	Install     string // how people install it
	// Characters are what it counts when it names no position encoding, if that is not
	// LSP's default.
	Characters encoding
	// StartInBytes are the sources of diagnostics that begin at a byte of their line: they
	// hand on what Python's parser says.
	StartInBytes []string
	// AsksFirst says that it takes documents seriously only once it has got the
	// configuration that it asks for.
	AsksFirst bool
	// First are notifications that it gets before any document.
	First []string
	// Linter is a program without which it finds no errors. LinterSetting is the setting
	// that names it, by its dotted name.
	Linter, LinterSetting, LinterInstall string
	// Faulty is a text in which any of its linters finds a fault: a server that finds none
	// there has no linter, and finds nothing anywhere. LinterInstall is what to do then.
	Faulty string
	// VersionArgs have it print its version; nil: --version, empty: nothing does.
	VersionArgs []string
	// Held is why it does not start unless the user's own settings enable it: it runs
	// what the workspace brings along, and cannot be told not to.
	Held string
	// Data says that its languages are not programs: most folders have some, and nobody
	// needs to hear that it is missing.
	Data bool
	// Debounce is how long it is known to wait after a change before it looks at a text,
	// which another change has it put off; 0: nobody knows. Barrier is a request that it
	// answers in its turn and at once.
	Debounce time.Duration
	Barrier  string
	// Single: it reports once for each text.
	Single bool
	// Alone: what it finds in a file depends on no other file.
	Alone bool
	// TypeScript: what is wrong is asked of the tsserver behind it. It names no versions,
	// reports in parts, and says nothing of a text that is as clean as the one before.
	TypeScript bool
}

func (s Server) same(t Server) bool { return reflect.DeepEqual(s, t) }

// Override is what is set about a server. What is not set stays as it is known.
type Override struct {
	Enabled     *bool
	Command     []string
	Languages   []string
	RootMarkers []string
	Env         map[string]string
	// Settings and InitializationOptions are objects, laid over what is known key by key.
	Settings              json.RawMessage
	InitializationOptions json.RawMessage
	Install               string
}

// Servers are the known ones with what is set laid over them. Those that are set come
// first. Problems are for the user.
func Servers(set map[string]Override) (servers []Server, problems []string) {
	known := Known()
	var named, others []Server
	for _, s := range known {
		o, isSet := set[s.Name]
		switch {
		case !isSet:
			others = append(others, s)
		case o.Enabled == nil || *o.Enabled:
			named = append(named, o.over(s))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		o := set[name]
		if slices.ContainsFunc(known, func(s Server) bool { return s.Name == name }) || o.Enabled != nil && !*o.Enabled {
			continue
		}
		if len(o.Command) == 0 || len(o.Languages) == 0 {
			problems = append(problems, fmt.Sprintf("languageServers.servers.%s is ignored: a server that is not known needs command and languages", name))
			continue
		}
		named = append(named, o.over(Server{Name: name}))
	}
	return append(named, others...), problems
}

func (o Override) over(s Server) Server {
	replace(&s.Command, o.Command)
	replace(&s.Languages, o.Languages)
	replace(&s.RootMarkers, o.RootMarkers)
	s.Settings, s.Options = laid(o.Settings, s.Settings), laid(o.InitializationOptions, s.Options)
	if o.Env != nil {
		s.Env = o.Env
	}
	if o.Install != "" {
		s.Install = o.Install
	}
	if o.Enabled != nil && *o.Enabled {
		s.Held = ""
	}
	return s
}

func replace(list *[]string, with []string) {
	if len(with) > 0 {
		*list = with
	}
}

// laid lays one JSON object over another, key by key. What is no object replaces.
func laid(over, under json.RawMessage) json.RawMessage {
	var above, below map[string]json.RawMessage
	switch {
	case over == nil:
		return under
	case json.Unmarshal(over, &above) != nil || above == nil || json.Unmarshal(under, &below) != nil || below == nil:
		return over
	}
	for key, value := range above {
		below[key] = laid(value, below[key])
	}
	out, err := json.Marshal(below)
	if err != nil {
		return over
	}
	return out
}
