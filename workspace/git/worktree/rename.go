package worktree

import (
	"bytes"
	"cmp"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/internal/fault"
	"pillion/workspace/git/odb"
)

// Scores count up to maxScore, as git's do: a deleted and an added file that
// share half of their text are one that was renamed, and three quarters will
// do at once where both have the same, otherwise unused, last name.
const (
	MaxScore      = 60000
	enough        = MaxScore / 2
	enoughForName = MaxScore * 3 / 4
	maxPairs      = 500 * 500 // beyond, only unchanged files are recognised
)

// Renames joins the deletions and additions that are one file under two names.
func (c *Comparison) Renames(changes []Difference) ([]Difference, error) {
	if value := c.Repo.Config.Get("diff.renames"); value != "" && value != "copies" && value != "copy" && !c.Repo.Config.Bool("diff.renames", true) {
		return changes, nil
	}
	finder := &renameFinder{repo: c.Repo, changes: changes, profiles: map[plumbing.Hash]*profile{}}
	for i, ch := range changes {
		switch {
		case ch.Unmerged:
		case ch.New.Absent():
			finder.gone = append(finder.gone, i)
		case ch.Old.Absent():
			finder.come = append(finder.come, i)
		}
	}
	finder.exact()
	if pairs := len(finder.gone) * len(finder.come); pairs == 0 || pairs > min(maxPairs, c.renameLimit()) {
		return finder.rest(), nil
	}
	if err := finder.byName(); err != nil {
		return nil, err
	}
	for _, to := range slices.Clone(finder.come) {
		if err := c.Ctx.Err(); err != nil {
			return nil, fault.From(err)
		}
		if err := finder.rate(to); err != nil {
			return nil, err
		}
	}
	finder.best()
	return finder.rest(), nil
}

func (c *Comparison) renameLimit() int {
	limit := c.Repo.Config.Int("diff.renamelimit", 1000)
	if limit <= 0 || limit > 1000 {
		limit = 1000
	}
	return limit * limit
}

// renameFinder pairs indexes of changes: those gone with those come.
type renameFinder struct {
	repo       *Checkout
	changes    []Difference
	gone, come []int
	rated      []pair
	joined     map[int]bool // the deletions that became part of a rename
	profiles   map[plumbing.Hash]*profile
}

type pair struct {
	from, to, score int
	sameName        bool
}

// join makes one change of two.
func (f *renameFinder) join(from, to, score int) {
	if f.joined == nil {
		f.joined = map[int]bool{}
	}
	f.joined[from] = true
	f.changes[to].OldPath = f.changes[from].Path
	f.changes[to].Old = f.changes[from].Old
	f.changes[to].Score = score
	is := func(n int) func(int) bool { return func(m int) bool { return m == n } }
	f.gone = slices.DeleteFunc(f.gone, is(from))
	f.come = slices.DeleteFunc(f.come, is(to))
}

// rest is the changes without the deletions that were joined.
func (f *renameFinder) rest() []Difference {
	var out []Difference
	for i, ch := range f.changes {
		if !f.joined[i] {
			out = append(out, ch)
		}
	}
	return out
}

func (f *renameFinder) sameName(from, to int) bool {
	return path.Base(f.changes[from].Path) == path.Base(f.changes[to].Path)
}

// exact joins files with equal content, those of the same name first.
func (f *renameFinder) exact() {
	byHash := map[plumbing.Hash][]int{}
	for _, from := range f.gone {
		h := f.changes[from].Old.Hash
		byHash[h] = append(byHash[h], from)
	}
	for _, to := range slices.Clone(f.come) {
		best := -1
		for _, from := range byHash[f.changes[to].New.Hash] {
			old, now := f.changes[from].Old, f.changes[to].New
			bothFiles := isFile(old) && isFile(now)
			if f.joined[from] || !bothFiles && old.Mode != now.Mode || old.Dirty || now.Dirty {
				continue
			}
			if best < 0 || f.sameName(from, to) && !f.sameName(best, to) {
				best = from
			}
		}
		if best >= 0 {
			f.join(best, to, MaxScore)
		}
	}
}

func isFile(s Side) bool { return s.Kind() == odb.ModeFile&odb.ModeTypeMask }

