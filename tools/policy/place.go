package policy

import (
	"slices"
	"strings"

	"pillion/internal/fault"
)

// systemPlaces are absolute, homeParents hold one folder per person, and keyStores
// lie in a home. All are compared as elements.
var (
	systemPlaces = places("/proc", "/sys", "/dev", "/etc", "/boot", "/private/etc", "/private/var/db", "/windows")
	homeParents  = places("/home", "/users", "/var/home")
	rootHomes    = places("/root", "/var/root", "/private/var/root")
	keyStores    = places(
		".ssh", ".gnupg", ".password-store", ".local/share/keyrings", "library/keychains",
		".aws", ".azure", ".kube", ".docker", ".config/gcloud", ".config/gh",
		// The agent's own leash: settings and remembered grants.
		".config/pillion", ".local/state/pillion", "library/application support/pillion", "appdata/roaming/pillion",
	)
)

func places(paths ...string) [][]string {
	out := make([][]string, len(paths))
	for i, p := range paths {
		out[i] = elements(p)
	}
	return out
}

// systemReasons list the paths in system places that lie below a root too wide
// for a project. A root that is itself such a place was opened on purpose.
func systemReasons(r Request) []string {
	home := absolute(r.Home)
	var reasons []string
	for _, fact := range r.Paths {
		root := absolute(fact.Root)
		for _, name := range fact.names() {
			full := slices.Concat(root, elements(fact.inRoot(name)))
			if what := systemPlace(root, full, home); what != "" {
				reasons = append(reasons, fault.Quote(name)+" is "+what)
				break
			}
		}
	}
	return reasons
}

// inRoot takes the root's name off the front of a printed path.
func (p PathFact) inRoot(name string) string {
	if p.Folder == "" {
		return name
	}
	return strings.TrimPrefix(strings.TrimPrefix(name, p.Folder), "/")
}

// absolute splits an absolute path, without the volume of a Windows one.
func absolute(path string) []string {
	if len(path) > 1 && path[1] == ':' {
		path = path[2:]
	}
	return elements(path)
}

func systemPlace(root, full, home []string) string {
	below := func(place []string) bool {
		return len(place) > len(root) && hasPrefix(full, place)
	}
	if slices.ContainsFunc(systemPlaces, below) {
		return "a place of the system, not of the project"
	}
	owner := homeOf(full)
	if len(owner) > 0 && !slices.Equal(owner, home) && below(owner) {
		return "in another user's home folder"
	}
	for _, base := range [][]string{owner, home} {
		if len(base) == 0 || !hasPrefix(full, base) {
			continue
		}
		for _, store := range keyStores {
			if below(slices.Concat(base, store)) {
				return "in a folder that holds keys or settings of the user"
			}
		}
	}
	return ""
}

// homeOf gives the home folder that a path lies in, by where homes customarily are.
func homeOf(full []string) []string {
	for _, parent := range homeParents {
		if n := len(parent); len(full) > n && hasPrefix(full, parent) && full[n] != "shared" {
			return full[:n+1]
		}
	}
	for _, home := range rootHomes {
		if hasPrefix(full, home) {
			return home
		}
	}
	return nil
}

func hasPrefix(full, prefix []string) bool {
	return len(full) >= len(prefix) && slices.Equal(full[:len(prefix)], prefix)
}
