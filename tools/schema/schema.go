// Package schema makes the JSON schema of a tool's arguments from their Go type, and reads
// arguments by it, with an error that a model can act on.
package schema

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"reflect"
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

// For reflects a tool's argument struct. Fields with omitempty are
// optional; the jsonschema tag is the description that the model reads, and
// minimum, maximum and default are what they are in the schema.
func For[A any]() *jsonschema.Schema { return Of(reflect.TypeFor[A]()) }

// Of is For of a type that is known at run time alone.
func Of(of reflect.Type) *jsonschema.Schema {
	s, err := jsonschema.ForType(of, &jsonschema.ForOptions{})
	if err != nil {
		panic(bug.Errorf("a tool's arguments have no schema: %v", err))
	}
	bound(s, of)
	return withoutNull(s)
}

// bound puts the bounds and defaults of a struct's fields into its schema.
func bound(s *jsonschema.Schema, of reflect.Type) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice:
		if s.Items != nil {
			s = s.Items
		}
		bound(s, of.Elem())
		return
	case reflect.Struct:
	default:
		return
	}
	for _, field := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := s.Properties[name]
		if property == nil {
			continue
		}
		property.Minimum, property.Maximum = bounds(field, "minimum"), bounds(field, "maximum")
		if value, ok := field.Tag.Lookup("default"); ok {
			property.Default = json.RawMessage(value)
		}
		bound(property, field.Type)
	}
}

func bounds(field reflect.StructField, tag string) *float64 {
	text, ok := field.Tag.Lookup(tag)
	if !ok {
		return nil
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(bug.Errorf("%s of %s: %v", tag, field.Name, err))
	}
	return &value
}

// withoutNull takes "null" out of the types: reflection puts it there for every
// slice and pointer, and many models refuse a schema with a list of types.
func withoutNull(s *jsonschema.Schema) *jsonschema.Schema {
	WithoutNullHere(s)
	for _, property := range s.Properties {
		withoutNull(property)
	}
	if s.Items != nil {
		withoutNull(s.Items)
	}
	return s
}

// WithoutNullHere is withoutNull of s alone.
func WithoutNullHere(s *jsonschema.Schema) {
	types := slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" })
	if len(types) == 1 {
		s.Type, s.Types = types[0], nil
	}
}

// Decode reads arguments strictly: every key known, none twice (letter case
// apart), each of its type, none missing.
func Decode(s *jsonschema.Schema, raw json.RawMessage, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 || bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		raw = json.RawMessage("{}")
	}
	c := &checker{Decoder: json.NewDecoder(bytes.NewReader(raw))}
	c.UseNumber()
	if err := c.value(s, false, ""); err != nil {
		return err
	}
	if _, err := c.Token(); err != io.EOF {
		return fault.Invalid("there is text after the arguments; give one JSON object")
	}
	if half := halfCharacter(raw); half != "" {
		return fault.Invalid("the arguments have half of a character, %s", half).
			WithHint("write characters beyond U+FFFF directly, or as a full surrogate pair")
	}
	if err := json.Unmarshal(c.rewritten(raw), into); err != nil {
		return fault.Invalid("the arguments are invalid: %v", err)
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

func (c *checker) value(s *jsonschema.Schema, nullable bool, at string) error {
	token, err := c.Token()
	if err != nil {
		return fault.Invalid("the arguments are not valid JSON: %v", err)
	}
	if token == nil && (nullable || slices.Contains(s.Types, "null")) {
		return nil
	}
	if got := typeOf(token); s.Type != "" && got != s.Type && (got != "integer" || s.Type != "number") {
		return fault.Invalid("%s must be %s, got %s", place(at), article(s.Type), article(got))
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return c.object(s, at)
		}
		return c.array(s, at)
	case json.Number:
		return c.number(token, s, at)
	}
	return nil
}

// number holds a number to its bounds, and notes an integer that is written otherwise.
func (c *checker) number(n json.Number, s *jsonschema.Schema, at string) error {
	value, err := n.Float64()
	if err != nil {
		return fault.Invalid("%s is too large a number", place(at))
	}
	least, most := s.Minimum, s.Maximum
	switch {
	case least != nil && most != nil && (value < *least || value > *most):
		return fault.Invalid("%s must be between %v and %v, got %s", place(at), *least, *most, n)
	case least != nil && value < *least:
		return fault.Invalid("%s must be at least %v, got %s", place(at), *least, n)
	case most != nil && value > *most:
		return fault.Invalid("%s must be at most %v, got %s", place(at), *most, n)
	}
	if s.Type == "integer" && strings.ContainsAny(n.String(), ".eE") {
		end := int(c.InputOffset())
		c.integers = append(c.integers, integer{end - len(n), end, strconv.FormatFloat(value, 'f', -1, 64)})
	}
	return nil
}

