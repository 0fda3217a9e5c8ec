package policy

import "strings"

// allowsHost reads the rule narrowly: the host as it stands, or with *. in front of it
// the hosts below one.
func (r Rule) allowsHost(host string) bool {
	if below, ok := strings.CutPrefix(r.Specifier, "*."); ok && r.pattern {
		return r.Folder == "" && below != "" && !strings.Contains(below, "*") && strings.HasSuffix(host, "."+below)
	}
	return r.Folder == "" && !r.pattern && r.Specifier == host
}

// judgeHost reads it widely: the host at any port, and all hosts below it.
func (r Rule) judgeHost(host string) judgement {
	if port := strings.LastIndexByte(host, ':'); port > strings.LastIndexByte(host, ']') && !strings.Contains(r.Specifier, ":") {
		host = host[:port]
	}
	named := strings.TrimPrefix(strings.ToLower(r.Specifier), "*.")
	switch {
	case r.Folder != "" || strings.Contains(named, "*"):
		return unclear
	case host == named, strings.HasSuffix(host, "."+named):
		return matches
	}
	return differs
}
