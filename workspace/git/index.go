package git

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/gitfile"
)

// mostIndex is the longest index that is looked at.
const mostIndex = 256 << 20

const (
	sha1Size, sha256Size = sha1.Size, sha256.Size
	sharedPrefix         = "sharedindex."
)

// TrackedIn gives the files that git tracks in a work tree, in order. It fails where the index is one that git reads otherwise.
func TrackedIn(top string) ([]string, error) {
	gitDir, err := gitdir.GitDirOf(top)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(gitDir, "index")
	if _, err := os.Lstat(file); os.IsNotExist(err) {
		return nil, nil
	}
	x, ok := readIndex(file, HashSize(gitDir))
	if !ok {
		return nil, errors.New("the index cannot be read")
	}
	names := make([]string, 0, len(x.entries))
	for _, e := range x.entries {
		names = append(names, e.name)
	}
	return names, nil
}

// IsShared: the name is that of a file with entries that several indexes have.
func IsShared(name string) bool { return strings.HasPrefix(name, sharedPrefix) }

// HashSize is how many bytes the hashes of a repository have, 0 if that is not known.
func HashSize(gitDir string) int {
	file := filepath.Join(gitdir.CommonDirOf(gitDir), "config") // here alone, and not in what it includes, git looks for it
	text, err := gitfile.Read(file)
	if os.IsNotExist(err) || err == nil && !bytes.Contains(bytes.ToLower(text), []byte("objectformat")) {
		return sha1Size
	}
	config, err := gitdir.ReadConfig(file)
	if err != nil {
		return 0
	}
	switch config.Get("extensions.objectformat") {
	case "", "sha1":
		return sha1Size
	case "sha256":
		return sha256Size
	}
	return 0
}

func sum(size int, text []byte) []byte {
	if size == sha256Size {
		h := sha256.Sum256(text)
		return h[:]
	}
	h := sha1.Sum(text)
	return h[:]
}

// HarmlessIndex is what may take the place of the index at before once a command has left one at now. It is false where nothing may:
// that cannot be read as git does, or an entry leads out of the work tree, into .git or, unlike before, into a repository
// within it (what git takes from the disk it does not check again, and into those it goes and does what their configurations
// say), or has git not look at a file that it looked at before.
//
// Of an entry that is not as it was before, only name, mode, hash and flags are taken, so that git compares the content of the file, whatever times
// that has. But where seen has read the file and this is what the entry says, the times and numbers that it gives of it stay as well. What git keeps beside the entries and can make again is left out: hashes of folders, the list of files
// that are not tracked, what a file-system monitor said, and the division into two files.
func HarmlessIndex(before, now string, hashSize int, seen func(name string) (text []byte, stat Stat, ok bool)) ([]byte, bool) {
	is, ok := readIndex(now, hashSize)
	if !ok {
		return nil, false
	}
	was, _ := readIndex(before, hashSize) // what cannot be read has no entries
	written := uint32(0)
	if info, err := os.Stat(before); err == nil {
		written = uint32(info.ModTime().Unix()) // as git has it
	}
	repositories, unseen := map[string]bool{}, map[string]bool{}
	for _, e := range was.entries {
		if e.isRepository() {
			repositories[e.name] = true
		}
		if e.isUnseen() {
			unseen[e.name] = true
		}
	}
	emptyBlob := sum(hashSize, []byte("blob 0\x00"))
	for i, e := range is.entries {
		if !e.isKnown() || e.isRepository() && !repositories[e.name] || e.isUnseen() && !unseen[e.name] {
			return nil, false
		}
		for len(was.entries) > 0 && compareEntries(was.entries[0], e) < 0 {
			was.entries = was.entries[1:]
		}
		isAsBefore := len(was.entries) > 0 && was.entries[0].name == e.name && bytes.Equal(was.entries[0].fixed, e.fixed)
		// At what is not older than the index, git looks again; it would not do so by the time of the new one.
		if isAsBefore && e.modified() < written {
			continue
		}
		is.entries[i] = e.compared(emptyBlob)
		if e.mode() != regularFile && e.mode() != executableFile || e.stage() != 0 {
			continue
		}
		if text, stat, ok := seen(e.name); ok && bytes.HasPrefix(e.fixed[hashAt:], sum(hashSize, fmt.Appendf(nil, "blob %d\x00%s", len(text), text))) {
			is.entries[i] = e.with(stat)
		}
	}
	return is.encode(hashSize), true
}

