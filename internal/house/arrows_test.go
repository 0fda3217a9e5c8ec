package house

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// arrows are the packages and what of this module each may import. All may import
// internal/fault and internal/bug but these two themselves.
var arrows = map[string][]string{
	"internal/fault":   {},
	"internal/bug":     {},
	"internal/pipe":    {},
	"internal/pattern": {},
	"internal/state":   {},
	"internal/way":     {},
	"internal/web":     {},
	"internal/wire":    {"internal/pipe"},

	"workspace":             {"internal/way", "workspace/gitignore"},
	"workspace/gitignore":   {},
	"workspace/diff":        {},
	"workspace/watch":       {},
	"workspace/lines":       {},
	"workspace/git":         {"internal/pattern", "internal/way", "workspace/git/gitdir", "workspace/git/gitfile", "workspace/git/program"},
	"workspace/git/program": {"internal/pattern", "workspace/git/gitdir", "workspace/git/gitfile"},
	"workspace/git/gitdir":  {"internal/way", "workspace/git/gitfile"},
	"workspace/git/gitfile": {},
	"workspace/search":      {"workspace"},
	"workspace/document":    {"workspace", "workspace/diff"},
	"workspace/language":    {"workspace", "workspace/document"},
	"workspace/journal":     {},
	"workspace/patch":       {"workspace/diff"},
	"workspace/tracking":    {"workspace", "workspace/change", "workspace/document", "workspace/journal", "workspace/watch"},
	"workspace/handle":      {"workspace", "workspace/document"},
	"workspace/layer":       {"internal/way", "workspace", "workspace/change", "workspace/document", "workspace/journal"},
	"workspace/change":      {"workspace", "workspace/diff", "workspace/document", "workspace/git", "workspace/handle", "workspace/journal", "workspace/language"},

	"tools/policy":       {"internal/pattern"},
	"tools/session":      {"tools/policy"},
	"tools/session/kept": {"internal/state", "tools/session"},
	"tools/match":        {"workspace/diff", "workspace/document"},
	"tools/patching":     {"tools/match", "workspace", "workspace/change", "workspace/diff", "workspace/document", "workspace/language", "workspace/patch"},
	"tools/unusual":      {"audit"},
	"tools/process":      {"internal/pipe", "internal/state", "internal/way", "internal/web", "tools/policy", "workspace/git", "workspace/git/program"},
	"tools/approval":     {"workspace/change"},
	"tools/dialects":     {},
	"tools/wellformed":   {},
	"tools/skills":       {"workspace"},
	"tools/found":        {"tools/process"},
	"tools/schema":       {"tools/match"},
	"tools": {
		"audit", "tools/approval", "tools/dialects", "tools/found", "tools/match", "tools/patching", "tools/policy", "tools/process", "tools/schema", "tools/session", "tools/skills", "tools/wellformed", "internal/way", "internal/web", "internal/wire", // wire: to escape large text once
		"workspace", "workspace/change", "workspace/diff", "workspace/document", "workspace/git", "workspace/journal", "workspace/language", "workspace/layer", "workspace/lines", "workspace/search",
	},
	"tools/agent":   {"tools", "tools/approval", "tools/policy", "tools/process", "tools/session", "tools/skills", "workspace"},
	"tools/code":    {"tools", "tools/patching", "workspace", "workspace/change", "workspace/diff", "workspace/document", "workspace/language"},
	"tools/command": {"internal/way", "internal/web", "tools", "tools/approval", "tools/policy", "tools/process", "workspace", "workspace/document", "workspace/layer"},
	"tools/file": {
		"internal/wire", "tools", "tools/approval", "tools/match", "tools/patching", "tools/session",
		"workspace", "workspace/change", "workspace/diff", "workspace/document", "workspace/git", "workspace/lines", "workspace/patch", "workspace/search",
	},
	"tools/git":    {"tools", "tools/approval", "tools/process", "workspace", "workspace/document", "workspace/git"},
	"tools/search": {"tools", "tools/policy", "workspace", "workspace/document", "workspace/search"},
	"tools/web":    {"internal/web", "tools", "tools/approval"},
	"tools/all":    kinds,

	"lspbridge": {"internal/wire", "workspace", "workspace/diff", "workspace/document", "workspace/language", "workspace/search", "workspace/watch"},

	"rpc": {
		"conversation", "tools", "tools/approval", "tools/patching", "tools/policy", "tools/process", "tools/session",
		"workspace", "workspace/change", "workspace/document", "workspace/tracking", "workspace/journal", "internal/wire",
	},
	"agents/relay":   {"internal/state", "tools", "tools/policy", "tools/session", "workspace/tracking", "internal/wire"},
	"agents/mcp":     {"tools", "tools/all", "tools/approval", "tools/session", "workspace", "agents/relay", "internal/wire"},
	"agents/install": {"internal/state", "internal/way"},
	"agents/acp":     {"tools", "tools/process", "tools/session"},
	"draft":          {"internal/state", "internal/wire", "tools", "tools/approval", "tools/policy", "tools/process", "tools/session", "workspace/layer"},
	"agents/gateway": {"conversation", "tools", "tools/approval", "tools/session"},
	"conversation":   {},
	"terminal":       {"conversation", "tools", "tools/approval", "workspace/diff"},
	"page":           {"tools", "tools/approval", "workspace/diff"},
	"doctor":         {"agents/install", "agents/relay", "config", "internal/state", "lspbridge", "terminal", "tools/process", "workspace", "workspace/watch"},
	"try":            {"terminal", "try/sample"},
	"try/sample":     {},
	"audit":          {"internal/state"},
	"config":         {"internal/state", "tools/policy", "workspace"},

	"sidecar": {
		"agents/acp", "agents/gateway", "agents/mcp", "agents/relay", "audit", "config", "conversation", "draft", "internal/state", "internal/wire", "lspbridge", "rpc",
		"internal/way", "internal/web", "tools", "tools/all", "tools/approval", "tools/found", "tools/policy", "tools/process", "tools/session", "tools/session/kept", "tools/skills", "tools/unusual",
		"workspace", "workspace/change", "workspace/document", "workspace/git", "workspace/journal", "workspace/search", "workspace/tracking", "workspace/watch",
	},
	"cli": {
		"agents/gateway", "conversation", "agents/install", "agents/mcp", "agents/relay", "audit", "config", "doctor", "internal/state", "internal/wire", "page", "rpc", "sidecar", "terminal", "try", "try/sample",
		"tools", "tools/all", "tools/approval", "tools/found", "tools/process", "tools/session", "tools/session/kept", "workspace", "workspace/change", "workspace/diff", "workspace/document", "workspace/journal",
	},
	"": {"cli"},
}

