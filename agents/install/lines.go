package install

import (
	"maps"
	"slices"
)

// byHand are agents and editors that are set up by hand: the file, the object in it that ours goes
// into, and what that has before the command and behind the arguments. docs/agents.md says where
// each was read.
var byHand = map[string]struct{ where, in, before, behind string }{
	"cursor":   {"~/.cursor/mcp.json, or .cursor/mcp.json of a project", "mcpServers", `"type": "stdio", `, ""},
	"zed":      {"~/.config/zed/settings.json (zed: open settings)", "context_servers", "", `, "env": {}`},
	"windsurf": {"~/.codeium/windsurf/mcp_config.json", "mcpServers", "", ""},
	"crush":    {"~/.config/crush/crush.json, or crush.json of a project", "mcp", `"type": "stdio", `, `, "timeout": 120`},
	"vscode":   {".vscode/mcp.json of a project, or MCP: Open User Configuration (VS Code's chat has Pillion's tools already where the extension is installed)", "servers", `"type": "stdio", `, ""},
	"goose":    {where: "~/.config/goose/config.yaml"}, // in YAML
}

// ByHand lists the names that Lines takes.
func ByHand() []string { return slices.Sorted(maps.Keys(byHand)) }

// Lines are what to paste, and where, to have that agent start the program.
func Lines(agent, program string) (text string, known bool) {
	h, known := byHand[agent]
	if !known {
		return "", false
	}
	command := quote(program)
	lines := "{\n  \"" + h.in + "\": {\n    \"pillion\": { " + h.before + "\"command\": " + command + ", \"args\": [\"mcp\"]" + h.behind + " }\n  }\n}\n"
	if agent == "goose" {
		lines = "extensions:\n  pillion:\n    type: stdio\n    name: pillion\n    enabled: true\n    cmd: " + command + "\n    args: [mcp]\n    timeout: 300\n"
	}
	return "Put this into " + h.where + ":\n\n" + lines +
		"\nThen turn off the agent's own edit and shell tools if you can, and allow Pillion's tools: your editor asks.\n", true
}
