// Package config is the settings: one struct, read from what the editor sends,
// from the user's own file, and from the one that a project brings along. Package
// sidecar hands each part of the program its own piece.
//
// Parse reads one layer; Layers has them all, and says what holds of a project's:
// only what tightens, until the user trusts that very text. Deliberately not here:
// asking the user for it.
package config

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"pillion/tools/policy"
)

// Settings is everything that can be set. Its JSON form is the object that
// editors send as initializationOptions and under "pillion", and the content of
// the user's pillion/settings.json. docs/settings.md describes each key.
type Settings struct {
	// Path is where the editor finds the sidecar; the sidecar has no use for it.
	Path  string `json:"path,omitempty"`
	Trace Trace  `json:"trace,omitzero"`
	// Mode is the mode of a new session: plan, draft, default, auto_edit or auto.
	Mode        policy.Mode `json:"mode,omitempty"`
	Permissions Permissions `json:"permissions,omitzero"`
	Approvals   Approvals   `json:"approvals,omitzero"`
	Limits      Limits      `json:"limits,omitzero"`
	Commands    Commands    `json:"commands,omitzero"`
	Box         Box         `json:"box,omitzero"`
	Drafts      Drafts      `json:"drafts,omitzero"`
	// Sandbox is whether commands are held: require, prefer or off.
	Sandbox string `json:"sandbox,omitempty"`
	// SandboxWritable are folders beside the workspace that commands may write.
	SandboxWritable []string `json:"sandboxWritable,omitempty"`
	// SandboxNetwork is what of the network a command in the sandbox has: hosts, off or on.
	SandboxNetwork string `json:"sandboxNetwork,omitempty"`
	// SandboxNetworkFor are rules for commands that have one all the same.
	SandboxNetworkFor []Rule  `json:"sandboxNetworkFor,omitempty"`
	Journal           Journal `json:"journal,omitzero"`
	// Audit is what the audit log keeps of a call: full, brief or off.
	Audit string `json:"audit,omitempty"`
	// Unusual is what becomes of a session that does something unusual: tell, pause or
	// revert.
	Unusual         string          `json:"unusual,omitempty"`
	LanguageServers LanguageServers `json:"languageServers,omitzero"`
	Search          Search          `json:"search,omitzero"`
	Memory          Memory          `json:"memory,omitzero"`
	Skills          Skills          `json:"skills,omitzero"`
	Web             Web             `json:"web,omitzero"`
	Task            Task            `json:"task,omitzero"`
	Tools           Tools           `json:"tools,omitzero"`
	MCPServers      MCPServers      `json:"mcpServers,omitempty"`
	MCP             MCP             `json:"mcp,omitzero"`
	Gateway         Gateway         `json:"gateway,omitzero"`
	Agents          Agents          `json:"agents,omitempty"`
}

// Commands is which commands run without a question.
type Commands struct {
	ReadOnly *bool `json:"readOnly,omitempty"` // nil: true
}

// Box is where commands run that nobody was asked about.
type Box struct {
	Home []string `json:"home,omitempty"` // what of the home they see, beside the usual
}

// Drafts is what sessions in mode draft work on.
type Drafts struct {
	MaxBytes int64 `json:"maxBytes,omitempty"`
}

// Memory is what agents are to remember.
type Memory struct {
	// File is where it stands: an absolute path, one from ~, or ProjectMemory.
	File string `json:"file,omitempty"`
}

// ProjectMemory is the value of memory.file for PILLION.md in the project.
const ProjectMemory = "project"

// Skills are which skills agents have.
type Skills struct {
	Allow   []string `json:"allow,omitempty"`   // patterns of names of own ones: they are loaded without asking
	Deny    []string `json:"deny,omitempty"`    // likewise: they do not exist
	Folders []string `json:"folders,omitempty"` // of the user's own, beside the usual ones
}

