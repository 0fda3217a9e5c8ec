package workspace

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pillion/internal/fault"
)

// Contents is a folder as it was listed: what a Walk would visit in it, with the
// sizes and times of all of it. It is never changed.
type Contents struct {
	Folder  Path
	Entries []Listed // in the order of names
	Err     error    // why it could not be listed

	base  string // as in ignoreRules, of this folder
	rules *ignoreRules
}

// Listed is an entry of a folder.
type Listed struct {
	Name     string
	Type     fs.FileMode // type bits alone
	Size     int64
	Below    *Contents // of a folder
	modified int64     // Unix nanoseconds; 0: it was gone already, or nobody asked
}

// Modified is zero where it is not known.
func (e *Listed) Modified() time.Time {
	if e.modified == 0 {
		return time.Time{}
	}
	return time.Unix(0, e.modified)
}

// Of is an entry as info describes it.
func Of(info fs.FileInfo) Listed {
	e := Listed{Name: info.Name(), Type: info.Mode().Type(), modified: info.ModTime().UnixNano()}
	if !info.IsDir() {
		e.Size = info.Size()
	}
	return e
}

// ErrTooMany says that a folder holds more than a List may.
var ErrTooMany = fault.New(fault.FileTooLarge, "there are too many files to list")

// List reads the folder p and all below it, on all processors, as a Walk would visit
// it, with sizes and times or without. It fails with ErrTooMany when that is more than
// most entries: what it gives is held in memory.
func (p Path) List(ctx context.Context, o WalkOptions, sizes bool, most int) (*Contents, error) {
	if _, err := p.Stat(); err != nil {
		return nil, err
	}
	first := o.listing(p)
	l := lister{ctx: ctx, options: o, sizes: sizes, most: int64(most)}
	if err := l.list(first); err != nil {
		return nil, err
	}
	return first.contents, first.contents.Err
}

// listing is that of the folder which was asked for.
func (o WalkOptions) listing(p Path) listing {
	c := &Contents{Folder: p}
	if !o.IncludeIgnored {
		c.rules, c.base = ignoreRulesAbove(p)
	}
	return listing{contents: c, name: ".", depth: 1}
}

// open opens the folder that all others lie below.
func (l *lister) open(p Path) (err error) {
	if l.top, err = p.root.fs().OpenFile(filepath.FromSlash(p.rel), os.O_RDONLY|dirFlags, 0); err != nil {
		return p.fault(p.notAFolder(err))
	}
	return nil
}

// list lists the first folder and what lies below it.
func (l *lister) list(first listing) error {
	if err := l.open(first.contents.Folder); err != nil {
		return err
	}
	defer l.top.Close()
	l.waiting = []listing{first}
	l.more.L = &l.mu
	var running sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		running.Go(l.work)
	}
	running.Wait()
	switch {
	case l.ctx.Err() != nil:
		return l.ctx.Err()
	case l.count.Load() > l.most:
		return ErrTooMany
	}
	return nil
}

// lister reads many folders at once.
type lister struct {
	ctx     context.Context
	options WalkOptions
	sizes   bool
	top     *os.File
	most    int64
	count   atomic.Int64

	mu      sync.Mutex // guards what follows
	more    sync.Cond
	waiting []listing
	busy    int
}

// listing is a folder to read. Its rules are those of the folder above.
type listing struct {
	contents *Contents
	name     string // from the top
	depth    int
	// old is the folder as it was, with the rules in it, and fresh what came or went
	// since; what is below all others in it is still as it was.
	old   *Contents
	fresh map[string]bool
}

func (l *lister) work() {
	var r folderReader
	for {
		next, ok := l.next()
		if !ok {
			return
		}
		l.done(l.read(&r, next))
	}
}

func (l *lister) next() (listing, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting) == 0 && l.busy > 0 {
		l.more.Wait()
	}
	if len(l.waiting) == 0 {
		return listing{}, false
	}
	last := len(l.waiting) - 1
	next := l.waiting[last]
	l.waiting = l.waiting[:last]
	l.busy++
	return next, true
}

