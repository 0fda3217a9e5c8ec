// Package search finds text in the files of a workspace, and files by glob.
//
// Run is the entry point; CompileGlob serves whoever lists files. The package
// does not read files itself: a Source gives each file's text as the agent must
// see it, open buffers over the disk. There is no index of what is in files. Their
// list is kept by Files as long as it is certain that nothing has changed in it.
package search

import (
	"context"
	"io/fs"
	"runtime"
	"slices"
	"sync"

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
	Truncated     bool    `json:"truncated"` // there are more matches
	// Skipped counts what could hold matches and was not searched: files that are
	// too large or not text in their encoding, and folders that cannot be read.
	// Ignored and binary files are not counted.
	Skipped int `json:"skipped,omitempty"`
}

// Source gives a file's text as the agent must see it. It is called by several
// goroutines. What it cannot give is left out of the search.
type Source interface {
	// ReadText reads the file.
	ReadText(p workspace.Path) (string, error)
	// IsApart names the files whose text is not just what is on disk, or may not be
	// read: what the search is to have of them, only ReadText knows.
	IsApart(p workspace.Path) bool
	// Text is the text of a file that is not apart and holds data. It may be data itself,
	// which is used again for the next file.
	Text(p workspace.Path, data []byte) (string, error)
	// Limit is how many bytes a file may have.
	Limit() int64
}

// Run searches the roots, folders or files, in their order. A root is searched
// even if it is ignored, and a file also if the glob does not match it; failing to
// read the only root is an error. The result is the same however many goroutines
// work. Links are not followed below a root.
func Run(ctx context.Context, roots []workspace.Path, q Query, src Source) (Result, error) {
	s, err := newSearch(q, src)
	if err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()

	files := newQueue()
	running.Go(func() {
		defer files.end(ctx)
		s.walk(ctx, roots, func(j job) error { return files.add(ctx, j) })
	})
	for range runtime.GOMAXPROCS(0) {
		running.Go(func() { s.work(ctx, files.work) })
	}
	return s.collect(ctx, files.order)
}

// search is a Query made ready.
type search struct {
	wanted  *wanted
	glob    *glob // nil: every file
	source  Source
	context int
	limit   int
	ignored bool
	files   *Files
}

func newSearch(q Query, src Source) (*search, error) {
	s := &search{source: src, context: min(q.Context, mostContext), limit: min(q.MaxMatches, mostMatches), ignored: q.IncludeIgnored, files: q.Files}
	switch {
	case q.Text == "":
		return nil, fault.New(fault.InvalidArguments, "the query is empty; give the text or the regular expression to search for")
	case len(q.Text) > longestQuery:
		return nil, fault.New(fault.InvalidArguments, "the query is longer than %d bytes; search for a part of it", longestQuery)
	case q.MaxMatches < 0:
		return nil, fault.New(fault.InvalidArguments, "max_matches is %d; give 1 or more", q.MaxMatches)
	case q.Context < AutoContext:
		return nil, fault.New(fault.InvalidArguments, "context_lines is %d; give 0 or more", q.Context)
	case q.MaxMatches == 0:
		s.limit = defaultMatches
	}
	var err error
	if s.wanted, err = newWanted(q); err != nil {
		return nil, err
	}
	if q.Glob != "" {
		s.glob, err = compile(q.Glob)
	}
	return s, err
}

// walk hands on every file to search.
func (s *search) walk(ctx context.Context, roots []workspace.Path, add func(job) error) {
	for _, root := range roots {
		if err := s.walkRoot(ctx, root, roots, add); err != nil {
			add(job{path: root, explicit: len(roots) == 1, err: err}) //nolint:errcheck // fails only when nobody waits for it
		}
	}
}

func (s *search) walkRoot(ctx context.Context, root workspace.Path, roots []workspace.Path, add func(job) error) error {
	info, err := root.Stat()
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return add(job{path: root, named: true, explicit: len(roots) == 1})
	}
	options := workspace.WalkOptions{IncludeIgnored: s.ignored, Unreadable: func(p workspace.Path, err error) {
		add(job{path: p, err: err}) //nolint:errcheck // the walk notices the end of the context
	}}
	return s.files.Visit(ctx, root, options, false, func(dir *workspace.Contents, e *workspace.Listed) error {
		switch {
		case e.Type.IsDir() && slices.Contains(roots, dir.Folder.Join(e.Name)):
			return fs.SkipDir // a root inside another is searched by itself
		case e.Below != nil && e.Below.Err != nil:
			options.Unreadable(e.Below.Folder, e.Below.Err)
			return nil
		case !e.Type.IsRegular():
			return nil
		}
		p := dir.Folder.Join(e.Name)
		if s.glob != nil && !s.glob.selects(root, p) {
			return nil
		}
		return add(job{path: p})
	})
}

// collect takes the files' matches until there is one too many.
func (s *search) collect(ctx context.Context, order <-chan *batch) (Result, error) {
	r := Result{Matches: []Match{}}
	for b := range order {
		select {
		case <-b.done:
		case <-ctx.Done():
			return Result{}, ctx.Err()
		}
		if ctx.Err() != nil {
			return Result{}, ctx.Err()
		}
		full, err := r.add(b, s.limit)
		if err != nil {
			return Result{}, err
		}
		if full {
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
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
		switch {
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
