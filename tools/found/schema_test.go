package found

import (
	"encoding/json"
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
		got, err := Clean(json.RawMessage(c.in))
		if err != nil || string(got) != c.want {
			t.Errorf("%s:\n got %s, %v\nwant %s", name, got, err, c.want)
		}
	}
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 500) + `{"type":"string"}` + strings.Repeat("}}", 500)
	if got, err := Clean(json.RawMessage(deep)); err != nil || len(got) > 1000 {
		t.Errorf("a deep one: %d bytes, %v", len(got), err)
	}
	for _, bad := range []string{`[]`, `7`, `"x"`, `{"a"`, `{"properties":{"a b":{}},"required":["a b"]}`} {
		if got, err := Clean(json.RawMessage(bad)); err == nil {
			t.Errorf("%s became %s", bad, got)
		}
	}
	bomb := `{"$defs":{"x":{"anyOf":[{"$ref":"#/$defs/y"},{"$ref":"#/$defs/y"}]},"y":{"anyOf":[{"$ref":"#/$defs/z"},{"$ref":"#/$defs/z"}]},"z":{"allOf":[{"$ref":"#/$defs/x"},{"$ref":"#/$defs/x"}]}},"$ref":"#/$defs/x"}`
	if _, err := Clean(json.RawMessage(bomb)); err != nil {
		t.Logf("a bomb: %v", err)
	}
}

func FuzzClean(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"anyOf":[{"$ref":"#"},{"type":["null","array"]}]}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Clean(json.RawMessage(text))
		if err != nil {
			return
		}
		again, err := Clean(got)
		if err != nil || !json.Valid(again) || len(got) > 4*len(text)*mostNodes+1000 {
			t.Errorf("%s became %s, which becomes %s, %v", text, got, again, err)
		}
		if _, err := resolve(got); err != nil {
			t.Errorf("%s is no schema: %v", got, err)
		}
	})
}
