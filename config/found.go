package config

import (
	"maps"
	"net/url"
	"slices"
	"time"
)

// Tools are tools of another program that is no MCP server.
type Tools struct {
	// DiscoveryCommand is a command line that prints declarations of functions, and
	// CallCommand one that calls them: it gets a name behind it and arguments on its input.
	DiscoveryCommand string `json:"toolDiscoveryCommand,omitempty"`
	CallCommand      string `json:"toolCallCommand,omitempty"`
}

// MCPServers are servers whose tools agents can call, by their aliases.
type MCPServers = Named[MCPServer]

// MCPServer is one: a program, or an address.
type MCPServer struct {
	Enabled *bool             `json:"enabled,omitempty"`
	Type    string            `json:"type,omitempty"` // stdio or http; what is set says it too
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Cwd     string            `json:"cwd,omitempty"`
	URL     string            `json:"url,omitempty"`
	HTTPURL string            `json:"httpUrl,omitempty"` // the same
	Headers map[string]string `json:"headers,omitempty"`
	// Timeout is of a call, in milliseconds as other agents have it; 0: limits.callSeconds.
	Timeout float64 `json:"timeout,omitempty"`
	// Access is the class of single tools, by the server's own names, or of all others, by *.
	Access map[string]string `json:"access,omitempty"`
}

// Off says that the server is switched off.
func (s MCPServer) Off() bool { return s.Enabled != nil && !*s.Enabled }

func (s MCPServer) off() MCPServer { return MCPServer{Enabled: s.Enabled} }

func (s MCPServer) over(below MCPServer) MCPServer { return fill(s, below) }

// Address is where a server is that is reached over HTTP, else "".
func (s MCPServer) Address() string {
	if s.HTTPURL != "" {
		return s.HTTPURL
	}
	return s.URL
}

// Named says that it is said where the server is.
func (s MCPServer) Named() bool { return s.Command+s.Address() != "" }

// inProject: what its tools may do the user alone says, and a server of the user's cannot be
// made another.
func (s MCPServer) inProject(own MCPServer) (counts MCPServer, field, because string) {
	switch {
	case own.Named() && jsonOf(s) != jsonOf(own) && jsonOf(s) != jsonOf(s.off()):
		return s.off(), "", "you have a server of this name"
	case s.Access != nil && !own.Named():
		s.Access = nil
		return s, "access", "it is yours to give"
	}
	return s, "", ""
}

// CallTime is how long a call of its tools may take, 0 for the default.
func (s MCPServer) CallTime() time.Duration { return seconds(s.Timeout / 1000) }

// shortestTimeout, in milliseconds: a smaller one was meant to be seconds.
const shortestTimeout = 100

// checkMCPServers drops servers that cannot be, each by itself.
func (p *problems) checkMCPServers(all MCPServers) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s, at := all[name], join("mcpServers", name)
		if s.Timeout != 0 && (s.Timeout < shortestTimeout || s.Timeout > longestCommand*1000) {
			p.add("%s.timeout is ignored: it must be between %d and %d milliseconds", at, shortestTimeout, longestCommand*1000)
			s.Timeout = 0
		}
		for tool, class := range s.Access {
			if !slices.Contains([]string{"read", "network", "exec"}, class) {
				p.add("%s.access of %q is ignored: the class must be read, network or exec, not %q", at, tool, class)
				s.Access = maps.Clone(s.Access)
				delete(s.Access, tool)
			}
		}
		all[name] = s
		problem := ""
		switch address, err := url.Parse(s.Address()); {
		case s.Type == "sse":
			problem = "the transport sse is obsolete and not spoken; use the server's streamable HTTP address"
		case s.Type != "" && !slices.Contains([]string{"stdio", "http", "streamable-http", "streamableHttp"}, s.Type):
			problem = "its type must be stdio or http"
		case s.Command != "" && s.Address() != "":
			problem = "it has a command and an address; give one of them"
		case s.Address() != "" && (err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https"):
			problem = "its address must begin with http:// or https://"
		}
		if problem != "" {
			p.add("setting %q is ignored: %s", at, problem)
			delete(all, name)
		}
	}
}
