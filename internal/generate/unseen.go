package main

import (
	"fmt"
	"strings"
	"unicode"

	"pillion/internal/fault"
)

// The table of characters that are shown as escapes, for the plugins: each has it in its own
// language, and neither has another.
const (
	luaUnseen = "nvim-plugin/lua/pillion/unseen.lua"
	tsUnseen  = "vscode-extension/src/unseen.generated.ts"
)

func unseen() map[string][]byte {
	table := strings.Join(wrapped(unseenRanges(), 116), "\n")
	head := fmt.Sprintf("Characters beyond ASCII that are not seen, or not seen as what they are (Unicode %s), as ranges of hexadecimal numbers.", unicode.Version)
	const maker = "Written by `make generate` from internal/fault."
	return map[string][]byte{
		luaUnseen: fmt.Appendf(nil, "-- %s\n-- %s\nreturn [[\n%s\n]]\n", head, maker, table),
		tsUnseen:  fmt.Appendf(nil, "// %s\n// %s\nexport const unseenRanges = `\n%s\n`;\n", head, maker, table),
	}
}

func unseenRanges() (words []string) {
	from := rune(-1)
	for r := rune(0x80); r <= unicode.MaxRune+1; r++ {
		switch hidden := r <= unicode.MaxRune && fault.Invisible(r) && r != unicode.ReplacementChar; {
		case hidden && from < 0:
			from = r
		case !hidden && from >= 0:
			word := fmt.Sprintf("%x", from)
			if r-1 > from {
				word += fmt.Sprintf("-%x", r-1)
			}
			words, from = append(words, word), -1
		}
	}
	return words
}

// wrapped joins words to lines.
func wrapped(words []string, width int) (lines []string) {
	for _, word := range words {
		if last := len(lines) - 1; last >= 0 && len(lines[last])+1+len(word) <= width {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}
