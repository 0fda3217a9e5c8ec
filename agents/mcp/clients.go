package mcp

import (
	"cmp"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/tools/session"
)

// client is what is known of an agent's program. docs/agents.md has the figures, and how they
// were found out.
type client struct {
	prefix string // how the name begins that it gives
	name   string // that people know it by; empty: it says that itself
	// most is how many bytes of a result it shows its model, less what is said around a page. It
	// cuts the rest without a word, in the middle or at the end. 0: that is not known.
	most int
	// waits is how long it waits for a call before it gives up, unless it was set up otherwise.
	waits  time.Duration
	screen screen
}

const (
	forever  = 0
	sdkWaits = 60 * time.Second // in MCP's TypeScript SDK
)

var (
	claudeScreen = screen{4, false} // 2.1.330; of more it shows three, and how many there are
	codexScreen  = screen{12, true} // 0.169.0
	halfScreen   = screen{12, true} // a guess: half of a terminal of 80 by 24
)

// clients are those that are known. The first that fits counts, and the last fits all.
var clients = []client{
	{"claude-code", "Claude Code", 40_000, forever, claudeScreen},
	{"claude-ai", "Claude", 40_000, sdkWaits, claudeScreen},
	{"claude", "", 40_000, sdkWaits, claudeScreen},
	{"codex", "Codex", 8_000, 300 * time.Second, codexScreen},    // 10,000 bytes with a model that it does not know
	{"qwen", "Qwen Code", 20_000, 600 * time.Second, halfScreen}, // 25,000 characters; of more it shows 2,000
	{"gemini", "Gemini CLI", 32_000, 600 * time.Second, halfScreen},
	{"opencode", "opencode", 40_000, forever, halfScreen}, // 60 s after the last sign of life
	{"cursor", "Cursor", 0, sdkWaits, halfScreen},
	{"Visual Studio Code", "VS Code", 0, sdkWaits, halfScreen},
	{"Zed", "Zed", 0, sdkWaits, halfScreen},
	{"windsurf", "Windsurf", 0, sdkWaits, halfScreen},
	{"goose", "Goose", 0, sdkWaits, halfScreen},
	{"crush", "Crush", 0, sdkWaits, halfScreen},
	{"", "", 0, sdkWaits, halfScreen},
}

// clientOf is what is known of a program by the name that it gives.
func clientOf(name string) client {
	for _, c := range clients[:len(clients)-1] {
		if strings.HasPrefix(name, c.prefix) {
			return c
		}
	}
	return clients[len(clients)-1]
}

// pageBytes is how much text a result has, where the agent does not cut shorter ones.
const pageBytes = 20_000

// page is how much text a result for it has. Of the lines of a file that are asked for exactly,
// there is as much as it shows.
func (c client) page() int {
	if c.most == 0 {
		return pageBytes
	}
	return min(pageBytes, c.most)
}

// clientName is what the agent's program calls itself.
func clientName(connection *sdk.ServerSession) string {
	if p := connection.InitializeParams(); p != nil && p.ClientInfo != nil {
		return p.ClientInfo.Name
	}
	return ""
}

func agentOf(connection *sdk.ServerSession) session.Agent {
	if clientName(connection) == "" {
		return session.Agent{Name: "agent", Via: "mcp"}
	}
	info := connection.InitializeParams().ClientInfo
	return session.Agent{Name: personName(info), Version: info.Version, Via: "mcp"}
}

func personName(info *sdk.Implementation) string {
	return cmp.Or(clientOf(info.Name).name, info.Title, info.Name)
}