// Web is what agents may fetch.
type Web struct {
	// PrivateHosts are the hosts whose addresses may be private.
	PrivateHosts []string  `json:"privateHosts,omitempty"`
	Search       WebSearch `json:"search,omitzero"`
}

// WebSearch is who searches the web. The key itself is no setting.
type WebSearch struct {
	Provider string `json:"provider,omitempty"` // searxng, tavily or brave
	URL      string `json:"url,omitempty"`      // "": the provider's usual one
	// KeyCommand is a command line whose first line of output is the key.
	KeyCommand string `json:"keyCommand,omitempty"`
}

// Search is how files are searched.
type Search struct {
	// IndexMegabytes is what the index of what is in files may take; nil: the default.
	IndexMegabytes *float64 `json:"indexMegabytes,omitempty"`
}

// MCP is what agents get that come by `pillion mcp`, and a server without an alias.
type MCP struct {
	// ServerCommand is the command line of a server whose tools have their own names.
	ServerCommand string `json:"mcpServerCommand,omitempty"`
	Structured    bool   `json:"structured,omitempty"` // structuredContent beside the text
}

// Gateway is how a gateway is reached, and how it wants its frames.
type Gateway struct {
	URL string `json:"url,omitempty"`
	// TokenCommand is a command line whose first line of output is the token.
	TokenCommand string `json:"tokenCommand,omitempty"`
	// AllowInsecure lets connections without TLS go to other machines.
	AllowInsecure bool   `json:"allowInsecure,omitempty"`
	Execution     string `json:"execution,omitempty"` // editor or agent
	Rejection     string `json:"rejection,omitempty"` // both, decision or result
	Errors        string `json:"errors,omitempty"`    // object, text or bare
	Codes         string `json:"codes,omitempty"`     // own or codelab
}

// Trace is the editor's own logging of the wire.
type Trace struct {
	Server string `json:"server,omitempty"` // off, messages or verbose
}

// Permissions are rules of the form tool or tool(specifier). Deny beats ask
// beats allow.
type Permissions struct {
	Allow []Rule `json:"allow,omitempty"`
	Ask   []Rule `json:"ask,omitempty"`
	Deny  []Rule `json:"deny,omitempty"`
}

// Approvals sets how long a dialog waits.
type Approvals struct {
	ExpireSeconds float64 `json:"expireSeconds,omitempty"` // 0: as long as the agent waits
}

// Journal is what is kept of agents' changes, so that they can be put back.
type Journal struct {
	// Mode is what becomes of a change that cannot be kept: require, prefer or off.
	Mode     string  `json:"mode,omitempty"`
	Sync     *bool   `json:"sync,omitempty"`     // nil: true
	MaxBytes int64   `json:"maxBytes,omitempty"` // 0: the default
	Days     float64 `json:"days,omitempty"`     // 0: the default
}

// Limits are the sizes and times of the tool contract; 0 keeps its default.
type Limits struct {
	// Preset is default or codelab, the strict reading of the contract.
	Preset         string  `json:"preset,omitempty"`
	ReadBytes      int64   `json:"readBytes,omitempty"`
	WriteBytes     int64   `json:"writeBytes,omitempty"`
	DiffBytes      int64   `json:"diffBytes,omitempty"`
	OutputBytes    int64   `json:"outputBytes,omitempty"`
	CallSeconds    float64 `json:"callSeconds,omitempty"`
	CommandSeconds float64 `json:"commandSeconds,omitempty"`
	ChangesAMinute int     `json:"changesPerMinute,omitempty"`
	ReadsAMinute   int     `json:"readsPerMinute,omitempty"`
	// Patches is any or clean: patches only where git has nothing that is not committed.
	Patches string `json:"patches,omitempty"`
}

// CleanPatches is the stricter value of limits.patches.
const CleanPatches = "clean"

// CodeLab is the stricter of the presets.
const CodeLab = "codelab"

// Over lays the editor's settings over the user's: a value that is set wins, each
// by itself, and rules add up.
func (s Settings) Over(user Settings) Settings {
	out := s
	lay(reflect.ValueOf(&out).Elem(), reflect.ValueOf(user))
	return out
}

