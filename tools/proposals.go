package tools

import (
	"slices"

	"pillion/workspace/change"
)

// proposals are the sets that were on show while a question was open. An answer may be
// about an older one: the user began to edit it before the text beneath moved on.
type proposals struct {
	sets   map[string]change.Set // by digest
	shown  []string              // the digests, the oldest first
	weight int
}

// mostProposed bounds what is kept for one question, in bytes of text: each key that
// the user types in the file makes a new set. The last one always stays.
const mostProposed = 64 << 20

func (k *proposals) keep(digest string, set change.Set) {
	if _, known := k.sets[digest]; known {
		return
	}
	if k.sets == nil {
		k.sets = map[string]change.Set{}
	}
	set.Files, set.Tree = slices.Clone(set.Files), slices.Clone(set.Tree)
	k.sets[digest], k.shown = set, append(k.shown, digest)
	k.weight += weightOf(set)
	for k.weight > mostProposed && len(k.shown) > 1 {
		oldest := k.shown[0]
		k.weight -= weightOf(k.sets[oldest])
		delete(k.sets, oldest)
		k.shown = k.shown[1:]
	}
}

func weightOf(set change.Set) int {
	sum := 0
	for _, f := range set.Files {
		sum += len(f.After.Text)
		if f.Before != nil {
			sum += len(f.Before.Text)
		}
	}
	return sum
}
