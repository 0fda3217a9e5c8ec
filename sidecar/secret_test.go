package sidecar

import (
	"testing"

	"pillion/config"
)

// The key is what the command prints first, else what the variable has, and is got anew
// for each search.
func TestSearchKey(t *testing.T) {
	t.Setenv(searchVariable, "")
	if s := webSearch(config.WebSearch{Provider: "brave"}); s.Key != nil {
		t.Error("there is a key where there is none")
	}
	t.Setenv(searchVariable, "from the variable")
	for command, want := range map[string]string{"": "from the variable", "echo ' one '; echo two": "one", "exit 3": ""} {
		key, err := webSearch(config.WebSearch{KeyCommand: command}).Key(t.Context())
		if key != want || (err != nil) != (command == "exit 3") {
			t.Errorf("%q gives %q, %v", command, key, err)
		}
	}
}
