package git

import (
	"maps"
	"path"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/git/odb"

	"github.com/go-git/go-git/v5/plumbing"
)

const (
	longestPath = 8 << 10 // twice what any system opens
	eachFile    = 200     // what one costs beside its name
	eachFolder  = 1500    // which has to be read
)

// mostSpent is enough for a million files in a hundred thousand folders.
var mostSpent = 256 << 20

// spend bounds what a tree costs: one of a few objects that name each other can stand
// for more folders, and deeper ones, than there is memory.
func (c *comparison) spend(name string, each int) error {
	if c.spent += len(name) + each; len(name) <= longestPath && c.spent <= mostSpent {
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

// trees are the changes between two trees at dir; a zero hash is no tree.
func (c *comparison) trees(old, now plumbing.Hash, dir string) ([]change, error) {
	if old == now {
		return nil, nil
	}
	if err := c.ctx.Err(); err != nil {
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
	var out []change
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, is := before[name], after[name]
		if was == is {
			continue
		}
		at := path.Join(dir, name)
		below, err := c.trees(was.tree(), is.tree(), at)
		if err != nil {
			return nil, err
		}
		out = append(out, below...)
		if a, b := was.file(), is.file(); !a.same(b) {
			if err := c.spend(at, eachFile); err != nil {
				return nil, err
			}
			out = append(out, change{path: at, oldPath: at, old: a, new: b})
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

func (e namedEntry) file() side {
	if e.mode == odb.ModeDir || e.mode == odb.ModeAbsent {
		return side{}
	}
	return side{mode: odb.Canonical(e.mode), hash: e.hash}
}

func (c *comparison) entries(tree plumbing.Hash) (map[string]namedEntry, error) {
	out := map[string]namedEntry{}
	if tree.IsZero() {
		return out, nil
	}
	entries, err := c.repo.objects.Tree(tree)
	for _, e := range entries {
		out[e.Name] = namedEntry{uint32(e.Mode), e.Hash}
	}
	return out, err
}

// replaced are the files that go because another has come in the place of a folder of
// theirs, or as one in a folder where they were.
func (d *drafting) replaced(ch change, index *stagedFiles, asked map[string]bool) ([]change, error) {
	if !ch.old.absent() || ch.new.absent() {
		return nil, nil
	}
	var out []change
	gone := func(name string) error {
		old, err := d.committed(name)
		if err == nil && !old.absent() && !asked[name] {
			asked[name] = true
			out = append(out, change{path: name, oldPath: name, old: old})
		}
		return err
	}
	for dir := path.Dir(ch.path); dir != "."; dir = path.Dir(dir) {
		if err := gone(dir); err != nil {
			return nil, err
		}
	}
	for _, name := range index.paths {
		if strings.HasPrefix(name, ch.path+"/") {
			if err := gone(name); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}
