package worktree

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/odb"
)

// StatusOptions says what Status looks at.
type StatusOptions struct {
	Dir string // absolute: the folder or file to look at, which need not exist any more
}

// StatusResult is what git status --porcelain=v2 --branch says.
type StatusResult struct {
	Top          string // absolute: the folder of the repository's work tree
	Branch       string // "" when detached
	Commit       string // "" before the first one
	Detached     bool
	Upstream     string // short name of the branch that this one follows, "" if none
	UpstreamGone bool   // Upstream is set, and there is no such branch
	Ahead        int    // commits that Upstream has not
	Behind       int    // commits that only Upstream has
	Files        []FileStatus
}

// State is what became of a file, between HEAD and the index or between the index and
// the work tree.
type State string

// The states of a file. The empty one is unchanged.
const (
	Modified    State = "modified"
	Added       State = "added"
	Deleted     State = "deleted"
	Renamed     State = "renamed"
	TypeChanged State = "type_changed" // a file became a link, or the other way round
	Untracked   State = "untracked"
	Conflicted  State = "conflicted"
)

// FileStatus is what git status says of one path.
type FileStatus struct {
	Path        string // relative to the top of the repository; a folder of untracked files ends in a slash
	Staged      State
	Worktree    State
	RenamedFrom string
	Conflict    string // of a conflict: which one, as in "both_modified"
	Submodule   string // of a submodule: what is new in it: "commits", "modified", "untracked", by commas
}

// Status tells what is staged, changed and untracked. The repository may begin below
// root, the workspace's absolute folder, or above it; only files inside o.Dir are
// looked at and told of.
//
// Failures are those of Diff, but FILE_TOO_LARGE.
func Status(ctx context.Context, root string, o StatusOptions) (StatusResult, error) {
	return (*Cache)(nil).Status(ctx, root, o)
}

// status is one answer in the making.
type status struct {
	Comparison
	whole bool // the prefix is where the workspace or the repository begins: it is shown by what is in it

	index   *index
	reading *sync.Mutex           // of objects, which is for one at a time
	known   []int                 // for a comparison: the places of all entries that may differ in the work tree; nil: not known
	watched func(dir string) bool // see walk
	files   map[string]*FileStatus
	depth   int // of submodules in submodules
}

// changes is the files that are not as HEAD has them, tracked ones first.
func (s *status) changes() ([]FileStatus, error) {
	if err := s.readIndex(); err != nil {
		return nil, err
	}
	staged, found, w, err := s.lookAll()
	if err != nil {
		return nil, err
	}
	return s.merge(staged, found, w.untracked)
}

// lookAll finds what is staged while others walk the work tree.
func (s *status) lookAll() (staged []Difference, found findings, w *walk, err error) {
	s.reading = &sync.Mutex{}
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.reading.Lock()
		defer s.reading.Unlock()
		staged, failed = s.staged()
	}()
	found, w, err = s.look(done)
	if <-done; err == nil {
		err = failed
	}
	return staged, found, w, err
}

// merge makes one list of what is staged and what was found in the work tree.
func (s *status) merge(staged []Difference, found findings, untracked map[string][]string) ([]FileStatus, error) {
	s.files = map[string]*FileStatus{}
	staged, err := s.Renames(staged)
	if err != nil {
		return nil, err
	}
	var changed []Difference
	for _, at := range slices.Sorted(maps.Keys(found)) {
		if f := found[at]; f.conflict != "" {
			s.files[f.path] = &FileStatus{Path: f.path, Staged: Conflicted, Worktree: Conflicted, Conflict: f.conflict}
		} else if f.differs {
			changed = append(changed, f.change)
		}
	}
	if changed, err = s.Renames(changed); err != nil {
		return nil, err
	}
	for _, c := range staged {
		s.file(c).Staged = c.state()
	}
	for _, c := range changed {
		s.file(c).Worktree = c.state()
	}
	for _, f := range found {
		if f.submodule != "" {
			s.files[f.path].Submodule = f.submodule
		}
	}
	list := make([]FileStatus, 0, len(s.files))
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		list = append(list, *s.files[path])
	}
	return append(list, listUntracked(untracked)...), nil
}

func listUntracked(by map[string][]string) []FileStatus {
	var names []string
	for _, some := range by {
		names = append(names, some...)
	}
	slices.Sort(names)
	list := make([]FileStatus, 0, len(names))
	for _, name := range names {
		list = append(list, FileStatus{Path: name, Worktree: Untracked})
	}
	return list
}

func (s *status) file(c Difference) *FileStatus {
	f := s.files[c.Path]
	if f == nil {
		f = &FileStatus{Path: c.Path}
		s.files[c.Path] = f
	}
	if c.OldPath != c.Path {
		f.RenamedFrom = c.OldPath
	}
	return f
}

func (c Difference) state() State {
	switch {
	case c.OldPath != c.Path:
		return Renamed
	case c.Old.Absent():
		return Added
	case c.New.Absent():
		return Deleted
	case c.Old.Kind() != c.New.Kind():
		return TypeChanged
	}
	return Modified
}

// forStatus is the configuration with what status has of its own in place of what holds
// for diff.
func forStatus(c gitdir.Config) gitdir.Config {
	own := maps.Clone(c)
	for _, name := range []string{"renames", "renamelimit"} {
		if values := c["status."+name]; len(values) > 0 {
			own["diff."+name] = values
		}
	}
	return own
}

// readIndex reads the index, in which folders that stand for all their files are
// replaced by these.
func (s *status) readIndex() error {
	read, err := s.Repo.ReadIndex()
	if err != nil {
		return err
	}
	s.index = read
	if !read.sparse {
		return nil
	}
	var entries []IndexEntry
	for _, e := range read.Entries {
		if e.Mode != odb.ModeDir {
			entries = append(entries, e)
			continue
		}
		files := map[string]Side{}
		if err := s.allBelow(e, files); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			entries = append(entries, IndexEntry{path: name, Mode: files[name].Mode, Hash: files[name].Hash, skipWorkTree: true})
		}
	}
	read.Entries, read.sparse, read.trees = entries, false, noTrees
	return nil
}

func (s *status) allBelow(dir IndexEntry, files map[string]Side) error {
	all := Comparison{Ctx: s.Ctx, Repo: s.Repo}
	return all.walk(dir.Hash, strings.TrimSuffix(dir.path, "/"), files)
}

// within is the part of the index that the prefix leads to.
func (s *status) within() (lo, hi int) {
	if s.Prefix == "" {
		return 0, len(s.index.Entries)
	}
	find := func(path string) int {
		at, _ := slices.BinarySearchFunc(s.index.Entries, path, func(e IndexEntry, path string) int { return cmp.Compare(e.path, path) })
		return at
	}
	if lo = find(s.Prefix); lo < len(s.index.Entries) && s.index.Entries[lo].path == s.Prefix {
		hi = lo
		for hi < len(s.index.Entries) && s.index.Entries[hi].path == s.Prefix {
			hi++
		}
		return lo, hi
	}
	return find(s.Prefix + "/"), find(s.Prefix + "0") // "0" comes after "/"
}
