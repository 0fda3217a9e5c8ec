package wellformed

import (
	"fmt"
	"strings"
	"testing"
)

func TestBroken(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"a.json", `{"a": 1}`, "{\n\"a\": 1,\n}", "JSON 3: invalid character '}' looking for beginning of object key string"},
		{"a.json", `{"a": 1}`, "{\"a\": 1}\n{", "JSON 2: it ends in the middle"},
		{"a.json", `{"a": 1}`, "{\"a\": 1}\n}", "JSON 2: invalid character '}' looking for beginning of value"},
		{"a.json", `{"a": 1}`, "[1,\n2", "JSON 2: it ends in the middle"},
		{"a.json", "", "{\n", "JSON 1: it ends in the middle"},
		{"a.json", `{"a": 1`, "{", ""}, // it was not valid
		{"a.json", "", "", ""},
		{"a.json", "{}", "{ }", ""},
		{"n.ipynb", "{\"source\": [\"x\"]}", "{\"source\": [\n\"x\"y\"]}", "JSON 2: invalid character 'y' after array element"},
		{"tsconfig.json", "", "{ // all\n \"a\": 1, }", ""},
		{"settings.json", "// mine\n{}", "// mine\n{\n  \"a\": }", "JSON with comments 3: invalid character '}' at start of value"},
		{"a.json", "{}", "{} // mine", "JSON 1: invalid character '/' looking for beginning of value"},
		{"a.jsonc", "{}", "/* */ {\n", "JSON with comments 2: parsing value: unexpected EOF"},
		{"a.toml", "a = 1\n", "a = 1\nb = \n", "TOML 2: unexpected character U+000A at start of value"},
		{"a.toml", "a = 1\n", "a = 1\na = 2\n", "TOML 2: key a is already defined"},
		{"a.yaml", "a: 1\n", "a: 1\nb: [1\n", "YAML 2: did not find expected ',' or ']'"},
		{"a.yml", "a: 1\n---\nb: 1\n", "a: 1\n---\n\tb: 1\n", "YAML 3: found character that cannot start any token"},
		{"a.yaml", "", "a: {{ x }}\n", ""},
		{"a.xml", "<a/>", "<a>\n<b>\n</a>", "XML 3: element <b> closed by </a>"},
		{"a.xml", "<a/>", "<?xml version=\"1.0\" encoding=\"GBK\"?>\n<a>é</a>\n", ""},
		{"a.svg", "<a/>", "<a/>\n<b/>", "XML 2: a second element behind the document's own"},
		{"a.xml", "<a/>", "<a/>\nx", "XML 2: text outside of the document's element"},
		{"a.xml", "<a/>", "<a>&nope;</a>", "XML 1: invalid character entity &nope;"},
		{"a.go", "package a", "package", ""},
		{"big.json", "{}", "{" + strings.Repeat(" ", mostRead), ""},
	} {
		got := ""
		if p := Broken(c.name, c.before, c.after); p != nil {
			got = fmt.Sprintf("%s %d: %s", p.Format, p.Line, p.Reason)
		}
		if got != c.want {
			t.Errorf("%s: %q → %q: %q, want %q", c.name, c.before, c.after, got, c.want)
		}
	}
}
