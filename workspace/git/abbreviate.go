package git

import (
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

const (
	shortestHash = 4 // hex digits
	usualHash    = 7
	hexSize      = 2 * hashSize
)

// abbreviated finds the one object whose hash begins with text: among several,
// the one that is a commit, or a tag of one.
func (o *objects) abbreviated(text string) (h plumbing.Hash, ok bool) {
	if len(text) < shortestHash || len(text) > hexSize || strings.Trim(text, "0123456789abcdef") != "" {
		return h, false
	}
	candidates := o.beginning(text)
	if len(candidates) > 1 {
		candidates = slices.DeleteFunc(candidates, func(h plumbing.Hash) bool { return !o.isCommit(h) })
	}
	if len(candidates) != 1 {
		return h, false
	}
	return candidates[0], true
}

func (o *objects) isCommit(h plumbing.Hash) bool {
	_, err := o.commit(h)
	return err == nil
}

// beginning lists the objects whose hashes begin with prefix, of at least two
// hex digits.
func (o *objects) beginning(prefix string) []plumbing.Hash {
	o.mu.Lock()
	defer o.mu.Unlock()
	found := map[plumbing.Hash]bool{}
	for _, s := range o.stores {
		for _, p := range s.packs {
			// A pack that cannot be read has no objects to be mistaken for another.
			_ = p.index.beginning(prefix, func(h plumbing.Hash) { found[h] = true })
		}
		entries, _ := os.ReadDir(filepath.Join(s.dir, prefix[:2]))
		for _, e := range entries {
			if h, ok := parseHash(prefix[:2] + e.Name()); ok && strings.HasPrefix(prefix[:2]+e.Name(), prefix) {
				found[h] = true
			}
		}
	}
	var out []plumbing.Hash
	for h := range found {
		out = append(out, h)
	}
	return out
}

// hashRange is the first and the last hash that begin with the hex digits
// prefix.
func hashRange(prefix string) (lowest, highest plumbing.Hash) {
	lowest, _ = parseHash(prefix + strings.Repeat("0", hexSize-len(prefix)))
	highest, _ = parseHash(prefix + strings.Repeat("f", hexSize-len(prefix)))
	return lowest, highest
}

// short is a hash as git abbreviates it: as long as core.abbrev or the number
// of objects in packs asks for, and longer if another begins so too.
func (r *repository) short(h plumbing.Hash) string {
	return r.shortWith(h, r.objects.sharedInPacks(h))
}

func (r *repository) shortWith(h plumbing.Hash, shared int) string {
	text := h.String()
	n := max(r.abbreviationLength(), shared+1, r.objects.sharedLoose(h)+1)
	return text[:min(n, hexSize)]
}

// sharedInPacks is how many hex digits h has in common with the object that is most
// like it, of those in packs.
func (o *objects) sharedInPacks(h plumbing.Hash) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	most := 0
	text := h.String()
	for _, s := range o.stores {
		for _, p := range s.packs {
			for _, other := range p.index.neighbours(h) {
				most = max(most, sharedDigits(text, other.String()))
			}
		}
	}
	return most
}

// sharedLoose is the same of those that have files of their own.
func (o *objects) sharedLoose(h plumbing.Hash) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	most := 0
	text := h.String()
	for _, s := range o.stores {
		if !s.mayHold(text[:2]) {
			continue
		}
		entries, _ := os.ReadDir(filepath.Join(s.dir, text[:2]))
		for _, e := range entries {
			if other := text[:2] + e.Name(); len(other) == hexSize && other != text {
				most = max(most, sharedDigits(text, other))
			}
		}
	}
	return most
}

// mayHold reports whether there may be objects with files of their own in the folder of
// those two digits. Which folders there are is looked up once.
func (s *store) mayHold(digits string) bool {
	if s.folders == nil {
		s.folders = map[string]bool{}
		entries, err := os.ReadDir(s.dir)
		for _, e := range entries {
			s.folders[e.Name()] = true
		}
		s.unlisted = err != nil
	}
	return s.unlisted || s.folders[digits]
}

// packsSignature tells the packs that there are from others.
func (o *objects) packsSignature() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out strings.Builder
	for _, s := range o.stores {
		for _, p := range s.packs {
			err := p.index.known()
			fmt.Fprintln(&out, p.path, p.index.size, p.index.written, err)
		}
	}
	return out.String()
}

func sharedDigits(a, b string) int {
	n := 0
	for n < len(a) && a[n] == b[n] {
		n++
	}
	return n
}

// abbreviationLength is how many digits an abbreviation has at least.
func (r *repository) abbreviationLength() int {
	switch value := strings.ToLower(r.config.get("core.abbrev")); value {
	case "", "auto":
	case "no", "off", "false":
		return hexSize
	default:
		if n, err := strconv.Atoi(value); err == nil && n >= shortestHash {
			return min(n, hexSize)
		}
	}
	return max(usualHash, (bits.Len(uint(r.objects.packed()))+1)/2)
}

// packed is how many objects the packs hold.
func (o *objects) packed() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	count := 0
	for _, s := range o.stores {
		for _, p := range s.packs {
			if p.index.known() == nil {
				count += p.index.count
			}
		}
	}
	return count
}
