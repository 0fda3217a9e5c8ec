package policy

import (
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
)

// allowsHost reads the rule narrowly: the host as it stands, or with *. in front of it
// the hosts below one.
func (r Rule) allowsHost(host string) bool {
	if below, ok := strings.CutPrefix(r.Specifier, "*."); ok && r.pattern {
		return r.Folder == "" && below != "" && !strings.Contains(below, "*") && strings.HasSuffix(host, "."+below)
	}
	return r.Folder == "" && !r.pattern && r.Specifier == host
}

// judgeHost reads it widely, however it is spelled: the host, and all hosts below it, at any
// port unless it names one. Of hosts below another, as a command may name them, one is enough.
func (r Rule) judgeHost(host string) judgement {
	named, asked := readHost(r.Specifier), readHost(host)
	switch {
	case r.Folder != "" || strings.Contains(named.name, "*"):
		return unclear
	case named.port != "" && named.port != asked.port && (asked.port != "" || named.port != "80" && named.port != "443"):
		return differs
	case isAt(asked.name, named.name), asked.below && isAt(named.name, asked.name):
		return matches
	}
	return differs
}

// isAt says whether a host is another or lies below it.
func isAt(host, other string) bool { return host == other || strings.HasSuffix(host, "."+other) }

// hostText is a host as people and agents write it; below is for *. in front, and without a
// port it is about those of HTTP.
type hostText struct {
	name, port string
	below      bool
}

// readHost gives what is the same host the same name.
func readHost(text string) (out hostText) {
	out.name = text
	if at := strings.LastIndexByte(text, ':'); at > strings.LastIndexByte(text, ']') && (text[0] == '[' || strings.Count(text, ":") == 1) {
		out.name, out.port = text[:at], strings.TrimLeft(text[at+1:], "0")
	}
	out.name, out.below = strings.CutPrefix(out.name, "*.")
	out.name = strings.ToLower(strings.Trim(out.name, "[]."))
	if ascii, err := idna.Lookup.ToASCII(out.name); err == nil {
		out.name = strings.Trim(ascii, ".")
	}
	if ip, err := netip.ParseAddr(out.name); err == nil {
		if out.name = ip.Unmap().WithZone("").String(); ip.Unmap().IsLoopback() {
			out.name = "localhost"
		}
	}
	return out
}
