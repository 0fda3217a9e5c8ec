package worktree

import (
	"cmp"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"pillion/internal/fault"
	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/gitfile"
	"pillion/workspace/git/odb"
)

// walk goes through the work tree, several at a time: it looks at each file of the
// index, and for each that is in none. What it cannot tell from a look it leaves to
// others, as suspects.
type walk struct {
	*status
	written timestamp // of the index
	untold  bool      // untracked files are not looked for
	all     bool      // they are told one by one, not by folder
	sparse  bool      // files that a sparse checkout leaves out may be there
	fold    bool      // core.ignorecase
	folded  map[string]bool
	watched func(dir string) bool // whether changes in the folder are told of; nil: nobody asks
	traces

	mu      sync.Mutex // guards what follows and, at the end of a walker, the above
	more    sync.Cond
	waiting []walking
	busy    int
	err     error
}

// traces are what walkers came upon.
type traces struct {
	suspects  []int               // places in the index
	untracked map[string][]string // by the folder that they were found in
	// Folders in which something may change without being told of: in the first, in any of
	// those below; in the second, whether folders that lie in them are untracked.
	unwatched, unsure []string
	shared            []int // likewise, entries: their files have other names
}

func (t *traces) add(u traces) {
	t.suspects = append(t.suspects, u.suspects...)
	t.unwatched = append(t.unwatched, u.unwatched...)
	t.unsure = append(t.unsure, u.unsure...)
	t.shared = append(t.shared, u.shared...)
	for dir, names := range u.untracked {
		t.untracked[dir] = append(t.untracked[dir], names...)
	}
}

// walking is a folder to go through.
type walking struct {
	dir     string // ends in a slash, "" is the top
	lo, hi  int    // the entries of the index that lie in it
	only    string // the one name that counts in it; "" is all
	rules   *excludes
	ignored bool // so nothing in it is untracked
	shallow bool // what lies in folders below is not looked at
}

// newWalk is a walk as the settings have it.
func (s *status) newWalk() *walk {
	w := &walk{status: s, sparse: s.Repo.Config.Bool("core.sparsecheckout", false) && !s.Repo.Config.Bool("sparse.expectfilesoutsideofpatterns", false)}
	w.more.L = &w.mu
	if s.reading == nil {
		s.reading = &sync.Mutex{}
	}
	w.untracked = map[string][]string{}
	w.written = stamp(s.index.Written)
	switch s.Repo.Config.Get("status.showuntrackedfiles") {
	case "no", "false", "off":
		w.untold = true
	case "all":
		w.all = true
	}
	if w.fold = s.Repo.Config.Bool("core.ignorecase", false); w.fold {
		w.folded = map[string]bool{}
		for i := range s.index.Entries {
			w.folded[strings.ToLower(s.index.Entries[i].path)] = true
		}
	}
	return w
}

// run goes through folders, and those below them. Who looks at a file may wait for the
// disk, or for a processor that another program has: more walk than there are processors.
func (w *walk) run(first []walking) error {
	const several = 8
	if w.waiting = first; len(first) == 0 {
		return nil
	}
	walkers := max(several, runtime.GOMAXPROCS(0))
	if !slices.ContainsFunc(first, func(job walking) bool { return !job.shallow }) {
		walkers = min(walkers, len(first)) // there will be no more
	}
	var running sync.WaitGroup
	for range walkers {
		running.Go(w.work)
	}
	running.Wait()
	slices.Sort(w.suspects)
	if w.err == nil && w.Ctx.Err() != nil {
		w.err = fault.From(w.Ctx.Err())
	}
	return w.err
}

// first is the folder to begin with: that of the prefix, or the one that it lies in.
func (w *walk) first() (walking, error) {
	lo, hi := w.within()
	if w.Prefix == "" {
		return w.at("", lo, hi), nil
	}
	info, err := w.Repo.Work.Lstat(w.Prefix)
	if err != nil {
		return walking{}, err
	}
	if info != nil && info.IsDir() && (w.whole || lo < hi && w.index.Entries[lo].path != w.Prefix) {
		return w.at(w.Prefix+"/", lo, hi), nil
	}
	dir, name := path.Split(w.Prefix)
	job := w.at(dir, lo, hi)
	job.only = name
	return job, nil
}

