package git

import (
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/internal/fault"
)

// sight is what was seen in the work tree, against the index.
type sight struct {
	changes    []change
	conflicts  map[string]string // path to kind
	submodules map[string]string // path to what is new in it
	untracked  []string
}

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

// look walks the work tree, and then looks closely at the entries that may have
// changed.
func (s *status) look() (*sight, error) {
	seen := &sight{conflicts: map[string]string{}, submodules: map[string]string{}}
	for _, e := range s.index.entries {
		if strings.HasSuffix(e.path, ".gitattributes") && path.Base(e.path) == ".gitattributes" && e.stage == 0 && !e.intentToAdd {
			s.repo.work.conversion.attributes.staged[e.path] = e.hash
		}
	}
	w, err := s.walk()
	if err != nil {
		return nil, err
	}
	seen.untracked = w.untracked
	s.matched = s.matched || len(w.untracked) > 0
	for _, at := range w.suspects {
		if err := s.ctx.Err(); err != nil {
			return nil, fault.From(err)
		}
		if err := s.suspect(seen, at); err != nil {
			return nil, err
		}
	}
	return seen, nil
}

// suspect looks closely at the entry at, which may have changed, or is the first of a
// conflict.
func (s *status) suspect(seen *sight, at int) error {
	e := s.index.entries[at]
	if e.stage != 0 {
		var stages [3]bool
		for ; at < len(s.index.entries) && s.index.entries[at].path == e.path; at++ {
			stages[s.index.entries[at].stage-1] = true
		}
		seen.conflicts[e.path] = conflictKinds[stages]
		return nil
	}
	c := change{path: e.path, oldPath: e.path, old: side{mode: e.mode, hash: e.hash}}
	if e.intentToAdd {
		c.old = side{}
	}
	var err error
	if e.mode == modeSubmodule {
		var news string
		if c.new, news, err = s.submodule(e); news != "" {
			seen.submodules[e.path] = news
			c.new.dirty = c.new.same(c.old)
		}
	} else {
		c.new, err = s.current(&stagedFiles{index: s.index}, e)
	}
	if err != nil {
		return err
	}
	if c.new.absent() && e.mode != modeSubmodule {
		c.new = s.repositoryAt(e.path)
	}
	if !c.old.same(c.new) {
		seen.changes = append(seen.changes, c)
	}
	return nil
}

// repositoryAt is the commit of a repository that lies where a file was.
func (s *status) repositoryAt(name string) side {
	info, err := s.repo.work.lstat(name)
	if err != nil || info == nil || !info.IsDir() {
		return side{}
	}
	top := s.repo.work.abs(name)
	gitDir, err := gitDirOf(top)
	if err != nil || gitDir == "" {
		return side{}
	}
	inner := &repository{top: top, gitDir: gitDir, commonDir: commonDirOf(gitDir)}
	if h, born := inner.head(); born {
		return side{mode: modeSubmodule, hash: h}
	}
	return side{}
}

// submodule is the work tree's side of a submodule, and what is new in it: other
// commits, changed files, untracked ones. What the settings have git ignore is not.
func (s *status) submodule(e indexEntry) (side, string, error) {
	asStaged := side{mode: modeSubmodule, hash: e.hash}
	ignored := s.repo.ignoredInSubmodule(e.path)
	info, err := s.repo.work.lstat(e.path)
	switch {
	case err != nil:
		return asStaged, "", err
	case info == nil && ignored != "all":
		return side{}, "", nil
	case ignored == "all":
		return asStaged, "", nil
	case !info.IsDir():
		now, err := s.repo.work.side(s.ctx, e, s.index.written)
		return now, "", err
	}
	top := s.repo.work.abs(e.path)
	gitDir, err := gitDirOf(top)
	if err != nil || gitDir == "" {
		return asStaged, "", nil //nolint:nilerr // it is not checked out
	}
	sub, err := open(top, gitDir, top)
	if err != nil {
		return asStaged, "", err
	}
	defer sub.close()
	now := asStaged
	if head, born := sub.head(); born {
		now.hash = head
	}
	news, err := s.newsOf(sub, ignored)
	if now.hash != asStaged.hash {
		news = append([]string{"commits"}, news...)
	}
	return now, strings.Join(news, ", "), err
}

// newsOf is what is not committed in a submodule.
func (s *status) newsOf(sub *repository, ignored string) ([]string, error) {
	if ignored == "dirty" {
		return nil, nil
	}
	inner := &status{comparison: comparison{ctx: s.ctx, repo: sub}, whole: true, depth: s.depth + 1}
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
func (r *repository) ignoredInSubmodule(name string) string {
	modules := config{}
	if info, err := r.work.lstat(".gitmodules"); err == nil && info != nil && info.Mode().IsRegular() && r.work.strip == "" {
		reader := configReader{config: modules}
		reader.read(r.work.abs(".gitmodules"), 0)
	}
	how := r.config.get("diff.ignoresubmodules")
	for key := range modules {
		module, ok := strings.CutSuffix(key, ".path")
		if !ok || !strings.HasPrefix(key, "submodule.") || modules.get(key) != name {
			continue
		}
		if value := modules.get(module + ".ignore"); value != "" {
			how = value
		}
		if value := r.config.get(module + ".ignore"); value != "" {
			how = value
		}
	}
	return how
}

// asIndexed reports whether a file is, for sure, the one that e recorded.
func (w *workTree) asIndexed(e *indexEntry, f fileStat, indexWritten timestamp) bool {
	mode := e.mode
	switch {
	case f.kind == modeSymlink:
		mode = modeSymlink
	case f.kind != modeFile&modeTypeMask:
		return false
	case w.fileMode && f.executable:
		mode = modeExecutable
	case w.fileMode:
		mode = modeFile
	case mode != modeExecutable:
		mode = modeFile
	}
	return mode == e.mode && !e.intentToAdd && e.stage == 0 &&
		f.modified == e.modified && uint32(f.size) == e.size &&
		(f.inode == 0 || f.changed == e.changed && f.inode == e.inode) &&
		e.modified.before(indexWritten) && e.hash != plumbing.ZeroHash
}

// before reports whether a file modified at t was modified before the index was written
// at u, so that a later change would show in its times. Git goes by the second; that
// the clock of a file system ticks seldom is allowed for.
func (t timestamp) before(u timestamp) bool {
	const tick, second = 50_000_000, 1_000_000_000 // nanoseconds
	return t.sec < u.sec && (t.sec+1 < u.sec || t.nsec+tick < second || u.nsec > tick)
}
