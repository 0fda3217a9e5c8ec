package tools_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// usual are the values that a result mostly has: they go without saying, any other value
// is in the scenario. That ok and success are what error says, check holds.
var usual = map[string]string{
	"ok": "", "success": "", // whatever they are
	"merged": "false", "saved": "true", "formatted": "false", "truncated": "false", "has_more": "false", "timed_out": "false", "edited": "false",
	"encoding": `"utf-8"`, "eol": `"lf"`, "bom": "false", "source": `"disk"`, "modified": `"<time>"`, "duration_ms": `"<ms>"`,
	"offset": "0", "additions": "0", "deletions": "0", "hunks_applied": "0", "start_line": "1", "sandbox": `"none"`, "signal": `""`, "stderr": `""`,
}

// brief is a result as a scenario has it: a line of short fields, a line for each long
// field and for each item of a list, without what is usual.
func brief(result string) string {
	out := briefLines{}
	for _, f := range fieldsOf([]byte(result)) {
		out.add(f)
	}
	out.end()
	return out.String()
}

type field struct {
	name  string
	value []byte // compact
}

func (f field) isUsual() bool {
	value, known := usual[f.name]
	return known && (value == "" || value == string(f.value))
}

// fieldsOf are those of an object, in order.
func fieldsOf(object []byte) []field {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		return nil
	}
	var out []field
	for d.More() {
		name, _ := d.Token() //nolint:errcheck // the result is JSON: check has seen it
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return out
		}
		var compact bytes.Buffer
		if json.Compact(&compact, value) == nil {
			out = append(out, field{fmt.Sprint(name), compact.Bytes()})
		}
	}
	return out
}

type briefLines struct {
	strings.Builder
	line string
}

func (b *briefLines) add(f field) {
	const short, wide = 70, 110
	text := f.name + " " + string(f.value)
	switch items := itemsOf(f.value); {
	case f.isUsual():
	case f.name == "error":
		b.end()
		b.fault(f.value)
	case items != nil:
		b.end()
		b.WriteString(f.name + ":\n")
		for _, item := range items {
			b.WriteString("  " + briefItem(item) + "\n")
		}
	case len(text) > short:
		b.end()
		b.WriteString(text + "\n")
	case b.line == "":
		b.line = text
	case len(b.line)+len(text) > wide:
		b.end()
		b.line = text
	default:
		b.line += ", " + text
	}
}

// end ends the line of short fields.
func (b *briefLines) end() {
	if b.line != "" {
		b.WriteString(b.line + "\n")
	}
	b.line = ""
}

func (b *briefLines) fault(object []byte) {
	parts := map[string]string{}
	for _, f := range fieldsOf(object) {
		parts[f.name] = string(f.value)
	}
	b.WriteString("error " + unquoted(parts["code"]) + ": " + unquoted(parts["message"]) + "\n")
	for _, name := range []string{"hint", "details"} {
		if text := unquoted(parts[name]); text != "" {
			b.WriteString("  " + name + ": " + text + "\n")
		}
	}
}

// unquoted is a JSON string's text on one line; what is none stays.
func unquoted(value string) string {
	if text, ok := strings.CutPrefix(value, `"`); ok {
		return strings.ReplaceAll(strings.TrimSuffix(text, `"`), `\"`, `"`)
	}
	return value
}

// itemsOf are those of a list of objects; nil of anything else.
func itemsOf(value []byte) []json.RawMessage {
	var items []json.RawMessage
	if !bytes.HasPrefix(value, []byte("[{")) || json.Unmarshal(value, &items) != nil {
		return nil
	}
	return items
}

func briefItem(object []byte) string {
	var out []string
	for _, f := range fieldsOf(object) {
		if !f.isUsual() {
			out = append(out, f.name+" "+string(f.value))
		}
	}
	return strings.Join(out, ", ")
}
