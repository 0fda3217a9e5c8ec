package found

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

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
