package worktree

import (
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/gitfile"
)

// The values of an attribute beside text: `text` sets it, `-text` unsets it,
// `!text` makes it unspecified, as if no line had named it.
const (
	AttrSet         = "\x01"
	AttrUnset       = "\x00"
	AttrUnspecified = ""
)

type setting struct{ name, value string }

// rule is a line of a .gitattributes file.
type rule struct {
	pattern  []string
	baseName bool // the pattern has no slash and stands for a name in any folder
	settings []setting
}

// attributes answers what .gitattributes files say about a path. They are read
// from the work tree, those missing there from the index, as git does.
type attributes struct {
	repo   *Checkout
	fold   bool                            // core.ignorecase
	staged func() map[string]plumbing.Hash // .gitattributes files of the index, by path
	// stagedFirst: those come before the work tree's, as for git when it writes files.
	stagedFirst bool

	loaded  bool
	lowest  []rule // the system's and the user's
	highest []rule // info/attributes
	folders map[string][]rule
	macros  map[string][]setting
}

func newAttributes(r *Checkout) *attributes {
	return &attributes{
		repo:    r,
		fold:    r.Config.Bool("core.ignorecase", false),
		staged:  func() map[string]plumbing.Hash { return nil },
		folders: map[string][]rule{},
		macros:  map[string][]setting{"binary": {{"diff", AttrUnset}, {"merge", AttrUnset}, {"text", AttrUnset}}},
	}
}

// Of returns the attributes of a path: name to value.
func (a *attributes) Of(name string) map[string]string {
	a.load()
	found := map[string]string{}
	a.apply(found, a.highest, name)
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		below := name
		if dir != "." {
			below = strings.TrimPrefix(name, dir+"/")
		}
		a.apply(found, a.folder(dir), below)
		if dir == "." {
			break
		}
	}
	a.apply(found, a.lowest, name)
	return found
}

// apply adds what rules say about name; what is known already stays, so the
// rules that count most come first, and of a file the last.
func (a *attributes) apply(found map[string]string, rules []rule, name string) {
	if a.fold {
		name = strings.ToLower(name)
	}
	for i := len(rules) - 1; i >= 0; i-- {
		if rules[i].matches(name) {
			a.set(found, rules[i].settings, 0)
		}
	}
}

func (a *attributes) set(found map[string]string, settings []setting, depth int) {
	const deepest = 10 // macros of macros
	for i := len(settings) - 1; i >= 0; i-- {
		s := settings[i]
		if _, known := found[s.name]; known {
			continue
		}
		found[s.name] = s.value
		if s.value == AttrSet && depth < deepest {
			a.set(found, a.macros[s.name], depth+1)
		}
	}
}

func (r rule) matches(name string) bool {
	if r.baseName {
		return gitdir.MatchName(r.pattern[0], path.Base(name))
	}
	return gitdir.MatchPath(r.pattern, strings.Split(name, "/"))
}

// load reads the files that hold for the whole repository. Only they and the
// topmost .gitattributes may define macros.
func (a *attributes) load() {
	if a.loaded {
		return
	}
	a.loaded = true
	file := a.repo.Config.Get("core.attributesfile")
	if file == "" {
		file = filepath.Join(gitdir.UserConfigDir(), "attributes")
	}
	for _, name := range []string{"/etc/gitattributes", gitdir.ExpandPath(file, a.repo.Top)} {
		text, _ := gitfile.Read(name)
		a.lowest = append(a.lowest, a.parse(string(text), true)...)
	}
	a.folder(".")
	text, _ := gitfile.Read(filepath.Join(a.repo.CommonDir, "info", "attributes"))
	a.highest = a.parse(string(text), true)
}

func (a *attributes) folder(dir string) []rule {
	rules, known := a.folders[dir]
	if !known {
		rules = a.parse(a.text(path.Join(dir, ".gitattributes")), dir == ".")
		a.folders[dir] = rules
	}
	return rules
}

// text is the text of one .gitattributes file. Like git, it follows no link.
func (a *attributes) text(name string) string {
	if h, staged := a.staged()[name]; staged && a.stagedFirst {
		text, _ := a.repo.Objects.Blob(h, gitfile.MaxSize)
		return string(text)
	}
	info, err := a.repo.Work.Lstat(name)
	if err == nil && info != nil {
		if !info.Mode().IsRegular() {
			return ""
		}
		text, _ := gitfile.Read(filepath.Join(a.repo.Top, filepath.FromSlash(name)))
		return string(text)
	}
	if h, staged := a.staged()[name]; staged {
		text, _ := a.repo.Objects.Blob(h, gitfile.MaxSize)
		return string(text)
	}
	return ""
}

// parse reads the text of an attributes file. Like git, it skips lines it does
// not understand and those of more than 2048 bytes.
func (a *attributes) parse(text string, macros bool) []rule {
	const longest = 2048
	var rules []rule
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line = strings.Trim(line, " \t\r\n")
		if line == "" || line[0] == '#' || len(line) > longest {
			continue
		}
		pattern, rest := firstWord(line)
		settings := parseSettings(rest)
		if name, macro := strings.CutPrefix(pattern, "[attr]"); macro {
			if macros {
				a.macros[name] = settings
			}
			continue
		}
		if a.fold {
			pattern = strings.ToLower(pattern)
		}
		if r, ok := newRule(pattern, settings); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

// firstWord cuts a line after its pattern, which may be quoted.
func firstWord(line string) (word, rest string) {
	if quoted, err := strconv.QuotedPrefix(line); err == nil && line[0] == '"' {
		word, _ = strconv.Unquote(quoted)
		return word, line[len(quoted):]
	}
	if end := strings.IndexAny(line, " \t"); end >= 0 {
		return line[:end], line[end:]
	}
	return line, ""
}

func newRule(pattern string, settings []setting) (rule, bool) {
	if pattern == "" || pattern[0] == '!' || strings.HasSuffix(pattern, "/") {
		return rule{}, false // negation is forbidden, and a folder has no attributes
	}
	baseName := !strings.Contains(pattern, "/")
	return rule{strings.Split(strings.TrimPrefix(pattern, "/"), "/"), baseName, settings}, true
}

func parseSettings(text string) []setting {
	var settings []setting
	for word := range strings.FieldsSeq(text) {
		name, value, hasValue := strings.Cut(word, "=")
		switch {
		case name == "":
			continue
		case hasValue:
		case name[0] == '-':
			name, value = name[1:], AttrUnset
		case name[0] == '!':
			name, value = name[1:], AttrUnspecified
		default:
			value = AttrSet
		}
		settings = append(settings, setting{name, value})
	}
	return settings
}

// Anywhere are the values that an attribute has in any of the files that count for those of the index.
func (a *attributes) Anywhere(name string, index *StagedFiles) map[string]bool {
	a.load()
	for file := range index.Files {
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			if _, known := a.folders[dir]; known {
				break
			}
			a.folder(dir)
		}
	}
	all := slices.Concat(a.lowest, a.highest)
	for _, rules := range a.folders {
		all = append(all, rules...)
	}
	for _, settings := range a.macros {
		all = append(all, rule{settings: settings})
	}
	values := map[string]bool{}
	for _, rule := range all {
		for _, s := range rule.settings {
			if s.name == name {
				values[s.value] = true
			}
		}
	}
	return values
}
