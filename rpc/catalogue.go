package rpc

import (
	"maps"
	"slices"
	"strings"
)

// Audience says which editors a method is for.
type Audience int

const (
	Everyone Audience = iota
	Plugins           // those with capabilities.experimental.pillion
	Plain             // those without
)

// Method is a method of the editor's wire, for documents and for whoever compares
// clients with it.
type Method struct {
	Name       string
	FromEditor bool
	LSP        bool // of the Language Server Protocol itself, not of ours
	For        Audience
}

// sent is what the sidecar sends, and to whom. The tests' editor refuses what is
// not for it, and another test compares this with the calls in the source.
var sent = map[string]Audience{
	"approval/request":  Plugins,
	"approval/changed":  Plugins,
	"approval/resolved": Plugins,
	"prompt/user":       Plugins,
	"plan/review":       Plugins,
	"patch/review":      Plugins,
	"document/edit":     Plugins,
	"activity/changed":  Plugins,
	"agent/status":      Plugins,
	"process/output":    Plugins,

	"conversation/changed":  Plugins,
	"conversation/appended": Plugins,
	"gateway/changed":       Plugins,
	"agent/message":         Everyone, // who sends frames

	"editor/definition":  Plugins, // these five only to those with languageFeatures
	"editor/diagnostics": Plugins,
	"editor/hover":       Plugins,
	"editor/references":  Plugins,
	"editor/symbols":     Plugins,

	"settings/untrusted": Plugins,

	"draft/changed":      Plugins,
	"session/changed":    Plugins,
	"session/unusual":    Plugins,
	"workspace/changed":  Plugins,
	"workspace/tracking": Plugins,
	"workspace/index":    Plugins,
	"journal/changed":    Plugins,
	"rules/changed":      Plugins,

	"window/showMessageRequest": Plain,
	"workspace/applyEdit":       Plain,
	"window/showMessage":        Plain,
	"window/showDocument":       Plain,

	"window/workDoneProgress/create": Plain,

	"client/registerCapability": Everyone,
	"window/logMessage":         Everyone,
	"$/progress":                Everyone,
	"$/cancelRequest":           Everyone,
}

// namespaces are ours; what is in none of them is LSP's.
var namespaces = []string{
	"activity/", "agent/", "approval/", "context/", "conversation/", "document/", "draft/", "editor/", "gateway/", "journal/", "patch/", "plan/", "process/", "prompt/", "relay/", "rules/", "session/", "settings/", "tools/", "window/focused",
	"workspace/changed", "workspace/tracking", "workspace/index",
}

func isOurs(name string) bool {
	return slices.ContainsFunc(namespaces, func(ours string) bool { return strings.HasPrefix(name, ours) })
}

// Catalogue is every method of the wire in both directions, what the editor sends
// first, each direction by name.
func Catalogue() []Method {
	out := []Method{{Name: "$/cancelRequest", FromEditor: true, LSP: true}} // internal/wire has it
	for _, name := range Methods() {
		m := Method{Name: name, FromEditor: true, LSP: !isOurs(name)}
		switch {
		case name == "workspace/executeCommand": // advertised to these alone
			m.For = Plain
		case !m.LSP:
			m.For = Plugins
		}
		out = append(out, m)
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		out = append(out, Method{Name: name, LSP: !isOurs(name), For: sent[name]})
	}
	return out
}

// Methods are the names of all methods that an editor may call.
func Methods() []string { return slices.Sorted(maps.Keys(methods)) }