// indexFile is what git makes of an index file, with the one that it shares entries with.
type indexFile struct {
	version  uint32
	entries  []indexEntry
	resolved []byte // the extension that has conflicts which were resolved; nil: there is none
	isSparse bool   // entries may stand for folders

	shared           []byte // the hash of the file that has more entries; nil: there is none
	deleted, changed []int  // which of its entries are gone, and which are those without a name here, in this order
}

// indexEntry is a path in an index.
type indexEntry struct {
	name  string
	fixed []byte // all that the index has of it but for the name
}

// Where the parts of fixed are, and what they are.
const (
	modifiedAt, modeAt, ownersAt, hashAt                                      = 8, 24, 28, 40
	assumed, extended, stageMask, lengthMask                                  = 0x8000, 0x4000, 0x3000, 0xfff
	skipped, intended                                                         = 0x4000, 0x2000
	regularFile, executableFile, symbolicLink, wholeFolder, anotherRepository = 0o100644, 0o100755, 0o120000, 0o040000, 0o160000
)

func (e indexEntry) flags() uint16 {
	if at := len(e.fixed) - 4; e.isExtended() {
		return binary.BigEndian.Uint16(e.fixed[at:])
	}
	return binary.BigEndian.Uint16(e.fixed[len(e.fixed)-2:])
}

// isExtended: the flags have two bytes more. All before them has a length that is a multiple of 4 and 2 more.
func (e indexEntry) isExtended() bool { return len(e.fixed)%4 == 0 }

func (e indexEntry) more() uint16 {
	if !e.isExtended() {
		return 0
	}
	return binary.BigEndian.Uint16(e.fixed[len(e.fixed)-2:])
}

func (e indexEntry) mode() uint32       { return binary.BigEndian.Uint32(e.fixed[modeAt:]) }
func (e indexEntry) modified() uint32   { return binary.BigEndian.Uint32(e.fixed[modifiedAt:]) }
func (e indexEntry) stage() uint16      { return e.flags() & stageMask }
func (e indexEntry) isRepository() bool { return e.mode() == anotherRepository }
func (e indexEntry) isUnseen() bool     { return e.flags()&assumed != 0 || e.more()&skipped != 0 } // git does not look at it on the disk

// key tells entries apart.
func (e indexEntry) key() string { return e.name + "\x00" + string(rune(e.stage())) }

// isKnown: the entry is of a form that git makes, and of a path below the top of the work tree and not in .git.
func (e indexEntry) isKnown() bool {
	name, isFolder := strings.CutSuffix(e.name, "/")
	if !gitdir.SafePath(name) || isFolder != (e.mode() == wholeFolder) || e.more()&^(skipped|intended) != 0 {
		return false
	}
	return isFolder && e.more()&skipped != 0 || slices.Contains([]uint32{regularFile, executableFile, symbolicLink, anotherRepository}, e.mode())
}

// compared is the entry in a form in which git compares the content of the file, whatever times and size that has: nothing but an empty file
// has a size of 0, and one whose time is later than that of any index is looked at again.
func (e indexEntry) compared(emptyBlob []byte) indexEntry {
	fixed := slices.Clone(e.fixed)
	clear(fixed[:modeAt])
	clear(fixed[ownersAt:hashAt])
	if bytes.HasPrefix(fixed[hashAt:], emptyBlob) { // a size of 4 GiB is 0 as well
		binary.BigEndian.PutUint32(fixed[modifiedAt:], 1<<32-1)
	}
	return indexEntry{e.name, fixed}
}

// Stat are times and numbers of a file in the order in which git keeps them: when it and its content were changed, each in seconds and
// nanoseconds; device, inode, mode (which is not taken), owner, group, size.
type Stat [10]uint32

func (e indexEntry) with(stat Stat) indexEntry {
	fixed := slices.Clone(e.fixed)
	for i, part := range stat {
		if i*4 != modeAt {
			binary.BigEndian.PutUint32(fixed[i*4:], part)
		}
	}
	return indexEntry{e.name, fixed}
}

// readIndex reads an index with what it shares with others. It is false where git reads it otherwise.
func readIndex(file string, hashSize int) (indexFile, bool) {
	text, err := gitfile.ReadWithin(file, mostIndex)
	if err != nil {
		return indexFile{}, false
	}
	x, ok := parseIndex(text, hashSize)
	if ok && len(bytes.Trim(x.shared, "\x00")) > 0 {
		ok = x.join(filepath.Join(filepath.Dir(file), sharedPrefix+hex.EncodeToString(x.shared)), hashSize)
	}
	for i := 1; i < len(x.entries); i++ {
		ok = ok && compareEntries(x.entries[i-1], x.entries[i]) < 0
	}
	if !ok {
		return indexFile{}, false
	}
	return x, true
}

