package gitdir

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/workspace/git/odb"
)

// Short is a hash as git abbreviates it: as long as core.abbrev or the number
// of objects in packs asks for, and longer if another begins so too.
func (r *Repository) Short(h plumbing.Hash) string {
	text := h.String()
	n := max(r.abbreviationLength(), r.Objects.SharedInPacks(h)+1, r.Objects.SharedLoose(h)+1)
	return text[:min(n, odb.HexSize)]
}

// abbreviationLength is how many digits an abbreviation has at least.
func (r *Repository) abbreviationLength() int {
	switch value := strings.ToLower(r.Config.Get("core.abbrev")); value {
	case "", "auto":
	case "no", "off", "false":
		return odb.HexSize
	default:
		if n, err := strconv.Atoi(value); err == nil && n >= odb.ShortestHash {
			return min(n, odb.HexSize)
		}
	}
	return max(odb.UsualHash, (bits.Len(uint(r.Objects.Packed()))+1)/2)
}
