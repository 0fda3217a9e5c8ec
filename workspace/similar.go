package workspace

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"pillion/internal/fault"
)

const (
	maxSimilar  = 5      // names that an error suggests
	maxCompared = 10_000 // entries of a folder that are compared
)

// notFound names up to five entries that the agent may have meant: those with a
// name like the first part of the path that is missing.
func (p Path) notFound() error {
	err := fault.New(fault.FileNotFound, "%s does not exist", fault.Quote(p.String()))
	folder, missing, rest := p.firstMissing()
	var similar []string
	for _, name := range similarNames(folder, missing) {
		meant := folder.Join(name).Join(rest)
		if meant.root.closed.refusal(meant.Abs()) != "" || len(similar) == maxSimilar {
			continue
		}
		if _, err := meant.root.fs().Lstat(filepath.FromSlash(meant.rel)); err == nil {
			similar = append(similar, fault.Quote(meant.String()))
		}
	}
	if len(similar) == 0 {
		return err.WithHint("list the folder with list_files to see what is there")
	}
	return err.With("similar", similar).WithHint("did you mean %s?", strings.Join(similar, ", "))
}

// firstMissing splits p into the deepest folder that exists, the name that is
// missing in it, and what comes after.
func (p Path) firstMissing() (folder Path, missing, rest string) {
	folder, missing = p.Dir(), p.Base()
	for !folder.IsRoot() {
		if _, err := folder.root.fs().Lstat(filepath.FromSlash(folder.rel)); err == nil {
			break
		}
		rest = path.Join(missing, rest)
		folder, missing = folder.Dir(), folder.Base()
	}
	return folder, missing, rest
}

// similarNames are the entries of folder whose name is like want, likest first.
func similarNames(folder Path, want string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	entries, _ := folder.readEntries() // no folder, no similar names
	alike := lookOf(want)
	for _, e := range entries[:min(len(entries), maxCompared)] {
		if e.Name() != want && lookOf(e.Name()) == alike {
			found = append(found, candidate{e.Name(), -1})
		} else if d, ok := unlikeness(strings.ToLower(want), strings.ToLower(e.Name())); ok && e.Name() != want {
			found = append(found, candidate{e.Name(), d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	names := make([]string, len(found))
	for i, c := range found {
		names[i] = c.name
	}
	return names
}

// lookOf is the same for names that look the same: in another Unicode form, another letter case, with
// other blanks, or with something that is not seen.
func lookOf(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case fault.Invisible(r):
			return -1
		}
		return r
	}, name)
	return cases.Fold().String(norm.NFKC.String(name))
}

// unlikeness is small for names that are easily taken for one another: by letter
// case, by a slip of the fingers, by another extension, by a part left out.
func unlikeness(want, have string) (int, bool) {
	stem := func(s string) string { return strings.TrimSuffix(s, path.Ext(s)) }
	allowed := 1 + len(want)/5
	if gap := len(want) - len(have); gap <= allowed && -gap <= allowed {
		if d := distance(want, have); d <= allowed {
			return d, true
		}
	}
	switch s := stem(want); {
	case s == "":
		return 0, false
	case s == stem(have):
		return allowed + 1, true
	case len(s) > 3 && strings.Contains(have, s):
		return allowed + 2, true
	}
	return 0, false
}

// distance is the number of bytes put in, left out, changed or swapped with the
// next that tells a from b (optimal string alignment); names are short.
func distance(a, b string) int {
	var before []int // the row before last
	last, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := last[j-1]
			if a[i-1] != b[j-1] {
				cost = 1 + min(cost, last[j], row[j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cost = min(cost, before[j-2]+1)
			}
			row[j] = cost
		}
		before, last, row = last, row, make([]int, len(b)+1)
	}
	return last[len(b)]
}