// byName joins similar files that moved to another folder and kept a name that
// no other candidate has.
func (f *renameFinder) byName() error {
	from, to := f.onlyOnes(f.gone), f.onlyOnes(f.come)
	for _, n := range slices.Clone(f.come) {
		name := path.Base(f.changes[n].Path)
		source, ok := from[name]
		if target, sole := to[name]; !ok || !sole || source < 0 || target < 0 {
			continue
		}
		score, err := f.similarity(source, n)
		if err != nil {
			return err
		}
		if score >= enoughForName {
			f.join(source, n, score)
		}
	}
	return nil
}

// onlyOnes maps last names to the one change that has it, or to -1.
func (f *renameFinder) onlyOnes(all []int) map[string]int {
	names := map[string]int{}
	for _, n := range all {
		name := path.Base(f.changes[n].Path)
		if _, twice := names[name]; twice {
			n = -1
		}
		names[name] = n
	}
	return names
}

// rate compares an added file with all that are gone.
func (f *renameFinder) rate(to int) error {
	for _, from := range f.gone {
		score, err := f.similarity(from, to)
		if err != nil {
			return err
		}
		if score >= enough {
			f.rated = append(f.rated, pair{from, to, score, f.sameName(from, to)})
		}
	}
	return nil
}

// best joins the rated pairs, the most similar first.
func (f *renameFinder) best() {
	slices.SortStableFunc(f.rated, func(a, b pair) int {
		if order := cmp.Compare(b.score, a.score); order != 0 || a.sameName == b.sameName {
			return order
		}
		if a.sameName {
			return -1
		}
		return 1
	})
	used := map[int]bool{}
	for _, p := range f.rated {
		if !f.joined[p.from] && !used[p.to] {
			used[p.to] = true
			f.join(p.from, p.to, p.score)
		}
	}
}

// similarity is how much of the larger file the two share.
func (f *renameFinder) similarity(from, to int) (int, error) {
	old, now := f.changes[from], f.changes[to]
	if !isFile(old.Old) || !isFile(now.New) {
		return 0, nil
	}
	a, err := f.profile(old.Path, old.Old)
	if err != nil {
		return 0, err
	}
	b, err := f.profile(now.Path, now.New)
	if err != nil {
		return 0, err
	}
	if small, large := min(a.size, b.size), max(a.size, b.size); small == 0 || small*2 < large {
		return 0, nil
	}
	return a.shared(b) * MaxScore / max(a.size, b.size), nil
}

func (f *renameFinder) profile(name string, s Side) (*profile, error) {
	if known := f.profiles[s.Hash]; known != nil {
		return known, nil
	}
	data, big, err := f.repo.Content(name, s)
	if err != nil {
		return nil, err
	}
	p := &profile{}
	if !big {
		p = newProfile(data)
	}
	f.profiles[s.Hash] = p
	return p, nil
}

// profile says how many bytes of a file each of its lines makes up. Long lines
// count in pieces of 64 bytes.
type profile struct {
	size   int
	pieces []piece // ordered by hash
}

type piece struct {
	hash  uint32
	bytes int
}

// newProfile takes lines for equal where git does, also the few whose hashes are equal
// by chance. It counts a last line without an end, as git does from 2.44 on.
func newProfile(data []byte) *profile {
	const longest = 64
	p := &profile{size: len(data)}
	bytesOf := map[uint32]int{}
	text := !IsBinary(data)
	var a, b uint32
	n := 0
	for i, c := range data {
		if text && c == '\r' && i+1 < len(data) && data[i+1] == '\n' {
			continue
		}
		a, b = a<<7^b>>25+uint32(c), b<<7^a>>25
		if n++; n == longest || c == '\n' || i == len(data)-1 {
			bytesOf[(a+b*0x61)%107927] += n
			a, b, n = 0, 0, 0
		}
	}
	for h, n := range bytesOf {
		p.pieces = append(p.pieces, piece{h, n})
	}
	slices.SortFunc(p.pieces, func(a, b piece) int { return cmp.Compare(a.hash, b.hash) })
	return p
}

func (p *profile) shared(q *profile) int {
	shared, i, j := 0, 0, 0
	for i < len(p.pieces) && j < len(q.pieces) {
		switch a, b := p.pieces[i], q.pieces[j]; {
		case a.hash < b.hash:
			i++
		case a.hash > b.hash:
			j++
		default:
			shared += min(a.bytes, b.bytes)
			i++
			j++
		}
	}
	return shared
}

// IsBinary is git's guess for diffs.
func IsBinary(data []byte) bool {
	const looked = 8000
	return bytes.IndexByte(data[:min(looked, len(data))], 0) >= 0
}
