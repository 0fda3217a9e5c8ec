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

// invisible is Invisible of a text that may have several lines.
func invisible(r rune) bool { return r != '\n' && r != '\t' && Invisible(r) }

// Invisible reports a rune that a reader would not see as itself: controls, format
// characters (bidirectional overrides, zero width), exotic blanks, variation selectors,
// fillers, and what has no glyph that all agree on, private and unassigned characters. The
// plugins have the same table, which internal/generate makes from this.
func Invisible(r rune) bool {
	switch r {
	case ' ':
		return false
	case unicode.ReplacementChar, '\ufffc', '\u2800', '\U0001d159', '\U00016fe4': // symbols and a mark without ink, of which no property says so
		return true
	}
	return !unicode.IsGraphic(r) || unicode.IsSpace(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Clip is text cut after n bytes, with … where something was cut.
func Clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
