package tools

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/google/jsonschema-go/jsonschema"

	"pillion/internal/bug"
	"pillion/internal/fault"
	"pillion/tools/match"
)

// schemaFor reflects a tool's argument struct. Fields with omitempty are
// optional; the jsonschema tag is the description that the model reads.
func schemaFor[A any]() *jsonschema.Schema {
	s, err := jsonschema.For[A](nil)
	if err != nil {
		panic(bug.Errorf("a tool's arguments have no schema: %v", err))
	}
	return withoutNull(s)
}

// withoutNull takes "null" out of the types: reflection puts it there for every
// slice and pointer, and many models refuse a schema with a list of types.
func withoutNull(s *jsonschema.Schema) *jsonschema.Schema {
	if len(s.Types) > 0 {
		types := slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" })
		if len(types) == 1 {
			s.Type, s.Types = types[0], nil
		}
	}
	for _, property := range s.Properties {
		withoutNull(property)
	}
	if s.Items != nil {
		withoutNull(s.Items)
	}
	return s
}

// decode reads arguments strictly: every key known, none twice (letter case
// apart), each of its type, none missing.
func decode(s *jsonschema.Schema, raw json.RawMessage, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 || bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		raw = json.RawMessage("{}")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := checkValue(d, s, false, ""); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return invalid("there is text after the arguments; give one JSON object")
	}
	if half := halfCharacter(raw); half != "" {
		return invalid("the arguments have half of a character, %s", half).
			WithHint("write characters beyond U+FFFF directly, or as a full surrogate pair")
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return invalid("the arguments are invalid: %v", err)
	}
	return nil
}

// halfCharacter finds an escape of half a surrogate pair, which would become another
// character without a word.
func halfCharacter(raw []byte) string {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		if unit := escapedUnit(raw[i:]); utf16.IsSurrogate(unit) {
			if utf16.DecodeRune(unit, escapedUnit(raw[i+6:])) == unicode.ReplacementChar {
				return string(raw[i : i+6])
			}
			i += 6
		}
		i++
	}
	return ""
}

// escapedUnit is the UTF-16 code unit of the escape that text begins with, 0 if it does not.
func escapedUnit(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(unit)
}

func invalid(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidArguments, format, args...)
}

func checkValue(d *json.Decoder, s *jsonschema.Schema, nullable bool, at string) error {
	token, err := d.Token()
	if err != nil {
		return invalid("the arguments are not valid JSON: %v", err)
	}
	if token == nil && (nullable || slices.Contains(s.Types, "null")) {
		return nil
	}
	if got := typeOf(token); s.Type != "" && got != s.Type && (got != "integer" || s.Type != "number") {
		return invalid("%s must be %s, got %s", place(at), article(s.Type), article(got))
	}
	switch token {
	case json.Delim('{'):
		return checkObject(d, s, at)
	case json.Delim('['):
		return checkArray(d, s, at)
	}
	return nil
}

// checkProperty takes null for an optional argument as its absence, as many
// models write it.
func checkProperty(d *json.Decoder, s, property *jsonschema.Schema, key, at string) error {
	if slices.Contains(s.Required, key) || isMap(s) {
		return checkValue(d, property, false, at)
	}
	return checkValue(d, property, true, at)
}

func checkObject(d *json.Decoder, s *jsonschema.Schema, at string) error {
	fold := strings.ToLower
	if isMap(s) {
		fold = func(key string) string { return key } // the names of variables have a case
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return invalid("the arguments are not valid JSON: %v", err)
		}
		key, _ := token.(string)
		property, err := propertyOf(s, key, at)
		if err != nil {
			return err
		}
		if seen[fold(key)] {
			return invalid("argument %s is given twice", fault.Quote(join(at, key)))
		}
		seen[fold(key)] = true
		if err := checkProperty(d, s, property, key, join(at, key)); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return invalid("the arguments are not valid JSON: %v", err)
	}
	for _, name := range s.Required {
		if !seen[name] {
			missing := invalid("argument %s is missing", join(at, name))
			if what := s.Properties[name].Description; what != "" {
				missing.Message += " (" + what + ")"
			}
			return missing
		}
	}
	return nil
}

// propertyOf is the schema of one key. Maps allow any key.
func propertyOf(s *jsonschema.Schema, key, at string) (*jsonschema.Schema, error) {
	if property := s.Properties[key]; property != nil {
		return property, nil
	}
	if isMap(s) {
		return s.AdditionalProperties, nil
	}
	err := invalid("unknown argument %s", fault.Quote(join(at, key)))
	if nearest := nearestKey(s, key); nearest != "" {
		return nil, err.WithHint("did you mean %q?", join(at, nearest)).With("nearest", nearest)
	}
	return nil, err.WithHint("this tool takes %s", known(s))
}

// isMap: an object that takes any key.
func isMap(s *jsonschema.Schema) bool {
	return s.Properties == nil && s.AdditionalProperties != nil && s.AdditionalProperties.Not == nil
}

func known(s *jsonschema.Schema) string {
	if len(s.PropertyOrder) == 0 {
		return "no arguments"
	}
	return strings.Join(s.PropertyOrder, ", ")
}

// nearestKey is the known key with the most letter pairs in common with key.
func nearestKey(s *jsonschema.Schema, key string) string {
	best, bestScore := "", 0.0
	for _, name := range s.PropertyOrder {
		if score := match.Similarity(name, key); score > bestScore {
			best, bestScore = name, score
		}
	}
	if bestScore < 0.3 && len(s.PropertyOrder) > 1 {
		return ""
	}
	return best
}

func checkArray(d *json.Decoder, s *jsonschema.Schema, at string) error {
	items := s.Items
	if items == nil {
		items = &jsonschema.Schema{}
	}
	for i := 0; d.More(); i++ {
		if err := checkValue(d, items, false, at+"["+strconv.Itoa(i)+"]"); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

func place(at string) string {
	if at == "" {
		return "the arguments value"
	}
	return "argument " + fault.Quote(at)
}

func article(typ string) string {
	if strings.ContainsRune("aeiou", rune(typ[0])) {
		return "an " + typ
	}
	if typ == "null" {
		return typ
	}
	return "a " + typ
}

func typeOf(token json.Token) string {
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			return "object"
		}
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "number"
		}
		return "integer"
	}
	return "null"
}
