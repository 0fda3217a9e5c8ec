package workspace

import (
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"

	"pillion/internal/fault"
)

// Path is a place inside a workspace folder. Paths are comparable: two are equal
// when they name the same entry of the same folder, with symbolic links not
// followed (see Target), and stay so when folders are added or removed around
// them. The zero Path is no place.
type Path struct {
	root *root
	rel  string // slash separated, clean; "." is the folder itself
}

// String is the path as tools print it: relative to the workspace folder, and
// led by the folder's name in a workspace of several. Of a file apart it is the whole
// path, from ~ where it lies in the home.
func (p Path) String() string {
	switch {
	case p.root == nil:
		return ""
	case !p.root.multi.Load() && !p.root.apart:
		return p.rel
	}
	return path.Join(p.root.name, p.rel)
}

// Rel is the path inside its folder, "." for the folder itself.
func (p Path) Rel() string { return p.rel }

// Abs is the absolute path in the operating system's spelling.
func (p Path) Abs() string { return filepath.Join(p.root.dir, filepath.FromSlash(p.rel)) }

// RootDir is the absolute path of the workspace folder that holds p.
func (p Path) RootDir() string { return p.root.dir }

// URI is the file URI of p, spelled through the folder as the editor gave it.
func (p Path) URI() string {
	abs := filepath.ToSlash(filepath.Join(p.root.given, filepath.FromSlash(p.rel)))
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs
	}
	return (&url.URL{Scheme: "file", Path: abs}).String()
}

// Join is the entry of the folder p that name, slash separated, leads to.
// The name comes from a listing of p, not from an agent.
func (p Path) Join(name string) Path {
	switch {
	case name == "" || name == "." || name == ".." || strings.Contains(name, "/"):
		p.rel = path.Join(p.rel, name)
	case p.rel == ".":
		p.rel = name
	default: // as most are: there is nothing to clean
		p.rel += "/" + name
	}
	return p.innermost()
}

// innermost names p through the deepest open folder that holds it, so that an
// entry has one Path however it was reached.
func (p Path) innermost() Path {
	nested := p.root.nested.Load()
	if nested == nil || len(*nested) == 0 {
		return p
	}
	abs := p.Abs()
	for _, r := range *nested {
		if rel, ok := within(r.dir, abs); ok {
			return Path{root: r, rel: filepath.ToSlash(rel)}
		}
	}
	return p
}

// Dir is the folder that holds p; of a workspace folder, itself.
func (p Path) Dir() Path {
	p.rel = path.Dir(p.rel)
	return p
}

// Base is the last element of p.
func (p Path) Base() string {
	if p.rel == "." {
		return filepath.Base(p.root.dir)
	}
	return path.Base(p.rel)
}

// IsRoot reports whether p is a workspace folder itself.
func (p Path) IsRoot() bool { return p.rel == "." }

// IsZero reports whether p is no place at all.
func (p Path) IsZero() bool { return p.root == nil }

// Resolve turns the name of a file, as an agent spells it, into its Path. The
// file need not exist. It fails with INVALID_PATH, PATH_OUTSIDE_WORKSPACE or
// PERMISSION_DENIED, and never for what only an access would show.
func (w *Workspace) Resolve(name string) (Path, error) {
	if name == "" {
		return Path{}, fault.New(fault.InvalidPath, "the path is empty; name a file relative to the workspace folder")
	}
	return w.resolve(name)
}

// ResolveDir is Resolve for a folder, where an empty name means the workspace
// folder. In a workspace of several, the empty name has no single answer and
// gives INVALID_PATH; callers that can take several use Roots.
func (w *Workspace) ResolveDir(name string) (Path, error) {
	if name == "" {
		name = "."
	}
	return w.resolve(name)
}

func (w *Workspace) resolve(name string) (Path, error) {
	roots := w.snapshot()
	if len(roots) == 0 {
		return Path{}, fault.New(fault.PathOutsideWorkspace, "no folder is open; open a folder in the editor first")
	}
	if err := checkName(name); err != nil {
		return Path{}, err
	}
	p, err := place(roots, name)
	if err != nil {
		return Path{}, err
	}
	if p, err = p.checkInside(); err != nil {
		return Path{}, err
	}
	if err := p.checkSystemPlace(); err != nil {
		return Path{}, err
	}
	if err := p.checkMeaning(); err != nil {
		return Path{}, err
	}
	return p, nil
}

