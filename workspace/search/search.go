// Package search finds text in the files of a workspace, and files by glob.
//
// Run is the entry point; CompileGlob serves whoever lists files. The package
// does not decide what an agent sees: a Source gives each file's text as the agent must
// see it, open buffers over the disk. The list of files is kept by Files as long as it is
// certain that nothing has changed in it, and with it an index that says which files need
// not be read (index.go).
//
// A query is looked for by what each match must hold (required.go): the index by the runs
// of four bytes in that, a file by its rarest byte (literal.go), and of a regular
// expression the lines that hold it by a state machine (dfa.go). Where in a line the
// match is, package regexp says.
package search

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pillion/internal/fault"
	"pillion/workspace"
)

// AutoContext as Query.Context gives lines around the matches when there are so
// few that they are likely to be read one by one.
const AutoContext = -1

const (
	defaultMatches = 200    // without Query.MaxMatches
	mostMatches    = 10_000 // whatever Query.MaxMatches says
	mostContext    = 50     // whatever Query.Context says
	autoLines      = 2      // on each side, by AutoContext
	autoMatches    = 3      // at most, for AutoContext to give lines
	longestQuery   = 10_000 // bytes
	muchRead       = 100 << 20
)

// Query says what to look for.
type Query struct {
	Text          string // plain text, or with Regex Go's (RE2's) syntax; within one line
	Regex         bool
	CaseSensitive bool   // else by Unicode's simple case folding
	Glob          string // files to look into, see CompileGlob; "" is all
	Context       int    // lines before and after a match, at most 50, or AutoContext
	MaxMatches    int    // 0 is 200; at most 10,000
	// IncludeIgnored looks into ignored files too.
	IncludeIgnored bool
	// Files is where the list of files is kept; nil: it is made anew.
	Files *Files
	// IndexBytes is what the index of what is in them may take; 0: there is none.
	IndexBytes int64
}

// Match is one line that matches. Further matches on it make no further Match.
type Match struct {
	Path   string `json:"path"`
	Line   int    `json:"line"`   // from 1
	Column int    `json:"column"` // of the first match in the whole line, from 1, in Unicode code points
	// Text is the line without its line end, or about 500 characters of it
	// around the match, with "…" where it was cut.
	Text string `json:"text"`
	// Before and After are the lines around. A line that the match before this
	// one shows already is not shown again.
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
}

// Result is what was found, in the order of a walk.
type Result struct {
	Matches       []Match `json:"matches"`
	Count         int     `json:"count"` // of Matches
	FilesSearched int     `json:"files_searched"`
	Truncated     bool    `json:"truncated"` // there are more matches, or may be
	// Skipped counts what could hold matches and was not searched: files that are
	// too large or not text in their encoding, and folders that cannot be read.
	// Ignored and binary files are not counted.
	Skipped int `json:"skipped,omitempty"`

	// Late says that the time was up before all was searched.
	Late bool `json:"-"`
	// ReadAll says that very much was read, because no text is in every match by which the
	// index could have told where there is none.
	ReadAll bool `json:"-"`
}

// Source gives a file's text as the agent must see it. It is called by several
// goroutines. What it cannot give is left out of the search.
type Source interface {
	// ReadText reads the file.
	ReadText(p workspace.Path) (string, error)
	// IsApart names the files whose text is not just what is on disk, or may not be
	// read: what the search is to have of them, only ReadText knows.
	IsApart(p workspace.Path) bool
	// Open are those of them that the index may know by what is on disk; all: any may be.
	Open() (files []workspace.Path, all bool)
	// Text is the text of a file that is not apart and holds data. It may be data itself,
	// which is used again for the next file.
	Text(p workspace.Path, data []byte) (string, error)
	// Limit is how many bytes a file may have.
	Limit() int64
}

// Run searches the roots, folders or files, in their order. When nine tenths of the time
// until ctx's deadline are over it gives what it has found until then. A root is searched
// even if it is ignored, and a file also if the glob does not match it; failing to
// read the only root is an error. The result is the same however many goroutines
// work. Links are not followed below a root.
func Run(ctx context.Context, roots []workspace.Path, q Query, src Source) (Result, error) {
	s, err := newSearch(q, src)
	if err != nil {
		return Result{}, err
	}
	ctx, cancel := inTime(ctx)
	var running sync.WaitGroup
	defer s.mend(roots)
	defer running.Wait()
	defer cancel()
	defer s.files.Urgent()()

	files := &queue{work: make(chan *batch), order: make(chan *batch, batchesAhead)}
	running.Go(func() {
		defer files.end(ctx)
		w := walk{search: s, roots: roots, queue: files}
		w.run(ctx)
	})
	for range runtime.GOMAXPROCS(0) {
		running.Go(func() { s.work(ctx, files.work) })
	}
	r, err := s.collect(ctx, files.order)
	r.ReadAll = s.sieve == nil && s.read.Load() > muchRead
	return r, err
}

