package worktree

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/internal/fault"
	"pillion/workspace/git/odb"
)

const (
	longestPath = 8 << 10 // twice what any system opens
	eachFile    = 200     // what one costs beside its name
	eachFolder  = 1500    // which has to be read
)

// MostSpent is enough for a million files in a hundred thousand folders.
var MostSpent = 256 << 20

// spend bounds what a tree costs: one of a few objects that name each other can stand
// for more folders, and deeper ones, than there is memory.
func (c *Comparison) spend(name string, each int) error {
	if c.spent += len(name) + each; len(name) <= longestPath && c.spent <= MostSpent {
		return nil
	}
	if len(name) > longestPath {
		return fault.New(fault.GitError, "the folders of a commit lie too deep in one another; look at a commit without them, or give a path beside %s", fault.Quote(clipped(name)))
	}
	return fault.New(fault.GitError, "more files and folders differ than can be looked at; give a path for a part of them, or a commit that is nearer")
}

// clipped is the first folder of a path.
func clipped(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return first[:min(len(first), 100)]
}

// Trees are the changes between two trees at dir; a zero hash is no tree.
func (c *Comparison) Trees(old, now plumbing.Hash, dir string) ([]Difference, error) {
	if old == now {
		return nil, nil
	}
	if err := c.Ctx.Err(); err != nil {
		return nil, fault.From(err)
	}
	if err := c.spend(dir, eachFolder); err != nil {
		return nil, err
	}
	before, err := c.entries(old)
	if err != nil {
		return nil, err
	}
	after, err := c.entries(now)
	if err != nil {
		return nil, err
	}
	names := maps.Clone(before)
	maps.Copy(names, after)
	var out []Difference
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, is := before[name], after[name]
		if was == is {
			continue
		}
		at := path.Join(dir, name)
		below, err := c.Trees(was.tree(), is.tree(), at)
		if err != nil {
			return nil, err
		}
		out = append(out, below...)
		if a, b := was.file(), is.file(); !a.Same(b) {
			if err := c.spend(at, eachFile); err != nil {
				return nil, err
			}
			out = append(out, Difference{Path: at, OldPath: at, Old: a, New: b})
		}
	}
	return out, nil
}

// namedEntry is one line of a tree; the zero value is none.
type namedEntry struct {
	mode uint32
	hash plumbing.Hash
}

func (e namedEntry) tree() plumbing.Hash {
	if e.mode == odb.ModeDir {
		return e.hash
	}
	return plumbing.ZeroHash
}

func (e namedEntry) file() Side {
	if e.mode == odb.ModeDir || e.mode == odb.ModeAbsent {
		return Side{}
	}
	return Side{Mode: odb.Canonical(e.mode), Hash: e.hash}
}

func (c *Comparison) entries(tree plumbing.Hash) (map[string]namedEntry, error) {
	out := map[string]namedEntry{}
	if tree.IsZero() {
		return out, nil
	}
	entries, err := c.Repo.Objects.Tree(tree)
	for _, e := range entries {
		out[e.Name] = namedEntry{uint32(e.Mode), e.Hash}
	}
	return out, err
}
