package kept

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pillion/internal/state"
)

// prune drops what is too old, and of what is too much the oldest of whoever has most: an
// agent with very many sessions takes none of another folder's away. What programs have stays.
func prune(dir string, now time.Time) {
	sweep(dir, now)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	count, bytes := 0, int64(0)
	sizes := map[string]int64{}
	for _, e := range entries {
		info, err := e.Info()
		path, isRecord := strings.CutSuffix(filepath.Join(dir, e.Name()), recordSuffix)
		if err != nil || !isRecord {
			continue
		}
		if now.Sub(info.ModTime()) > maxAge && forget(path) {
			continue
		}
		count++
		bytes += info.Size()
		sizes[path] = info.Size()
	}
	if count <= maxRecords && bytes <= maxBytes {
		return
	}
	left := read(dir)
	for i := range left {
		delete(sizes, left[i].path)
	}
	for path, size := range sizes { // what nobody can read goes first
		if forget(path) {
			count, bytes = count-1, bytes-size
		}
	}
	for count > maxRecords || bytes > maxBytes {
		at := surplus(left)
		if at < 0 {
			return
		}
		info, err := os.Lstat(left[at].path + recordSuffix)
		if err == nil && left[at].Forget() {
			count, bytes = count-1, bytes-info.Size()
		}
		left = slices.Delete(left, at, at+1)
	}
}

// surplus is the oldest session of the agent with the most, in the workspace with the most.
// The list has the newest first.
func surplus(list []Record) int {
	workspaces, agents := map[string]int{}, map[string]int{}
	workspace := func(r Record) string { return strings.Join(r.Folders, "\x00") }
	agent := func(r Record) string { return workspace(r) + "\x00\x00" + r.Owner.Name }
	for _, r := range list {
		workspaces[workspace(r)]++
		agents[agent(r)]++
	}
	best := -1
	for i, r := range list {
		if r.Open {
			continue
		}
		if best < 0 || workspaces[workspace(r)] > workspaces[workspace(list[best])] ||
			workspaces[workspace(r)] == workspaces[workspace(list[best])] && agents[agent(r)] >= agents[agent(list[best])] {
			best = i
		}
	}
	return best
}

// sweepAge keeps what a program is writing at this moment.
const sweepAge = time.Minute

// sweep removes what programs that were killed left behind: half-written files, and locks
// without a record.
func sweep(dir string, now time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := e.Info()
		if err != nil || now.Sub(info.ModTime()) < sweepAge || !info.Mode().IsRegular() {
			continue
		}
		if strings.HasPrefix(e.Name(), state.TemporaryPrefix) {
			_ = os.Remove(path)
		}
		if record, isLock := strings.CutSuffix(path, lockSuffix); isLock {
			if _, err := os.Lstat(record + recordSuffix); err == nil {
				continue
			}
			if lock := take(path, 0); lock != nil {
				drop(lock)
			}
		}
	}
}

// dropOldest drops the records that are too old, and of more than most the oldest.
func dropOldest(names []string, most int, now time.Time) {
	age := map[string]time.Duration{}
	for _, name := range names {
		if info, err := os.Lstat(name); err == nil {
			age[name] = now.Sub(info.ModTime())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(age[a], age[b]) })
	for i, name := range names {
		if i >= most || age[name] > maxAge {
			forget(strings.TrimSuffix(name, recordSuffix))
		}
	}
}
