package found

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pillion/internal/fault"
)

// Bounds of a schema.
const (
	deepest         = 8
	longText        = 1000 // characters of a property's description
	mostEnum        = 200
	longPattern     = 500
	longestProperty = 64
)

// clean makes a schema of arguments that models take which are strict about schemas, of
// OpenAI's and Google's among others, of one that is written out: an object at the top, a type
// everywhere, and none of the words that these do not know. What it leaves out the program
// still checks; arguments are checked against what it declared.
func clean(schema map[string]any) (json.RawMessage, error) {
	c := &cleaner{}
	out := c.clean(schema, 0)
	if c.unfit != "" {
		return nil, fmt.Errorf("it needs an argument with the name %s, which models cannot write", fault.Quote(fault.Clip(c.unfit, 100)))
	}
	if out["type"] != "object" { // only what an object can be is left of it
		properties := map[string]any{}
		for _, one := range list(out["anyOf"]) {
			maps.Copy(properties, object(object(one)["properties"]))
		}
		out = map[string]any{"type": "object", "properties": properties}
	}
	return json.Marshal(out)
}

type cleaner struct {
	unfit string // a name that an argument must have and cannot
}

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }
func list(v any) []any            { l, _ := v.([]any); return l }

// anything is a value of any type, as models can be told so.
func anything() map[string]any {
	return map[string]any{"anyOf": []any{
		map[string]any{"type": "string"},
		map[string]any{"type": "number"},
		map[string]any{"type": "boolean"},
		map[string]any{"type": "object", "properties": map[string]any{}},
	}}
}

// clean cleans one schema.
func (c *cleaner) clean(in map[string]any, depth int) map[string]any {
	if depth > deepest {
		return map[string]any{"type": "object", "properties": map[string]any{}}
	}
	in = joined(in)
	out := map[string]any{}
	if text, is := in["description"].(string); is && visible(text, longText) != "" {
		out["description"] = visible(text, longText)
	}
	if choices := c.choices(in, depth); len(choices) > 1 {
		out["anyOf"] = choices
		return out
	} else if len(choices) == 1 {
		only := object(choices[0])
		maps.Copy(only, out)
		return only
	}
	kind := typeOf(in)
	if kind == "" {
		maps.Copy(out, anything())
		return out
	}
	out["type"] = kind
	if value, set := in["default"]; set && value != nil {
		out["default"] = value
	}
	switch kind {
	case "object":
		c.properties(in, out, depth)
	case "array":
		items := object(in["items"])
		if items == nil { // a tuple, or nothing is said
			items = map[string]any{"anyOf": list(in["prefixItems"])}
		}
		out["items"] = c.clean(items, depth+1)
		copyNumbers(out, in, "minItems", "maxItems")
	case "string":
		cleanString(in, out)
	default:
		copyNumbers(out, in, "minimum", "maximum")
		noteValues(in, out)
	}
	return out
}

// joined puts all of allOf into one.
func joined(in map[string]any) map[string]any {
	if in["allOf"] == nil {
		return in
	}
	out := maps.Clone(in)
	delete(out, "allOf")
	for _, part := range list(in["allOf"]) {
		for key, value := range joined(object(part)) {
			switch key {
			case "properties":
				both := map[string]any{}
				maps.Copy(both, object(value))
				maps.Copy(both, object(out[key]))
				out[key] = both
			case "required":
				out[key] = slices.Concat(list(out[key]), list(value))
			default:
				if _, set := out[key]; !set {
					out[key] = value
				}
			}
		}
	}
	return out
}

// choices are the schemas of which one has to fit, without null.
func (c *cleaner) choices(in map[string]any, depth int) []any {
	var out []any
	for _, one := range slices.Concat(list(in["anyOf"]), list(in["oneOf"])) {
		o := object(one)
		if o == nil || o["type"] == "null" || len(out) == mostEnum {
			continue
		}
		cleaned := c.clean(o, depth+1)
		if nested := list(cleaned["anyOf"]); nested != nil {
			out = append(out, nested...)
			continue
		}
		out = append(out, cleaned)
	}
	if len(out) > 0 {
		return out
	}
	types := slices.DeleteFunc(slices.Clone(list(in["type"])), func(t any) bool { return t == "null" })
	for i := 0; len(types) > 1 && i < len(types); i++ {
		one := maps.Clone(in)
		one["type"] = types[i]
		delete(one, "description")
		out = append(out, c.clean(one, depth+1))
	}
	return out
}

