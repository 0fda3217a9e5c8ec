package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/state"
)

// The log is audit.jsonl, and older files beside it that are named by the number of
// their first line. Each line has a number, one more than the line before, and the
// SHA-256 of the line before as it stands in the file, without its end. The file head
// has the number and the hash of the last line, and the number of the oldest that is
// kept.
//
// What this proves: a line that was changed, removed, added or moved without knowing
// of the chain is found, and so are lines that are missing at the end (by the head). What it
// does not: there is no secret in it, so whoever may write these files and knows how they
// are made can write them anew from some line on, the head as well. Who wants to know of that
// notes the hash that `pillion audit verify` prints elsewhere, and asks for it again later.
// The file is not synced: with the power the last lines can go.
const (
	current  = "audit.jsonl"
	headFile = "head"
	maxLine  = 1 << 20
)

// head is the content of the file head.
type head struct {
	N     int64  `json:"n"`
	Hash  string `json:"hash"`
	First int64  `json:"first"` // the oldest line that is kept
}

func hashOf(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

// end is where the log goes on.
type end struct {
	n     int64
	hash  string
	first int64
	torn  bool  // the last line has no end
	size  int64 // of the current file
	begin int64 // the number of its first line; 0 of an empty one
}

// findEnd looks at the file itself: another program may have written since, or died
// while it wrote.
func findEnd(dir string) (end, error) {
	h := readHead(dir)
	e := end{n: h.N, hash: h.Hash, first: max(h.First, 1)}
	f, err := open(dir, current, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return e, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return e, err
	}
	if e.size = info.Size(); e.size == 0 {
		return e, nil
	}
	for most := int64(8 << 10); ; most = maxLine {
		tail := make([]byte, min(e.size, most))
		if _, err := f.ReadAt(tail, e.size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
			return e, err
		}
		if bytes.Count(tail, []byte("\n")) > 2 || int64(len(tail)) == e.size || most == maxLine {
			e.takeTail(tail)
			break
		}
	}
	first := make([]byte, 64)
	if n, err := f.ReadAt(first, 0); n > 0 && (err == nil || errors.Is(err, io.EOF)) {
		e.begin = numberOf(first[:n])
	}
	return e, nil
}

// open never waits for the other end of a pipe that somebody put in a file's place.
func open(dir, name string, flags int) (*os.File, error) {
	name = filepath.Join(dir, name)
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file; remove it", name)
	}
	return os.OpenFile(name, flags, 0o600)
}

// takeTail goes on after the last line, whatever it holds.
func (e *end) takeTail(tail []byte) {
	e.torn = tail[len(tail)-1] != '\n'
	lines := bytes.Split(bytes.TrimSuffix(tail, []byte("\n")), []byte("\n"))
	last := lines[len(lines)-1]
	e.hash = hashOf(last)
	switch n := numberOf(last); {
	case !e.torn && n > 0:
		e.n = n
	case e.torn && len(lines) > 1 && numberOf(lines[len(lines)-2]) > 0:
		e.n = numberOf(lines[len(lines)-2]) + 1
	default:
		e.n++
	}
}

// numberOf reads the n of a line, which comes first, without reading all of it.
func numberOf(line []byte) (n int64) {
	if _, err := fmt.Sscanf(string(line[:min(len(line), 32)]), `{"n":%d,`, &n); err != nil {
		return 0
	}
	return n
}

func readHead(dir string) (h head) {
	f, err := open(dir, headFile, os.O_RDONLY)
	if err != nil {
		return head{}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxLine))
	if err != nil || json.Unmarshal(data, &h) != nil {
		return head{}
	}
	return h
}

func writeHead(dir string, h head) error {
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return state.Replace(filepath.Join(dir, headFile), append(data, '\n'))
}

// appender adds lines to the end, in one write a file.
type appender struct {
	dir     string
	options Options
	end     end
	file    *os.File
	buffer  []byte
}

func (a *appender) add(e entry) error {
	e.N, e.Prev, e.Torn = a.end.n+1, a.end.hash, a.end.torn
	line, err := e.bytes()
	if err != nil {
		return err
	}
	if a.end.torn {
		a.buffer = append(a.buffer, '\n')
		a.end.torn = false
	}
	if size := a.end.size + int64(len(a.buffer)); size > 0 && size+int64(len(line)) > a.options.FileBytes {
		if err := a.rotate(); err != nil {
			return err
		}
	}
	if a.end.begin == 0 {
		a.end.begin = e.N
	}
	a.buffer = append(a.buffer, line...)
	a.end.n, a.end.hash = e.N, hashOf(line[:len(line)-1])
	return nil
}

// flush writes what was added.
func (a *appender) flush() (err error) {
	if a.file == nil {
		if a.file, err = open(a.dir, current, os.O_WRONLY|os.O_CREATE|os.O_APPEND); err != nil {
			return err
		}
	}
	n, err := a.file.Write(a.buffer)
	a.end.size += int64(n)
	a.buffer = a.buffer[:0]
	return err
}

func (a *appender) rotate() error {
	if err := a.flush(); err != nil {
		return err
	}
	a.close()
	if err := os.Rename(filepath.Join(a.dir, current), filepath.Join(a.dir, oldName(a.end.begin))); err != nil {
		return err
	}
	a.end.size, a.end.begin = 0, 0
	old, err := oldFiles(a.dir)
	if err != nil {
		return err
	}
	for len(old) > a.options.Files-1 {
		if err := os.Remove(filepath.Join(a.dir, old[0])); err != nil {
			return err
		}
		old = old[1:]
	}
	a.end.first = a.end.n + 1
	if len(old) > 0 {
		a.end.first = beginOf(old[0])
	}
	return nil
}

func (a *appender) finish() error {
	if err := a.flush(); err != nil {
		return err
	}
	return writeHead(a.dir, head{a.end.n, a.end.hash, a.end.first})
}

func (a *appender) close() {
	if a.file != nil {
		a.file.Close()
	}
	a.file = nil
}

func oldName(first int64) string { return fmt.Sprintf("audit-%012d.jsonl", first) }

func beginOf(name string) (n int64) {
	fmt.Sscanf(name, "audit-%d.jsonl", &n) //nolint:errcheck // 0
	return n
}

// oldFiles are the files that are full, the oldest first.
func oldFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "audit-") && strings.HasSuffix(e.Name(), ".jsonl") {
			out = append(out, e.Name())
		}
	}
	slices.Sort(out)
	return out, err
}
