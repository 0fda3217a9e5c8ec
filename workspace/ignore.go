package workspace

import (
	"io"
	"iter"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"pillion/workspace/gitignore"
)

// Ignore rules decide what a Walk leaves out. They are git's, as ripgrep applies
// them. The first of these kinds that says anything about an entry decides, and
// in each kind the file in the deepest folder, and in a file the last line:
//
//  1. .rgignore files, and
//  2. .ignore files, up to the top of the file system;
//  3. .gitignore files, up to the top of the entry's own repository, else up to
//     the workspace folder;
//  4. .git/info/exclude of that repository;
//  5. the user's own file: core.excludesFile, or git/ignore in the configuration
//     folder.
//
// An ignored folder is not entered, so nothing in it can be shown again. Unlike
// in git, a tracked file that a rule names is ignored; unlike in ripgrep, hidden
// files are shown, for .github and its like are part of a project. The stores of
// version control are not. Nothing is ever executed to find the rules.

// versionStores are never entered; .git not even when ignored files are wanted.
var versionStores = []string{".git", ".hg", ".svn", ".jj"}

// ignoreFile is the rules of one file, for what lies below base. All names here
// are relative to the top of the file system.
type ignoreFile struct {
	base  string // with a slash at the end; "" is the top
	rules []gitignore.Rule
}

func (f *ignoreFile) verdict(c *candidate) (ignored, decided bool) {
	if f == nil {
		return false, false
	}
	for i := range slices.Backward(f.rules) {
		r := &f.rules[i]
		name := c.name
		if !r.BaseOnly {
			name = strings.TrimPrefix(c.path(), f.base)
		}
		if r.Matches(name, c.isDir) {
			return !r.Negate, true
		}
	}
	return false, false
}

// candidate is an entry that is judged. Its path is made when a rule needs it.
type candidate struct {
	base, name string
	isDir      bool
	full       string
}

func (c *candidate) path() string {
	if c.full == "" {
		c.full = c.base + c.name
	}
	return c.full
}

// ignoreRules are the rules that hold in one folder and, if it has none of its own,
// in those below, chained to those above.
type ignoreRules struct {
	above     *ignoreRules
	rgIgnore  *ignoreFile
	dotIgnore *ignoreFile
	gitIgnore *ignoreFile
	exclude   *ignoreFile
	user      *ignoreFile // the user's own, for the entry's repository or workspace folder
	isTop     bool        // of a repository: git's rules from above end here
}

// ignores judges the entry name of the folder base.
func (r *ignoreRules) ignores(base, name string, isDir bool) bool {
	c := &candidate{base: base, name: name, isDir: isDir}
	for at := r; at != nil; at = at.above {
		if ignored, decided := at.rgIgnore.verdict(c); decided {
			return ignored
		}
	}
	for at := r; at != nil; at = at.above {
		if ignored, decided := at.dotIgnore.verdict(c); decided {
			return ignored
		}
	}
	top := r
	for at := r; at != nil; at = at.above {
		if ignored, decided := at.gitIgnore.verdict(c); decided {
			return ignored
		}
		if top = at; at.isTop {
			break
		}
	}
	if ignored, decided := top.exclude.verdict(c); decided {
		return ignored
	}
	ignored, _ := r.user.verdict(c)
	return ignored
}

// ignoreRulesAt collects the rules that hold in the folder p, whose base it gives
// too.
func ignoreRulesAt(p Path) (rules *ignoreRules, base string) {
	rules, base = ignoreRulesAbove(p)
	return rules.below(base, ruleFolder{path: p}), base
}

// ignoreRulesAbove collects the rules for the folder p from all folders above it, from
// the top of the file system down. The base is p's own. What was opened as a workspace folder is
// not ignored: where the rules above it say so, as in a home that is a repository of dotfiles with
// the rule *, none of them holds.
func ignoreRulesAbove(p Path) (rules *ignoreRules, base string) {
	rules = &ignoreRules{}
	repository, ignored := repositoryTop(p.root.dir), false
	for dir, name := range foldersBetween(fileSystemTop(p.root.dir), p.root.dir) {
		if _, inside := within(repository, dir); inside {
			rules = rules.below(base, ruleFolder{abs: dir})
		} else {
			rules = rules.around(base, ruleFolder{abs: dir})
		}
		ignored = ignored || rules.ignores(base, name, true)
		base += name + "/"
	}
	if ignored {
		rules = &ignoreRules{}
	}
	if rules.user == nil { // there is no repository around, or it begins here
		rules = &ignoreRules{above: rules, user: newIgnoreFile(base, readUserIgnore())}
	}
	at := Path{root: p.root, rel: "."}
	for _, name := range foldersBetween(".", p.rel) {
		rules = rules.below(base, ruleFolder{path: at})
		at.rel = path.Join(at.rel, name)
		base += name + "/"
	}
	return rules, base
}

func fileSystemTop(dir string) string { return filepath.VolumeName(dir) + string(filepath.Separator) }

