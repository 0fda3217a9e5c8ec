package fault

import "testing"

// TestWhatIsNotSeenIsEscaped: of characters that render as nothing, as a blank, or on each
// machine as something else.
func TestWhatIsNotSeenIsEscaped(t *testing.T) {
	for _, r := range []rune{0x1b, 0x85, 0xa0, 0xad, 0x34f, 0x378, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180e, 0x200b, 0x202e, 0x2028, 0x2066, 0x2800, 0x3000, 0x3164, 0xe000, 0xfe0f, 0xfeff, 0xffa0, 0xfffc, 0xfffd, 0x16fe4, 0x1d159, 0x1d173, 0xe0001, 0xe0100, 0xf0000, 0x10ffff} {
		if text := "a" + string(r) + "b"; Escape(text) == text || Quote(text) == text {
			t.Errorf("%U is shown as it is", r)
		}
	}
	for _, text := range []string{"plain", "tab\tand\nline", "grüße", "日本語", "é", "→ ✓ 😀", "a\u0301"} {
		if Escape(text) != text {
			t.Errorf("%q became %q", text, Escape(text))
		}
	}
}
