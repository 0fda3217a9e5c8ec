package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// elements splits a path into the names that a forgiving file system could take
// its parts for: case folded, compatibility forms and ignorable characters gone
// (HFS+, APFS and ext4 with casefold do some of it), cut at an NTFS stream, and
// without the dots and blanks that Windows drops from the end. It errs towards
// equality, so it serves rules that restrict and never rules that allow.
func elements(path string) []string {
	var out []string
	for name := range strings.FieldsFuncSeq(fold(path), isSeparator) {
		name, _, _ = strings.Cut(name, ":")
		if name = strings.TrimRight(name, ". "); name != "" {
			out = append(out, name)
		}
	}
	return out
}

func isSeparator(r rune) bool { return r == '/' || r == '\\' }

// fold spells text as a file system that ignores case and ignorable characters
// would compare it.
func fold(text string) string {
	if isPlainASCII(text) {
		return strings.ToLower(text)
	}
	text = norm.NFKC.String(strings.Map(dropIgnorable, text))
	return cases.Fold().String(strings.Map(dropIgnorable, text))
}

func isPlainASCII(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// dropIgnorable is a strings.Map mapping. Bytes that are not UTF-8 arrive as
// RuneError and go too. The two Turkish letters equal i where upper case is
// what gets compared.
func dropIgnorable(r rune) rune {
	switch {
	case r == 'İ' || r == 'ı':
		return 'i'
	case r == utf8.RuneError, unicode.IsControl(r),
		unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp,
			unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return -1
	}
	return r
}