// errLate ends a search that has found something, or may have: it is not to be given up
// with what it found.
var errLate = errors.New("the search takes too long")

// inTime ends with errLate while there is time left to say so.
func inTime(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadlineCause(ctx, deadline.Add(-time.Until(deadline)/10), errLate)
}

// mend has the index made or mended for the next search, if it would have made a
// difference to this one.
func (s *search) mend(roots []workspace.Path) {
	if s.files == nil || s.sieve == nil || s.ignored || !s.behind.Load() && s.read.Load() < smallTree {
		return
	}
	var tops []workspace.Path
	for _, root := range roots {
		if top := root.Top(); !slices.Contains(tops, top) {
			tops = append(tops, top)
		}
	}
	s.files.index(tops, s.source, s.most)
}

// search is a Query made ready.
type search struct {
	wanted  *wanted
	sieve   *sieve // nil: the index says nothing of it
	glob    *glob  // nil: every file
	source  Source
	context int
	limit   int
	ignored bool
	files   *Files
	most    int64 // of the index, in bytes

	index  *index           // nil: there is none, or it is of no use
	opened []workspace.Path // see Source.Open

	read   atomic.Int64 // bytes
	behind atomic.Bool  // the index did not know of all files, or not of what they are now
}

func newSearch(q Query, src Source) (*search, error) {
	s := &search{source: src, context: min(q.Context, mostContext), limit: min(q.MaxMatches, mostMatches), ignored: q.IncludeIgnored, files: q.Files, most: q.IndexBytes}
	switch {
	case q.Text == "":
		return nil, fault.Invalid("the query is empty; give the text or the regular expression to search for")
	case len(q.Text) > longestQuery:
		return nil, fault.Invalid("the query is longer than %d bytes; search for a part of it", longestQuery)
	case q.MaxMatches < 0:
		return nil, fault.Invalid("max_matches is %d; give 1 or more", q.MaxMatches)
	case q.Context < AutoContext:
		return nil, fault.Invalid("context_lines is %d; give 0 or more", q.Context)
	case q.MaxMatches == 0:
		s.limit = defaultMatches
	}
	var err error
	if s.wanted, err = newWanted(q); err != nil {
		return nil, err
	}
	s.sieve = newSieve(s.wanted.must)
	if q.Glob != "" {
		s.glob, err = compile(q.Glob)
	}
	if opened, all := src.Open(); s.files != nil && s.sieve != nil && !s.ignored && !all {
		s.opened, s.index = opened, s.files.indexing.of(src.Limit(), s.most)
	}
	return s, err
}

// collect takes the files' matches until there is one too many.
func (s *search) collect(ctx context.Context, order <-chan *batch) (Result, error) {
	r := Result{Matches: []Match{}}
	for b := range order {
		select {
		case <-b.done:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		full, err := r.add(b, s.limit)
		if err != nil {
			return Result{}, err
		}
		if full {
			break
		}
	}
	if err := ctx.Err(); err != nil && context.Cause(ctx) != errLate { //nolint:errorlint // it is ours
		return Result{}, err
	} else if err != nil {
		r.Truncated, r.Late = true, true
	}
	if s.context == AutoContext && len(r.Matches) > autoMatches {
		for i := range r.Matches {
			r.Matches[i].Before, r.Matches[i].After = nil, nil
		}
	}
	r.Count = len(r.Matches)
	return r, nil
}

// add adds what was found in some files. It is full when there were more matches than the
// limit.
func (r *Result) add(b *batch, limit int) (full bool, err error) {
	for _, j := range b.jobs {
		r.FilesSearched += j.passed
		switch {
		case j.path.IsZero():
			continue
		case j.err != nil && j.explicit:
			return false, j.err
		case j.err != nil:
			if fault.CodeOf(j.err) != fault.BinaryFile {
				r.Skipped++
			}
			continue
		}
		r.FilesSearched++
		r.Matches = append(r.Matches, j.matches...)
		if len(r.Matches) > limit {
			r.Matches, r.Truncated = r.Matches[:limit], true
			return true, nil
		}
	}
	return false, nil
}
