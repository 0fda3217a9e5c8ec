package policy

import (
	"fmt"
	"slices"

	"pillion/internal/fault"
)

// networkTool leads rules about what commands may reach: network(example.org), and network
// for everything.
const networkTool = "network"

// Everything stands in Command.Hosts for the whole network.
const Everything = "*"

// Hosts are those that rules let every command reach. One that another rule may be against
// is left out.
func Hosts(rules Rules) []string {
	var out []string
	for _, rule := range rules.Allow {
		against := func(other Rule) bool { return other.judgeReach(rule.Specifier) != differs }
		if rule.Tool == networkTool && rule.Specifier != "" && !slices.ContainsFunc(slices.Concat(rules.Deny, rules.Ask), against) {
			out = append(out, rule.Specifier)
		}
	}
	return out
}

// judgeReach reads a network rule widely.
func (r Rule) judgeReach(host string) judgement {
	switch {
	case r.Tool != networkTool:
		return differs
	case r.Specifier == "":
		return matches
	case host == Everything:
		return unclear
	}
	return r.judgeHost(host)
}

// letsReach reads one narrowly.
func (r Rule) letsReach(host string) bool {
	return r.Tool == networkTool && (r.Specifier == "" && r.Folder == "" || host != Everything && r.allowsHost(host))
}

// hosts are what the command is to reach.
func (r Request) hosts() []string {
	if r.Command == nil {
		return nil
	}
	return r.Command.Hosts
}

// hostRules says which rules are about what the command is to reach, in the words of text. Of
// the whole network each rule is that is about a part of it: who must be denied a host is not
// given everything.
func (r Request) hostRules(rules []Rule, text string) (out []Reason) {
	for _, host := range r.hosts() {
		for _, rule := range rules {
			if rule.judgeReach(host) != differs {
				out = append(out, Reason{ReasonRule, fmt.Sprintf(text, rule)})
			}
		}
	}
	return out
}

// reach are the questions about hosts that no rule allows. Who may do everything may reach
// everything.
func reach(r Request) []onceQuestion {
	var out []onceQuestion
	for _, host := range r.hosts() {
		text := "it may reach " + fault.Quote(host)
		if host == Everything {
			text = "it has the whole network"
		}
		out = append(out, onceQuestion{
			key: hostKey(host), reason: Reason{ReasonNetwork, text},
			named: r.Mode == FullAccess || slices.ContainsFunc(r.Rules.Allow, func(rule Rule) bool { return rule.letsReach(host) }),
		})
	}
	return out
}

// hostKey is what stands for a host in Decision.OncePerSession: the rule that would allow it.
func hostKey(host string) string {
	if host == Everything {
		return networkTool
	}
	return Rule{Tool: networkTool, Specifier: host}.String()
}
