package approval

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	_, err := d.Token()
	for err == nil && d.More() {
		var value any
		name, _ := d.Token()
		if err = d.Decode(&value); err == nil && value != nil {
			out = append(out, visible(fmt.Sprint(name))+" "+shortValue(value))
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
