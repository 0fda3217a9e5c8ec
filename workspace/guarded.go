package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/way"
)

// Guarded is a file or folder of this machine that nothing may change without a person, and what it
// does: "can make the shell run programs".
type Guarded struct {
	Path, Effect string
	// Hidden: of the folder that is what is hidden in it.
	Hidden bool
	Free   []string // what lies in the folder and is not guarded, by its path there
	// IsPart: it is no such thing, but may make a folder a repository for git, which tools judges.
	IsPart bool
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
	name  string      // as a person knows it
	steps []guardStep
}

// guardStep is a folder that the way leads through, and the rest of the way from there: as it is written, so
// with a ".." where one stands behind what may be a link.
type guardStep struct {
	folder fs.FileInfo
	rest   string
}

// NewGuards looks where they are now. Their paths may have a "..", which is above where a link before it leads.
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
	var walker way.Walker
	for _, one := range all {
		free := one.Free
		one.Free = nil
		for _, path := range free {
			one.Free = append(one.Free, strings.ToLower(path))
		}
		g := guard{Guarded: one, name: one.Path}
		end, leads := walker.Follow(one.Path, func(at, rest string) {
			folder, missing := at, ""
			for lstat(folder) == nil && folder != filepath.Dir(folder) {
				folder, missing = filepath.Dir(folder), filepath.Join(filepath.Base(folder), missing)
			}
			if missing != "" && rest != "" {
				missing += string(filepath.Separator)
			}
			if rest = missing + rest; rest != "" && lstat(folder) != nil {
				g.steps = append(g.steps, guardStep{lstat(folder), strings.ToLower(rest)})
			}
		})
		if g.final = lstat(end); leads && g.final != nil {
			g.real = end
		}
		if filepath.Clean(one.Path) != one.Path {
			g.name = end
		}
		out = append(out, g)
	}
	return out
}

// Effect says what the file does that the path leads to, "" if it is none of these.
func (g Guards) Effect(path string) string { return g.Finder().Effect(path) }

// Finder is for many paths of one moment: each folder is looked at once.
func (g Guards) Finder() *GuardFinder { return &GuardFinder{g, map[string]guardFolder{}} }

// GuardFinder is for one goroutine.
type GuardFinder struct {
	Guards
	folders map[string]guardFolder
}

// guardFolder is a folder with the guards that can hold something in it.
type guardFolder struct {
	info   fs.FileInfo
	guards Guards
}

// Effect is that of Guards.
func (f *GuardFinder) Effect(path string) string {
	if len(f.Guards) == 0 {
		return ""
	}
	for at, below := filepath.Clean(path), ""; ; {
		folder := f.at(at)
		for _, one := range folder.guards {
			if at, is := one.holds(folder.info, below); is {
				return one.Effect + ": it is " + whose(filepath.Join(one.name, at))
			}
		}
		above := filepath.Dir(at)
		if above == at {
			return ""
		}
		at, below = above, filepath.Join(filepath.Base(at), below)
	}
}

func (f *GuardFinder) at(path string) guardFolder {
	folder, known := f.folders[path]
	if known {
		return folder
	}
	if info, err := os.Stat(path); err == nil {
		folder.info = info
		for _, one := range f.Guards {
			if one.final != nil && os.SameFile(one.final, info) || slices.ContainsFunc(one.steps, func(s guardStep) bool { return os.SameFile(s.folder, info) }) {
				folder.guards = append(folder.guards, one)
			}
		}
	}
	f.folders[path] = folder
	return folder
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
	_ = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if seen++; seen > mostLinked {
			return fs.SkipAll
		}
		switch {
		case isClosed(err):
			out = append(out, path)
			return nil
		case err != nil || !e.Type().IsRegular():
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
	entries, err := os.ReadDir(dir)
	if isClosed(err) && liesIn(dir, folder) {
		return []string{dir}
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if below, err := filepath.Rel(g.real, path); err == nil && g.covers(strings.ToLower(below)) && liesIn(path, folder) {
			out = append(out, path)
		}
	}
	return out
}

// isClosed: a folder cannot be listed, so anything may be in it, and who knows its name gets there.
func isClosed(err error) bool { return errors.Is(err, fs.ErrPermission) }

// mostLinked bounds a look for other names of a file, which is rarely needed.
const mostLinked = 100_000
