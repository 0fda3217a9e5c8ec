package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Report is what Verify found.
type Report struct {
	Dir      string    `json:"dir"`
	Files    int       `json:"files"`
	Lines    int64     `json:"lines"`
	First    int64     `json:"first"` // number of the oldest line
	Last     int64     `json:"last"`
	Hash     string    `json:"hash"` // of the last line
	From     time.Time `json:"from,omitzero"`
	To       time.Time `json:"to,omitzero"`
	Dropped  int       `json:"dropped"` // calls that were never written
	Torn     int       `json:"torn"`    // lines that a program did not write to their end
	Problems []string  `json:"problems"`

	known map[string]bool // asked for
	found map[string]bool
}

// Entry is a line as it was read.
type Entry struct {
	N       int64  `json:"n"`
	Prev    string `json:"prev"`
	Dropped int    `json:"dropped"`
	Torn    bool   `json:"torn"`
	Record
}

// line is a line with its place.
type line struct {
	file string
	at   int // in the file, from 1
	raw  []byte
	Entry
	broken bool // no JSON
}

func (l line) place() string { return fmt.Sprintf("%s:%d", l.file, l.at) }

// Verify reads the whole log in dir and tells what is wrong with its chain. hashes, if any,
// are such as an earlier Verify gave: each must still be in the log.
func Verify(dir string, hashes ...string) (Report, error) {
	r := Report{Dir: dir, Problems: []string{}, known: map[string]bool{}, found: map[string]bool{}}
	for _, h := range hashes {
		r.known[h] = true
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	unlock, err := lock(dir)
	if err != nil {
		return r, err
	}
	defer unlock()
	var before *line
	h := readHead(dir)
	headSeen := h.N == 0
	err = each(dir, func(l line) error {
		r.check(before, l)
		headSeen = headSeen || l.N == h.N && hashOf(l.raw) == h.Hash
		before = &l
		return nil
	}, &r.Files)
	if err != nil {
		return r, err
	}
	r.checkEnd(before, h, headSeen)
	for _, hash := range hashes {
		if !r.found[hash] {
			r.problem("the line with the hash %s is missing from the log", hash)
		}
	}
	return r, nil
}

func (r *Report) problem(format string, args ...any) {
	if len(r.Problems) < 100 {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

// check holds a line against the one before it.
func (r *Report) check(before *line, l line) {
	r.Lines++
	hash := hashOf(l.raw)
	r.Hash, r.Last = hash, l.N
	r.found[hash] = r.known[hash]
	if r.From.IsZero() {
		r.From = l.Time
	}
	if !l.Time.IsZero() {
		r.To = l.Time
	}
	r.Dropped += l.Dropped
	switch {
	case before == nil:
		r.First = l.N
		if l.N == 1 && l.Prev != "" {
			r.problem("%s is not the first line of the log: earlier lines are missing", l.place())
		}
	case before.broken && l.Torn && l.Prev == hashOf(before.raw):
		r.Torn++
	case before.broken:
		r.problem("%s is not a valid line: it was changed", before.place())
	case l.broken: // judged with the next
	case l.N > before.N+1:
		r.problem("lines %d to %d are missing before %s", before.N+1, l.N-1, l.place())
	case l.N <= before.N:
		r.problem("%s has the number %d, after %d: it was moved, or added", l.place(), l.N, before.N)
	case l.Prev != hashOf(before.raw):
		r.problem("%s (number %d) was changed: its hash in the next line differs", before.place(), before.N)
	}
}

// checkEnd compares with the head what no line after it vouches for.
func (r *Report) checkEnd(last *line, h head, headSeen bool) {
	switch {
	case last == nil && h.N > 0:
		r.problem("all lines are missing; there were %d", h.N)
	case last == nil:
	case last.broken:
		r.problem("%s is not a valid line: it was changed, or a program was killed while it wrote", last.place())
	case h.N == 0:
		r.problem("the file %q is missing or cannot be read, so lines may be missing at the end", headFile)
	case last.N < h.N:
		r.problem("lines %d to %d are missing at the end", last.N+1, h.N)
	case !headSeen:
		r.problem("line %d was changed: it is not the last line written", h.N)
	}
	if last != nil && h.First > 0 && r.First > h.First {
		r.problem("lines %d to %d are missing at the beginning", h.First, r.First-1)
	}
}

// Read gives every line of the log, the oldest first, until visit says no. What is no
// line of it is left out.
func Read(dir string, visit func(Entry) bool) error {
	stop := errors.New("enough")
	files := 0
	err := each(dir, func(l line) error {
		if !l.broken && !visit(l.Entry) {
			return stop
		}
		return nil
	}, &files)
	if errors.Is(err, stop) {
		return nil
	}
	return err
}

// each visits the lines of all files.
func each(dir string, visit func(line) error, files *int) error {
	names, err := oldFiles(dir)
	if err != nil {
		return err
	}
	for _, name := range append(names, current) {
		err := eachOf(dir, name, visit)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		*files++
	}
	return nil
}

func eachOf(dir, name string, visit func(line) error) error {
	f, err := open(dir, name, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 64<<10)
	for at := 1; ; at++ {
		raw, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(raw) == 0 {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		whole := raw[len(raw)-1] == '\n'
		if whole {
			raw = raw[:len(raw)-1]
		}
		l := line{file: name, at: at, raw: raw}
		l.broken = json.Unmarshal(raw, &l.Entry) != nil || !whole
		if err := visit(l); err != nil {
			return err
		}
	}
}
