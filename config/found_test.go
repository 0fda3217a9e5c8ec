package config

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pillion/internal/testrig/check"
)

func TestMCPServers(t *testing.T) {
	s, problems := Parse([]byte(`{"mcpServers": {
		"good": {"type": "stdio", "command": "npx", "args": ["-y", "x"], "env": {"A": "b"}, "cwd": "sub", "timeout": 1500, "access": {"a": "read", "b": "edit"}},
		"web": {"httpUrl": "https://example.org/mcp", "headers": {"X": "y"}},
		"both": {"command": "x", "url": "https://example.org"}, "old": {"type": "sse", "url": "https://example.org"}, "ftp": {"url": "ftp://example.org"}, "none": 7,
		"seconds": {"command": "x", "timeout": 30}, "typo": {"comand": "x"}
	}}`))
	good := s.MCPServers["good"]
	if good.CallTime() != 1500*time.Millisecond || !slices.Equal(good.Args, []string{"-y", "x"}) || len(good.Access) != 1 || s.MCPServers["web"].Address() != "https://example.org/mcp" || s.MCPServers["seconds"].Timeout != 0 {
		t.Errorf("read: %+v", s.MCPServers)
	}
	for _, name := range []string{"both", "old", "ftp", "none"} {
		if _, there := s.MCPServers[name]; there {
			t.Errorf("%s is taken", name)
		}
	}
	all := strings.Join(problems, "\n")
	check.Has(t, "what the problems say", all, "give one of them", "sse is obsolete", "must begin with http", "mcpServers.none", "seconds.timeout is ignored", "comand", `class must be read, network or exec, not "edit"`)
}
