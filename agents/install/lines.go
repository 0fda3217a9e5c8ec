package install

import (
	"maps"
	"slices"
	"strings"
)

// byHand are agents and editors that are set up by hand: the file, and what goes into it.
// PROGRAM is the path of pillion as a JSON string. docs/agents.md says where each was read.
var byHand = map[string]struct{ where, lines string }{
	"cursor": {"~/.cursor/mcp.json, or .cursor/mcp.json of a project", `{
  "mcpServers": {
    "pillion": { "type": "stdio", "command": PROGRAM, "args": ["mcp"] }
  }
}
`},
	"zed": {"~/.config/zed/settings.json (zed: open settings)", `{
  "context_servers": {
    "pillion": { "command": PROGRAM, "args": ["mcp"], "env": {} }
  }
}
`},
	"windsurf": {"~/.codeium/windsurf/mcp_config.json", `{
  "mcpServers": {
    "pillion": { "command": PROGRAM, "args": ["mcp"] }
  }
}
`},
	"goose": {"~/.config/goose/config.yaml", `extensions:
  pillion:
    type: stdio
    name: pillion
    enabled: true
    cmd: PROGRAM
    args: [mcp]
    timeout: 300
`},
	"crush": {"~/.config/crush/crush.json, or crush.json of a project", `{
  "mcp": {
    "pillion": { "type": "stdio", "command": PROGRAM, "args": ["mcp"], "timeout": 120 }
  }
}
`},
	"vscode": {".vscode/mcp.json of a project, or MCP: Open User Configuration (VS Code's chat has Pillion's tools already where the extension is installed)", `{
  "servers": {
    "pillion": { "type": "stdio", "command": PROGRAM, "args": ["mcp"] }
  }
}
`},
}

// ByHand lists the names that Lines takes.
func ByHand() []string { return slices.Sorted(maps.Keys(byHand)) }

// Lines are what to paste, and where, to have that agent start the program.
func Lines(agent, program string) (text string, known bool) {
	h, known := byHand[agent]
	if !known {
		return "", false
	}
	return "Put this into " + h.where + ":\n\n" + strings.ReplaceAll(h.lines, "PROGRAM", quote(program)) +
		"\nThen turn off the agent's own edit and shell tools if you can, and allow Pillion's tools: your editor asks.\n", true
}
