package found

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
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
