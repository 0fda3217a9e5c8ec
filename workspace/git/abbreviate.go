package git

import (
	"math/bits"
	"strconv"
	"strings"

	"pillion/workspace/git/odb"

	"github.com/go-git/go-git/v5/plumbing"
)

// short is a hash as git abbreviates it: as long as core.abbrev or the number
// of objects in packs asks for, and longer if another begins so too.
func (r *repository) short(h plumbing.Hash) string {
	text := h.String()
	n := max(r.abbreviationLength(), r.objects.SharedInPacks(h)+1, r.objects.SharedLoose(h)+1)
	return text[:min(n, odb.HexSize)]
}

// abbreviationLength is how many digits an abbreviation has at least.
func (r *repository) abbreviationLength() int {
	switch value := strings.ToLower(r.config.get("core.abbrev")); value {
	case "", "auto":
	case "no", "off", "false":
		return odb.HexSize
	default:
		if n, err := strconv.Atoi(value); err == nil && n >= odb.ShortestHash {
			return min(n, odb.HexSize)
		}
	}
	return max(odb.UsualHash, (bits.Len(uint(r.objects.Packed()))+1)/2)
}
