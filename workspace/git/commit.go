package git

import (
	"bytes"
	"errors"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// commit is what a walk through history needs of one.
type commit struct {
	tree    plumbing.Hash
	parents []plumbing.Hash
	date    int64 // the committer's, in seconds; 0 where it cannot be read
}

// parseCommit reads the head of a commit, as far as git itself insists on it.
func parseCommit(data []byte) (commit, bool) {
	var c commit
	var ok bool
	if c.tree, data, ok = hashLine(data, "tree "); !ok {
		return c, false
	}
	for {
		parent, rest, ok := hashLine(data, "parent ")
		if !ok {
			break
		}
		c.parents, data = append(c.parents, parent), rest
	}
	c.date = commitDate(data)
	return c, true
}

// hashLine takes a line off data that holds a key and a hash.
func hashLine(data []byte, key string) (h plumbing.Hash, rest []byte, ok bool) {
	end := len(key) + hexSize
	if len(data) <= end || data[end] != '\n' || string(data[:len(key)]) != key {
		return h, data, false
	}
	h, ok = parseHash(string(data[len(key):end]))
	return h, data[end+1:], ok
}

// commitDate is the time in the committer's line, which follows the author's.
func commitDate(data []byte) int64 {
	author, data, _ := bytes.Cut(data, []byte("\n"))
	committer, _, ended := bytes.Cut(data, []byte("\n"))
	if !ended || !bytes.HasPrefix(author, []byte("author ")) || !bytes.HasPrefix(committer, []byte("committer ")) {
		return 0
	}
	seconds, _ := identTime(committer)
	return seconds
}

// identTime is the time and the zone at the end of a line that names somebody.
func identTime(line []byte) (seconds int64, zone int) {
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

// rawEntry is an entry of a tree; its name is a part of the tree's bytes.
type rawEntry struct {
	mode uint32
	name []byte
	hash plumbing.Hash
}

var errTree = errors.New("damaged tree")

// nextEntry takes the first entry off a tree's bytes.
func nextEntry(data []byte) (rawEntry, []byte, error) {
	var e rawEntry
	i := 0
	for ; i < len(data) && data[i] != ' '; i++ {
		if data[i] < '0' || data[i] > '7' || i > 6 {
			return e, nil, errTree
		}
		e.mode = e.mode<<3 | uint32(data[i]-'0')
	}
	if i == 0 || i >= len(data) {
		return e, nil, errTree
	}
	end := bytes.IndexByte(data[i+1:], 0)
	if end < 0 {
		return e, nil, errTree
	}
	e.name = data[i+1 : i+1+end]
	data = data[i+2+end:]
	if len(data) < hashSize {
		return e, nil, errTree
	}
	e.hash = plumbing.Hash(data[:hashSize])
	return e, data[hashSize:], nil
}

// annotation is an annotated tag.
type annotation struct {
	target plumbing.Hash
	name   string
	head   []byte // its lines
	text   []byte // what follows them
}

func parseTag(data []byte) (annotation, bool) {
	var t annotation
	var ok bool
	if t.target, _, ok = hashLine(data, "object "); !ok {
		return t, false
	}
	t.head, t.text, _ = bytes.Cut(data, []byte("\n\n"))
	for line := range bytes.Lines(t.head) {
		if name, ok := strings.CutPrefix(string(line), "tag "); ok {
			t.name = strings.TrimRight(name, "\n")
		}
	}
	return t, true
}

// readShallow lists the commits that a shallow clone ends with.
func readShallow(commonDir string) map[plumbing.Hash]bool {
	text, err := readSmall(filepath.Join(commonDir, "shallow"))
	if err != nil {
		return nil
	}
	found := map[plumbing.Hash]bool{}
	for line := range strings.Lines(string(text)) {
		if h, ok := parseHash(strings.TrimSpace(line)); ok {
			found[h] = true
		}
	}
	return found
}

// readGrafts reads the old way to give commits other parents.
func readGrafts(commonDir string) map[plumbing.Hash][]plumbing.Hash {
	text, err := readSmall(filepath.Join(commonDir, "info", "grafts"))
	if err != nil {
		return nil
	}
	found := map[plumbing.Hash][]plumbing.Hash{}
lines:
	for line := range strings.Lines(string(text)) {
		var hashes []plumbing.Hash
		for word := range strings.FieldsSeq(line) {
			h, ok := parseHash(word)
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

// readReplaced reads refs/replace, unless core.useReplaceRefs is off.
func (r *repository) readReplaced() map[plumbing.Hash]plumbing.Hash {
	const prefix = "refs/replace/"
	if !r.config.bool("core.usereplacerefs", true) {
		return nil
	}
	var found map[plumbing.Hash]plumbing.Hash
	for _, ref := range r.list(prefix) {
		if h, ok := parseHash(strings.TrimPrefix(ref.name, prefix)); ok {
			if found == nil {
				found = map[plumbing.Hash]plumbing.Hash{}
			}
			found[h] = ref.hash
		}
	}
	return found
}
