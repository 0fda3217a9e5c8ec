package tools

import (
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"pillion/internal/bug"
	"pillion/internal/fault"
	"pillion/tools/policy"
	"pillion/tools/schema"
)

// everyResult is what each tool's result may have. The rare todos_changed, caused_later and invalid are not in
// it: they would be in the definition of every tool.
type everyResult struct {
	OK             bool           `json:"ok"`
	Error          *fault.Error   `json:"error,omitempty"`
	ChangedOutside []string       `json:"changed_outside,omitempty"`
	EditedByHuman  bool           `json:"edited_by_human,omitempty"`
	Arguments      map[string]any `json:"arguments,omitempty"` // the user's
}

// everyEdit is what the result of each tool may have that changes files; of a failure,
// what it was to be done to.
type everyEdit struct {
	Path        string       `json:"path,omitempty"`
	From        string       `json:"from,omitempty"`
	To          string       `json:"to,omitempty"`
	HumanDiff   string       `json:"human_diff,omitempty"`
	Diagnostics causedResult `json:"diagnostics,omitzero"`
}

type successResult struct {
	Success bool `json:"success"`
}

// resultSchema is reflected from the structs that a tool's results are made of: a result
// has fields of all of them. Only ok is in each, since a failure has what is known.
func resultSchema(s Spec, access policy.Access) *jsonschema.Schema {
	structs := []any{everyResult{}}
	if s.Success {
		structs = append(structs, successResult{})
	}
	structs = append(structs, s.Results...)
	if access == policy.Edit {
		structs = append(structs, everyEdit{}, struct {
			Diagnostics severalCaused `json:"diagnostics,omitzero"`
		}{})
	}
	out := reflectResult(structs[0])
	for _, more := range structs[1:] {
		out = merged(out, reflectResult(more))
	}
	out.Required = []string{"ok"}
	return out
}

func reflectResult(of any) *jsonschema.Schema {
	s, err := jsonschema.ForType(reflect.TypeOf(of), &jsonschema.ForOptions{})
	if err != nil {
		panic(bug.Errorf("the result %T has no schema: %v", of, err))
	}
	return open(s)
}

// open lets objects have more fields than are known, for results only grow, and says
// nothing of which are always there: all of this is in each conversation. A list is never
// null, nor is what would be left out instead.
func open(s *jsonschema.Schema) *jsonschema.Schema {
	for name, property := range s.Properties {
		if optional := !slices.Contains(s.Required, name); optional || slices.Contains(property.Types, "array") {
			schema.WithoutNullHere(property)
		}
		open(property)
	}
	s.Required, s.Minimum, s.Maximum = nil, nil, nil
	if s.Items != nil {
		open(s.Items)
	}
	if schema.IsMap(s) {
		open(s.AdditionalProperties)
	} else {
		s.AdditionalProperties = nil
	}
	return s
}

// merged is what fits either of two schemas, field by field.
func merged(a, b *jsonschema.Schema) *jsonschema.Schema {
	for _, name := range b.PropertyOrder {
		if a.Properties[name] != nil {
			a.Properties[name] = merged(a.Properties[name], b.Properties[name])
			continue
		}
		if a.Properties == nil {
			a.Properties = map[string]*jsonschema.Schema{}
		}
		a.Properties[name], a.PropertyOrder = b.Properties[name], append(a.PropertyOrder, name)
	}
	if a.Items != nil && b.Items != nil {
		a.Items = merged(a.Items, b.Items)
	}
	return a
}
