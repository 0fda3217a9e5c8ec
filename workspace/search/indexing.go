package search

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
	"unsafe"

	"pillion/internal/fault"
	"pillion/workspace"
)

const (
	// smallTree is how much text a search may read without an index being made for the
	// next one: to read it again takes less than ten milliseconds.
	smallTree = 20 << 20
	// toldEvery is of how many percent it is told that they are made.
	toldEvery = 5
)

// IndexState is how it stands with the index.
type IndexState struct {
	Building bool // it is made for the first time
	Percent  int  // of that
	Files    int
	Bytes    int64 // of memory, about
}

// clock is set by tests alone.
var clock = time.Now

// indexing keeps an index, and brings it up to date in the background after a search
// that would have been quicker with it. It is not kept between runs: a few seconds in the
// background at each start are less than a format, a place and a check to trust it by.
type indexing struct {
	mu      sync.Mutex // guards all below
	index   *index     // nil: there is none
	limit   int64      // how large a file may be that is in it
	over    int64      // the most that it was allowed to take when that was not enough; 0: it was
	busy    bool
	closed  bool
	cancel  context.CancelFunc
	running sync.WaitGroup
	tell    func(IndexState)
	passes  int
}

// Indexed sets who is told how it stands with the index of what is in files, when that
// changes. It is called before anything is searched.
func (f *Files) Indexed(tell func(IndexState)) { f.indexing.tell = tell }

// Close ends what is done in the background.
func (f *Files) Close() {
	if f == nil {
		return
	}
	f.indexing.mu.Lock()
	f.indexing.closed = true
	if f.indexing.cancel != nil {
		f.indexing.cancel()
	}
	f.indexing.mu.Unlock()
	f.indexing.running.Wait()
}

// of is the index for files of at most limit bytes, nil if there is none. One that may
// take nothing any more is let go.
func (g *indexing) of(limit, most int64) *index {
	g.mu.Lock()
	defer g.mu.Unlock()
	if most <= 0 && g.index != nil && !g.busy {
		g.drop()
	}
	if g.limit != limit {
		return nil
	}
	return g.index
}

func (g *indexing) drop() {
	if g.index = nil; g.tell != nil {
		g.tell(IndexState{})
	}
}

func (g *indexing) changed(k *kept, dir, name string, cameOrWent bool) {
	g.mu.Lock()
	x := g.index
	g.mu.Unlock()
	list := k.of.Load()
	if x == nil || list == nil {
		return // no record rests on what is still being listed
	}
	folder, rel := list.Folder, strings.TrimPrefix(dir, list.Folder.Abs())
	for _, step := range strings.Split(filepath.ToSlash(rel), "/") {
		if step != "" {
			folder = folder.Join(step)
		}
	}
	x.changed(folder, name, cameOrWent)
}

// index begins to bring the index of workspace folders up to date, of which it may take
// so many bytes, unless that is being done, or was too much before.
func (f *Files) index(tops []workspace.Path, source Source, most int64) {
	g := &f.indexing
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy || g.closed || most <= g.over {
		return
	}
	if g.index == nil || g.limit != source.Limit() {
		g.index, g.limit = &index{folders: map[workspace.Path]*indexed{}}, source.Limit()
	}
	ctx, cancel := context.WithCancel(context.Background())
	g.busy, g.cancel = true, cancel
	g.passes++
	p := pass{files: f, index: g.index, source: source, number: g.passes, most: most, tell: g.tell}
	g.running.Go(func() {
		defer cancel()
		over := p.run(ctx, tops)
		g.mu.Lock()
		defer g.mu.Unlock()
		g.busy = false
		if over {
			g.over = most
			g.drop()
		}
	})
}

// pass goes once through workspace folders and makes or mends the records of all files.
type pass struct {
	files  *Files
	index  *index
	source Source
	number int
	most   int64
	tell   func(IndexState)

	isFirst bool
	total   int // entries of all lists

	mu   sync.Mutex // guards all below
	done int
	told int // percent
	over bool
}

