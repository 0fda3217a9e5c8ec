package gitdir

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/git/gitfile"
)

// Place is where a repository is.
type Place struct {
	Top       string // the work tree
	GitDir    string // HEAD, index
	CommonDir string // objects, refs, config: GitDir, but for linked work trees
}

const deepest = 10 // symbolic references that name symbolic references

// Loose is the text of a reference's own file. A link is an old form of a symbolic reference.
func (p Place) Loose(name string) (string, bool) {
	if !safeReference(name) {
		return "", false
	}
	file := filepath.Join(p.dirOf(name), filepath.FromSlash(name))
	if target, err := os.Readlink(file); err == nil {
		return "ref: " + target, true
	}
	text, err := gitfile.Read(file)
	return strings.TrimSpace(string(text)), err == nil
}

// dirOf is the folder that a reference's file lies in, and its log.
func (p Place) dirOf(name string) string {
	if !strings.HasPrefix(name, "refs/") || perWorkTree(name) {
		return p.GitDir
	}
	return p.CommonDir
}

// SymbolicTarget is what a symbolic reference names by its text. It is "" where that leads out
// of refs/: git does not read there, but it writes there.
func SymbolicTarget(text string) (target string, symbolic bool) {
	target, symbolic = strings.CutPrefix(text, "ref:")
	if target = strings.TrimSpace(target); !symbolic || !IsReference(target) {
		target = ""
	}
	return target, symbolic
}

// Writable refuses references by which git would write elsewhere: symbolic ones that lead out
// of refs/, and links on the way to them or to their logs.
func (p Place) Writable(names ...string) error {
	for _, name := range names {
		for range deepest {
			dir := p.dirOf(name)
			text, _ := p.Loose(name)
			target, symbolic := SymbolicTarget(text)
			if symbolic && target == "" || !gitfile.IsStraight(dir, path.Dir(name)) || !gitfile.IsStraight(dir, "logs/"+name) ||
				gitfile.Exists(filepath.Join(dir, "logs", name)) && !gitfile.IsDir(filepath.Join(dir, "logs", name)) && !gitfile.IsAlone(filepath.Join(dir, "logs", name)) {
				return fault.New(fault.GitError, "%s leads out of the references of this repository, and git would write to where it leads", fault.Quote(name)).
					WithHint("ask the user to look at it; git symbolic-ref says where a reference leads")
			}
			if target == "" {
				break
			}
			name = target
		}
	}
	return nil
}

func perWorkTree(name string) bool {
	return strings.HasPrefix(name, "refs/bisect/") || strings.HasPrefix(name, "refs/worktree/") || strings.HasPrefix(name, "refs/rewritten/")
}

// safeReference reports whether name may be looked up as a file: below refs,
// or one of the capital names such as HEAD and MERGE_HEAD.
func safeReference(name string) bool {
	return fs.ValidPath(name) && (IsReference(name) || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "")
}

// IsReference reports whether a reference below refs may have the full name.
func IsReference(name string) bool {
	return strings.HasPrefix(name, "refs/") && NameProblem(name) == ""
}

// NameProblem is why git (check-ref-format) lets no reference have a name, or part of one;
// "" if one may.
func NameProblem(name string) string {
	switch {
	case strings.HasSuffix(name, "."):
		return "it ends with a full stop"
	case strings.Contains(name, "..") || strings.Contains(name, "@{"):
		return "it holds .. or @{"
	case strings.ContainsAny(name, " ~^:?*[\\") || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "it holds a blank, a control character or one of ~ ^ : ? * [ \\"
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "":
			return "it begins or ends with a slash, or has two in a row"
		case strings.HasPrefix(part, "."):
			return "a part of it begins with a full stop"
		case strings.HasSuffix(part, ".lock"):
			return "a part of it ends with .lock"
		}
	}
	return ""
}

// ShortReference is a reference's name as people write it.
func ShortReference(name string) string {
	for _, prefix := range []string{"refs/heads/", "refs/tags/", "refs/remotes/"} {
		if short, ok := strings.CutPrefix(name, prefix); ok {
			return short
		}
	}
	return name
}

// Prefix is dir as a path of the repository, "" for all of it.
func (p Place) Prefix(dir string) string {
	rel, err := filepath.Rel(p.Top, dir)
	if err != nil || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel)
}

// SafePath reports whether a path of the index or a tree leads to a place
// below the top, and not into .git.
func SafePath(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." || name == ".." || strings.EqualFold(name, ".git") || strings.ContainsRune(name, 0) {
			return false
		}
	}
	return true
}