// lay fills what is not set in out from under.
func lay(out, under reflect.Value) {
	switch out.Kind() {
	case reflect.Map:
		out.Set(out.Interface().(anyNamed).over(under))
	case reflect.Struct:
		for i := range out.NumField() {
			lay(out.Field(i), under.Field(i))
		}
	case reflect.Slice: // the rules
		out.Set(reflect.AppendSlice(under.Slice3(0, under.Len(), under.Len()), out))
	default:
		if out.IsZero() {
			out.Set(under)
		}
	}
}

// Rules are the permissions as policy takes them.
func (p Permissions) Rules() policy.Rules {
	return policy.Rules{Allow: rules(p.Allow), Ask: rules(p.Ask), Deny: rules(p.Deny)}
}

// Rules are the rules that hold in every folder.
func (s Settings) Rules() policy.Rules {
	out := s.Permissions.Rules()
	out.Allow = append(out.Allow, s.Skills.rules(s.Skills.Allow)...)
	out.Deny = append(out.Deny, s.Skills.rules(s.Skills.Deny)...)
	return out
}

func (Skills) rules(names []string) []policy.Rule {
	list := make([]Rule, 0, len(names))
	for _, name := range names {
		list = append(list, Rule{Rule: "skill(" + name + ")"})
	}
	return rules(list)
}

// OwnSkills are the folders of the user's own skills, the first ones counting.
func (s Settings) OwnSkills(home string) []string {
	var out []string
	if settings, err := UserFile(); err == nil {
		out = append(out, filepath.Join(filepath.Dir(settings), "skills"))
	}
	return append(out, Folders(append([]string{"~/.agents/skills", "~/.claude/skills"}, s.Skills.Folders...), home)...)
}

func rules(list []Rule) []policy.Rule {
	var out []policy.Rule
	for _, rule := range list {
		if r, err := policy.ParseRule(rule.Rule); err == nil { // check has told of the others
			out = append(out, r)
		}
	}
	return out
}

// NetworkRules are the rules of SandboxNetworkFor.
func (s Settings) NetworkRules() []policy.Rule { return rules(s.SandboxNetworkFor) }

// Folders are the absolute folders of a list, with ~ for home written out.
func Folders(list []string, home string) (out []string) {
	for _, dir := range list {
		if dir = fromHome(dir, home); filepath.IsAbs(dir) {
			out = append(out, dir)
		}
	}
	return out
}

func fromHome(name, home string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok && home != "" {
		return filepath.Join(home, rest)
	}
	return name
}

// MemoryFile is the absolute name of the file of memory.file, "" for the project's own.
func (s Settings) MemoryFile(home string) (string, error) {
	switch s.Memory.File {
	case ProjectMemory:
		return "", nil
	case "":
		settings, err := UserFile()
		return filepath.Join(filepath.Dir(settings), "PILLION.md"), err
	}
	return fromHome(s.Memory.File, home), nil
}

// Expiry is how long a dialog waits, 0 for ever.
func (a Approvals) Expiry() time.Duration { return seconds(a.ExpireSeconds) }

// seconds is at most a year: more does not fit into a Duration, and turns negative.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, 365*24*3600) * float64(time.Second))
}

// Age is how long the journal keeps a change, 0 for the default.
func (j Journal) Age() time.Duration { return seconds(j.Days * 24 * 3600) }

// Call is how long a call may take, 0 for the default.
func (l Limits) Call() time.Duration { return seconds(l.CallSeconds) }

// Command is how long a command may take that names no time, 0 for the default.
func (l Limits) Command() time.Duration { return seconds(l.CommandSeconds) }

// Load lays the editor's settings over the user's own.
func Load(editor json.RawMessage) (Settings, []string) {
	user, problems := ReadUser()
	over, more := Parse(editor)
	return over.Over(user), append(problems, more...)
}