// checker reads arguments beside their schema.
type checker struct {
	*json.Decoder
	integers []integer
}

// integer is one that JSON Schema takes for such and Go does not, as 1.0.
type integer struct {
	from, to int // where it stands
	text     string
}

// rewritten are the arguments with their integers written as such.
func (c *checker) rewritten(raw []byte) []byte {
	if len(c.integers) == 0 {
		return raw
	}
	out, at := make([]byte, 0, len(raw)), 0
	for _, n := range c.integers { // there may be very many
		out = append(append(out, raw[at:n.from]...), n.text...)
		at = n.to
	}
	return append(out, raw[at:]...)
}

// property takes null for an optional argument as its absence, as many
// models write it.
func (c *checker) property(s, property *jsonschema.Schema, key, at string) error {
	if slices.Contains(s.Required, key) || IsMap(s) {
		return c.value(property, false, at)
	}
	return c.value(property, true, at)
}

func (c *checker) object(s *jsonschema.Schema, at string) error {
	fold := strings.ToLower
	if IsMap(s) {
		fold = func(key string) string { return key } // the names of variables have a case
	}
	seen := map[string]bool{}
	for c.More() {
		token, err := c.Token()
		if err != nil {
			return fault.Invalid("the arguments are not valid JSON: %v", err)
		}
		key, _ := token.(string)
		property, err := Property(s, key, at)
		if err != nil {
			return err
		}
		if seen[fold(key)] {
			return fault.Invalid("argument %s is given twice", fault.Quote(join(at, key)))
		}
		seen[fold(key)] = true
		if err := c.property(s, property, key, join(at, key)); err != nil {
			return err
		}
	}
	if _, err := c.Token(); err != nil {
		return fault.Invalid("the arguments are not valid JSON: %v", err)
	}
	for _, name := range s.Required {
		if !seen[name] {
			missing := fault.Invalid("argument %s is missing", join(at, name))
			if what := s.Properties[name].Description; what != "" {
				missing.Message += " (" + what + ")"
			}
			return missing
		}
	}
	return nil
}

// Property is the schema of one key. Maps allow any key.
func Property(s *jsonschema.Schema, key, at string) (*jsonschema.Schema, error) {
	if property := s.Properties[key]; property != nil {
		return property, nil
	}
	if IsMap(s) {
		return s.AdditionalProperties, nil
	}
	err := fault.Invalid("unknown argument %s", fault.Quote(join(at, key)))
	if nearest := nearestKey(s, key); nearest != "" {
		return nil, err.WithHint("did you mean %q?", join(at, nearest)).With("nearest", nearest)
	}
	return nil, err.WithHint("this tool takes %s", known(s))
}

// IsMap: an object that takes any key.
func IsMap(s *jsonschema.Schema) bool {
	return s.Properties == nil && s.AdditionalProperties != nil && s.AdditionalProperties.Not == nil
}

func known(s *jsonschema.Schema) string {
	if len(s.PropertyOrder) == 0 {
		return "no arguments"
	}
	return strings.Join(s.PropertyOrder, ", ")
}

// meantKeys are other words for arguments.
var meantKeys = map[string][]string{
	"paths": {"files"}, "files": {"paths"}, "file": {"path", "files"}, "filename": {"path"}, "dir": {"path", "cwd"}, "folder": {"path", "cwd"},
	"cmd": {"command"}, "text": {"content"}, "query": {"pattern"}, "regex": {"pattern"}, "pattern": {"query"},
}

// nearestKey is another word for key, else the known key with the most letter pairs in
// common with it.
func nearestKey(s *jsonschema.Schema, key string) string {
	for _, name := range meantKeys[key] {
		if s.Properties[name] != nil {
			return name
		}
	}
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

func (c *checker) array(s *jsonschema.Schema, at string) error {
	items := s.Items
	if items == nil {
		items = &jsonschema.Schema{}
	}
	for i := 0; c.More(); i++ {
		if err := c.value(items, false, at+"["+strconv.Itoa(i)+"]"); err != nil {
			return err
		}
	}
	_, err := c.Token()
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
		if !strings.ContainsAny(v.String(), ".eE") {
			return "integer"
		}
		if value, err := v.Float64(); err != nil || value != math.Trunc(value) || math.Abs(value) > 1<<53 {
			return "number"
		}
		return "integer"
	}
	return "null"
}
