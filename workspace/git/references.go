package git

import (
	"bufio"
	"bytes"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"pillion/workspace/git/gitfile"
	"pillion/workspace/git/odb"

	"github.com/go-git/go-git/v5/plumbing"
)

// head is the commit that is checked out; ok is false before the first commit.
func (r *repository) head() (plumbing.Hash, bool) { return r.reference("HEAD") }

// reference follows a full name, such as refs/heads/main, to an object.
func (r *repository) reference(name string) (plumbing.Hash, bool) {
	text, ok := r.loose(name)
	return r.follow(name, text, ok)
}

// follow is reference for who has read the reference's own file, if it is there.
func (r *repository) follow(name, text string, ok bool) (plumbing.Hash, bool) {
	const deepest = 10 // symbolic references that name symbolic references
	for range deepest {
		if !ok {
			h, ok := r.packed()[name]
			return h, ok
		}
		target, symbolic := strings.CutPrefix(text, "ref:")
		if !symbolic {
			return odb.ParseHash(text)
		}
		name = strings.TrimSpace(target)
		text, ok = r.loose(name)
	}
	return plumbing.ZeroHash, false
}

// loose is the text of a reference's own file.
func (r *repository) loose(name string) (string, bool) {
	if !safeReference(name) {
		return "", false
	}
	dir := r.commonDir
	if !strings.HasPrefix(name, "refs/") || perWorkTree(name) {
		dir = r.gitDir
	}
	text, err := gitfile.Read(filepath.Join(dir, filepath.FromSlash(name)))
	return strings.TrimSpace(string(text)), err == nil
}

func perWorkTree(name string) bool {
	return strings.HasPrefix(name, "refs/bisect/") || strings.HasPrefix(name, "refs/worktree/") || strings.HasPrefix(name, "refs/rewritten/")
}

// safeReference reports whether name may be looked up as a file: below refs,
// or one of the capital names such as HEAD and MERGE_HEAD.
func safeReference(name string) bool {
	if !fs.ValidPath(name) || strings.ContainsAny(name, "\\:") || slices.Contains(strings.Split(name, "/"), "..") {
		return false
	}
	return strings.HasPrefix(name, "refs/") || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}

// packed is what packed-refs held when it was first asked for.
func (r *repository) packed() map[string]plumbing.Hash {
	r.packedOnce.Do(func() { r.packedRefs = r.readPacked() })
	return r.packedRefs
}

func (r *repository) readPacked() map[string]plumbing.Hash {
	text, _ := gitfile.Read(filepath.Join(r.commonDir, "packed-refs"))
	refs := map[string]plumbing.Hash{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		hash, name, _ := strings.Cut(lines.Text(), " ")
		if h, ok := odb.ParseHash(hash); ok && name != "" {
			refs[name] = h
		}
	}
	return refs
}

// names lists the short names of branches and tags, those that a caller is
// likely to mean first.
func (r *repository) names() []string {
	full := map[string]bool{}
	for name := range r.packed() {
		full[name] = true
	}
	_ = filepath.WalkDir(filepath.Join(r.commonDir, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if rel, err := filepath.Rel(r.commonDir, path); err == nil {
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
func (r *repository) readReplaced() map[plumbing.Hash]plumbing.Hash {
	const prefix = "refs/replace/"
	if !r.config.bool("core.usereplacerefs", true) {
		return nil
	}
	var found map[plumbing.Hash]plumbing.Hash
	for _, ref := range r.list(prefix) {
		if h, ok := odb.ParseHash(strings.TrimPrefix(ref.name, prefix)); ok {
			if found == nil {
				found = map[plumbing.Hash]plumbing.Hash{}
			}
			found[h] = ref.hash
		}
	}
	return found
}
