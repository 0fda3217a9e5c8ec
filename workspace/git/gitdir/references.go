package gitdir

import (
	"bufio"
	"bytes"
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/internal/fault"
	"pillion/workspace/git/gitfile"
	"pillion/workspace/git/odb"
)

// Head is the commit that is checked out; ok is false before the first commit.
func (r *Repository) Head() (plumbing.Hash, bool) { return r.Reference("HEAD") }

// Reference follows a full name, such as refs/heads/main, to an object.
func (r *Repository) Reference(name string) (plumbing.Hash, bool) {
	text, ok := r.Loose(name)
	return r.Follow(name, text, ok)
}

const deepest = 10 // symbolic references that name symbolic references

// Follow is reference for who has read the reference's own file, if it is there.
func (r *Repository) Follow(name, text string, ok bool) (plumbing.Hash, bool) {
	for range deepest {
		if !ok {
			h, ok := r.packed()[name]
			return h, ok
		}
		target, symbolic := SymbolicTarget(text)
		if !symbolic {
			return odb.ParseHash(text)
		}
		if target == "" {
			break
		}
		name = target
		text, ok = r.Loose(name)
	}
	return plumbing.ZeroHash, false
}

// Loose is the text of a reference's own file. A link is an old form of a symbolic reference.
func (r *Repository) Loose(name string) (string, bool) {
	if !safeReference(name) {
		return "", false
	}
	file := filepath.Join(r.dirOf(name), filepath.FromSlash(name))
	if target, err := os.Readlink(file); err == nil {
		return "ref: " + target, true
	}
	text, err := gitfile.Read(file)
	return strings.TrimSpace(string(text)), err == nil
}

// dirOf is the folder that a reference's file lies in, and its log.
func (r *Repository) dirOf(name string) string {
	if !strings.HasPrefix(name, "refs/") || perWorkTree(name) {
		return r.GitDir
	}
	return r.CommonDir
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
func (r *Repository) Writable(names ...string) error {
	for _, name := range names {
		for range deepest {
			dir := r.dirOf(name)
			text, _ := r.Loose(name)
			target, symbolic := SymbolicTarget(text)
			if symbolic && target == "" || !gitfile.IsStraight(dir, path.Dir(name)) || !gitfile.IsStraight(dir, "logs/"+name) {
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

// packed is what packed-refs held when it was first asked for.
func (r *Repository) packed() map[string]plumbing.Hash {
	r.packedOnce.Do(func() { r.packedRefs = r.readPacked() })
	return r.packedRefs
}

func (r *Repository) readPacked() map[string]plumbing.Hash {
	text, _ := gitfile.Read(filepath.Join(r.CommonDir, "packed-refs"))
	refs := map[string]plumbing.Hash{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		hash, name, _ := strings.Cut(lines.Text(), " ")
		if h, ok := odb.ParseHash(hash); ok && IsReference(name) {
			refs[name] = h
		}
	}
	return refs
}

// names lists the short names of branches and tags, those that a caller is
// likely to mean first.
func (r *Repository) names() []string {
	full := map[string]bool{}
	for name := range r.packed() {
		full[name] = true
	}
	_ = filepath.WalkDir(filepath.Join(r.CommonDir, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if rel, err := filepath.Rel(r.CommonDir, path); err == nil {
				full[filepath.ToSlash(rel)] = true
			}
		}
		return nil
	})
	var names []string
	for _, prefix := range []string{"refs/heads/", "refs/tags/", "refs/remotes/"} {
		var some []string
		for name := range full {
			if short, ok := strings.CutPrefix(name, prefix); ok && !strings.HasSuffix(name, "/HEAD") {
				some = append(some, short)
			}
		}
		slices.Sort(some)
		names = append(names, some...)
	}
	return names
}

// readReplaced reads refs/replace, unless core.useReplaceRefs is off.
func (r *Repository) readReplaced() map[plumbing.Hash]plumbing.Hash {
	const prefix = "refs/replace/"
	if !r.Config.Bool("core.usereplacerefs", true) {
		return nil
	}
	var found map[plumbing.Hash]plumbing.Hash
	for _, ref := range r.List(prefix) {
		if h, ok := odb.ParseHash(strings.TrimPrefix(ref.Name, prefix)); ok {
			if found == nil {
				found = map[plumbing.Hash]plumbing.Hash{}
			}
			found[h] = ref.Hash
		}
	}
	return found
}

// ref is a reference by its full name.
type ref struct {
	Name string
	Hash plumbing.Hash
}

// List is the references below prefix, such as refs/heads/, by name.
func (r *Repository) List(prefix string) []ref {
	found := map[string]plumbing.Hash{}
	for name, h := range r.packed() {
		if strings.HasPrefix(name, prefix) {
			found[name] = h
		}
	}
	_ = filepath.WalkDir(filepath.Join(r.CommonDir, filepath.FromSlash(prefix)), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
			return nil
		}
		rel, err := filepath.Rel(r.CommonDir, path)
		if err != nil {
			return nil
		}
		name := filepath.ToSlash(rel)
		if h, ok := r.Reference(name); ok {
			found[name] = h
		} else {
			delete(found, name) // its own file counts, though it is broken
		}
		return nil
	})
	refs := make([]ref, 0, len(found))
	for name, h := range found {
		refs = append(refs, ref{name, h})
	}
	slices.SortFunc(refs, func(a, b ref) int { return cmp.Compare(a.Name, b.Name) })
	return refs
}

// Tracked is the full name of the reference that follows what a local branch
// was set to follow. It need not exist.
func (r *Repository) Tracked(branch string) (string, bool) {
	remote := r.Config.Get("branch." + branch + ".remote")
	merge := r.Config.Get("branch." + branch + ".merge")
	if remote == "" || merge == "" {
		return "", false
	}
	if remote == "." {
		return merge, true
	}
	name := r.Config.TrackingOf(remote, merge)
	return name, name != ""
}

// mapped is what a refspec's sides, each with at most one *, make of name.
func mapped(name, from, to string) (string, bool) {
	before, after, glob := strings.Cut(from, "*")
	if !glob {
		return to, name == from
	}
	if len(name) < len(before)+len(after) || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) {
		return "", false
	}
	return strings.Replace(to, "*", name[len(before):len(name)-len(after)], 1), true
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

// Branch is the one that is checked out, "" for none.
func (r *Repository) Branch() string {
	text, _ := r.Loose("HEAD")
	target, _ := SymbolicTarget(text)
	name, isBranch := strings.CutPrefix(target, "refs/heads/")
	if !isBranch {
		return ""
	}
	return name
}

// TrackingOf is where a remote's branch is kept here, "" for nowhere.
func (c Config) TrackingOf(remote, name string) string {
	for _, spec := range c["remote."+remote+".fetch"] {
		from, to, _ := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
		if into, ok := mapped(name, from, to); ok && to != "" {
			return into
		}
	}
	return ""
}
