package workspace

import (
	"iter"
	"os"
	"path"
	"path/filepath"
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
