package worktree

import (
	"path"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/internal/fault"
	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/odb"
)

// finding is what was found out about one entry of the index, which may differ in the
// work tree. Of one that does not, all is empty.
type finding struct {
	path      string
	differs   bool
	change    Difference
	conflict  string // which kind
	submodule string // what is new in it
}

// findings are those about the places of the index that were looked at closely.
type findings map[int]finding

// conflictKinds are the kinds of conflict by the stages that the index has, base first.
var conflictKinds = map[[3]bool]string{
	{true, false, false}: "both_deleted",
	{false, true, false}: "added_by_us",
	{true, true, false}:  "deleted_by_them",
	{false, false, true}: "added_by_them",
	{true, false, true}:  "deleted_by_us",
	{false, true, true}:  "both_added",
	{true, true, true}:   "both_modified",
}

// look walks the work tree, and then, once it is ready to read objects, looks closely at
// the entries that may have changed.
func (s *status) look(ready <-chan struct{}) (findings, *walk, error) {
	s.Repo.Work.Conversion.Attributes.staged = s.index.attributes()
	w, err := s.walked()
	if err != nil {
		return nil, nil, err
	}
	<-ready
	s.matched = s.matched || len(w.untracked) > 0
	found := findings{}
	return found, w, s.closely(found, w.suspects)
}

// walked is a walk through all that the prefix leads to.
func (s *status) walked() (*walk, error) {
	w := s.newWalk()
	w.watched = s.watched
	first, err := w.first()
	if err != nil {
		return nil, err
	}
	return w, w.run([]walking{first})
}

// attributes are the .gitattributes files of the index, looked for when they are asked for.
func (x *index) attributes() func() map[string]plumbing.Hash { return sync.OnceValue(x.findAttributes) }

func (x *index) findAttributes() map[string]plumbing.Hash {
	staged := map[string]plumbing.Hash{}
	for i := range x.Entries {
		e := &x.Entries[i]
		if strings.HasSuffix(e.path, ".gitattributes") && path.Base(e.path) == ".gitattributes" && e.stage == 0 && !e.IntentToAdd {
			staged[e.path] = e.Hash
		}
	}
	return staged
}

// closely finds out about entries that may have changed.
func (s *status) closely(found findings, places []int) error {
	for _, at := range places {
		if err := s.Ctx.Err(); err != nil {
			return fault.From(err)
		}
		f, err := s.suspect(at)
		if err != nil {
			return err
		}
		found[at] = f
	}
	return nil
}

// suspect looks closely at the entry at, which may have changed, or is the first of a
// conflict.
func (s *status) suspect(at int) (finding, error) {
	e := s.index.Entries[at]
	f := finding{path: e.path}
	if e.stage != 0 {
		var stages [3]bool
		for ; at < len(s.index.Entries) && s.index.Entries[at].path == e.path; at++ {
			stages[s.index.Entries[at].stage-1] = true
		}
		f.conflict = conflictKinds[stages]
		return f, nil
	}
	f.change = Difference{Path: e.path, OldPath: e.path, Old: Side{Mode: e.Mode, Hash: e.Hash}}
	now, resized, err := Side{}, false, error(nil)
	if e.Mode == odb.ModeSubmodule {
		if now, f.submodule, err = s.submodule(e); f.submodule != "" {
			now.Dirty = now.Same(f.change.Old)
		}
	} else if now, resized, err = s.resized(e); !resized && err == nil {
		now, err = s.Current(&StagedFiles{index: s.index}, e)
	}
	if err == nil && now.Absent() && e.Mode != odb.ModeSubmodule {
		if now = s.repositoryAt(e.path); !now.Absent() {
			f.submodule = "commits"
		}
	}
	f.change.New = now
	if e.IntentToAdd && !now.Absent() { // else it is gone as the empty file that the index has
		f.change.Old = Side{}
	}
	f.differs = !f.change.Old.Same(now)
	return f, err
}

// resized is the file of an entry that has another size than it had when it was staged.
// Git takes it for changed without a look at what is in it, though it may be no more than
// its line ends.
func (s *status) resized(e IndexEntry) (Side, bool, error) {
	if e.size == 0 || e.IntentToAdd || e.AssumeValid || e.skipWorkTree {
		return Side{}, false, nil
	}
	info, err := s.Repo.Work.Lstat(e.path)
	if err != nil || info == nil || uint32(info.Size()) == e.size {
		return Side{}, false, err
	}
	mode := s.Repo.Work.Mode(info, e.Mode)
	return Side{Mode: mode, OnDisk: true}, mode != odb.ModeAbsent && mode != odb.ModeSubmodule, nil
}

// repositoryAt is the commit of a repository that lies where a file was.
func (s *status) repositoryAt(name string) Side {
	info, err := s.Repo.Work.Lstat(name)
	if err != nil || info == nil || !info.IsDir() {
		return Side{}
	}
	top := s.Repo.Work.Abs(name)
	gitDir, err := gitdir.GitDirOf(top)
	if err != nil || gitDir == "" {
		return Side{}
	}
	inner := &gitdir.Repository{Top: top, GitDir: gitDir, CommonDir: gitdir.CommonDirOf(gitDir)}
	if h, born := inner.Head(); born {
		return Side{Mode: odb.ModeSubmodule, Hash: h}
	}
	return Side{}
}

