package workspace

import (
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Guarded is a file or folder of this machine that nothing may change without a person, and what it
// does: "can make the shell run programs".
type Guarded struct {
	Path, Effect string
	// Hidden: of the folder that is what is hidden in it.
	Hidden bool
	Free   []string // what lies in the folder and is not guarded, by its path there
}

// covers reports whether what lies below the folder is guarded.
func (g Guarded) covers(below string) bool {
	return (!g.Hidden || strings.HasPrefix(below, ".")) && !slices.ContainsFunc(g.Free, func(free string) bool { return liesIn(below, free) })
}

// Guards finds out whether a file is one that is guarded: by the file itself, and by
// every folder and link that leads to it, so that neither another name nor a link that is
// replaced gets around it.
type Guards []guard

type guard struct {
	Guarded
	final fs.FileInfo // nil: it is not there
	real  string      // its path without links, "" likewise
	steps []guardStep
}

// guardStep is a folder that the way leads through, and the rest of the way from there.
type guardStep struct {
	folder fs.FileInfo
	rest   string
}

// mostGuardSteps is more than a kernel follows.
const mostGuardSteps = 255

// NewGuards looks where they are now.
func NewGuards(all []Guarded) Guards {
	out := make(Guards, 0, len(all))
	look := map[string]fs.FileInfo{}
	lstat := func(path string) fs.FileInfo {
		info, known := look[path]
		if !known {
			info, _ = os.Lstat(path) //nolint:errcheck // nil: it is not there
			look[path] = info
		}
		return info
	}
	for _, one := range all {
		free := one.Free
		one.Free = nil
		for _, path := range free {
			one.Free = append(one.Free, strings.ToLower(path))
		}
		g, linked := guard{Guarded: one}, false
		at := filepath.VolumeName(one.Path) + string(filepath.Separator)
		rest := one.Path[len(at):]
		for range mostGuardSteps {
			folder := lstat(at)
			if rest == "" && folder != nil {
				g.final, g.real = folder, at
			}
			if rest == "" || folder == nil {
				break
			}
			g.steps = append(g.steps, guardStep{folder, strings.ToLower(rest)})
			name, below, _ := strings.Cut(rest, string(filepath.Separator))
			next := filepath.Join(at, name)
			info := lstat(next)
			if info == nil || info.Mode()&fs.ModeSymlink == 0 {
				at, rest = next, below
				continue
			}
			target, err := os.Readlink(next)
			if err != nil {
				break
			}
			linked = true
			if !filepath.IsAbs(target) {
				target = filepath.Join(at, target)
			}
			at = filepath.VolumeName(target) + string(filepath.Separator)
			rest = filepath.Join(target[len(at):], below)
		}
		if linked { // the kernel knows best where that leads
			g.final, _ = os.Stat(one.Path)              //nolint:errcheck // likewise
			g.real, _ = filepath.EvalSymlinks(one.Path) //nolint:errcheck // likewise
		}
		out = append(out, g)
	}
	return out
}

// Effect says what the file does that the path leads to, "" if it is none of these.
func (g Guards) Effect(path string) string { return g.Finder().Effect(path) }

// Finder is for many paths of one moment: each folder is looked at once.
func (g Guards) Finder() *GuardFinder {
	return &GuardFinder{g, map[string]*guardFolder{}}
}

// GuardFinder is for one goroutine.
type GuardFinder struct {
	Guards
	folders map[string]*guardFolder
}

// guardFolder is a folder with the guards that can hold something in it, by their numbers.
type guardFolder struct {
	info     fs.FileInfo      // nil: it is not there
	all      []int            // which are the folder, so that they hold what lies below
	way, end map[string][]int // whose way leads through it: by each part that the rest of it begins with, and by all of that
	above    *guardFolder     // the next one above that has such guards; nil: none
	below    string           // the way from there
}

// Effect is that of Guards.
func (f *GuardFinder) Effect(path string) string {
	if len(f.Guards) == 0 {
		return ""
	}
	path = filepath.Clean(path)
	if info, err := os.Stat(path); err == nil {
		for _, one := range f.Guards {
			if one.final == nil || !os.SameFile(one.final, info) {
				continue
			}
			if at, is := one.holds(info, ""); is {
				return one.effect(at)
			}
		}
	}
	above := filepath.Dir(path)
	if above == path {
		return ""
	}
	for folder, below := f.folder(above), filepath.Base(path); folder != nil; folder, below = folder.above, filepath.Join(folder.below, below) {
		candidates := folder.candidates(strings.ToLower(below))
		for _, i := range candidates {
			if at, is := f.Guards[i].holds(folder.info, below); is {
				return f.Guards[i].effect(at)
			}
		}
	}
	return ""
}

func (f *GuardFinder) folder(at string) *guardFolder {
	if known := f.folders[at]; known != nil {
		return known
	}
	out := &guardFolder{way: map[string][]int{}, end: map[string][]int{}}
	if info, err := os.Stat(at); err == nil {
		out.info = info
		for i, one := range f.Guards {
			if one.final != nil && os.SameFile(one.final, info) {
				out.all = append(out.all, i)
			}
			for _, s := range one.steps {
				if os.SameFile(s.folder, info) {
					out.end[s.rest] = append(out.end[s.rest], i)
					for part := range parts(s.rest) {
						out.way[part] = append(out.way[part], i)
					}
				}
			}
		}
	}
	if above := filepath.Dir(at); above != at {
		out.above, out.below = f.folder(above), filepath.Base(at)
		if next := out.above; len(next.all)+len(next.way) == 0 { // nothing there holds anything
			out.above, out.below = next.above, filepath.Join(next.below, out.below)
		}
	}
	f.folders[at] = out
	return out
}

// candidates are the guards that may hold what lies at this place below the folder.
func (f *guardFolder) candidates(below string) []int {
	out := slices.Concat(f.all, f.way[below])
	if len(f.end) > 0 {
		for part := range parts(below) {
			out = append(out, f.end[part]...)
		}
	}
	slices.Sort(out)
	return out
}

// parts are what a path begins with: its first name, its first two, and so on to all of it.
func parts(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range path {
			if path[i] == filepath.Separator && !yield(path[:i]) {
				return
			}
		}
		yield(path)
	}
}