// FilePathOf is the absolute name that a file URI has.
func FilePathOf(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return "", false
	}
	name := u.Path
	if runtime.GOOS == "windows" {
		name = strings.TrimPrefix(name, "/")
	}
	name = filepath.FromSlash(name)
	return name, filepath.IsAbs(name)
}

// FromURI finds the Path of a file URI that the editor sent.
func (w *Workspace) FromURI(uri string) (Path, bool) {
	name, ok := FilePathOf(uri)
	if !ok {
		return Path{}, false
	}
	p, err := placeAbsolute(w.snapshot(), name)
	if err != nil {
		return w.ApartAt(name)
	}
	return p, true
}

// longestPath is in characters.
const longestPath = 4096

func checkName(name string) error {
	switch {
	case utf8.RuneCountInString(name) > longestPath:
		return fault.New(fault.InvalidPath, "the path is longer than %d characters", longestPath)
	case strings.ContainsFunc(name, unicode.IsControl):
		return fault.New(fault.InvalidPath, "the path %s has control characters", fault.Quote(name))
	case runtime.GOOS != "windows" && (strings.HasPrefix(name, `\`) || hasDriveLetter(name)):
		return fault.New(fault.InvalidPath, "%s is a Windows path; use forward slashes, relative to the workspace folder", fault.Quote(name))
	case address.MatchString(name):
		return fault.New(fault.InvalidPath, "%s is an address; name the file relative to the workspace folder", fault.Quote(name))
	}
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part == ".." {
			return outside(name).WithHint("name the file without \"..\", relative to the workspace folder")
		}
	}
	return nil
}

var (
	address = regexp.MustCompile(`^(?i:file:|[a-z][a-z0-9+.-]*://)`)
	// device finds names that no program on Windows can open as a file.
	device = regexp.MustCompile(`(?:^|/)(?i:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:/|$)`)
)

// checkMeaning refuses what means something else elsewhere: the short form of a home, and
// what no program on Windows can check out. What is there already is there.
func (p Path) checkMeaning() error {
	first, _, _ := strings.Cut(p.rel, "/")
	switch {
	case first == "~" && !(Path{p.root, first}).Exists():
		return fault.New(fault.InvalidPath, "nothing expands the ~ of %s here; name the file relative to the workspace folder", fault.Quote(p.String()))
	case device.MatchString(p.rel) && !p.Exists():
		return fault.New(fault.InvalidPath, "%s has the name of a device on Windows; choose another", fault.Quote(p.String()))
	}
	return nil
}

func hasDriveLetter(name string) bool {
	return len(name) > 1 && name[1] == ':' && (name[0]|0x20) >= 'a' && (name[0]|0x20) <= 'z' &&
		(len(name) == 2 || name[2] == '/' || name[2] == '\\')
}

// place finds the folder that holds name and what is left of the name in it.
func place(roots []*root, name string) (Path, error) {
	if filepath.IsAbs(name) {
		return placeAbsolute(roots, name)
	}
	rel := path.Clean(filepath.ToSlash(name))
	if len(roots) == 1 {
		return Path{root: roots[0], rel: rel}, nil
	}
	first, rest, _ := strings.Cut(rel, "/")
	names := make([]string, 0, len(roots))
	for _, r := range roots {
		if r.name == first {
			return Path{root: r, rel: path.Clean("./" + rest)}.innermost(), nil
		}
		names = append(names, r.name)
	}
	return Path{}, fault.New(fault.InvalidPath, "several folders are open; start the path with one of: %s", strings.Join(names, ", "))
}

// placeAbsolute takes the longest folder that holds the absolute name.
func placeAbsolute(roots []*root, name string) (Path, error) {
	var best Path
	longest := -1
	for _, r := range roots {
		for _, dir := range []string{r.dir, r.given} {
			if rel, ok := within(dir, filepath.Clean(name)); ok && len(dir) > longest {
				best, longest = Path{root: r, rel: filepath.ToSlash(rel)}, len(dir)
			}
		}
	}
	if longest < 0 {
		return Path{}, outside(name)
	}
	return best.innermost(), nil
}

func within(dir, name string) (string, bool) {
	rel, err := filepath.Rel(dir, name)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}

func outside(name string) *fault.Error {
	return fault.New(fault.PathOutsideWorkspace, "%s is outside the workspace", fault.Quote(name)).
		WithHint("name a file in the workspace folder, relative to it")
}
