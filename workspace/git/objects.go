package git

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"pillion/internal/fault"
)

// objects reads commits, trees and blobs, loose and packed, from a repository
// and from those that it borrows objects from, as replaced by refs/replace.
type objects struct {
	// mu guards all that follows: whoever reads an object holds it.
	mu       sync.Mutex
	stores   []*store
	inflater inflater
	recent   recent
	replaced map[plumbing.Hash]plumbing.Hash
	shallow  map[plumbing.Hash]bool            // commits whose parents are not here
	grafts   map[plumbing.Hash][]plumbing.Hash // commits whose parents are said to be others
}

// store is one objects folder.
type store struct {
	dir      string
	packs    []*pack
	folders  map[string]bool // what is in it, once that was asked for
	unlisted bool            // that cannot be found out
}

func openObjects(commonDir string) *objects {
	o := &objects{}
	o.add(filepath.Join(commonDir, "objects"), map[string]bool{}, 0)
	o.shallow = readShallow(commonDir)
	o.grafts = readGrafts(commonDir)
	return o
}

func (o *objects) add(dir string, seen map[string]bool, depth int) {
	const deepest = 5 // git's own limit
	if seen[dir] || depth > deepest {
		return
	}
	seen[dir] = true
	s := &store{dir: dir}
	s.list()
	o.stores = append(o.stores, s)

	text, err := readSmall(filepath.Join(dir, "info", "alternates"))
	if err != nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if !filepath.IsAbs(line) {
			line = filepath.Join(dir, line)
		}
		o.add(filepath.Clean(line), seen, depth+1)
	}
}

// list looks which packs there are, and keeps what is known of those that were
// there before.
func (s *store) list() {
	entries, _ := os.ReadDir(filepath.Join(s.dir, "pack"))
	var packs []*pack
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".idx")
		if !ok || strings.HasPrefix(name, ".") { // git is still writing that
			continue
		}
		name = filepath.Join(s.dir, "pack", name)
		known := slices.IndexFunc(s.packs, func(p *pack) bool { return p.path == name+".pack" })
		if known >= 0 {
			packs = append(packs, s.packs[known])
			continue
		}
		packs = append(packs, &pack{index: &packIndex{path: name + ".idx"}, path: name + ".pack"})
	}
	for _, p := range s.packs {
		if !slices.Contains(packs, p) {
			p.close()
		}
	}
	s.packs = packs
}

func (o *objects) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.stores {
		for _, p := range s.packs {
			p.close()
		}
	}
	o.recent = recent{}
}

// get finds an object of at most limit bytes; nothing of a larger one is read,
// but errBig returned. What it holds is shared and not to be changed.
func (o *objects) get(h plumbing.Hash, limit int64) (found stored, err error) {
	defer damaged(h, &err)
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.read(h, limit)
}

// read is get for who holds the lock.
func (o *objects) read(h plumbing.Hash, limit int64) (found stored, err error) {
	const deepest = 5 // replacements of replacements
	for range deepest {
		other, replaced := o.replaced[h]
		if !replaced {
			break
		}
		h = other
	}
	const tries = 3
	for range tries {
		if found, err = o.search(h, limit); err == nil || errors.Is(err, errBig) {
			break
		}
		for _, s := range o.stores { // git may have packed anew meanwhile
			s.list()
		}
	}
	switch {
	case errors.Is(err, errNoObject):
		return stored{}, fault.New(fault.GitError,
			"the object %s is missing from the repository; in a partial clone git fetches it when it needs it, so run git with run_command; else git fsck says more", h)
	case errors.Is(err, errBig):
		return stored{}, fault.New(fault.GitError, "the object %s is too large: %w", h, errBig)
	}
	return found, err
}

func (o *objects) search(h plumbing.Hash, limit int64) (stored, error) {
	var refused error
	for _, s := range o.stores {
		for i, p := range s.packs {
			offset, found, err := p.index.find(h)
			if err != nil {
				refused = err // another pack may have it
				continue
			}
			if found {
				got, err := o.unpack(p, offset, limit)
				if err != nil && !errors.Is(err, errBig) {
					refused = err
					continue
				}
				copy(s.packs[1:i+1], s.packs[:i]) // the next is likely to be there as well
				s.packs[0] = p
				return got, err
			}
		}
		found, err := o.loose(s, h, limit)
		if !errors.Is(err, errNoObject) {
			return found, err
		}
	}
	if refused != nil {
		return stored{}, refused
	}
	return stored{}, errNoObject
}

// loose reads an object that has a file of its own.
func (o *objects) loose(s *store, h plumbing.Hash, limit int64) (stored, error) {
	name := h.String()
	f, _, err := openRegular(filepath.Join(s.dir, name[:2], name[2:]))
	if errors.Is(err, os.ErrNotExist) || isNotDir(err) {
		return stored{}, errNoObject
	}
	if err != nil {
		return stored{}, err
	}
	defer f.Close()
	r, err := o.inflater.from(bufio.NewReader(f))
	if err != nil {
		return stored{}, err
	}
	kind, size, err := looseHead(r)
	if err != nil {
		return stored{}, err
	}
	if size > limit {
		return stored{}, errBig
	}
	data, err := readExactly(r, size)
	return stored{kind, data}, err
}

