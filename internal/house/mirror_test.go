package house

import (
	"go/ast"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const mirrorFile = "vscode-extension/src/protocol.ts"

// goType is a struct, or the first one inside a function.
type goType struct{ file, name string }

// mirror says which Go type each interface of the extension's protocol file is
// the other end of.
var mirror = map[string]goType{
	"EditorCapabilities":  {"rpc/lifecycle.go", "editorCapabilities"},
	"SidecarCapabilities": {"rpc/lifecycle.go", "sidecarCapabilities"},
	"AgentIdentity":       {"tools/approval/approval.go", "Agent"},
	"ApprovalRequest":     {"tools/approval/approval.go", "Request"},
	"ApprovalDecision":    {"tools/approval/approval.go", "Choice"},
	"ApprovalAnswer":      {"tools/approval/approval.go", "Answer"},
	"LineComment":         {"tools/approval/approval.go", "Comment"},
	"ApprovalChanged":     {"tools/approval/approval.go", "Changed"},
	"ApprovalResolved":    {"rpc/dialogs.go", "approvalResolved"},
	"HunkPreview":         {"workspace/change/preview.go", "HunkPreview"},
	"HunkLines":           {"workspace/change/preview.go", "HunkLines"},
	"Reason":              {"tools/approval/preview.go", "Reason"},
	"Fact":                {"tools/approval/preview.go", "Fact"},
	"PromptRequest":       {"rpc/dialogs.go", "promptUser"},
	"PromptAnswer":        {"tools/human.go", "PromptAnswer"},
	"AgentStatus":         {"rpc/status.go", "agentStatus"},
	"ActivityChanged":     {"tools/activity.go", "Activity"},
	"CausedProblem":       {"tools/activity.go", "Problem"},
	"ActivityShow":        {"rpc/activity.go", "activityParams"},
	"ActivityShown":       {"rpc/activity.go", "activityShown"},
	"DocumentEdit":        {"workspace/change/commit.go", "BufferEdit"},
	"DocumentEditResult":  {"workspace/change/commit.go", "BufferResult"},
	"TextEdit":            {"workspace/document/position.go", "TextEdit"},
	"Range":               {"workspace/document/position.go", "Range"},
	"Position":            {"workspace/document/position.go", "Position"},
	"DocumentState":       {"rpc/documents.go", "documentStateParams"},
	"ToolContent":         {"tools/result.go", "Part"},
	"SettingsUntrusted":   {"rpc/events.go", "Untrusted"},
	"DraftInfo":           {"tools/drafted.go", "DraftInfo"},
	"DraftFile":           {"tools/drafted.go", "DraftFile"},
	"ProcessInfo":         {"rpc/processes.go", "processInfo"},
	"SessionUnusual":      {"rpc/events.go", "Unusual"},
	"SessionChanged":      {"rpc/sessions.go", "sessionChanged"},
	"RulesChanged":        {"sidecar/settings.go", "Rules"},
	"ListedRule":          {"config/listed.go", "ListedRule"},
	"RulesForget":         {"rpc/settings.go", "forgetParams"},
	"ProcessOutput":       {"rpc/processes.go", "processOutput"},
	"JournalEntry":        {"workspace/change/history.go", "EntryInfo"},
	"JournalFile":         {"workspace/change/history.go", "EntryFile"},
	"JournalChanged":      {"workspace/change/history.go", "JournalChanged"},
	"ChangedFile":         {"workspace/change/history.go", "ChangedFile"},
	"LineSpan":            {"workspace/change/history.go", "LineRange"},
	"WorkspaceChanged":    {"rpc/events.go", "workspaceChanged"},
	"WorkspaceChange":     {"workspace/tracking/tracking.go", "Change"},
	"WorkspaceTracking":   {"rpc/events.go", "Tracking"},
	"WorkspaceIndex":      {"rpc/events.go", "Index"},
	"LanguageAnswer":      {"lspbridge/questions.go", "editorAnswer"},

	"GatewayState":         {"agents/gateway/gateway.go", "State"},
	"ConversationView":     {"conversation/conversation.go", "View"},
	"ConversationEntry":    {"conversation/conversation.go", "Entry"},
	"ConversationCall":     {"conversation/conversation.go", "Call"},
	"ConversationChanged":  {"conversation/set.go", "Changed"},
	"ConversationAppended": {"conversation/set.go", "Appended"},
	"ContextFile":          {"conversation/conversation.go", "ContextFile"},
}

// parts are interfaces that read or send a part of a Go type: the rest of it has
// no use in the extension.
var parts = map[string]goType{
	"FilePreview":   {"tools/approval/preview.go", "File"},
	"DraftSelector": {"rpc/drafts.go", "draftParams"},
	"SessionPause":  {"rpc/sessions.go", "sessionParams"},
	"SessionClose":  {"rpc/sessions.go", "sessionParams"},
	"SessionTodos":  {"rpc/sessions.go", "sessionParams"},
	"SessionRevoke": {"rpc/sessions.go", "sessionParams"},
	"Todo":          {"tools/session/todos.go", "Todo"},

	"GatewayConnect": {"rpc/conversations.go", "gatewayParams"},
	"ContextUpdate":  {"rpc/conversations.go", "conversationParams"},
	"SessionInfo":    {"tools/session/session.go", "Info"},
	"ToolCall":       {"rpc/calls.go", "callParams"},
	"ProcessKill":    {"rpc/processes.go", "processParams"},
	"ProcessWrite":   {"rpc/processes.go", "processParams"},

	"JournalSelector": {"rpc/journal.go", "journalParams"},
}

// union is what approval.Preview is to the extension: an interface a kind.
var union = []string{"DiffPreview", "CommandPreview", "UrlPreview", "TextPreview"}

// ahead are fields and interfaces that DESIGN section 2 and 4 name and the sidecar does not
// send yet, or that have no struct in Go.
var ahead = []string{
	"Composed", // of every preview
	"ToolResult", "SessionNewTurn", "SessionList", "DraftList", "SessionSetMode", "SettingsTrust", "ProcessList", "JournalList", "JournalReverted",
}

// TestMirror: both ends of the wire use the same field names.
func TestMirror(t *testing.T) {
	structs := jsonStructs(t)
	interfaces := typeScript(t)
	for name, fields := range interfaces {
		other, whole := mirror[name]
		if !whole {
			other = parts[name]
		}
		switch {
		case slices.Contains(union, name), slices.Contains(ahead, name):
			continue
		case other.name == "":
			t.Errorf("%s: interface %s mirrors nothing that this test knows; say what, in mirror", mirrorFile, name)
			continue
		}
		want := structs[other.file+" "+other.name]
		if want == nil {
			t.Errorf("there is no struct with JSON names in %s %s", other.file, other.name)
		}
		compare(t, name, fields, want, whole)
	}
	for name := range mirror {
		if interfaces[name] == nil {
			t.Errorf("%s has no interface %s", mirrorFile, name)
		}
	}
}

// compare wants every field of the extension in Go, and, of a whole mirror, every
// field that Go always sends in the extension.
func compare(t *testing.T, name string, have, want map[string]bool, whole bool) {
	for field := range have {
		if _, known := want[field]; !known && !slices.Contains(ahead, name+"."+field) {
			t.Errorf("%s: %s.%s is not on the Go side, which has %v", mirrorFile, name, field, slices.Sorted(maps.Keys(want)))
		}
	}
	for field, optional := range want {
		if _, known := have[field]; whole && !known && !optional {
			t.Errorf("%s: %s lacks %s", mirrorFile, name, field)
		}
	}
}

// TestMirrorOfPreviews: approval.Preview is one struct in Go and a union there, which has no
// field that is not sent. It may have fewer: what facts say, the extension does not read.
func TestMirrorOfPreviews(t *testing.T) {
	interfaces := typeScript(t)
	sent := jsonStructs(t)["tools/approval/preview.go Preview"]
	for _, name := range union {
		for field := range interfaces[name] {
			if _, known := sent[field]; !known {
				t.Errorf("%s: %s.%s is not in approval.Preview", mirrorFile, name, field)
			}
		}
	}
}

var (
	luaClass = regexp.MustCompile(`(?m)^---@class pillion\.(\w+)\n((?:---@field .*\n)+)`)
	luaField = regexp.MustCompile(`(?m)^---@field (\w+)\??[ \t]`)
)

// TestMirrorOfLua: the Neovim plugin's classes of the same names have no field that
// the Go side has not. They may have fewer: a plugin passes on what it does not show.
func TestMirrorOfLua(t *testing.T) {
	structs, seen := jsonStructs(t), 0
	for _, file := range projectFiles(t, ".lua") {
		for _, class := range luaClass.FindAllStringSubmatch(string(read(t, file)), -1) {
			other, known := mirror[class[1]]
			if !known {
				other, known = parts[class[1]]
			}
			if class[1] == "Preview" { // a union in TypeScript
				other, known = goType{"tools/approval/preview.go", "Preview"}, true
			}
			if !known {
				continue // one of its own
			}
			seen++
			for _, field := range luaField.FindAllStringSubmatch(class[2], -1) {
				if _, is := structs[other.file+" "+other.name][field[1]]; !is {
					t.Errorf("%s: pillion.%s.%s is not on the Go side, in %s", file, class[1], field[1], other.file)
				}
			}
		}
	}
	if seen < 3 {
		t.Errorf("only %d classes of the wire were found; are they written in another way now?", seen)
	}
}

var (
	tsInterface = regexp.MustCompile(`(?s)export interface (\w+)(?: extends (\w+))? \{\n(.*?)\n\}`)
	tsField     = regexp.MustCompile(`(?m)^  (\w+)(\??):`)
)

// typeScript are the interfaces of the protocol files, each with its fields and
// whether they may be missing.
func typeScript(t *testing.T) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	text := ""
	for _, file := range []string{mirrorFile, "vscode-extension/src/activity-protocol.ts", "vscode-extension/src/conversation-protocol.ts", "vscode-extension/src/session-protocol.ts"} {
		text += string(read(t, file))
	}
	for _, found := range tsInterface.FindAllStringSubmatch(text, -1) {
		fields := map[string]bool{}
		for _, field := range tsField.FindAllStringSubmatch(found[3], -1) {
			fields[field[1]] = field[2] == "?"
		}
		maps.Copy(fields, out[found[2]]) // what it extends stands above it
		out[found[1]] = fields
	}
	if len(out) < 10 {
		t.Fatalf("%s has only %d interfaces; is it written in another way now?", mirrorFile, len(out))
	}
	return out
}

// embeds are structs whose fields another one sends as its own.
var embeds = map[string]string{
	"tools/approval/preview.go File": "workspace/change/preview.go FilePreview",
	"tools/session/session.go Info":  "tools/session/counts.go Counts",
}

// jsonStructs are the structs with JSON names, by file and name of the type or
// function that they stand in, each with its names and whether they may be missing.
func jsonStructs(t *testing.T) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, f := range goFiles(t) {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				addStruct(out, f.name+" "+d.Name.Name, d)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok {
						addStruct(out, f.name+" "+s.Name.Name, s)
					}
				}
			}
		}
	}
	for outer, inner := range embeds {
		maps.Copy(out[outer], out[inner])
	}
	return out
}

func addStruct(into map[string]map[string]bool, key string, in ast.Node) {
	ast.Inspect(in, func(n ast.Node) bool {
		s, ok := n.(*ast.StructType)
		if !ok || into[key] != nil {
			return true
		}
		fields := map[string]bool{}
		for _, f := range s.Fields.List {
			if f.Tag == nil {
				continue
			}
			name, options, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
			if name != "" && name != "-" {
				fields[name] = strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
			}
		}
		if len(fields) > 0 {
			into[key] = fields
		}
		return true
	})
}
