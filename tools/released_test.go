package tools_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"pillion/tools"
)

var release = flag.Bool("release", false, "write the catalogue as that of a release; from then on it only grows")

// released is the catalogue of the last release.
const released = "testdata/released.json"

// promise is what is kept of a tool: the types of its arguments and of its results' fields,
// by where they are ("files[].path"), and the arguments that it needs.
type promise struct {
	Arguments map[string]string `json:"arguments"`
	Required  []string          `json:"required"`
	Results   map[string]string `json:"results"`
}

// TestTheCatalogueOnlyGrows: an agent that was written for the last release works unchanged.
func TestTheCatalogueOnlyGrows(t *testing.T) {
	now := promises(t, tools.WithResults((&tools.Registry{}).Definitions()))
	if *release {
		text, err := json.MarshalIndent(now, "", " ")
		must(t, err)
		must(t, os.WriteFile(released, append(text, '\n'), 0o644))
	}
	var before map[string]promise
	if err := json.Unmarshal([]byte(read(t, released)), &before); err != nil || len(before) == 0 {
		t.Fatalf("the last release had %d tools: %v", len(before), err)
	}
	for _, broken := range broken(before, now) {
		t.Error(broken)
	}
}

// TestWhatBreaksAPromise: each change but an addition is noticed.
func TestWhatBreaksAPromise(t *testing.T) {
	before := map[string]promise{"read": {
		Arguments: map[string]string{"path": "string", "limit": "integer"}, Required: []string{"path"}, Results: map[string]string{"ok": "boolean", "lines[].text": "string"},
	}}
	for want, now := range map[string]promise{
		"": {
			Arguments: map[string]string{"path": "string", "limit": "integer", "more": "array", "more[]": "object", "more[].name": "string"},
			Required:  []string{"more[].name", "path"}, Results: map[string]string{"ok": "boolean", "lines[].text": "string", "size": "integer"},
		},
		"read: argument limit was integer, is gone":     {Arguments: map[string]string{"path": "string"}, Results: before["read"].Results},
		"read: argument limit was integer, is string":   {Arguments: map[string]string{"path": "string", "limit": "string"}, Results: before["read"].Results},
		"read: argument limit is required now":          {Arguments: before["read"].Arguments, Required: []string{"limit", "path"}, Results: before["read"].Results},
		"read: result lines[].text was string, is gone": {Arguments: before["read"].Arguments, Results: map[string]string{"ok": "boolean"}},
	} {
		if got := strings.Join(broken(before, map[string]promise{"read": now}), "; "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := broken(before, nil); !slices.Equal(got, []string{"read is gone"}) {
		t.Errorf("a tool that is gone: %q", got)
	}
}

func broken(before, now map[string]promise) (out []string) {
	for _, tool := range slices.Sorted(maps.Keys(before)) {
		was, is := before[tool], now[tool]
		if is.Arguments == nil {
			out = append(out, tool+" is gone")
			continue
		}
		out = append(out, changed(tool+": argument ", was.Arguments, is.Arguments)...)
		for _, argument := range is.Required {
			around := strings.TrimSuffix(argument[:max(0, strings.LastIndex(argument, "."))], "[]")
			if !slices.Contains(was.Required, argument) && (around == "" || was.Arguments[around] != "") {
				out = append(out, fmt.Sprintf("%s: argument %s is required now", tool, argument))
			}
		}
		out = append(out, changed(tool+": result ", was.Results, is.Results)...)
	}
	return out
}

func changed(what string, was, is map[string]string) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if is[name] == "" {
			is[name] = "gone"
		}
		if is[name] != was[name] {
			out = append(out, fmt.Sprintf("%s%s was %s, is %s", what, name, was[name], is[name]))
		}
	}
	return out
}

func promises(t *testing.T, definitions []tools.Definition) map[string]promise {
	out := map[string]promise{}
	for _, d := range definitions {
		p := promise{Arguments: map[string]string{}, Required: []string{}, Results: map[string]string{}}
		flatten(t, d.InputSchema, "", p.Arguments, &p.Required)
		flatten(t, d.OutputSchema, "", p.Results, nil)
		slices.Sort(p.Required)
		out[d.Name] = p
	}
	return out
}

// flatten lists the fields below a schema.
func flatten(t *testing.T, raw json.RawMessage, at string, types map[string]string, required *[]string) {
	if len(raw) == 0 || bytes.Equal(raw, []byte("true")) {
		types[at] = "any"
		return
	}
	var s struct {
		Type                 any
		Properties           map[string]json.RawMessage
		Items                json.RawMessage
		AdditionalProperties json.RawMessage
		Required             []string
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatalf("the schema of %s: %v", at, err)
	}
	if at != "" {
		types[at] = fmt.Sprint(s.Type)
		at += "."
	}
	for name, property := range s.Properties {
		flatten(t, property, at+name, types, required)
	}
	if required != nil {
		for _, name := range s.Required {
			*required = append(*required, at+name)
		}
	}
	if s.Items != nil {
		flatten(t, s.Items, strings.TrimSuffix(at, ".")+"[]", types, required)
	}
	if len(s.AdditionalProperties) > 0 && s.Properties == nil && !bytes.HasPrefix(s.AdditionalProperties, []byte("false")) {
		flatten(t, s.AdditionalProperties, at+"*", types, required)
	}
}
