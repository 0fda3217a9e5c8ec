package git

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"pillion/internal/fault"
)

// objects reads commits, trees and blobs, loose and packed, from a repository
// and from those that it borrows objects from. The alternates are followed
// here: go-git resolves the relative ones against the wrong folder.
type objects struct {
	stores []*filesystem.ObjectStorage
}

func openObjects(commonDir string) *objects {
	o := &objects{}
	o.add(commonDir, map[string]bool{}, 0)
	return o
}

func (o *objects) add(dir string, seen map[string]bool, depth int) {
	const deepest = 5 // git's own limit
	if seen[dir] || depth > deepest {
		return
	}
	seen[dir] = true
	files := dotgit.New(osfs.New(dir))
	o.stores = append(o.stores, filesystem.NewObjectStorageWithOptions(files, cache.NewObjectLRUDefault(), filesystem.Options{KeepDescriptors: true}))

	text, err := readSmall(filepath.Join(dir, "objects", "info", "alternates"))
	if err != nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || filepath.Base(line) != "objects" {
			continue
		}
		if !filepath.IsAbs(line) {
			line = filepath.Join(dir, "objects", line)
		}
		o.add(filepath.Dir(filepath.Clean(line)), seen, depth+1)
	}
}

func (o *objects) close() {
	for _, s := range o.stores {
		_ = s.Close()
	}
}

// get finds an object. A damaged repository can make go-git panic; that is the
// repository's fault and an error like any other.
func (o *objects) get(kind plumbing.ObjectType, h plumbing.Hash) (found plumbing.EncodedObject, err error) {
	defer damaged(h, &err)
	for _, s := range o.stores {
		found, err = s.EncodedObject(kind, h)
		if !errors.Is(err, plumbing.ErrObjectNotFound) {
			break
		}
	}
	switch {
	case errors.Is(err, plumbing.ErrObjectNotFound):
		return nil, fault.New(fault.GitError,
			"the object %s is missing from the repository; in a partial or shallow clone git fetch brings it, else git fsck says more", h)
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", h, err)
	}
	return found, nil
}

// damaged turns a failure to read an object, also a panic, into a GIT_ERROR.
func damaged(h plumbing.Hash, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%v", r)
	}
	var known *fault.Error
	if *err != nil && !errors.As(*err, &known) {
		*err = fault.New(fault.GitError, "the object %s cannot be read; git fsck says more: %w", h, *err)
	}
}

// commit reads a commit, also through the tags that name it.
func (o *objects) commit(h plumbing.Hash) (commit *object.Commit, err error) {
	defer damaged(h, &err)
	const deepest = 20 // tags of tags
	for range deepest {
		found, err := o.get(plumbing.AnyObject, h)
		if err != nil {
			return nil, err
		}
		switch found.Type() {
		case plumbing.CommitObject:
			return object.DecodeCommit(nil, found)
		case plumbing.TagObject:
			tag, err := object.DecodeTag(nil, found)
			if err != nil {
				return nil, err
			}
			h = tag.Target
		default:
			return nil, fault.New(fault.GitError, "%s is a %s, not a commit; give a branch, a tag or a commit's hash", h, found.Type())
		}
	}
	return nil, fault.New(fault.GitError, "%s is a tag of too many tags", h)
}

// tree reads the entries of a tree.
func (o *objects) tree(h plumbing.Hash) (entries []object.TreeEntry, err error) {
	defer damaged(h, &err)
	found, err := o.get(plumbing.TreeObject, h)
	if err != nil {
		return nil, err
	}
	tree, err := object.DecodeTree(nil, found)
	if err != nil {
		return nil, err
	}
	for _, e := range tree.Entries {
		if !safeName(e.Name) {
			return nil, fault.New(fault.GitError, "the tree %s holds the name %s; git fsck says more", h, fault.Quote(e.Name))
		}
	}
	return tree.Entries, nil
}

// blob reads a file's content. Beyond limit bytes it reads nothing and returns
// errBig.
func (o *objects) blob(h plumbing.Hash, limit int64) (data []byte, err error) {
	defer damaged(h, &err)
	if h == emptyBlob {
		return nil, nil
	}
	found, err := o.get(plumbing.BlobObject, h)
	if err != nil {
		return nil, err
	}
	if found.Size() > limit {
		return nil, fault.New(fault.GitError, "the object %s is too large: %w", h, errBig)
	}
	r, err := found.Reader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return readAll(r, found.Size())
}

var (
	emptyBlob = plumbing.ComputeHash(plumbing.BlobObject, nil)
	errBig    = errors.New("too large")
)

// readAll reads to the end of r, which is expected after size bytes.
func readAll(r io.Reader, size int64) ([]byte, error) {
	var buffer bytes.Buffer
	buffer.Grow(int(min(max(size, 0), maxFile)) + bytes.MinRead)
	_, err := buffer.ReadFrom(r)
	return buffer.Bytes(), err
}

// abbreviated finds the one object whose hash begins with text.
func (o *objects) abbreviated(text string) (h plumbing.Hash, ok bool) {
	prefix, ok := hexPrefix(text)
	if !ok {
		return h, false
	}
	var err error
	defer damaged(h, &err)
	matches := map[plumbing.Hash]bool{}
	for _, s := range o.stores {
		found, _ := s.HashesWithPrefix(prefix)
		for _, candidate := range found {
			if strings.HasPrefix(candidate.String(), text) && o.isCommit(candidate) {
				matches[candidate] = true
				h = candidate
			}
		}
	}
	return h, len(matches) == 1
}

func (o *objects) isCommit(h plumbing.Hash) bool {
	_, err := o.commit(h)
	return err == nil
}

// safeName reports whether a name may stand in a tree: one that leads nowhere
// but to itself.
func safeName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00") && !strings.EqualFold(name, ".git")
}