// kinds are the folders of tools, each of a kind. Package tools imports none of them, no kind
// imports another, and tools/all imports them all.
var kinds = []string{"tools/agent", "tools/code", "tools/command", "tools/file", "tools/git", "tools/search", "tools/web"}

// workshop are the packages that no program of ours is made of: tests' rigs,
// generators, this one. They import what they need, and nobody imports them.
var workshop = []string{"internal/house", "internal/generate", "internal/clients", "internal/testrig", "internal/testrig/check", "internal/testrig/machine", "agents/internal/agenttest", "internal/testrig/gateway", "scripts/gateway", "scripts/sample", "scripts/bench", "test"}

// confined are packages from outside and the only ones that may import them: their
// types stop there.
var confined = map[string][]string{
	"go.lsp.dev/":                         {"lspbridge", "rpc"},
	"github.com/sourcegraph/jsonrpc2":     {"internal/wire"},
	"github.com/modelcontextprotocol/":    {"agents/mcp", "tools/found", "try"},
	"github.com/go-git/":                  {"workspace/git", "workspace/git/gitdir", "try/sample"},
	"github.com/fsnotify/":                {"workspace/watch"},
	"github.com/bluekeyes/go-gitdiff/":    {"workspace/patch"},
	"github.com/google/jsonschema-go/":    {"tools", "tools/found", "tools/schema"},
	"golang.org/x/text/encoding":          {"workspace/document"},
	"github.com/tailscale/hujson":         {"agents/install", "config", "tools/wellformed"},
	"github.com/pelletier/go-toml/":       {"agents/install", "tools/wellformed"},
	"golang.org/x/tools/":                 {},
	"mvdan.cc/sh/":                        {"cli", "tools/policy", "terminal"},
	"net/http":                            {"page", "agents/gateway", "internal/web", "tools/found"}, // on loopback, and to open a WebSocket
	"github.com/JohannesKaufmann/":        {"internal/web"},
	"go.yaml.in/yaml/":                    {"tools/skills", "tools/wellformed"},
	"golang.org/x/net/":                   {"internal/web", "tools/policy"},
	"github.com/coder/websocket":          {"agents/gateway"},
	"github.com/coder/acp-go-sdk":         {"agents/acp"},
	"golang.org/x/crypto/":                {},
	"os/exec":                             {"cli", "doctor", "draft", "sidecar", "terminal", "tools/process", "try", "workspace/git/program"}, // programs' --version, a person's own editor, pillion try's own agent, a draft's sidecar, git to read
	"github.com/rogpeppe/go-internal":     {},
	"github.com/go-json-experiment/json/": {"config", "internal/wire"},
}

