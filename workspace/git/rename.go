package git

import (
	"cmp"
	"path"
	"slices"

	"pillion/internal/fault"
	"pillion/workspace/git/odb"

	"github.com/go-git/go-git/v5/plumbing"
)

// Scores count up to maxScore, as git's do: a deleted and an added file that
// share half of their text are one that was renamed, and three quarters will
// do at once where both have the same, otherwise unused, last name.
const (
	maxScore      = 60000
	enough        = maxScore / 2
	enoughForName = maxScore * 3 / 4
	maxPairs      = 500 * 500 // beyond, only unchanged files are recognised
)

// renames joins the deletions and additions that are one file under two names.
func (c *comparison) renames(changes []change) ([]change, error) {
	if value := c.repo.config.get("diff.renames"); value != "" && value != "copies" && value != "copy" && !c.repo.config.bool("diff.renames", true) {
		return changes, nil
	}
	finder := &renameFinder{repo: c.repo, changes: changes, profiles: map[plumbing.Hash]*profile{}}
	for i, ch := range changes {
		switch {
		case ch.unmerged:
		case ch.new.absent():
			finder.gone = append(finder.gone, i)
		case ch.old.absent():
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
		if err := c.ctx.Err(); err != nil {
			return nil, fault.From(err)
		}
		if err := finder.rate(to); err != nil {
			return nil, err
		}
	}
	finder.best()
	return finder.rest(), nil
}

func (c *comparison) renameLimit() int {
	limit := c.repo.config.int("diff.renamelimit", 1000)
	if limit <= 0 || limit > 1000 {
		limit = 1000
	}
	return limit * limit
}

// renameFinder pairs indexes of changes: those gone with those come.
type renameFinder struct {
	repo       *repository
	changes    []change
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
	f.changes[to].oldPath = f.changes[from].path
	f.changes[to].old = f.changes[from].old
	f.changes[to].score = score
	is := func(n int) func(int) bool { return func(m int) bool { return m == n } }
	f.gone = slices.DeleteFunc(f.gone, is(from))
	f.come = slices.DeleteFunc(f.come, is(to))
}

// rest is the changes without the deletions that were joined.
func (f *renameFinder) rest() []change {
	var out []change
	for i, ch := range f.changes {
		if !f.joined[i] {
			out = append(out, ch)
		}
	}
	return out
}

func (f *renameFinder) sameName(from, to int) bool {
	return path.Base(f.changes[from].path) == path.Base(f.changes[to].path)
}

// exact joins files with equal content, those of the same name first.
func (f *renameFinder) exact() {
	byHash := map[plumbing.Hash][]int{}
	for _, from := range f.gone {
		h := f.changes[from].old.hash
		byHash[h] = append(byHash[h], from)
	}
	for _, to := range slices.Clone(f.come) {
		best := -1
		for _, from := range byHash[f.changes[to].new.hash] {
			old, now := f.changes[from].old, f.changes[to].new
			bothFiles := isFile(old) && isFile(now)
			if f.joined[from] || !bothFiles && old.mode != now.mode || old.dirty || now.dirty {
				continue
			}
			if best < 0 || f.sameName(from, to) && !f.sameName(best, to) {
				best = from
			}
		}
		if best >= 0 {
			f.join(best, to, maxScore)
		}
	}
}

func isFile(s side) bool { return s.kind() == odb.ModeFile&odb.ModeTypeMask }

// byName joins similar files that moved to another folder and kept a name that
// no other candidate has.
func (f *renameFinder) byName() error {
	from, to := f.onlyOnes(f.gone), f.onlyOnes(f.come)
	for _, n := range slices.Clone(f.come) {
		name := path.Base(f.changes[n].path)
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
		name := path.Base(f.changes[n].path)
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
	if !isFile(old.old) || !isFile(now.new) {
		return 0, nil
	}
	a, err := f.profile(old.path, old.old)
	if err != nil {
		return 0, err
	}
	b, err := f.profile(now.path, now.new)
	if err != nil {
		return 0, err
	}
	if small, large := min(a.size, b.size), max(a.size, b.size); small == 0 || small*2 < large {
		return 0, nil
	}
	return a.shared(b) * maxScore / max(a.size, b.size), nil
}

func (f *renameFinder) profile(name string, s side) (*profile, error) {
	if known := f.profiles[s.hash]; known != nil {
		return known, nil
	}
	data, big, err := f.repo.content(name, s)
	if err != nil {
		return nil, err
	}
	p := &profile{}
	if !big {
		p = newProfile(data)
	}
	f.profiles[s.hash] = p
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
	text := !isBinary(data)
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
