package command

import (
	"cmp"
	"slices"

	"pillion/internal/fault"
	"pillion/internal/web"
	"pillion/tools"
	"pillion/tools/policy"
	"pillion/tools/process"
)

// mostHosts is how many a call may name.
const mostHosts = 20

// parseHosts reads what an agent names of the network.
func parseHosts(given []string) ([]string, error) {
	if len(given) > mostHosts {
		return nil, fault.Invalid("network names %d hosts, over the limit of %d; name those that the command needs", len(given), mostHosts)
	}
	if slices.Contains(given, policy.Everything) {
		return []string{policy.Everything}, nil
	}
	hosts, err := readHosts(given)
	return inOrder(hosts), err
}

// offline says whether the command has no network of its own, and notes what it may reach:
// the hosts that it names, or everything where this sandbox cannot tell hosts apart.
func (c *command) offline(in tools.Input) (bool, error) {
	s := in.Sandbox
	if s.Network == tools.NetworkOn || s.Network == "" || policy.Covers(s.NetworkFor, in.Tool, c.judged()) {
		return false, nil
	}
	if len(c.Network) == 0 {
		return true, nil
	}
	if s.Network == tools.NetworkOff {
		return false, fault.New(fault.PolicyDenied, "commands have no network here").
			WithHint("call without network, or ask the user: the setting sandboxNetwork is off")
	}
	switch s.Walls().Level {
	case process.None:
		return false, nil // nothing keeps it from anything
	case process.Bubblewrap:
		c.reaches = c.Network
	default:
		c.reaches = []string{policy.Everything}
	}
	return c.reaches[0] != policy.Everything, nil
}

// listedHosts are what a command can reach: what rules let every command reach, as far as it
// can be read, and what it named.
func listedHosts(byRule, named []string) []string {
	hosts, _ := readHosts(byRule) //nolint:errcheck // such a rule lets nothing through
	return inOrder(append(hosts, named...))
}

// readHosts gives those that can be read, and why another cannot.
func readHosts(given []string) (out []string, bad error) {
	for _, text := range given {
		host, err := web.ParseHost(text)
		if err != nil {
			bad = cmp.Or(bad, err)
			continue
		}
		out = append(out, host)
	}
	return out, bad
}

func inOrder(hosts []string) []string {
	slices.Sort(hosts)
	return slices.Compact(hosts)
}