// run says whether the index has taken more than it may.
func (p *pass) run(ctx context.Context, tops []workspace.Path) (over bool) {
	type listed struct {
		list  *workspace.Contents
		since *kept
	}
	var lists []listed
	for _, top := range tops {
		list, since, err := p.files.list(ctx, top, workspace.WalkOptions{}, false)
		if err != nil {
			continue // it is too large to be listed, or gone
		}
		lists = append(lists, listed{list, since})
		p.total += list.Facts().Total
	}
	files, before := p.index.size()
	if p.isFirst = files == 0; p.isFirst {
		p.report(true, 0)
	}
	for _, l := range lists {
		p.folders(ctx, l.list, l.since)
		if ctx.Err() == nil && p.grown(0) {
			p.index.sweep(l.list.Folder, p.number)
		}
	}
	if _, now := p.index.size(); !p.over && (p.isFirst || max(before, now)-min(before, now) > before/20) { // else not worth telling of
		p.report(false, 100)
	}
	return p.over
}

// folders goes through a list on half of the processors: the others are left to who is waited
// for.
func (p *pass) folders(ctx context.Context, list *workspace.Contents, since *kept) {
	next := make(chan *workspace.Contents)
	var running sync.WaitGroup
	for range max(1, runtime.GOMAXPROCS(0)/2) {
		running.Go(func() {
			inBackground()
			w := indexer{pass: p, since: since, signer: &signer{seen: new([1 << seenBits]uint32)}}
			defer w.close()
			for dir := range next {
				w.folder(ctx, dir)
			}
		})
	}
	var walk func(*workspace.Contents)
	walk = func(c *workspace.Contents) {
		select {
		case next <- c:
		case <-ctx.Done():
			return
		}
		for i := range c.Entries {
			if below := c.Entries[i].Below; below != nil {
				walk(below)
			}
		}
	}
	walk(list)
	close(next)
	running.Wait()
}

// grown takes that so many more entries have been seen to. It is false when the index is
// too large.
func (p *pass) grown(entries int) bool {
	_, size := p.index.size()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += entries
	if percent := p.done * 100 / max(1, p.total); p.isFirst && percent-p.told >= toldEvery && percent < 100 {
		p.told = percent
		p.report(true, percent)
	}
	p.over = p.over || size > p.most
	return !p.over
}

func (p *pass) report(building bool, percent int) {
	if p.tell != nil {
		files, bytes := p.index.size()
		p.tell(IndexState{building, percent, files, bytes})
	}
}

// indexer makes records of files. It is for one goroutine.
type indexer struct {
	*pass
	since  *kept
	signer *signer
	reader *workspace.FileReader
}

func (w *indexer) close() {
	if w.reader != nil {
		w.reader.Close()
	}
}

func (w *indexer) folder(ctx context.Context, dir *workspace.Contents) {
	if !w.grown(len(dir.Entries)) {
		return
	}
	if w.reader == nil {
		var err error
		if w.reader, err = dir.Folder.NewReader(); err != nil {
			w.reader = nil
			return
		}
	}
	for i, name := range w.index.wanting(dir, w.since, w.number) {
		w.files.GiveWay(ctx)
		if i%32 == 31 {
			runtime.Gosched() // else a call would wait until the scheduler takes the processor away
		}
		if ctx.Err() != nil {
			return
		}
		w.file(dir.Folder, name)
	}
}

// file makes or mends the record of one file. Whatever happens to the file from the
// beginning on is told, and has its stamp compared.
func (w *indexer) file(folder workspace.Path, name string) {
	p := folder.Join(name)
	known, turn := w.index.begin(folder, name)
	if known != 0 {
		if stamp, err := w.reader.Stamp(p); err == nil && hashStamp(stamp) == known {
			w.index.confirm(folder, name, turn, w.since)
			return
		}
	}
	w.index.end(folder, name, turn, w.look(p))
}

// look makes a record of what is in a file.
func (w *indexer) look(p workspace.Path) record {
	if w.source.IsApart(p) {
		return record{}
	}
	now := clock()
	data, stamp, err := w.reader.Read(p, w.source.Limit())
	r := record{kind: kindOther, since: w.since, linked: stamp.Names > 1}
	if stamp.Settled(now) {
		r.stamp = hashStamp(stamp)
	}
	var text string
	if err == nil {
		text, err = w.source.Text(p, data)
	}
	switch {
	case fault.CodeOf(err) == fault.BinaryFile:
		r.kind = kindBinary
	case err == nil && isSame(text, data):
		r.kind, r.odd, r.signature = kindText, isOdd(text), w.signer.sign(text)
	}
	return r
}

// isSame says that the text is the very bytes, and not what they were decoded to.
func isSame(text string, data []byte) bool {
	return len(text) == len(data) && (len(text) == 0 || unsafe.StringData(text) == &data[0])
}
