package policy

import (
	"slices"

	"pillion/internal/fault"
)

// secretNames are those of files, not of the folders above them: a .env folder is
// mostly a virtual environment.
var secretNames = []string{".env*", "*.pem", "id_*", "*.key", ".netrc", ".npmrc"}

// Secret says whether path looks like a file with secrets.
func Secret(path string) bool {
	names := elements(path)
	if len(names) == 0 {
		return false
	}
	leaf := names[len(names)-1]
	return slices.ContainsFunc(secretNames, func(pattern string) bool { return matchesName(pattern, leaf) })
}

// secretReads lists the secret files that the call reads, in stable order, by the
// name of the file that is reached.
func secretReads(r Request) []string {
	var out []string
	for _, fact := range r.Paths {
		if !fact.Write && slices.ContainsFunc(fact.names(), Secret) {
			out = append(out, fault.Quote(fact.real()))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func secretReasons(names []string) []string {
	var reasons []string
	for _, name := range names {
		reasons = append(reasons, secretReason(name))
	}
	return reasons
}

func secretReason(name string) string {
	return fault.Quote(name) + " looks like a file with secrets"
}