// looseHead reads "type size" and the zero byte behind it.
func looseHead(r io.Reader) (plumbing.ObjectType, int64, error) {
	var head [32]byte
	for i := range head {
		if _, err := io.ReadFull(r, head[i:i+1]); err != nil {
			return 0, 0, err
		}
		if head[i] != 0 {
			continue
		}
		name, digits, _ := strings.Cut(string(head[:i]), " ")
		kind, err := plumbing.ParseObjectType(name)
		if err != nil || kind > plumbing.TagObject {
			return 0, 0, errDamaged
		}
		size, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || size < 0 {
			return 0, 0, errDamaged
		}
		return kind, size, nil
	}
	return 0, 0, errDamaged
}

// of reads an object that must be of a kind.
func (o *objects) of(kind plumbing.ObjectType, h plumbing.Hash) ([]byte, error) {
	found, err := o.get(h, maxObject)
	if err != nil {
		return nil, err
	}
	if found.kind != kind {
		return nil, fault.New(fault.GitError, "the object %s is a %s where a %s is expected; git fsck says more", h, found.kind, kind)
	}
	return found.data, nil
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

// peeled follows tags to what they name in the end.
func (o *objects) peeled(h plumbing.Hash) (plumbing.Hash, stored, error) {
	const deepest = 20 // tags of tags
	for range deepest {
		found, err := o.get(h, maxObject)
		if err != nil || found.kind != plumbing.TagObject {
			return h, found, err
		}
		tag, ok := parseTag(found.data)
		if !ok {
			return h, found, fault.New(fault.GitError, "the tag %s is damaged; git fsck says more", h)
		}
		h = tag.target
	}
	return h, stored{}, fault.New(fault.GitError, "%s is a tag of too many tags", h)
}

// commit reads a commit, also through the tags that name it. The parents that a
// shallow clone has not are none of it.
func (o *objects) commit(h plumbing.Hash) (*object.Commit, error) {
	h, found, err := o.peeled(h)
	if err != nil {
		return nil, err
	}
	if found.kind != plumbing.CommitObject {
		return nil, fault.New(fault.GitError, "%s is a %s, not a commit; give a branch, a tag or a commit's hash", h, found.kind)
	}
	c, ok := parseCommit(found.data)
	if !ok {
		return nil, fault.New(fault.GitError, "the commit %s is damaged; git fsck says more", h)
	}
	commit := &object.Commit{Hash: h, TreeHash: c.tree, ParentHashes: o.parents(h, c.parents)}
	commit.Committer.When = time.Unix(c.date, 0)
	return commit, nil
}

// parents are a commit's parents as they count here.
func (o *objects) parents(h plumbing.Hash, written []plumbing.Hash) []plumbing.Hash {
	if o.shallow[h] {
		return nil
	}
	if others, grafted := o.grafts[h]; grafted {
		return others
	}
	return written
}

// tree reads the entries of a tree.
func (o *objects) tree(h plumbing.Hash) (entries []object.TreeEntry, err error) {
	data, err := o.of(plumbing.TreeObject, h)
	if err != nil {
		return nil, err
	}
	entries = make([]object.TreeEntry, 0, len(data)/32+1)
	for len(data) > 0 {
		var e rawEntry
		if e, data, err = nextEntry(data); err != nil {
			return nil, fault.New(fault.GitError, "the tree %s is damaged; git fsck says more", h)
		}
		if !safeName(string(e.name)) {
			return nil, fault.New(fault.GitError, "the tree %s holds the name %s; git fsck says more", h, fault.Quote(string(e.name)))
		}
		entries = append(entries, object.TreeEntry{Name: string(e.name), Mode: filemode.FileMode(e.mode), Hash: e.hash})
	}
	return entries, nil
}

// blob reads a file's content. Beyond limit bytes it reads nothing and returns
// errBig.
func (o *objects) blob(h plumbing.Hash, limit int64) (data []byte, err error) {
	if h == emptyBlob {
		return nil, nil
	}
	found, err := o.get(h, limit)
	if err != nil {
		return nil, err
	}
	if found.kind != plumbing.BlobObject {
		return nil, fault.New(fault.GitError, "the object %s is a %s where a blob is expected; git fsck says more", h, found.kind)
	}
	return found.data, nil
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

// safeName reports whether a name may stand in a tree: one that leads nowhere
// but to itself.
func safeName(name string) bool {
	return !special(name) && !strings.ContainsAny(name, "/\x00")
}

// special reports whether a name that no byte forbids leads elsewhere all the same.
func special(name string) bool {
	return name == "" || name == "." || name == ".." || len(name) == len(".git") && strings.EqualFold(name, ".git")
}