// listed is a package as `go list` shows it.
type listed struct {
	ImportPath, Name string
	Imports          []string
	Error            *struct{ Err string }
}

// list asks for the module's packages as they are built for one system.
func list(t *testing.T, goos string) map[string]listed {
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Name,Imports,Error", "./...")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	found := map[string]listed{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		if name, ok := local(p.ImportPath); ok && !strings.Contains(name, "node_modules") {
			found[name] = p
		}
	}
}

// local is the name of a package of ours, "" for main.
func local(path string) (string, bool) {
	if path == module {
		return "", true
	}
	return strings.CutPrefix(path, module+"/")
}

func TestArrows(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		found := list(t, goos)
		for name, p := range found {
			if slices.Contains(workshop, name) {
				continue
			}
			allowed, known := arrows[name]
			if !known {
				t.Errorf("package %s is on no map: draw it in ARCHITECTURE.md, and here", name)
			}
			for _, path := range p.Imports {
				checkImport(t, goos, name, path, allowed)
			}
		}
		for name := range arrows {
			if _, exists := found[name]; !exists {
				t.Errorf("%s: package %q is on the map and does not exist", goos, name)
			}
		}
	}
}

func checkImport(t *testing.T, goos, name, path string, allowed []string) {
	if other, ours := local(path); ours {
		isGround := (other == "internal/fault" || other == "internal/bug") && name != "internal/fault" && name != "internal/bug"
		if !isGround && !slices.Contains(allowed, other) {
			t.Errorf("%s: %q imports %q, against the arrows", goos, name, other)
		}
		return
	}
	for prefix, homes := range confined {
		if strings.HasPrefix(path, prefix) && !slices.Contains(homes, name) {
			t.Errorf("%s: %q imports %s, which belongs to %q alone", goos, name, path, homes)
		}
	}
}

// TestArrowsHaveNoCircle: the map itself goes one way.
func TestArrowsHaveNoCircle(t *testing.T) {
	var visit func(name string, above []string)
	visit = func(name string, above []string) {
		if slices.Contains(above, name) {
			t.Fatalf("a circle on the map: %v → %s", above, name)
		}
		for _, next := range arrows[name] {
			visit(next, append(slices.Clone(above), name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(arrows)) {
		visit(name, nil)
	}
}

// TestPolicyIsPure: policy looks at its Request and at nothing else.
func TestPolicyIsPure(t *testing.T) {
	for _, path := range list(t, "linux")["tools/policy"].Imports {
		for _, impure := range []string{"os", "net", "io", "syscall", "time", "sync", "math/rand", "path/filepath", "log", "runtime", "context", "embed"} {
			if path != "net/netip" && (path == impure || strings.HasPrefix(path, impure+"/")) { // which only reads addresses
				t.Errorf("tools/policy imports %s: it has no I/O, no state and no clock", path)
			}
		}
	}
}

// TestToolsHaveNoHands: no tool's file can touch the disk, a process or the net.
func TestToolsHaveNoHands(t *testing.T) {
	listed := list(t, "linux")
	for _, name := range append([]string{"tools", "tools/all"}, kinds...) {
		for _, path := range listed[name].Imports {
			for _, hand := range []string{"os", "os/exec", "net", "net/http", "syscall", "io/ioutil", "golang.org/x/sys/unix", "plugin"} {
				if path == hand {
					t.Errorf("package %s imports %s: a tool plans, and others act", name, path)
				}
			}
		}
	}
}

// TestKinds: tools are where the map has their kinds, and only tools/all knows of these.
func TestKinds(t *testing.T) {
	defining := map[string]bool{}
	for _, u := range usesOf(t, func(name string) bool { return name == module+"/tools.Define" })[module+"/tools.Define"] {
		name, _ := local(u.pkg)
		defining[name] = true
	}
	if found := slices.Sorted(maps.Keys(defining)); !slices.Equal(found, kinds) {
		t.Errorf("tools are defined in %v, and the kinds are %v", found, kinds)
	}
	for name, allowed := range arrows {
		for _, other := range allowed {
			if slices.Contains(kinds, other) && name != "tools/all" {
				t.Errorf("%s may import %s: whoever needs its tools imports tools/all", name, other)
			}
		}
	}
}
