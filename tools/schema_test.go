package tools

import "testing"

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