// typeOf is the type that a schema has, or that what it says makes sense for; else "".
func typeOf(in map[string]any) string {
	name, _ := in["type"].(string)
	for _, t := range list(in["type"]) {
		if text, _ := t.(string); text != "null" && name == "" {
			name = text
		}
	}
	if name != "" && name != "null" {
		return name
	}
	for _, mark := range []struct{ word, kind string }{
		{"properties", "object"},
		{"additionalProperties", "object"},
		{"required", "object"},
		{"items", "array"},
		{"prefixItems", "array"},
		{"pattern", "string"},
		{"minLength", "string"},
		{"maxLength", "string"},
		{"format", "string"},
		{"minimum", "number"},
		{"maximum", "number"},
	} {
		if _, set := in[mark.word]; set {
			return mark.kind
		}
	}
	for _, value := range append(slices.Clone(list(in["enum"])), in["const"]) {
		switch value.(type) {
		case string:
			return "string"
		case float64:
			return "number"
		case bool:
			return "boolean"
		}
	}
	return ""
}

func (c *cleaner) properties(in, out map[string]any, depth int) {
	properties, required := map[string]any{}, []any{}
	needed := map[string]bool{}
	for _, name := range list(in["required"]) {
		if name, is := name.(string); is {
			needed[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object(in["properties"]))) {
		if len(name) > longestProperty || unfit.MatchString(name) || name == "" {
			if needed[name] && c.unfit == "" {
				c.unfit = name
			}
			continue
		}
		properties[name] = c.clean(object(object(in["properties"])[name]), depth+1)
		if needed[name] {
			required = append(required, name)
		}
	}
	out["properties"] = properties
	if len(required) > 0 {
		out["required"] = required
	}
	switch more := in["additionalProperties"].(type) {
	case bool:
		if !more {
			out["additionalProperties"] = false
		}
	case map[string]any:
		if len(properties) == 0 { // a map
			out["additionalProperties"] = c.clean(more, depth+1)
		}
	}
}

func cleanString(in, out map[string]any) {
	values := list(in["enum"])
	if text, is := in["const"].(string); is {
		values = []any{text}
	}
	var texts []any
	for _, value := range values {
		if text, is := value.(string); is && text != "" && len(texts) < mostEnum && !slices.Contains(texts, value) {
			texts = append(texts, value)
		}
	}
	if len(texts) > 0 {
		out["enum"] = texts
	}
	copyNumbers(out, in, "minLength", "maxLength")
	if pattern, is := in["pattern"].(string); is && len(pattern) <= longPattern {
		if _, err := regexp.Compile(pattern); err == nil {
			out["pattern"] = pattern
		}
	}
	if in["format"] == "date-time" { // the only one that all know
		out["format"] = "date-time"
	}
}

// noteValues says in words which values a number or a truth value can have: only texts are
// listed everywhere.
func noteValues(in, out map[string]any) {
	values := list(in["enum"])
	if value, set := in["const"]; set {
		values = []any{value}
	}
	if len(values) == 0 {
		return
	}
	var words []string
	for _, value := range values[:min(len(values), mostEnum)] {
		words = append(words, fmt.Sprint(value))
	}
	text, _ := out["description"].(string)
	out["description"] = visible(strings.TrimSpace(text+" (one of: "+strings.Join(words, ", ")+")"), longText)
}

func copyNumbers(out, in map[string]any, keys ...string) {
	for _, key := range keys {
		if n, is := in[key].(float64); is {
			out[key] = n
		}
	}
}

// Bounds of a schema whose references are written out.
const (
	mostParts   = 2000
	longWritten = 2 * longDeclaration // bytes, about
)

// expand writes out what a schema refers to within itself. What comes of it is a tree of a
// bounded size, in the words of draft 2020-12: whoever walks it, to check arguments or to
// clean it, is done soon. Of a reference that leads nowhere, elsewhere or back to where it
// came from the type is left at most: anything fits, and the program has the last word.
func expand(schema map[string]any) (map[string]any, error) {
	e := &expander{root: schema, parts: mostParts, bytes: longWritten}
	out := e.schema(schema, nil)
	if e.parts < 0 || e.bytes < 0 {
		return nil, fmt.Errorf("the schema of its arguments has more than %d parts or %d bytes when its references are written out", mostParts, longWritten)
	}
	return out, nil
}

type expander struct {
	root         map[string]any
	parts, bytes int // that may still come; less than 0: there were too many
}

// schema expands one. above are the references that led to it.
func (e *expander) schema(in map[string]any, above []string) map[string]any {
	out := map[string]any{}
	if e.parts--; e.parts < 0 || e.bytes < 0 {
		return out
	}
	for key, value := range in {
		e.bytes -= len(key) + 4
		switch key {
		case "$schema", "$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$ref", "$defs", "definitions", "$comment", "examples":
		case "additionalItems": // see items
		case "type":
			if kind := typeWords(value); kind != nil {
				out[key] = kind
			}
		case "properties", "patternProperties", "dependentSchemas", "dependencies":
			out[key] = e.each(value, above)
		case "allOf", "anyOf", "oneOf", "prefixItems":
			out[key] = e.list(list(value), above)
		case "items":
			if tuple, is := value.([]any); is { // as in older drafts
				out["prefixItems"] = e.list(tuple, above)
				key, value = "items", in["additionalItems"]
			}
			if value != nil {
				out[key] = e.either(value, above)
			}
		case "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "not", "if", "then", "else", "contains", "propertyNames":
			out[key] = e.either(value, above)
		default:
			e.bytes -= sizeOf(value)
			out[key] = value
		}
	}
	if ref, is := in["$ref"].(string); is {
		return e.refer(out, ref, above)
	}
	return out
}

// refer adds what a reference leads to.
func (e *expander) refer(out map[string]any, ref string, above []string) map[string]any {
	target := e.at(ref)
	if target == nil || slices.Contains(above, ref) {
		if kind := typeWords(target["type"]); kind != nil && out["type"] == nil {
			out["type"] = kind
		}
		return out
	}
	there := e.schema(target, append(slices.Clone(above), ref))
	if len(out) == 0 {
		return there
	}
	out["allOf"] = append([]any{there}, list(out["allOf"])...)
	return out
}

// either is a schema, or true or false.
func (e *expander) either(value any, above []string) any {
	if s := object(value); s != nil {
		return e.schema(s, above)
	}
	e.bytes -= sizeOf(value)
	return value
}

func (e *expander) each(value any, above []string) any {
	out := map[string]any{}
	for name, one := range object(value) {
		e.bytes -= len(name) + 4
		out[name] = e.either(one, above)
	}
	return out
}

func (e *expander) list(values []any, above []string) []any {
	out := []any{}
	for _, one := range values {
		out = append(out, e.either(one, above))
	}
	return out
}

// at is the part of the schema that a pointer such as #/$defs/name names, nil if there is none.
func (e *expander) at(ref string) map[string]any {
	path, local := strings.CutPrefix(ref, "#")
	path, err := url.PathUnescape(path)
	steps := strings.Split(path, "/")
	if !local || err != nil || steps[0] != "" { // another document, or an anchor
		return nil
	}
	var here any = e.root
	for _, step := range steps[1:] {
		if all, is := here.([]any); is {
			at, err := strconv.Atoi(step)
			if err != nil || at < 0 || at >= len(all) {
				return nil
			}
			here = all[at]
			continue
		}
		here = object(here)[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	return object(here)
}

var known = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// typeWords is a type, or a list of such, without what is none; nil if nothing is left.
// Google writes them in capitals.
func typeWords(value any) any {
	if name, is := value.(string); is {
		if name = strings.ToLower(name); slices.Contains(known, name) {
			return name
		}
		return nil
	}
	var out []any
	for _, one := range list(value) {
		if word := typeWords(one); word != nil && !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	if out == nil {
		return nil
	}
	return out
}

// sizeOf is about how many bytes a value has as JSON.
func sizeOf(value any) int {
	size := 8
	switch v := value.(type) {
	case string:
		size += len(v)
	case []any:
		for _, one := range v {
			size += sizeOf(one)
		}
	case map[string]any:
		for key, one := range v {
			size += len(key) + sizeOf(one)
		}
	}
	return size
}