// effect is what a file does that is at this place of what is guarded.
func (g guard) effect(at string) string {
	return g.Effect + ": it is " + whose(filepath.Join(g.Path, at))
}

// holds reports whether what lies below a folder is the guarded file, lies in the guarded folder,
// or is on the way to it. Of a folder of which parts are guarded it says which.
func (g guard) holds(folder fs.FileInfo, below string) (at string, is bool) {
	lower := strings.ToLower(below)
	part := func(from int) (string, bool) {
		if !g.covers(strings.TrimPrefix(lower[from:], string(filepath.Separator))) {
			return "", false
		}
		if g.Hidden {
			at = below[min(from, len(below)):]
		}
		return at, true
	}
	if g.final != nil && os.SameFile(g.final, folder) {
		return part(0)
	}
	if below == "" {
		return "", false
	}
	for _, s := range g.steps {
		if !os.SameFile(s.folder, folder) {
			continue
		}
		if liesIn(s.rest, lower) {
			return "", true
		}
		if at, is := part(min(len(s.rest), len(lower))); is && liesIn(lower, s.rest) {
			return at, true
		}
	}
	return "", false
}

func liesIn(path, folder string) bool {
	rest, ok := strings.CutPrefix(path, folder)
	return ok && (rest == "" || rest[0] == filepath.Separator)
}

// whose is a path as its owner knows it.
func whose(path string) string {
	if home, err := os.UserHomeDir(); err == nil && liesIn(path, home) {
		return "your ~" + filepath.ToSlash(path[len(home):])
	}
	return "your " + filepath.ToSlash(path)
}

// In lists which of them lie in a folder: by their real paths, and by other names that a file has
// (hard links), which are looked for only where one has several.
func (g Guards) In(folder string) (out []string) {
	several := false
	for _, one := range g {
		several = several || one.final != nil && one.final.Mode().IsRegular() && HardLinks(one.final) > 1
		if one.Hidden || len(one.Free) > 0 {
			out = append(out, one.partsIn(folder)...)
		} else if one.real != folder && liesIn(one.real, folder) {
			out = append(out, one.real)
		}
	}
	if !several {
		return out
	}
	seen := 0
	_ = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error { // what cannot be read cannot be written by its name either
		if seen++; seen > mostLinked {
			return fs.SkipAll
		}
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		if info, err := e.Info(); err == nil && HardLinks(info) > 1 && slices.ContainsFunc(g, func(one guard) bool { return one.final != nil && os.SameFile(one.final, info) }) {
			out = append(out, path)
		}
		return nil
	})
	return out
}

// partsIn lists the entries that are guarded of a folder of which that is not all, or of one in it.
func (g guard) partsIn(folder string) (out []string) {
	dir := g.real
	if liesIn(folder, dir) {
		dir = folder
	}
	entries, _ := os.ReadDir(dir) //nolint:errcheck // it is not there
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if below, err := filepath.Rel(g.real, path); err == nil && g.covers(strings.ToLower(below)) && liesIn(path, folder) {
			out = append(out, path)
		}
	}
	return out
}

// mostLinked bounds a look for other names of a file, which is rarely needed.
const mostLinked = 100_000
