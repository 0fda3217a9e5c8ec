package tools

import (
	"encoding/json"
	"testing"

	"pillion/workspace/language"
)

// TestWhatSeveralFilesBroke has the shape of one file's, and says nothing of a file that
// is not known.
func TestWhatSeveralFilesBroke(t *testing.T) {
	one := []language.Diagnostic{{Severity: language.Error, Message: "no"}}
	none := []language.Diagnostic{}
	zero, two, yes, no := 0, 2, true, false
	known := func(created []language.Diagnostic, remaining *int, compared *bool) causedResult {
		r := causedResult{Status: language.Fresh, Server: "s", New: &created, Remaining: remaining, Compared: compared}
		if *compared {
			r.Fixed = &none
		}
		return r
	}
	late := causedResult{Status: language.TimedOut, Server: "s"}
	const diagnostic = `"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"severity":1,"message":"no"}`
	for name, c := range map[string]struct {
		of   map[string]causedResult
		want string // without the files
	}{
		"all are known": {
			map[string]causedResult{"b": known(one, &two, &yes), "a": known(none, &two, &yes)},
			`{"new":[{"path":"b",` + diagnostic + `],"fixed":[],"remaining":4,"status":"fresh","compared":true,"files":`,
		},
		"one is not compared": {
			map[string]causedResult{"a": known(none, &zero, &no), "b": known(none, &zero, &yes)},
			`{"new":[],"remaining":0,"status":"fresh","compared":false,"files":`,
		},
		"one is not known": {
			map[string]causedResult{"a": late, "b": known(one, &two, &yes)},
			`{"new":[{"path":"b",` + diagnostic + `],"status":"timeout","files":`,
		},
		"one is clean, and one is not known": {
			map[string]causedResult{"a": known(none, &zero, &yes), "b": late},
			`{"status":"timeout","files":`,
		},
	} {
		got, err := json.Marshal(together(c.of))
		if err != nil || len(got) < len(c.want) || string(got[:len(c.want)]) != c.want {
			t.Errorf("%s: got %s, %v, want %s", name, got, err, c.want)
		}
	}
}