// at is the folder dir, with the rules of those above it.
func (w *walk) at(dir string, lo, hi int) walking {
	job := walking{lo: lo, hi: hi, rules: w.Repo.excludes()}
	for job.dir != dir {
		name, _, _ := strings.Cut(dir[len(job.dir):], "/")
		job.rules = w.rulesIn(job.dir, job.rules)
		job.ignored = job.ignored || job.rules.ignores(job.dir, name, true)
		job.dir += name + "/"
	}
	return job
}

// rulesIn are the rules in the folder dir, where nothing is known of what is in it.
func (w *walk) rulesIn(dir string, above *excludes) *excludes {
	info, err := w.Repo.Work.Lstat(dir + ".gitignore")
	if err != nil {
		return above
	}
	return w.withOwn(dir, above, info != nil, info != nil && info.Mode().IsRegular())
}

// withOwn adds a folder's own rules, those of the index where a sparse checkout leaves
// them out. Like git, it follows no link.
func (w *walk) withOwn(dir string, above *excludes, there, regular bool) *excludes {
	name := dir + ".gitignore"
	switch {
	case regular:
		text, _ := gitfile.Read(w.Repo.Work.Abs(name))
		return above.with(dir, string(text))
	case !there:
		i, found := slices.BinarySearchFunc(w.index.Entries, name, func(e IndexEntry, name string) int { return cmp.Compare(e.path, name) })
		if found && w.index.Entries[i].skipWorkTree {
			w.reading.Lock()
			defer w.reading.Unlock()
			text, _ := w.Repo.Objects.Blob(w.index.Entries[i].Hash, gitfile.MaxSize)
			return above.with(dir, string(text))
		}
	}
	return above
}

func (w *walk) work() {
	job, ok := w.next()
	if !ok {
		return
	}
	f, err := w.Repo.Work.newFolder()
	if err != nil {
		w.fail(err)
		return
	}
	defer f.end()
	one := &walker{walk: w, folder: f, traces: traces{untracked: map[string][]string{}}}
	for ; ok; job, ok = w.next() {
		one.found = one.found[:0]
		one.through(job)
		w.done(one.found)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(one.traces)
}

func (w *walk) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = fault.From(err)
	w.waiting = nil
	w.busy--
	w.more.Broadcast()
}

func (w *walk) next() (walking, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.waiting) == 0 && w.busy > 0 {
		w.more.Wait()
	}
	if len(w.waiting) == 0 || w.Ctx.Err() != nil {
		w.waiting = nil
		return walking{}, false
	}
	last := len(w.waiting) - 1
	job := w.waiting[last]
	w.waiting = w.waiting[:last]
	w.busy++
	return job, true
}

func (w *walk) done(found []walking) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy--
	w.waiting = append(w.waiting, found...)
	if len(found) > 0 || w.busy == 0 {
		w.more.Broadcast()
	}
}

// walker is one of those that walk.
type walker struct {
	*walk
	traces
	folder  *folder
	entries []dirEntry // of the folder that is open
	found   []walking
}

// through goes through one folder.
func (w *walker) through(job walking) {
	if w.watched != nil && !w.watched(job.dir) {
		w.unwatched = append(w.unwatched, job.dir)
	}
	if err := w.folder.open(job.dir); err != nil {
		w.missing(job.lo, job.hi)
		return
	}
	defer w.folder.close()
	listed := !w.untold && !job.ignored
	if listed {
		var err error
		if w.entries, err = w.folder.list(w.entries[:0]); err != nil {
			listed = false
		} else {
			slices.SortFunc(w.entries, func(a, b dirEntry) int { return cmp.Compare(a.name, b.name) })
			job.rules = w.ownRules(job)
		}
	}
	w.tracked(job, listed)
	if !listed {
		return
	}
	for _, e := range w.entries {
		if e.name != "" && (job.only == "" || e.name == job.only) {
			w.loose(job, e)
		}
	}
}

