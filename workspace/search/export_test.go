package search

import (
	"testing"
	"time"

	"pillion/workspace"
)

// IndexNow brings the index up to date, which else is done in the background after a
// search of a larger tree.
func (f *Files) IndexNow(source Source, tops ...workspace.Path) {
	f.IndexWithin(IndexBytes, source, tops...)
}

// IndexWithin does that with so much memory.
func (f *Files) IndexWithin(most int64, source Source, tops ...workspace.Path) {
	f.indexing.running.Wait()
	f.index(tops, source, most)
	f.indexing.running.Wait()
}

// StartIndexing begins that, unless it is under way.
func (f *Files) StartIndexing(source Source, tops ...workspace.Path) {
	f.index(tops, source, IndexBytes)
}

// IndexBytes is enough for what tests index.
const IndexBytes = 1 << 30

// IndexSize is the indexed files, and the bytes that the index takes by its own count.
func (f *Files) IndexSize() (files int, size int64) {
	x := f.indexing.index
	if x == nil {
		return 0, 0
	}
	return x.size()
}

// ListAtMost has lists of more entries made anew each time, or none at all.
func ListAtMost(t *testing.T, kept, listed int) {
	before := [2]int{mostKept, mostListed}
	mostKept, mostListed = kept, listed
	t.Cleanup(func() { mostKept, mostListed = before[0], before[1] })
}

// TrustStamps has stamps of files that were just written trusted.
func TrustStamps(t *testing.T) {
	clock = func() time.Time { return time.Now().Add(time.Hour) }
	t.Cleanup(func() { clock = time.Now })
}
