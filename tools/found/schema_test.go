package found

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"nothing":     {`{}`, `{"properties":{},"type":"object"}`},
		"its words":   {`{"$schema":"http://json-schema.org/draft-07/schema#","$id":"x","title":"T","type":"object","properties":{}}`, `{"properties":{},"type":"object"}`},
		"no type":     {`{"properties":{"a":{"enum":["x","",null]},"b":{"items":{"type":"string"}},"c":{}}}`, `{"properties":{"a":{"enum":["x"],"type":"string"},"b":{"items":{"type":"string"},"type":"array"},"c":{"anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},{"properties":{},"type":"object"}]}},"type":"object"}`},
		"reference":   {`{"type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"mine"}},"$defs":{"A":{"type":"string","description":"its"}}}`, `{"properties":{"a":{"description":"mine","type":"string"}},"type":"object"}`},
		"nowhere":     {`{"type":"object","properties":{"a":{"$ref":"https://example.org/x"},"b":{"$ref":"#/$defs/none","type":"integer"}}}`, `{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},{"properties":{},"type":"object"}]},"b":{"type":"integer"}},"type":"object"}`},
		"itself":      {`{"type":"object","properties":{"next":{"$ref":"#"}}}`, `{"properties":{"next":{"properties":{"next":{"properties":{},"type":"object"}},"type":"object"}},"type":"object"}`},
		"null":        {`{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"type":"integer"},{"type":"null"}],"description":"d"}}}`, `{"properties":{"a":{"type":"string"},"b":{"description":"d","type":"integer"}},"type":"object"}`},
		"types":       {`{"type":"object","properties":{"a":{"type":["string","number"]}}}`, `{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"number"}]}},"type":"object"}`},
		"const":       {`{"type":"object","properties":{"a":{"const":"x"},"n":{"enum":[1,2],"description":"d"}}}`, `{"properties":{"a":{"enum":["x"],"type":"string"},"n":{"description":"d (one of: 1, 2)","type":"number"}},"type":"object"}`},
		"formats":     {`{"type":"object","properties":{"a":{"type":"string","format":"uri","pattern":"^(?=x)"},"b":{"type":"string","format":"date-time","pattern":"^x$"}}}`, `{"properties":{"a":{"type":"string"},"b":{"format":"date-time","pattern":"^x$","type":"string"}},"type":"object"}`},
		"all of":      {`{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"integer"}}}]}`, `{"properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"],"type":"object"}`},
		"one of":      {`{"oneOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"string"}}}]}`, `{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"type":"object"}`},
		"no object":   {`{"type":"string"}`, `{"properties":{},"type":"object"}`},
		"tuple":       {`{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"},{"type":"integer"}]}}}`, `{"properties":{"a":{"items":{"anyOf":[{"type":"string"},{"type":"integer"}]},"type":"array"}},"type":"object"}`},
		"map":         {`{"type":"object","properties":{"env":{"type":"object","additionalProperties":{"type":"string"}}},"additionalProperties":false}`, `{"additionalProperties":false,"properties":{"env":{"additionalProperties":{"type":"string"},"properties":{},"type":"object"}},"type":"object"}`},
		"Google's":    {`{"type":"OBJECT","properties":{"a":{"type":"ARRAY","items":{"type":"INTEGER"}}}}`, `{"properties":{"a":{"items":{"type":"integer"},"type":"array"}},"type":"object"}`},
		"not there":   {`{"type":"object","properties":{"a":{"type":"string"}},"required":["a","z"]}`, `{"properties":{"a":{"type":"string"}},"required":["a"],"type":"object"}`},
		"odd name":    {`{"type":"object","properties":{"a b":{"type":"string"}}}`, `{"properties":{},"type":"object"}`},
		"hidden text": {`{"type":"object","properties":{"a":{"type":"string","description":"a\u202eb\u200b"}}}`, `{"properties":{"a":{"description":"ab","type":"string"}},"type":"object"}`},
	} {
		got, err := shownOf(c.in)
		if err != nil || string(got) != c.want {
			t.Errorf("%s:\n got %s, %v\nwant %s", name, got, err, c.want)
		}
	}
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 500) + `{"type":"string"}` + strings.Repeat("}}", 500)
	if got, err := shownOf(deep); err != nil || len(got) > 1000 {
		t.Errorf("a deep one: %d bytes, %v", len(got), err)
	}
	for _, bad := range []string{`[]`, `7`, `"x"`, `{"a"`, `{"properties":{"a b":{}},"required":["a b"]}`} {
		if got, err := shownOf(bad); err == nil {
			t.Errorf("%s became %s", bad, got)
		}
	}
}

