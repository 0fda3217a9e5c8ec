// Package way says where a path leads, as the kernel goes it: name by name, so that ".." behind a link is the folder above
// the one that the link leads to. What is not there yet is taken for a folder, for it can become one. It only looks.
package way

import (
	"os"
	"path/filepath"
	"strings"
)

// mostLinks is how many links one way may have, as in Linux.
const mostLinks = 40

const separator = string(filepath.Separator)

// Walker goes ways, and looks at each place once.
type Walker struct {
	links map[string]string // of a place, "" where it is no link
}

// Follow goes the way of an absolute path and gives its end, which is absolute and free of links; ok is false where it has
// too many. Each place on it is seen with the rest of the way from there, in which a ".." may stand behind a link.
func (w *Walker) Follow(path string, see func(at, rest string)) (end string, ok bool) {
	at, ahead := top(path), names(path)
	for links := 0; ; {
		if see != nil {
			see(at, strings.Join(ahead, separator))
		}
		if len(ahead) == 0 {
			return at, true
		}
		name := ahead[0]
		ahead = ahead[1:]
		if name == ".." {
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		target := w.linkAt(next)
		if target == "" {
			at = next
			continue
		}
		if links++; links > mostLinks {
			return filepath.Join(append([]string{next}, ahead...)...), false
		}
		if filepath.IsAbs(target) {
			at = top(target)
		}
		ahead = append(names(target), ahead...)
	}
}

func (w *Walker) linkAt(path string) string {
	target, known := w.links[path]
	if !known {
		target, _ = os.Readlink(path) //nolint:errcheck // it is none, or not there
		if w.links == nil {
			w.links = map[string]string{}
		}
		w.links[path] = target
	}
	return target
}

func top(path string) string { return filepath.VolumeName(path) + separator }

// names are those of a path, in a slice that is its own.
func names(path string) (out []string) {
	for name := range strings.SplitSeq(filepath.FromSlash(path[len(filepath.VolumeName(path)):]), separator) {
		if name != "" && name != "." {
			out = append(out, name)
		}
	}
	return out
}

// Resolve is the absolute path without links, as far as it leads somewhere.
func Resolve(path string) string {
	end, _ := new(Walker).Follow(path, nil)
	return end
}

// Join is a path below dir as somebody wrote it: unlike that of filepath it leaves a "..", which the kernel goes behind a
// link. An absolute path is below no folder.
func Join(dir, path string) string {
	if path = filepath.FromSlash(path); filepath.IsAbs(path) {
		return path
	}
	return strings.TrimSuffix(dir, separator) + separator + path
}

// Dir is the folder of a path, likewise as it is written.
func Dir(path string) string {
	path = strings.TrimRight(path, separator)
	if i := strings.LastIndex(path, separator); i > len(filepath.VolumeName(path)) {
		return path[:i]
	}
	return top(path)
}
