package odb

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Abbreviated finds the one object whose hash begins with text: among several,
// the one that is a commit, or a tag of one.
func (o *Objects) Abbreviated(text string) (h plumbing.Hash, ok bool) {
	if len(text) < ShortestHash || len(text) > HexSize || strings.Trim(text, "0123456789abcdef") != "" {
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

func (o *Objects) isCommit(h plumbing.Hash) bool {
	_, err := o.Commit(h)
	return err == nil
}

// beginning lists the objects whose hashes begin with prefix, of at least two
// hex digits.
func (o *Objects) beginning(prefix string) []plumbing.Hash {
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
			if h, ok := ParseHash(prefix[:2] + e.Name()); ok && strings.HasPrefix(prefix[:2]+e.Name(), prefix) {
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
	lowest, _ = ParseHash(prefix + strings.Repeat("0", HexSize-len(prefix)))
	highest, _ = ParseHash(prefix + strings.Repeat("f", HexSize-len(prefix)))
	return lowest, highest
}

// SharedInPacks is how many hex digits h has in common with the object that is most
// like it, of those in packs.
func (o *Objects) SharedInPacks(h plumbing.Hash) int {
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

// SharedLoose is the same of those that have files of their own.
func (o *Objects) SharedLoose(h plumbing.Hash) int {
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
			if other := text[:2] + e.Name(); len(other) == HexSize && other != text {
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

func sharedDigits(a, b string) int {
	n := 0
	for n < len(a) && a[n] == b[n] {
		n++
	}
	return n
}

// Packed is how many objects the packs hold.
func (o *Objects) Packed() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	count := 0
	for _, s := range o.stores {
		for _, p := range s.packs {
			if p.index.open() == nil {
				count += p.index.count
			}
		}
	}
	return count
}

const (
	ShortestHash = 4 // hex digits
	UsualHash    = 7
	HexSize      = 2 * hashSize
)
