package fault

import (
	"strconv"
	"strings"
	"unicode"
)

// Quote makes a name safe to show: plain names stay as they are, others are
// quoted with every control, bidirectional and invisible character escaped, so
// that a file name can neither fake a line nor hide a part of itself.
func Quote(name string) string {
	if name != "" && (isPlain(name) || strings.IndexFunc(name, suspicious) < 0) {
		return name
	}
	return Escape(strconv.Quote(name))
}

// Escape replaces what cannot be seen by its \u escape and leaves line breaks,
// tabs and all visible text alone. Dialogs show text that went through it.
func Escape(text string) string {
	plain := 0 // nearly all text is, and is spared the closer look
	for plain < len(text) && (text[plain] >= ' ' && text[plain] <= '~' || text[plain] == '\n' || text[plain] == '\t') {
		plain++
	}
	if strings.IndexFunc(text[plain:], invisible) < 0 {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if !invisible(r) {
			out.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		out.WriteString(quoted[1 : len(quoted)-1])
	}
	return out.String()
}

// Line is Escape for what stands in a line of its own, in which a text of several lines
// must not pass for several.
func Line(text string) string { return strings.ReplaceAll(Escape(text), "\n", `\n`) }

// isPlain spares most names, of which there may be very many, the closer look.
func isPlain(name string) bool {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c > '~' || c == '"' {
			return false
		}
	}
	return true
}

func suspicious(r rune) bool {
	return r == '"' || r == '\n' || r == '\t' || invisible(r)
}

// invisible reports a rune that a reader would not see as itself: controls
// other than newline and tab, format characters (bidirectional overrides, zero
// width), exotic blanks, variation selectors, and Hangul fillers.
func invisible(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == ' ':
		return false
	case r == unicode.ReplacementChar, r == '\u115f', r == '\u1160', r == '\u3164', r == '\uffa0':
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.IsSpace(r) ||
		unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) || unicode.Is(unicode.Variation_Selector, r)
}

// Clip is text cut after n bytes, with … where something was cut.
func Clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