// doubt notes that what was seen of the folder at may
// change without being told of.
func (w *walker) doubt(at string) {
	if w.watched != nil && (len(w.unsure) == 0 || w.unsure[len(w.unsure)-1] != at) {
		w.unsure = append(w.unsure, at)
	}
}

func (w *walker) ownRules(job walking) *excludes {
	e := w.entry(".gitignore")
	return w.withOwn(job.dir, job.rules, e != nil, e != nil && e.kind == odb.ModeFile&odb.ModeTypeMask)
}

func (w *walker) entry(name string) *dirEntry {
	i, found := slices.BinarySearchFunc(w.entries, name, func(e dirEntry, name string) int { return cmp.Compare(e.name, name) })
	if !found {
		return nil
	}
	return &w.entries[i]
}

// missing are entries whose folder cannot be opened.
func (w *walker) missing(lo, hi int) {
	for i := lo; i < hi; i++ {
		if e := &w.index.Entries[i]; !e.skipWorkTree && !e.AssumeValid || e.stage != 0 {
			w.suspect(i)
		}
	}
}

// suspect notes an entry, of a conflict the first.
func (w *walker) suspect(i int) {
	if e := w.index.Entries[i]; e.stage == 0 || i == 0 || w.index.Entries[i-1].path != e.path {
		w.suspects = append(w.suspects, i)
	}
}

// tracked looks at the entries of the index that lie in a folder, and strikes what it
// finds of them from the list of the folder, if there is one.
func (w *walker) tracked(job walking, listed bool) {
	for i := job.lo; i < job.hi; {
		rest := w.index.Entries[i].path[len(job.dir):]
		name, _, below := strings.Cut(rest, "/")
		if !below {
			w.file(i, name, listed)
			i++
			continue
		}
		end := w.endOf(i, job.hi, len(job.dir)+len(name)+1)
		w.below(job, name, i, end, listed)
		i = end
	}
	if listed {
		w.strike(job)
	}
}

// endOf is where the entries end that share the first n bytes with the one at i.
func (w *walker) endOf(i, hi, n int) int {
	shared := w.index.Entries[i].path[:n]
	step := 1
	for i+step < hi && strings.HasPrefix(w.index.Entries[i+step].path, shared) {
		i += step
		step *= 2
	}
	rest := w.index.Entries[i:min(i+step, hi)]
	n, _ = slices.BinarySearchFunc(rest, true, func(e IndexEntry, _ bool) int {
		if strings.HasPrefix(e.path, shared) {
			return -1
		}
		return 1
	})
	return i + n
}

// below orders that a folder of the index is gone through, if it is one on disk.
func (w *walker) below(job walking, name string, lo, hi int, listed bool) {
	if e := w.entry(name); listed && (e == nil || e.kind != odb.ModeDir) {
		w.missing(lo, hi)
		return
	}
	if job.shallow {
		return
	}
	next := walking{dir: w.index.Entries[lo].path[:len(job.dir)+len(name)+1], lo: lo, hi: hi, rules: job.rules, ignored: job.ignored}
	if listed {
		next.ignored = job.rules.ignores(job.dir, name, true)
	}
	w.found = append(w.found, next)
}

// file looks at the file of one entry.
func (w *walker) file(i int, name string, listed bool) {
	e := &w.index.Entries[i]
	switch {
	case e.stage != 0:
		w.suspect(i)
		return
	case e.AssumeValid, e.skipWorkTree && !w.sparse:
		return
	}
	var f fileStat
	there := !listed || w.entry(name) != nil
	if there {
		f, there = w.folder.stat(name)
	}
	if f.links > 1 && w.watched != nil {
		w.shared = append(w.shared, i)
	}
	if !there && e.skipWorkTree || there && w.Repo.Work.asIndexed(e, f, w.written) {
		return
	}
	w.suspect(i)
}

