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
	// toldEvery is how much the index grows until Indexed is told again.
	toldEvery = 8 << 20
)

// clock is set by tests alone.
var clock = time.Now

// indexing keeps an index, and brings it up to date in the background after a search
// that would have been quicker with it. It is not kept between runs: to make it takes as
// long as a few searches without it, to check one from a disk half as long.
type indexing struct {
	mu      sync.Mutex // guards all below
	index   *index     // nil: there is none
	limit   int64      // how large a file may be that is in it
	over    int64      // the most that it was allowed to take when that was not enough; 0: it was
	busy    bool
	closed  bool
	cancel  context.CancelFunc
	running sync.WaitGroup
	tell    func(bytes int64)
	passes  int
}

// Indexed sets who is told how many bytes the index of what is in files takes, now and
// then. It is called before anything is searched.
func (f *Files) Indexed(tell func(bytes int64)) { f.indexing.tell = tell }

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
		g.tell(0)
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
		g.index, g.limit = newIndex(), source.Limit()
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
	tell   func(int64)

	mu   sync.Mutex // guards all below
	told int64
	over bool
}

// run says whether the index has taken more than it may.
func (p *pass) run(ctx context.Context, tops []workspace.Path) (over bool) {
	for _, top := range tops {
		list, since, err := p.files.list(ctx, top, workspace.WalkOptions{}, false)
		if err != nil {
			continue // it is too large to be listed, or gone
		}
		p.folders(ctx, list, since)
		if ctx.Err() == nil && p.grown() {
			p.index.sweep(top, p.number)
		}
	}
	p.report(p.index.size())
	return p.over
}

// folders goes through a list on all processors but one, which is left to who is waited
// for.
func (p *pass) folders(ctx context.Context, list *workspace.Contents, since *kept) {
	next := make(chan *workspace.Contents)
	var running sync.WaitGroup
	for range max(1, runtime.GOMAXPROCS(0)-1) {
		running.Go(func() {
			inBackground()
			w := indexer{pass: p, since: since, signer: newSigner()}
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

// grown tells of the size of the index now and then. It is false when that is too much.
func (p *pass) grown() bool {
	size := p.index.size()
	p.mu.Lock()
	defer p.mu.Unlock()
	if size-p.told >= toldEvery {
		p.report(size)
	}
	p.over = p.over || size > p.most
	return !p.over
}

func (p *pass) report(size int64) {
	if p.told = size; p.tell != nil {
		p.tell(size)
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
	if !w.grown() {
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