func compareEntries(a, b indexEntry) int {
	return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.stage(), b.stage()))
}

// join takes in the entries of another file.
func (x *indexFile) join(file string, hashSize int) bool {
	if !gitfile.IsAlone(file) {
		return false
	}
	text, err := gitfile.ReadWithin(file, mostIndex)
	if err != nil {
		return false
	}
	base, ok := parseIndex(text, hashSize)
	if !ok || base.shared != nil || !bytes.HasSuffix(text, x.shared) {
		return false
	}
	entries, mine := base.entries, x.entries
	for _, at := range x.changed {
		if _, gone := slices.BinarySearch(x.deleted, at); gone || at >= len(entries) || len(mine) == 0 || mine[0].name != "" {
			return false
		}
		entries[at], mine = mine[0].named(entries[at].name), mine[1:]
	}
	kept := entries[:0]
	for i, e := range entries {
		if len(x.deleted) > 0 && x.deleted[0] == i {
			x.deleted = x.deleted[1:]
			continue
		}
		kept = append(kept, e)
	}
	if len(x.deleted) > 0 {
		return false
	}
	// One that is new takes the place of the one with its name and, as it is in no conflict, of those of a conflict.
	added := map[string]bool{}
	for _, e := range mine {
		added[e.key()] = true
	}
	kept = slices.DeleteFunc(kept, func(e indexEntry) bool {
		return added[e.key()] || e.stage() != 0 && added[indexEntry{e.name, make([]byte, hashAt+2)}.key()]
	})
	x.entries = append(kept, mine...)
	slices.SortStableFunc(x.entries, compareEntries)
	x.isSparse = x.isSparse || base.isSparse
	return true
}

// named is the entry with another name.
func (e indexEntry) named(name string) indexEntry {
	fixed := slices.Clone(e.fixed)
	at := len(fixed) - 2
	if e.isExtended() {
		at -= 2
	}
	binary.BigEndian.PutUint16(fixed[at:], e.flags()&^lengthMask|uint16(min(len(name), lengthMask)))
	return indexEntry{name, fixed}
}

// encode is the text of an index file.
func (x indexFile) encode(hashSize int) []byte {
	out := append([]byte("DIRC"), make([]byte, 8)...)
	binary.BigEndian.PutUint32(out[8:], uint32(len(x.entries)))
	last := ""
	for _, e := range x.entries {
		if e.isExtended() && x.version == 2 {
			x.version = 3
		}
		start := len(out)
		out = append(out, e.fixed...)
		if x.version == 4 {
			same := 0
			for same < min(len(last), len(e.name)) && last[same] == e.name[same] {
				same++
			}
			out = append(appendVarint(out, len(last)-same), e.name[same:]...)
			out, last = append(out, 0), e.name
			continue
		}
		out = append(out, e.name...)
		out = append(out, make([]byte, 8-(len(out)-start)%8)...)
	}
	binary.BigEndian.PutUint32(out[4:], x.version)
	for _, extension := range []struct {
		name string
		text []byte
		is   bool
	}{{"REUC", x.resolved, x.resolved != nil}, {"sdir", nil, x.isSparse}} {
		if extension.is {
			out = binary.BigEndian.AppendUint32(append(out, extension.name...), uint32(len(extension.text)))
			out = append(out, extension.text...)
		}
	}
	return append(out, sum(hashSize, out)...)
}

// parseIndex reads one file, and says whether all that git reads of it is what is read here: each length of a name is that
// of the name, and what follows the entries says nothing else of where they are.
func parseIndex(text []byte, hashSize int) (x indexFile, whole bool) {
	const header = 12
	if hashSize == 0 || len(text) < header+hashSize || string(text[:4]) != "DIRC" {
		return x, false
	}
	x.version = binary.BigEndian.Uint32(text[4:])
	count := int(binary.BigEndian.Uint32(text[8:]))
	text = text[header : len(text)-hashSize]
	fixed := hashAt + hashSize + 2 // times and numbers, the hash, flags
	if x.version < 2 || x.version > 4 || count > len(text)/fixed {
		return x, false
	}
	last, at, total := "", 0, 0
	starts := make([]int, 0, count)
	x.entries = make([]indexEntry, 0, count)
	for range count {
		start := at
		starts = append(starts, start)
		if len(text)-at < fixed+2 {
			return x, false
		}
		flags := binary.BigEndian.Uint16(text[at+fixed-2:])
		if at += fixed; flags&extended != 0 {
			at += 2
		}
		stored, keep := text[start:at:at], 0
		if x.version == 4 {
			drop, n := varint(text[at:])
			if n == 0 || drop > len(last) {
				return x, false
			}
			keep, at = len(last)-drop, at+n
		}
		end := bytes.IndexByte(text[at:], 0)
		if end < 0 {
			return x, false
		}
		name := last[:keep] + string(text[at:at+end])
		if total += len(name); total > mostIndex { // a path can be made of the one before and a byte
			return x, false
		}
		if at += end + 1; x.version < 4 {
			at = start + (at-1-start+8)&^7
		}
		if at > len(text) || int(flags&lengthMask) != min(len(name), lengthMask) {
			return x, false
		}
		last, x.entries = name, append(x.entries, indexEntry{name, stored})
	}
	return x, x.extend(text, at, starts, hashSize)
}

