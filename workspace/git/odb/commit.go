package odb

import (
	"bytes"
	"encoding/hex"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/workspace/git/gitfile"
)

// Commit is what a walk through history needs of one.
type Commit struct {
	Tree    plumbing.Hash
	Parents []plumbing.Hash
	Date    int64 // the committer's, in seconds; 0 where it cannot be read
}

// ParseCommit reads the head of a commit, as far as git itself insists on it.
func ParseCommit(data []byte) (Commit, bool) {
	var c Commit
	var ok bool
	if c.Tree, data, ok = hashLine(data, "tree "); !ok {
		return c, false
	}
	for {
		parent, rest, ok := hashLine(data, "parent ")
		if !ok {
			break
		}
		c.Parents, data = append(c.Parents, parent), rest
	}
	c.Date = commitDate(data)
	return c, true
}

// hashLine takes a line off data that holds a key and a hash.
func hashLine(data []byte, key string) (h plumbing.Hash, rest []byte, ok bool) {
	end := len(key) + HexSize
	if len(data) <= end || data[end] != '\n' || string(data[:len(key)]) != key {
		return h, data, false
	}
	h, ok = ParseHash(string(data[len(key):end]))
	return h, data[end+1:], ok
}

// commitDate is the time in the committer's line, which follows the author's.
func commitDate(data []byte) int64 {
	author, data, _ := bytes.Cut(data, []byte("\n"))
	committer, _, ended := bytes.Cut(data, []byte("\n"))
	if !ended || !bytes.HasPrefix(author, []byte("author ")) || !bytes.HasPrefix(committer, []byte("committer ")) {
		return 0
	}
	seconds, _ := IdentTime(committer)
	return seconds
}

// IdentTime is the time and the zone at the end of a line that names somebody.
func IdentTime(line []byte) (seconds int64, zone int) {
	at := bytes.LastIndexByte(line, '>')
	if at < 0 {
		return 0, 0
	}
	fields := strings.Fields(string(line[at+1:]))
	if len(fields) == 0 {
		return 0, 0
	}
	seconds, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil || seconds < 0 {
		return 0, 0
	}
	if len(fields) > 1 {
		zone, _ = strconv.Atoi(fields[1])
	}
	return seconds, zone
}

// annotation is an annotated tag.
type annotation struct {
	target plumbing.Hash
	Name   string
	head   []byte // its lines
	Text   []byte // what follows them
}

func ParseTag(data []byte) (annotation, bool) {
	var t annotation
	var ok bool
	if t.target, _, ok = hashLine(data, "object "); !ok {
		return t, false
	}
	t.head, t.Text, _ = bytes.Cut(data, []byte("\n\n"))
	for line := range bytes.Lines(t.head) {
		if name, ok := strings.CutPrefix(string(line), "tag "); ok {
			t.Name = strings.TrimRight(name, "\n")
		}
	}
	return t, true
}

// readShallow lists the commits that a shallow clone ends with.
func readShallow(commonDir string) map[plumbing.Hash]bool {
	text, err := gitfile.Read(filepath.Join(commonDir, "shallow"))
	if err != nil {
		return nil
	}
	found := map[plumbing.Hash]bool{}
	for line := range strings.Lines(string(text)) {
		if h, ok := ParseHash(strings.TrimSpace(line)); ok {
			found[h] = true
		}
	}
	return found
}

// readGrafts reads the old way to give commits other parents.
func readGrafts(commonDir string) map[plumbing.Hash][]plumbing.Hash {
	text, err := gitfile.Read(filepath.Join(commonDir, "info", "grafts"))
	if err != nil {
		return nil
	}
	found := map[plumbing.Hash][]plumbing.Hash{}
lines:
	for line := range strings.Lines(string(text)) {
		var hashes []plumbing.Hash
		for word := range strings.FieldsSeq(line) {
			h, ok := ParseHash(word)
			if !ok {
				continue lines
			}
			hashes = append(hashes, h)
		}
		if len(hashes) > 0 {
			found[hashes[0]] = hashes[1:]
		}
	}
	return found
}

func ParseHash(text string) (plumbing.Hash, bool) {
	var h plumbing.Hash
	if len(text) != 2*len(h) {
		return h, false
	}
	_, err := hex.Decode(h[:], []byte(text))
	return h, err == nil && !h.IsZero()
}
