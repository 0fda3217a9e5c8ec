package schema

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestHalvesOfCharactersAreFound(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a": "\ud83d\ude00"}`: "", `{"a": "\uD83D"}`: `\uD83D`, `{"a": "\ude00\ud83d"}`: `\ude00`, `{"a": "\ud83d\ud83d\ude00"}`: `\ud83d`,
		`{"a": "\\ud83d"}`: "", `{"a": "\\\ud83d"}`: `\ud83d`, `{"a": "\ud83d\n"}`: `\ud83d`, `{"a": "\u00e9\ufffd 😀"}`: "", `"\u`: "", `"\ud83d`: `\ud83d`,
	} {
		if got := halfCharacter([]byte(raw)); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

type boundedArgs struct {
	N     int      `json:"n,omitempty" minimum:"-2" maximum:"600" default:"7"`
	Part  *float64 `json:"part,omitempty" minimum:"0"`
	Items []struct {
		Most int `json:"most" maximum:"3"`
	} `json:"items,omitempty"`
	Free int `json:"free,omitempty"`
}

func TestBounds(t *testing.T) {
	schema := For[boundedArgs]()
	if n := schema.Properties["n"]; *n.Minimum != -2 || *n.Maximum != 600 || string(n.Default) != "7" || *schema.Properties["items"].Items.Properties["most"].Maximum != 3 {
		t.Errorf("the schema is %+v", n)
	}
	for arguments, want := range map[string]string{
		`{"n": -2}`: "", `{"n": 600}`: "", `{"n": 0}`: "", `{"n": null}`: "", `{"part": 0}`: "", `{"part": 0.5}`: "", `{"free": -9}`: "",
		`{"n": -3}`:                             "argument n must be between -2 and 600, got -3",
		`{"n": 601.0}`:                          "argument n must be between -2 and 600, got 601.0",
		`{"n": 1e400}`:                          "argument n must be an integer, got a number",
		`{"n": 1.5}`:                            "argument n must be an integer, got a number",
		`{"part": -0.1}`:                        "argument part must be at least 0, got -0.1",
		`{"part": 1e400}`:                       "argument part is too large a number",
		`{"items": [{"most": 3}, {"most": 4}]}`: "argument items[1].most must be at most 3, got 4",
		`{"free": 9007199254740994.0}`:          "argument free must be an integer, got a number",
		`{"n": "1"}`:                            "argument n must be an integer, got a string",
	} {
		message := ""
		var args boundedArgs
		if err := Decode(schema, json.RawMessage(arguments), &args); err != nil {
			message = err.Error()
		}
		if !strings.HasSuffix(message, want) || (want == "") != (message == "") {
			t.Errorf("%s: %s, want %s", arguments, message, want)
		}
	}
}

// TestIntegersAsNumbers: JSON Schema takes 1.0 for an integer, and so do some models.
func TestIntegersAsNumbers(t *testing.T) {
	schema := For[boundedArgs]()
	for arguments, want := range map[string]string{
		`{"n": 1.0, "free": 1e15, "items": [{"most": 2E0}, {"most": -0.0}, {"most": 3}]}`: `{"n": 1, "free": 1000000000000000, "items": [{"most": 2}, {"most": 0}, {"most": 3}]}`,
		"{\"free\" :\t-12.50e1 , \"part\": 2.0}":                                          `{"free": -125, "part": 2}`,
		`{"items": [` + strings.Repeat(`{"most": 1.0},`, 50_000) + `{"most": 1.0}]}`:      `{"items": [` + strings.Repeat(`{"most": 1},`, 50_000) + `{"most": 1}]}`,
	} {
		var got, wanted boundedArgs
		if err := Decode(schema, json.RawMessage(arguments), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(want), &wanted); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, wanted) {
			t.Errorf("%.80s: %.80v", arguments, got)
		}
	}
}
