package worktree

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// again is a second look: at folders and files that were told of, and those that nobody
// tells of.
type again struct {
	*status
	kept    *keptStatus
	trees   []string        // tracked folders to go through with all below them
	folders map[string]bool // tracked folders to go through
	places  map[int]bool    // entries to look at closely
}

// changed takes what happened in the folder dir, an absolute name.
func (a *again) changed(dir string, names map[string]event) {
	rel, err := filepath.Rel(a.Repo.Top, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return
	}
	at := filepath.ToSlash(rel) + "/"
	if rel == "." {
		at = ""
	}
	if tracked := a.trackedAbove(at); tracked != at {
		// It lies in a folder that is untracked, ignored, or a submodule.
		a.folders[tracked] = true
		name, _, _ := strings.Cut(at[len(tracked):], "/")
		a.entry(tracked + name)
		return
	}
	for name, e := range names {
		switch {
		case e.isFolder && a.isTracked(at+name+"/"):
			a.trees = append(a.trees, at+name+"/")
			a.folders[at] = true
		case e.cameOrWent || e.isFolder:
			a.folders[at] = true
		}
		a.entry(at + name)
		if e.cameOrWent && a.isTracked(at+name+"/") { // a file stands where a folder was, or the other way round
			a.trees = append(a.trees, at+name+"/")
		}
	}
}

// trackedAbove is the deepest folder on the way to dir that entries lie in.
func (a *again) trackedAbove(dir string) string {
	for dir != "" && !a.isTracked(dir) {
		dir = dir[:strings.LastIndexByte(dir[:len(dir)-1], '/')+1]
	}
	return dir
}

func (a *again) isTracked(dir string) bool {
	lo, hi := a.below(dir)
	return lo < hi
}

// below are the entries that lie in the folder dir.
func (a *again) below(dir string) (lo, hi int) {
	if dir == "" {
		return 0, len(a.index.Entries)
	}
	return a.find(dir), a.find(dir[:len(dir)-1] + "0") // "0" comes after "/"
}

func (a *again) find(path string) int {
	at, _ := slices.BinarySearchFunc(a.index.Entries, path, func(e IndexEntry, path string) int { return cmp.Compare(e.path, path) })
	return at
}

// entry has the entry of that path looked at, if there is one.
func (a *again) entry(path string) {
	if at := a.find(path); at < len(a.index.Entries) && a.index.Entries[at].path == path {
		a.places[at] = true
	}
}

// restless adds what nobody tells of.
func (a *again) restless() {
	a.trees = append(a.trees, a.kept.unwatched...)
	for _, dir := range a.kept.unsure {
		a.folders[dir] = true
	}
	for _, at := range slices.Concat(a.kept.shared, a.kept.submodules) {
		a.places[at] = true
	}
}

// look looks, and puts what it found in place of what was known.
func (a *again) look() error {
	if len(a.trees) == 0 && len(a.folders) == 0 && len(a.places) == 0 {
		return nil
	}
	a.kept.list = nil
	w := a.newWalk()
	w.watched = a.status.watched
	if err := w.run(a.jobs(w)); err != nil {
		return err
	}
	for _, at := range w.suspects {
		a.places[at] = true
	}
	a.kept.add(w.traces)
	a.kept.tidy()
	for at := range a.places {
		delete(a.kept.found, at)
	}
	found := findings{}
	if err := a.closely(found, slices.Sorted(maps.Keys(a.places))); err != nil {
		return err
	}
	a.kept.take(found)
	return nil
}

// jobs are the folders to go through, of which nothing is known any more.
func (a *again) jobs(w *walk) []walking {
	var jobs []walking
	scope := a.Prefix
	if scope != "" {
		scope += "/"
	}
	slices.Sort(a.trees)
	last := "/" // no folder
	for _, dir := range a.trees {
		if strings.HasPrefix(dir, scope) && !strings.HasPrefix(dir, last) {
			lo, hi := a.below(dir)
			a.kept.forget(dir, lo, hi)
			jobs = append(jobs, w.at(dir, lo, hi))
			last = dir
		}
	}
	whole := len(jobs)
	for dir := range a.folders {
		inTree := slices.ContainsFunc(jobs[:whole], func(tree walking) bool { return strings.HasPrefix(dir, tree.dir) })
		if !inTree && strings.HasPrefix(dir, scope) {
			lo, hi := a.below(dir)
			a.kept.forgetFolder(dir)
			job := w.at(dir, lo, hi)
			job.shallow = true
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// take adds what differs.
func (k *keptStatus) take(found findings) {
	for at, f := range found {
		if f.differs || f.conflict != "" {
			k.found[at] = f
		}
	}
}

// forget drops what was known below the folder dir, in which those entries lie.
func (k *keptStatus) forget(dir string, lo, hi int) {
	for at := range k.found {
		if lo <= at && at < hi {
			delete(k.found, at)
		}
	}
	for at := range k.untracked {
		if strings.HasPrefix(at, dir) {
			delete(k.untracked, at)
		}
	}
	below := func(at string) bool { return strings.HasPrefix(at, dir) }
	k.unwatched, k.unsure = slices.DeleteFunc(k.unwatched, below), slices.DeleteFunc(k.unsure, below)
	k.shared = slices.DeleteFunc(k.shared, func(at int) bool { return lo <= at && at < hi })
}

// forgetFolder drops what was known of the names in the folder dir alone.
func (k *keptStatus) forgetFolder(dir string) {
	delete(k.untracked, dir)
	is := func(at string) bool { return at == dir }
	k.unwatched, k.unsure = slices.DeleteFunc(k.unwatched, is), slices.DeleteFunc(k.unsure, is)
}

// tidy drops what is there twice.
func (k *keptStatus) tidy() {
	for _, list := range []*[]string{&k.unwatched, &k.unsure} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	slices.Sort(k.shared)
	k.shared = slices.Compact(k.shared)
	k.suspects = nil
}
