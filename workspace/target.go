package workspace

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/internal/way"
)

// maxLinks is how many symbolic links one way may have, as in Linux.
const maxLinks = 40

// Target is where p leads once every symbolic link on the way is followed: p
// itself for most paths. What does not exist yet is resolved as far as it
// exists, through dangling links too. Two Paths with one Target are one file.
func (p Path) Target() (Path, error) {
	at, ahead := ".", strings.Split(p.rel, "/")
	for links := 0; len(ahead) > 0; {
		next := step(at, ahead[0])
		link, err := p.linkAt(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return Path{root: p.root, rel: path.Join(next, path.Join(ahead[1:]...))}.innermost(), nil
		case err != nil:
			return Path{}, p.fault(err)
		case link == "":
			at, ahead = next, ahead[1:]
			continue
		}
		if links++; links > maxLinks {
			return Path{}, p.tooManyLinks()
		}
		names := strings.Split(filepath.ToSlash(link), "/")
		if !filepath.IsAbs(link) && !slices.Contains(names, "..") {
			ahead = append(names, ahead[1:]...)
			continue
		}
		end, leads := new(way.Walker).Follow(way.Join(filepath.Join(p.root.dir, filepath.FromSlash(at)), link), nil) // it may come back into the folder
		rel, inside := within(p.root.dir, end)
		switch {
		case !leads:
			return Path{}, p.tooManyLinks()
		case !inside:
			return Path{}, p.linkOutside()
		}
		at, ahead = filepath.ToSlash(rel), ahead[1:]
	}
	return Path{root: p.root, rel: at}.innermost(), nil
}

func (p Path) tooManyLinks() *fault.Error {
	return fault.New(fault.InvalidPath, "%s goes through too many symbolic links, perhaps in a loop", fault.Quote(p.String()))
}

// step is path.Join of a clean path and one element, which most often is a plain
// name: this is the way to every file of every call.
func step(at, name string) string {
	switch {
	case name == "" || name == "." || name == "..":
		return path.Join(at, name)
	case at == ".":
		return name
	}
	return at + "/" + name
}

// linkAt reads the symbolic link at rel, to which no other leads; "" is no link.
func (p Path) linkAt(rel string) (string, error) {
	rel = filepath.FromSlash(rel)
	info, err := p.root.fs().Lstat(rel)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", err
	}
	return p.root.fs().Readlink(rel)
}

// checkInside asks the kernel whether the way to p stays in its folder. It gives
// the path to go on with: p itself, or p's target where a link on the way is
// spelled in a manner that os.Root refuses (absolute, or out and in again)
// although it ends inside.
func (p Path) checkInside() (Path, error) {
	if !p.leaves() {
		return p, nil
	}
	target, err := p.Target()
	if err != nil || target.leaves() {
		return Path{}, p.linkOutside()
	}
	return target, nil
}

func (p Path) leaves() bool {
	_, err := p.root.fs().Stat(filepath.FromSlash(p.rel))
	return err != nil && escapes(err)
}

func (p Path) linkOutside() *fault.Error {
	return outside(p.String()).WithHint("a symbolic link in the path leads outside the workspace; name a file inside it")
}