// submodule is the work tree's side of a submodule, and what is new in it: other
// commits, changed files, untracked ones. What the settings have git ignore is not.
func (s *status) submodule(e IndexEntry) (Side, string, error) {
	asStaged := Side{Mode: odb.ModeSubmodule, Hash: e.Hash}
	ignored := s.Repo.ignoredInSubmodule(e.path)
	info, err := s.Repo.Work.Lstat(e.path)
	switch {
	case err != nil:
		return asStaged, "", err
	case info == nil && ignored != "all":
		return Side{}, "", nil
	case ignored == "all":
		return asStaged, "", nil
	case !info.IsDir():
		now, err := s.Repo.Work.side(s.Ctx, e, s.index.Written)
		return now, "", err
	}
	top := s.Repo.Work.Abs(e.path)
	gitDir, err := gitdir.GitDirOf(top)
	if err != nil || gitDir == "" {
		return asStaged, "", nil //nolint:nilerr // it is not checked out
	}
	sub, err := openCheckout(top, gitDir, top)
	if err != nil {
		return asStaged, "", err
	}
	defer sub.Close()
	now := asStaged
	if head, born := sub.Head(); born {
		now.Hash = head
	}
	news, err := s.newsOf(sub, ignored)
	if now.Hash != asStaged.Hash {
		news = append([]string{"commits"}, news...)
	}
	return now, strings.Join(news, ", "), err
}

// newsOf is what is not committed in a submodule.
func (s *status) newsOf(sub *Checkout, ignored string) ([]string, error) {
	if ignored == "dirty" {
		return nil, nil
	}
	sub.Config = forStatus(sub.Config)
	inner := &status{Comparison: Comparison{Ctx: s.Ctx, Repo: sub}, whole: true, depth: s.depth + 1}
	if inner.depth > deepestSubmodule {
		return nil, fault.New(fault.GitError, "submodules lie in submodules more than %d deep", deepestSubmodule)
	}
	files, err := inner.changes()
	if err != nil {
		return nil, err
	}
	modified, untracked := false, false
	for _, f := range files {
		untracked = untracked || f.Worktree == Untracked || strings.HasSuffix(f.Submodule, "untracked")
		onlyUntracked := f.Worktree == Untracked || f.Submodule == "untracked" && f.Staged == "" && f.RenamedFrom == ""
		modified = modified || !onlyUntracked
	}
	var news []string
	if modified {
		news = append(news, "modified")
	}
	if untracked && ignored != "untracked" {
		news = append(news, "untracked")
	}
	return news, nil
}

const deepestSubmodule = 20

// ignoredInSubmodule is which news of a submodule are not told of: all, dirty,
// untracked or none. The repository's own settings count before .gitmodules, and these
// before the setting for all.
func (r *Checkout) ignoredInSubmodule(name string) string {
	modules := gitdir.Config{}
	if info, err := r.Work.Lstat(".gitmodules"); err == nil && info != nil && info.Mode().IsRegular() && r.Work.Strip == "" {
		modules = gitdir.ReadConfigFile(r.Work.Abs(".gitmodules"))
	}
	how := r.Config.Get("diff.ignoresubmodules")
	for key := range modules {
		module, ok := strings.CutSuffix(key, ".path")
		if !ok || !strings.HasPrefix(key, "submodule.") || modules.Get(key) != name {
			continue
		}
		if value := modules.Get(module + ".ignore"); value != "" {
			how = value
		}
		if value := r.Config.Get(module + ".ignore"); value != "" {
			how = value
		}
	}
	return how
}

// asIndexed reports whether a file is, for sure, the one that e recorded.
func (w *workTree) asIndexed(e *IndexEntry, f fileStat, indexWritten timestamp) bool {
	mode := e.Mode
	switch {
	case f.kind == odb.ModeSymlink:
		mode = odb.ModeSymlink
	case f.kind != odb.ModeFile&odb.ModeTypeMask:
		return false
	case w.fileMode && f.executable:
		mode = odb.ModeExecutable
	case w.fileMode:
		mode = odb.ModeFile
	case mode != odb.ModeExecutable:
		mode = odb.ModeFile
	}
	return mode == e.Mode && !e.IntentToAdd && e.stage == 0 &&
		f.modified == e.modified && uint32(f.size) == e.size &&
		(f.inode == 0 || f.changed == e.changed && f.inode == e.inode) &&
		e.modified.before(indexWritten) && e.Hash != plumbing.ZeroHash
}

// before reports whether a file modified at t was modified before the index was written
// at u, so that a later change would show in its times. Git goes by the second; that
// the clock of a file system ticks seldom is allowed for.
func (t timestamp) before(u timestamp) bool {
	const tick, second = 50_000_000, 1_000_000_000 // nanoseconds
	return t.sec < u.sec && (t.sec+1 < u.sec || t.nsec+tick < second || u.nsec > tick)
}
