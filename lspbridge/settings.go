package lspbridge

import (
	"encoding/json"
	"reflect"
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
}

func (s Server) same(t Server) bool { return reflect.DeepEqual(s, t) }