func (l *lister) done(found []listing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy--
	if l.ctx.Err() != nil || l.count.Load() > l.most {
		l.waiting, found = nil, nil
	}
	l.waiting = append(l.waiting, found...)
	if len(found) > 0 || l.busy == 0 {
		l.more.Broadcast()
	}
}

// read lists one folder and gives those in it that are to be listed too.
func (l *lister) read(r *folderReader, job listing) (found []listing) {
	c := job.contents
	at := c.Folder
	if len(at.rel) > maxWalkedPath {
		c.Err = fault.New(fault.InvalidPath, "%s is too deep to list", fault.Quote(at.String()))
		return nil
	}
	entries, err := r.open(l.top, job.name, at)
	if err != nil {
		c.Err = at.fault(at.notAFolder(err))
		return nil
	}
	defer r.close()
	if c.rules != nil && job.old == nil {
		c.rules = c.rules.below(c.base, ruleFolder{path: at, listed: func(name string) bool {
			return entryIn(entries, name) != nil
		}})
	}
	kept := entries[:0]
	for _, e := range entries {
		if c.leavesOut(e) {
			continue
		}
		if l.sizes {
			r.stat(&e)
		}
		switch {
		case !e.Type.IsDir() || job.depth == l.options.MaxDepth:
		case job.stillHas(e.Name):
			e.Below = job.old.entry(e.Name).Below
		default:
			e.Below = &Contents{Folder: at.Join(e.Name), rules: c.rules, base: c.base + e.Name + "/"}
			found = append(found, listing{contents: e.Below, name: path.Join(job.name, e.Name), depth: job.depth + 1})
		}
		kept = append(kept, e)
	}
	c.Entries = slices.Clip(kept)
	l.count.Add(int64(len(kept)))
	return found
}

func (c *Contents) leavesOut(e Listed) bool {
	if isLeftOut(c.rules, c.base, e.Name, e.Type.IsDir()) {
		return true
	}
	if c.Folder.root.closed.none() {
		return false
	}
	p := c.Folder.Join(e.Name)
	return p.root.closed.refusal(p.Abs()) != ""
}

// Walk visits what was listed, as Path.Walk does.
func (c *Contents) Walk(visit func(dir *Contents, e *Listed) error) error {
	err := c.walk(visit)
	if err == fs.SkipAll || err == fs.SkipDir { //nolint:errorlint // as they are
		return nil
	}
	return err
}

func (c *Contents) walk(visit func(dir *Contents, e *Listed) error) error {
	for i := range c.Entries {
		e := &c.Entries[i]
		err := visit(c, e)
		if err == nil && e.Below != nil {
			err = e.Below.walk(visit)
		}
		if err == fs.SkipDir && e.Type.IsDir() { //nolint:errorlint // as it is
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Name is the path of an entry as tools print it.
func (c *Contents) Name(e *Listed) string {
	if nested := c.Folder.root.nested.Load(); nested != nil && len(*nested) > 0 {
		return c.Folder.Join(e.Name).String()
	}
	if dir := c.Folder.String(); dir != "." {
		return dir + "/" + e.Name
	}
	return e.Name
}

// Find is the folder p, where it was listed.
func (c *Contents) Find(p Path) (*Contents, bool) {
	if c.Folder.root != p.root {
		return nil, false
	}
	for _, name := range namesBetween(c.Folder.rel, p.rel) {
		e := c.entry(name)
		if e == nil || e.Below == nil {
			return nil, false
		}
		c = e.Below
	}
	return c, c.Folder == p
}

func (c *Contents) entry(name string) *Listed { return entryIn(c.Entries, name) }

func entryIn(entries []Listed, name string) *Listed {
	i, found := slices.BinarySearchFunc(entries, name, func(e Listed, name string) int { return strings.Compare(e.Name, name) })
	if !found {
		return nil
	}
	return &entries[i]
}

// namesBetween are the names that lead from the folder top down to p.
func namesBetween(top, p string) []string {
	switch {
	case top == p:
		return nil
	case top == ".":
		return strings.Split(p, "/")
	}
	rest, ok := strings.CutPrefix(p, top+"/")
	if !ok {
		return nil
	}
	return strings.Split(rest, "/")
}
