package approval

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"pillion/internal/fault"
)

// Sentence says what a call will do: its deed, as a dialog has it, or where nothing is
// done but what the tool is for, the tool's title and what it is called with.
func Sentence(deed, title string, arguments json.RawMessage) string {
	if deed == "" {
		deed = strings.Join(nonEmpty([]string{title, shortly(arguments)}), ": ")
	}
	first, size := utf8.DecodeRuneInString(deed)
	return string(unicode.ToUpper(first)) + deed[size:] + "."
}

// saidOfArgument bounds what a sentence quotes of one argument, in bytes.
const saidOfArgument = 80

// shortly is the arguments in the order in which they were given.
func shortly(arguments json.RawMessage) string {
	var out []string
	d := json.NewDecoder(bytes.NewReader(arguments))
	for token, err := d.Token(); err == nil && d.More(); {
		if token, err = d.Token(); err != nil {
			break
		}
		var value any
		if err = d.Decode(&value); err == nil && value != nil {
			name, _ := token.(string)
			out = append(out, visible(name)+" "+shortValue(value))
		}
	}
	return strings.Join(out, ", ")
}

func shortValue(value any) string {
	if text, isText := value.(string); isText {
		return fault.Quote(fault.Clip(text, saidOfArgument))
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "…"
	}
	return visible(fault.Clip(string(text), saidOfArgument))
}