// strike takes out of the list of a folder what is in the index.
func (w *walker) strike(job walking) {
	for i := job.lo; i < job.hi; {
		e := &w.index.Entries[i]
		name, _, below := strings.Cut(e.path[len(job.dir):], "/")
		end := i + 1
		if below {
			end = w.endOf(i, job.hi, len(job.dir)+len(name)+1)
		}
		// A folder where a file was is not shown, but what is in it may be, one by one.
		open := !below && e.Mode != odb.ModeSubmodule && w.all
		if on := w.entry(name); on != nil && !(below && on.kind != odb.ModeDir) && !(open && on.kind == odb.ModeDir) {
			on.kind = struck
		}
		i = end
	}
	for i := range w.entries {
		if e := &w.entries[i]; e.kind == struck || e.kind == 0 || strings.EqualFold(e.name, ".git") && (w.fold || e.name == ".git") {
			e.name = ""
		}
	}
}

const struck = 1 // no kind of file

// loose is an entry of a folder that is not in the index.
func (w *walker) loose(job walking, e dirEntry) {
	isDir := e.kind == odb.ModeDir
	if w.fold && !isDir && w.folded[strings.ToLower(job.dir+e.name)] || job.rules.ignores(job.dir, e.name, isDir) {
		return
	}
	if !isDir {
		w.untracked[job.dir] = append(w.untracked[job.dir], job.dir+e.name)
		return
	}
	dir := job.dir + e.name + "/"
	if w.isRepository(job.dir, dir) && w.instead(dir) {
		return
	}
	if w.isRepository(job.dir, dir) || !w.all && w.holds(job.dir, dir, job.rules) {
		w.untracked[job.dir] = append(w.untracked[job.dir], dir)
		return
	}
	if w.all {
		w.found = append(w.found, walking{dir: dir, rules: job.rules})
	}
}

// instead reports whether the folder dir lies where the index has a file.
func (w *walker) instead(dir string) bool {
	_, found := slices.BinarySearchFunc(w.index.Entries, dir[:len(dir)-1], func(e IndexEntry, name string) int { return cmp.Compare(e.path, name) })
	return found
}

// isRepository reports whether the folder dir, which is seen from the one at, is one.
// Whether it stays one nobody tells.
func (w *walker) isRepository(at, dir string) bool {
	top := w.Repo.Work.Abs(dir)
	if !gitfile.Exists(path.Join(top, ".git")) {
		return false
	}
	w.doubt(at)
	gitDir, err := gitdir.GitDirOf(top)
	return err == nil && gitDir != ""
}

// holds reports whether an untracked folder, which is seen from the one at, holds any
// file that is not ignored. Where it holds none, git does not show it.
func (w *walker) holds(at, dir string, rules *excludes) bool {
	if w.Ctx.Err() != nil || len(dir) > maxPath {
		return false
	}
	if w.watched != nil && !w.watched(dir) {
		w.doubt(at)
	}
	inner := &walker{walk: w.walk, folder: &folder{}}
	*inner.folder = *w.folder
	if inner.folder.open(dir) != nil {
		return false
	}
	var err error
	inner.entries, err = inner.folder.list(nil)
	inner.folder.close()
	if err != nil {
		return false
	}
	slices.SortFunc(inner.entries, func(a, b dirEntry) int { return cmp.Compare(a.name, b.name) })
	rules = inner.ownRules(walking{dir: dir, rules: rules})
	for _, e := range inner.entries {
		isDir := e.kind == odb.ModeDir
		switch {
		case e.kind == 0, e.name == ".git", rules.ignores(dir, e.name, isDir):
		case !isDir, w.isRepository(at, dir+e.name+"/"), w.holds(at, dir+e.name+"/", rules):
			return true
		}
	}
	return false
}

// maxPath in bytes: no longer one can be opened.
const maxPath = 4096
