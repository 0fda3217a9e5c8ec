package worktree

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"regexp"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/odb"
)

// conversion turns the bytes of a work tree's file into those that git would
// store: its encoding, line ends, the ident keyword and Git LFS's pointers. Other filters
// are programs, which are not run.
type conversion struct {
	config     gitdir.Config
	Attributes *attributes
	objects    *odb.Objects
}

// lineEnds says what git add does to CRLF.
type lineEnds byte

const (
	keepLineEnds  lineEnds = iota
	textLineEnds           // CRLF becomes LF
	guessLineEnds          // so does text that the index does not hold with CRLF
)

// toGit converts the content of the file at path, whose content in the index
// is staged, or zero if it has none.
func (c conversion) toGit(path string, data []byte, staged plumbing.Hash) []byte {
	attributes := c.Attributes.Of(path)
	if attributes["filter"] == "lfs" {
		data = lfsPointer(data)
	}
	data = encoded(data, attributes["working-tree-encoding"])
	if ends := c.lineEnds(attributes); ends == textLineEnds || ends == guessLineEnds && c.guess(data, staged) {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	if attributes["ident"] == AttrSet {
		data = ident.ReplaceAll(data, []byte("$$Id$$"))
	}
	return data
}

var ident = regexp.MustCompile(`\$Id:[^$\n]*\$`)

// lineEnds follows the attributes text, crlf (its old name) and eol, and the
// settings core.autocrlf and core.eol.
func (c conversion) lineEnds(attributes map[string]string) lineEnds {
	text, specified := attributes["text"]
	if !specified || text == AttrUnspecified {
		text = attributes["crlf"]
	}
	eol := attributes["eol"]
	switch {
	case text == AttrUnset:
		return keepLineEnds
	case text == "auto":
		return guessLineEnds
	case text == AttrSet, text == "input", eol == "lf", eol == "crlf":
		return textLineEnds
	}
	if auto := c.config.Get("core.autocrlf"); auto == "input" || c.config.Bool("core.autocrlf", false) {
		return guessLineEnds
	}
	return keepLineEnds
}

// guess reports whether git takes data for text whose CRLFs it should convert:
// it does not where the index holds CRLFs already.
func (c conversion) guess(data []byte, staged plumbing.Hash) bool {
	if !bytes.Contains(data, []byte("\r\n")) || looksBinary(data) {
		return false
	}
	if staged.IsZero() {
		return true
	}
	stored, err := c.objects.Blob(staged, odb.MaxFile)
	return err != nil || !bytes.Contains(stored, []byte("\r\n")) || looksBinary(stored)
}

// looksBinary is git's guess for the conversion of line ends, which is
// stricter than the one for diffs: no lone CR, no NUL, and at most one byte in
// 128 that cannot be printed.
func looksBinary(data []byte) bool {
	printable, other := 0, 0
	for i, c := range data {
		switch {
		case c == 0:
			return true
		case c == '\r':
			if i+1 == len(data) || data[i+1] != '\n' {
				return true
			}
		case c == '\n':
		case c == 127, c < 32 && c != '\b' && c != '\t' && c != '\f' && c != 27:
			other++
		default:
			printable++
		}
	}
	if len(data) > 0 && data[len(data)-1] == 26 { // DOS's end of file
		other--
	}
	return printable>>7 < other
}

// lfsPointer is what the filter of Git LFS stores in place of a file.
func lfsPointer(data []byte) []byte {
	if len(data) == 0 || len(data) < 1024 && bytes.HasPrefix(data, []byte(lfsHead)) {
		return data
	}
	return fmt.Appendf(nil, "%soid sha256:%x\nsize %d\n", lfsHead, sha256.Sum256(data), len(data))
}

const lfsHead = "version https://git-lfs.github.com/spec/v1\n"