// foldersBetween goes from the folder top down to the one that holds bottom,
// which is top or below it, each with the name of the next.
func foldersBetween(top, bottom string) iter.Seq2[string, string] {
	return func(yield func(dir, name string) bool) {
		rel, ok := within(top, filepath.FromSlash(bottom))
		if !ok || rel == "." {
			return
		}
		for name := range strings.SplitSeq(rel, string(filepath.Separator)) {
			if !yield(top, name) {
				return
			}
			top = filepath.Join(top, name)
		}
	}
}

// repositoryTop is the folder of the repository that holds dir, else dir.
func repositoryTop(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// below gives the rules of the folder base, in one where r hold.
func (r *ignoreRules) below(base string, folder ruleFolder) *ignoreRules {
	own := r.around(base, folder)
	gitIgnore, isTop := newIgnoreFile(base, folder.read(".gitignore")), folder.has(".git")
	if gitIgnore == nil && !isTop {
		return own
	}
	if own == r {
		own = &ignoreRules{above: r, user: r.user}
	}
	own.gitIgnore, own.isTop = gitIgnore, isTop
	if isTop {
		own.exclude = newIgnoreFile(base, folder.exclude())
		own.user = newIgnoreFile(base, readUserIgnore())
	}
	return own
}

// around is below for a folder outside the repository, where git reads nothing.
func (r *ignoreRules) around(base string, folder ruleFolder) *ignoreRules {
	rgIgnore, dotIgnore := newIgnoreFile(base, folder.read(".rgignore")), newIgnoreFile(base, folder.read(".ignore"))
	if rgIgnore == nil && dotIgnore == nil {
		return r
	}
	return &ignoreRules{above: r, rgIgnore: rgIgnore, dotIgnore: dotIgnore, user: r.user}
}

func newIgnoreFile(base, text string) *ignoreFile {
	rules := gitignore.Parse(text)
	if len(rules) == 0 {
		return nil
	}
	return &ignoreFile{base: base, rules: rules}
}

const maxIgnoreFile = 1 << 20 // bytes; a longer file is no ignore file

// ruleFolder reads the ignore files of one folder: through its Path where it is
// in the workspace, else by its absolute name. A file that cannot be read, or is
// no small regular file, ignores nothing.
type ruleFolder struct {
	path   Path
	listed func(name string) bool // whether path has such an entry, if that is known
	abs    string                 // if path is zero
}

func (f ruleFolder) has(name string) bool {
	var err error
	switch {
	case f.path.IsZero():
		_, err = os.Lstat(filepath.Join(f.abs, name))
	case f.listed != nil:
		return f.listed(name)
	default:
		_, err = f.path.root.fs().Lstat(filepath.Join(filepath.FromSlash(f.path.rel), name))
	}
	return err == nil
}

func (f ruleFolder) read(name string) string {
	if !f.has(name) {
		return ""
	}
	return f.readAt(name)
}

func (f ruleFolder) readAt(name string) string {
	if f.path.IsZero() {
		return readIgnoreFile(filepath.Join(f.abs, filepath.FromSlash(name)))
	}
	p := f.path
	p.rel = filepath.ToSlash(filepath.Join(p.rel, name))
	data, _, err := p.ReadFile(maxIgnoreFile)
	if err != nil {
		return ""
	}
	return string(data)
}

// exclude reads the repository's own info/exclude. Where .git is a file, it
// names a work tree's or submodule's folder, which may name a common one.
func (f ruleFolder) exclude() string {
	if !f.has(".git") {
		return ""
	}
	named, isFile := strings.CutPrefix(f.readAt(".git"), "gitdir:")
	if !isFile {
		return f.readAt(".git/info/exclude")
	}
	dir := f.abs
	if !f.path.IsZero() {
		dir = f.path.Abs()
	}
	git := from(dir, named)
	if common := readIgnoreFile(filepath.Join(git, "commondir")); common != "" {
		git = from(git, common)
	}
	return readIgnoreFile(filepath.Join(git, "info", "exclude"))
}

// from reads a folder's name as git wrote it, relative to the folder dir.
func from(dir, name string) string {
	name = filepath.FromSlash(strings.TrimSpace(name))
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

var excludesFile = regexp.MustCompile(`(?im)^[ \t]*excludesfile[ \t]*=[ \t]*"?([^"\r\n#;]+?)"?[ \t\r]*$`)

// readUserIgnore finds the user's ignore file as ripgrep does, without git's
// includes and conditions.
func readUserIgnore() string {
	home := homeDir()
	folder := os.Getenv("XDG_CONFIG_HOME")
	if folder == "" {
		folder = filepath.Join(home, ".config")
	}
	name := filepath.Join(folder, "git", "ignore")
	for _, config := range []string{filepath.Join(home, ".gitconfig"), filepath.Join(folder, "git", "config")} {
		found := excludesFile.FindStringSubmatch(readIgnoreFile(config))
		if found == nil {
			continue
		}
		name = found[1]
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			name = filepath.Join(home, filepath.FromSlash(rest))
		}
		break
	}
	return readIgnoreFile(name)
}

// readIgnoreFile reads a small regular file outside the workspace, or nothing.
func readIgnoreFile(abs string) string {
	if !filepath.IsAbs(abs) {
		return ""
	}
	f, err := os.OpenFile(abs, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnoreFile {
		return ""
	}
	data, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	if err != nil {
		return ""
	}
	return string(data)
}
