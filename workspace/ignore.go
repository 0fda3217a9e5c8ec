package workspace

import (
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
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
	rules []ignoreRule
}

func (f *ignoreFile) verdict(name string, isDir bool) (ignored, decided bool) {
	if f == nil {
		return false, false
	}
	rel := strings.TrimPrefix(name, f.base)
	for i := range slices.Backward(f.rules) {
		if r := &f.rules[i]; r.matches(rel, isDir) {
			return !r.negate, true
		}
	}
	return false, false
}

// ignoreRules are the rules that hold in one folder, chained to those above.
type ignoreRules struct {
	above     *ignoreRules
	base      string
	rgIgnore  *ignoreFile
	dotIgnore *ignoreFile
	gitIgnore *ignoreFile
	exclude   *ignoreFile
	user      []ignoreRule // of the user's own file, for the top of each repository
	isTop     bool         // of a repository, or of all: git's rules from above end here
}

// ignores judges the entry name of the folder that the rules are of.
func (r *ignoreRules) ignores(name string, isDir bool) bool {
	full := r.base + name
	for at := r; at != nil; at = at.above {
		if ignored, decided := at.rgIgnore.verdict(full, isDir); decided {
			return ignored
		}
	}
	for at := r; at != nil; at = at.above {
		if ignored, decided := at.dotIgnore.verdict(full, isDir); decided {
			return ignored
		}
	}
	top := r
	for at := r; at != nil; at = at.above {
		if ignored, decided := at.gitIgnore.verdict(full, isDir); decided {
			return ignored
		}
		if top = at; at.isTop {
			break
		}
	}
	if ignored, decided := top.exclude.verdict(full, isDir); decided {
		return ignored
	}
	user := ignoreFile{base: top.base, rules: r.user}
	ignored, _ := user.verdict(full, isDir)
	return ignored
}

// ignoreRulesAt collects the rules that hold in the folder p, from those at the
// top of the file system down.
func ignoreRulesAt(p Path) *ignoreRules {
	rules := &ignoreRules{user: parseIgnore(readUserIgnore())}
	base := ""
	repository := repositoryTop(p.root.dir)
	for dir, name := range foldersBetween(fileSystemTop(p.root.dir), p.root.dir) {
		if _, inside := within(repository, dir); inside {
			rules = rules.below(base, ruleFolder{abs: dir})
		} else {
			rules = rules.around(base, ruleFolder{abs: dir})
		}
		base += name + "/"
	}
	at := Path{root: p.root, rel: "."}
	rules = rules.below(base, ruleFolder{path: at})
	rules.isTop = rules.isTop || repository == p.root.dir
	for _, name := range foldersBetween(".", p.rel) {
		at.rel = path.Join(at.rel, name)
		base += name + "/"
		rules = rules.below(base, ruleFolder{path: at})
	}
	return rules
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

// below gives the rules of a folder in r's.
func (r *ignoreRules) below(base string, folder ruleFolder) *ignoreRules {
	return &ignoreRules{
		above:     r,
		base:      base,
		rgIgnore:  newIgnoreFile(base, folder.read(".rgignore")),
		dotIgnore: newIgnoreFile(base, folder.read(".ignore")),
		gitIgnore: newIgnoreFile(base, folder.read(".gitignore")),
		exclude:   newIgnoreFile(base, folder.exclude()),
		user:      r.user,
		isTop:     folder.has(".git"),
	}
}

// around is below for a folder outside the repository, where git reads nothing.
func (r *ignoreRules) around(base string, folder ruleFolder) *ignoreRules {
	return &ignoreRules{
		above:     r,
		base:      base,
		rgIgnore:  newIgnoreFile(base, folder.read(".rgignore")),
		dotIgnore: newIgnoreFile(base, folder.read(".ignore")),
		user:      r.user,
	}
}

func newIgnoreFile(base, text string) *ignoreFile {
	rules := parseIgnore(text)
	if len(rules) == 0 {
		return nil
	}
	return &ignoreFile{base: base, rules: rules}
}
