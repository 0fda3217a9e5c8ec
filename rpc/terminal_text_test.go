package rpc

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTerminalText(t *testing.T) {
	for text, want := range map[string]string{
		"plain \t\b\r\n":                                             "plain \t\b\r\n",
		"bell\a nul\x00 del\x7f csi\u009b":                           "bell nul del csi",
		"form\ffeed":                                                 "form\nfeed",
		"\x1b[1;31mred\x1b[0m\x1b[m":                                 "\x1b[1;31mred\x1b[0m\x1b[m",
		"\x1b[38;5;8mgrey \x1b[38;2;8;5;6mother":                     "\x1b[38;5;8mgrey \x1b[38;2;8;5;6mother",
		"\x1b[8mhidden\x1b[5;6;1mblink":                              "hidden\x1b[1mblink",
		"\x1b[08mhidden":                                             "hidden",
		"\x1b[2K\x1b[999999A\x1b[;5H":                                "\x1b[2K\x1b[9999A\x1b[;5H",
		"\x1b[3J\x1b[2J":                                             "\x1b[2J",
		"\x1b[?1049hscreen\x1b[6n\x1b[>c":                            "screen",
		"\x1b]0;title\atext":                                         "text",
		"\x1b]52;c;c2VjcmV0\x1b\\text":                               "text",
		"\x1b]8;;http://a\x1b\\link\x1b]8;;\a":                       "link",
		"\x1bPq#0\u009ctext":                                         "text",
		"\x1b]0;never ends\ntext":                                    "\ntext",
		"\x1b]0;" + strings.Repeat("x", 5000):                        strings.Repeat("x", 5000+4-2-longestString),
		"\x1b(Bset\x1b7\x1bcreset":                                   "setreset",
		"\x1b[1\x1b[31mred":                                          "\x1b[31mred",
		"a\x1b]633;E;rm -rf ~\a\x1b]133;A\ab":                        "ab", // marks of a shell
		"\x1b]4;1;?\a\x1b]11;#000000\a":                              "",
		"\x1b]1337;File=inline=1:AAAA\ax":                            "x",
		"\x1b[c\x1b[>c\x1b[=c\x1bZ\x1b[>q\x1b[5n":                    "",
		"\x1b[?2004$p\x1bP$qm\x1b\\\x1bP+q544e\x1b\\":                "",
		"\x1b[21t\x1b[8;500;500t\x1b[!p":                             "",
		"\x1b[s\x1b[u\x1b[1;1r\x1b[3g\x1b[4h\x1bD\x1bM":              "",
		"\x1b(0qqq\x1b(B\x0eqqq\x0f":                                 "qqqqqq",
		"\x1b[99999999b":                                             "",
		"a\u009b31mb\u009d0;t\ac\u0090x\u009cd":                      "a31mb0;tcxd",
		"\x1b[3\x1b]0;t\a1mx":                                        "1mx",
		"a\x1bP1;1;1!z41\x1b\\\x1b[1*z\x1b[5L\x1b[3P\x1b[2@b":        "ab",
		"a\x1b_Gf=100;AAAA\x1b\\\x1b^secret\x1b\\\x1bXsecret\x1b\\b": "ab",
		"a\x1b[>1u\x1b[?u\x1b=\x1b>\x1b)B\x1b%G\x1b[>4;2m\x1b[?4mb":  "ab",
		"a\x1b\x1b[31mb":                                             "a\x1b[31mb",
		"\x1b[3\n1mx":                                                "\n1mx",
		"\x1b[31 mx\x1b[1 qx":                                        "xx",
		"\x1b[4:3mcurly":                                             "\x1b[4:3mcurly",
		"turned \u202e around \u2066":                                `turned \u202e around \u2066`,
		"größer → 日本":                                                "größer → 日本",
	} {
		var all terminalText
		if got := all.take(text); got != want {
			t.Errorf("%q is shown as\n%q, not\n%q", text, got, want)
		}
	}
}

// TestTerminalTextInPieces: wherever the output is cut, the same is shown, and nothing else
// than these sequences.
func TestTerminalTextInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"\x1b", "[", "]", "0", ";", "5", "m", "K", "J", "?", " ", "\\", "\a", "\n", "a", "é", "\u202e", "\u009c"})).Draw(t, "text"), "")
		var whole, parts terminalText
		want, got := whole.take(text), ""
		for _, r := range text {
			got += parts.take(string(r))
		}
		if got != want || parts.rest != whole.rest {
			t.Fatalf("in pieces %q and %q, whole %q and %q", got, parts.rest, want, whole.rest)
		}
		for i := strings.IndexByte(want, '\x1b'); i >= 0; {
			if m := control.FindStringSubmatch(want[i:]); m == nil || !strings.Contains("mABCDEFGHJKdf", m[3]) || m[3] == "" {
				t.Fatalf("%q passes", want[i:])
			}
			next := strings.IndexByte(want[i+1:], '\x1b')
			if next < 0 {
				break
			}
			i += next + 1
		}
	})
}
