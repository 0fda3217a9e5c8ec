package approval

import (
	"strings"
	"testing"
)

func TestSentence(t *testing.T) {
	for _, test := range []struct{ deed, title, arguments, want string }{
		{"edit app.py", "Edit file", `{"path": "app.py"}`, "Edit app.py."},
		{"", "Git status", "", "Git status."},
		{"", "Git status", "{}", "Git status."},
		{"", "Read file", `{"start_line": 3, "path": "a b.txt", "end_line": null}`, "Read file: start_line 3, path a b.txt."},
		{"", "Read many files", `{"paths": ["a", "b"], "x": {"y": true}}`, `Read many files: paths ["a","b"], x {"y":true}.`},
		{"", "Ask the user", `{"message": "one\ntwo\u200b"}`, `Ask the user: message "one\ntwo\u200b".`},
		{"", "Find files", `{"pattern": "` + strings.Repeat("é", 100) + `"}`, "Find files: pattern " + strings.Repeat("é", 40) + "…."},
	} {
		if got := Sentence(test.deed, test.title, []byte(test.arguments)); got != test.want {
			t.Errorf("%s\nwant %s", got, test.want)
		}
	}
}
