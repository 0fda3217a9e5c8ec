package git

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/gitfile"
)

// mostIndex is the longest index that is looked at.
const mostIndex = 256 << 20

// indexStaysInside says whether all that an index holds now lies below the top of the work tree, and neither in .git nor, unlike
// before, in a repository within it: what git takes from the disk it does not check again, and into those it goes and does what
// their configurations say. Nor may it have git not look at a file that it looked at before. One that is not there holds
// nothing. Read as one of SHA-1 or of SHA-256, as git may do.
func indexStaysInside(before, now string) bool {
	text, err := gitfile.ReadWithin(now, mostIndex)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	was, _ := gitfile.ReadWithin(before, mostIndex) //nolint:errcheck // then it leads into none
	repositories, unseen := map[string]bool{}, map[string]bool{}
	readIndex(was, func(e indexEntry) bool {
		repositories[e.name], unseen[e.name] = repositories[e.name] || e.isRepository, unseen[e.name] || e.isUnseen
		return true
	})
	return readIndex(text, func(e indexEntry) bool {
		return (e.name == "" || gitdir.SafePath(strings.TrimSuffix(e.name, "/"))) && // "": it stands for one of a shared index
			(!e.isRepository || repositories[e.name]) && (!e.isUnseen || unseen[e.name])
	})
}

// IndexTime is the time that an index file has to have in the place of the one before, so that git compares the content of each
// file whose entry is another: whoever made the entries may have given them the times of files that they do not agree with. It
// is false where none is another.
func IndexTime(before, now string) (at time.Time, differ bool) {
	was, _ := gitfile.ReadWithin(before, mostIndex) //nolint:errcheck // then all are
	text, err := gitfile.ReadWithin(now, mostIndex)
	known := map[string]bool{}
	readIndex(was, func(e indexEntry) bool {
		known[e.name+"\x00"+string(e.fixed)] = true
		return true
	})
	oldest := uint32(math.MaxUint32)
	readIndex(text, func(e indexEntry) bool {
		if modified := binary.BigEndian.Uint32(e.fixed[8:]); modified > 0 && !known[e.name+"\x00"+string(e.fixed)] { // 0: git compares it anyway
			oldest = min(oldest, modified)
		}
		return true
	})
	if shared, globErr := filepath.Glob(filepath.Join(filepath.Dir(now), "sharedindex.*")); globErr != nil || len(shared) > 0 {
		oldest = 0 // those may have others
	}
	return time.Unix(max(1, int64(oldest)), 0), err == nil && oldest < math.MaxUint32
}

// indexEntry is a path in an index.
type indexEntry struct {
	name         string
	fixed        []byte // all that the index has of it but for the name
	isRepository bool   // another is there
	isUnseen     bool   // git does not look at it on the disk
}

// readIndex says whether an index can be read, and is holds of all its entries.
func readIndex(text []byte, is func(indexEntry) bool) bool {
	const header, sha1Size, sha256Size = 12, 20, 32
	if len(text) < header || string(text[:4]) != "DIRC" {
		return false
	}
	version, count := binary.BigEndian.Uint32(text[4:]), binary.BigEndian.Uint32(text[8:])
	if version < 2 || version > 4 {
		return false
	}
	read := false
	for _, size := range []int{sha1Size, sha256Size} {
		if len(text) < header+size {
			continue
		}
		entries, whole := indexEntries(text[header:len(text)-size], version, int(count), size)
		if whole && slices.ContainsFunc(entries, func(e indexEntry) bool { return !is(e) }) {
			return false
		}
		read = read || whole
	}
	return read
}

// indexEntries are the entries, and whether all that git reads of the text is what is read here: each length of a name is that
// of the name, and what follows the entries says nothing else of where they are.
func indexEntries(text []byte, version uint32, count, hashSize int) (entries []indexEntry, whole bool) {
	fixed := 40 + hashSize + 2 // times and numbers, the hash, flags
	if count > len(text)/fixed {
		return nil, false
	}
	const assumed, extended, skipped, lengthMask, most, modeAt, kindMask, repositoryKind = 0x8000, 0x4000, 0x4000, 0xfff, mostIndex, 24, 0o170000, 0o160000
	last, at, total := "", 0, 0
	var starts []int
	for range count {
		start := at
		starts = append(starts, start)
		if len(text)-at < fixed+2 {
			return nil, false
		}
		flags := binary.BigEndian.Uint16(text[at+fixed-2:])
		isUnseen := flags&assumed != 0
		if at += fixed; flags&extended != 0 {
			isUnseen = isUnseen || binary.BigEndian.Uint16(text[at:])&skipped != 0
			at += 2
		}
		stored, keep := text[start:at], 0
		if version == 4 {
			drop, n := varint(text[at:])
			if n == 0 || drop > len(last) {
				return nil, false
			}
			keep, at = len(last)-drop, at+n
		}
		end := bytes.IndexByte(text[at:], 0)
		if end < 0 {
			return nil, false
		}
		name := last[:keep] + string(text[at:at+end])
		if total += len(name); total > most { // a path can be made of the one before and a byte
			return nil, false
		}
		if at += end + 1; version < 4 {
			at = start + (at-1-start+8)&^7
		}
		if at > len(text) || int(flags&lengthMask) != min(len(name), lengthMask) || name < last && name != "" {
			return nil, false
		}
		last, entries = name, append(entries, indexEntry{name, stored, binary.BigEndian.Uint32(stored[modeAt:])&kindMask == repositoryKind, isUnseen})
	}
	return entries, extensionsAgree(text, at, starts)
}

// extensionsAgree says whether what follows the entries is known, and whether the tables by which git reads them in several
// threads lead to where they begin.
func extensionsAgree(text []byte, end int, starts []int) bool {
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
		case "TREE", "REUC", "link", "UNTR", "FSMN", "sdir":
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