// extend reads what follows the entries. It is false where that is not known, or the tables by which git reads them in several
// threads lead elsewhere than to where they begin.
func (x *indexFile) extend(text []byte, end int, starts []int, hashSize int) bool {
	const head, header, tableHead, row = 8, 12, 4, 8
	for at := end; at < len(text); {
		if len(text)-at < head {
			return false
		}
		name, size := string(text[at:at+4]), int(binary.BigEndian.Uint32(text[at+4:]))
		if size > len(text)-at-head {
			return false
		}
		data := text[at+head : at+head+size]
		switch name {
		case "TREE", "UNTR", "FSMN":
		case "REUC":
			x.resolved = data
		case "sdir":
			x.isSparse = true
		case "link":
			if x.shared != nil || !x.divided(data, hashSize) {
				return false
			}
		case "EOIE":
			if len(data) < 4 || int(binary.BigEndian.Uint32(data)) != header+end {
				return false
			}
		case "IEOT":
			if len(data) < tableHead || (len(data)-tableHead)%row != 0 {
				return false
			}
			n := 0
			for block := data[tableHead:]; len(block) > 0; block = block[row:] {
				if n >= len(starts) || int(binary.BigEndian.Uint32(block)) != header+starts[n] {
					return false
				}
				n += int(binary.BigEndian.Uint32(block[4:]))
			}
			if n != len(starts) {
				return false
			}
		default:
			return false
		}
		at += head + size
	}
	return true
}

// divided reads which entries another file has.
func (x *indexFile) divided(data []byte, hashSize int) (ok bool) {
	if len(data) < hashSize {
		return false
	}
	x.shared = data[:hashSize]
	if data = data[hashSize:]; len(data) == 0 {
		return true
	}
	if x.deleted, data, ok = bitmap(data); ok {
		x.changed, data, ok = bitmap(data)
	}
	return ok && len(data) == 0
}

// bitmap gives the numbers in a set as git compresses it (EWAH), and what follows it.
func bitmap(data []byte) (set []int, rest []byte, ok bool) {
	const head, tail, word, bits, most = 8, 4, 8, 64, mostIndex / hashAt
	if len(data) < head+tail {
		return nil, nil, false
	}
	words := int(binary.BigEndian.Uint32(data[4:]))
	if words > (len(data)-head-tail)/word {
		return nil, nil, false
	}
	rest = data[head+words*word+tail:]
	next := func() uint64 {
		words--
		data = data[word:]
		return binary.BigEndian.Uint64(data[head-word:])
	}
	at := 0
	for words > 0 {
		marker := next()
		run, literals := int(marker>>1&(1<<32-1)), int(marker>>33)
		if run > most/bits || literals > words || at > most {
			return nil, nil, false
		}
		if marker&1 == 1 {
			for i := range run * bits {
				set = append(set, at+i)
			}
		}
		at += run * bits
		for range literals {
			for value, i := next(), 0; i < bits; i++ {
				if value>>i&1 == 1 {
					set = append(set, at+i)
				}
			}
			if at += bits; at > most {
				return nil, nil, false
			}
		}
	}
	return set, rest, true
}

// varint reads git's offset encoding, and how many bytes it has; 0: it is none.
func varint(text []byte) (value, n int) {
	for n = 0; n < len(text) && n < 5; n++ {
		c := text[n]
		value = value<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return value, n + 1
		}
		value++
	}
	return 0, 0
}

func appendVarint(out []byte, value int) []byte {
	bytes := []byte{byte(value & 0x7f)}
	for value >>= 7; value > 0; value >>= 7 {
		value--
		bytes = append(bytes, 0x80|byte(value&0x7f))
	}
	slices.Reverse(bytes)
	return append(out, bytes...)
}