// shownOf is a declared schema as models see it.
func shownOf(text string) (json.RawMessage, error) {
	var schema any
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		return nil, err
	}
	var t Tool
	err := t.declare(schema)
	return t.Schema, err
}

// TestSchemasThatNeverEnd: what refers to itself, or to more than anybody can follow, must
// neither hold up nor end whoever checks arguments by it.
func TestSchemasThatNeverEnd(t *testing.T) {
	twice := map[string]any{}
	for i := range 40 {
		next := map[string]any{"$ref": fmt.Sprintf("#/$defs/%d", i+1)}
		twice[strconv.Itoa(i)] = map[string]any{"not": map[string]any{"allOf": []any{next, next}}}
	}
	long := map[string]any{"enum": slices.Repeat([]any{strings.Repeat("x", 1000)}, 100)}
	for name, schema := range map[string]map[string]any{
		"itself":            {"type": "object", "$ref": "#"},
		"itself, in all of": {"type": "object", "allOf": []any{map[string]any{"$ref": "#"}}},
		"each other": {"$ref": "#/$defs/a", "$defs": map[string]any{
			"a": map[string]any{"anyOf": []any{map[string]any{"$ref": "#/$defs/b"}}}, "b": map[string]any{"oneOf": []any{map[string]any{"$ref": "#/$defs/a"}, map[string]any{"$ref": "#/$defs//a"}}},
		}},
		"dynamically":     {"$dynamicAnchor": "x", "allOf": []any{map[string]any{"$dynamicRef": "#x"}}},
		"by an anchor":    {"$anchor": "x", "allOf": []any{map[string]any{"$ref": "#x"}}},
		"by an address":   {"$id": "https://example.org/x", "allOf": []any{map[string]any{"$ref": "https://example.org/x"}}},
		"more and more":   {"$ref": "#/$defs/0", "$defs": twice},
		"long and longer": {"allOf": slices.Repeat([]any{map[string]any{"$ref": "#/$defs/long"}}, 1000), "$defs": map[string]any{"long": long}},
		"oddly joined":    {"properties": map[string]any{"a": map[string]any{}}, "allOf": []any{map[string]any{"properties": []any{}}, nil, 7.0}},
	} {
		var tool Tool
		err := tool.declare(any(schema))
		if err == nil {
			_ = tool.Check(map[string]any{"a": 1.0})
		}
		if wide := strings.HasPrefix(name, "more") || strings.HasPrefix(name, "long"); wide != (err != nil) || wide && !strings.Contains(err.Error(), "parts") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWhatRefers is checked like what it refers to.
func TestWhatRefers(t *testing.T) {
	var schema any
	if err := json.Unmarshal([]byte(`{"type":"object","required":["tree"],"properties":{"tree":{"$ref":"#/definitions/Node%3Cint%3E","description":"the root"},"first":{"$ref":"#/properties/pair/items/0"},
		"pair":{"type":"array","items":[{"type":"integer"},{"type":"STRING"}],"additionalItems":false}},
		"definitions":{"Node<int>":{"type":["object","null"],"properties":{"value":{"type":"integer"},"next":{"$ref":"#/definitions/Node%3Cint%3E"}},"required":["value"]}}}`), &schema); err != nil {
		t.Fatal(err)
	}
	var tool Tool
	if err := tool.declare(schema); err != nil || !tool.Closed || !strings.Contains(string(tool.Schema), `"description":"the root"`) {
		t.Fatalf("%s, %v", tool.Schema, err)
	}
	for text, fits := range map[string]bool{
		`{"tree":{"value":1}}`: true, `{"tree":null}`: true, `{"tree":{"value":1,"next":{"value":2,"next":null}}}`: true, `{"tree":{"value":1},"first":2,"pair":[1,"x"]}`: true,
		`{"tree":{}}`: false, `{"tree":{"value":1},"first":"x"}`: false, `{"tree":{"value":1},"pair":["x"]}`: false, `{"tree":{"value":1},"pair":[1,"x",2]}`: false,
	} {
		var arguments map[string]any
		must(t, json.Unmarshal([]byte(text), &arguments))
		if err := tool.Check(arguments); (err == nil) != fits {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"anyOf":[{"$ref":"#"},{"type":["null","array"]}]}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := shownOf(text)
		if err != nil {
			return
		}
		again, err := shownOf(string(got))
		if err != nil || !json.Valid(again) || len(got) > 4*len(text)*mostParts+1000 {
			t.Errorf("%s became %s, which becomes %s, %v", text, got, again, err)
		}
		if _, err := resolve(got); err != nil {
			t.Errorf("%s is no schema: %v", got, err)
		}
	})
}
