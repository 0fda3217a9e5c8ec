package workspace

import (
	"slices"
	"strings"
)

// Layout is which folders git would take for repositories once paths are made: hooks and
// settings in them run programs. Letter case does not count: it does not everywhere.
type Layout struct {
	Read Guards // what git reads of them elsewhere

	made map[string]bool // by the paths of entries and of the folders above them
	is   map[Path]bool   // what was found out
}

// NewLayout is the layout with these paths made.
func NewLayout(paths ...Path) Layout {
	out := Layout{made: map[string]bool{}, is: map[Path]bool{}}
	for _, p := range paths {
		for ; !p.IsRoot() && !out.made[strings.ToLower(p.Abs())]; p = p.Dir() {
			out.made[strings.ToLower(p.Abs())] = true
		}
	}
	return out
}

// IsRead says whether git reads one of the paths of a folder that is laid out as a repository.
func (l Layout) IsRead(paths ...Path) bool {
	return slices.ContainsFunc(paths, func(p Path) bool { return l.Read.Effect(p.Abs()) != "" })
}

// InRepository looks for a folder above p that is laid out as a repository.
func (l Layout) InRepository(p Path) bool {
	return !p.IsRoot() && l.IsRepository(p.Dir())
}

// IsRepository is for a folder that is laid out as one, or lies in one.
func (l Layout) IsRepository(dir Path) bool {
	is, known := l.is[dir]
	if !known {
		is = slices.ContainsFunc(repositoryParts, func(parts []string) bool {
			return !slices.ContainsFunc(parts, func(name string) bool {
				part := dir.Join(name)
				return !l.made[strings.ToLower(part.Abs())] && !part.Exists()
			})
		}) || l.InRepository(dir)
		l.is[dir] = is
	}
	return is
}

// repositoryParts are what makes a folder a repository for git: a whole one, or one that shares
// objects and settings with another.
var repositoryParts = [][]string{{"HEAD", "objects", "refs"}, {"HEAD", "commondir"}}
