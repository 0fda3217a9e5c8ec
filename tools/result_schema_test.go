package tools

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
)

// CheckResult holds a result to its tool's schema, in which for once nothing else may be but
// what is too rare to be in it.
func CheckResult(tool string, result json.RawMessage) error {
	t := catalogue[canonical(tool)]
	s := resultSchema(t.Spec, t.Access)
	for name, rare := range reflectResult(struct {
		Invalid     []brokenFile `json:"invalid"`
		CausedLater []string     `json:"caused_later"`
	}{}).Properties {
		s.Properties[name] = rare
	}
	closed(s)
	resolved, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(result, &value); err != nil {
		return err
	}
	return resolved.Validate(value)
}

func closed(s *jsonschema.Schema) {
	for _, property := range s.Properties {
		closed(property)
	}
	if s.Items != nil {
		closed(s.Items)
	}
	if s.Properties != nil && s.AdditionalProperties == nil {
		s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	} else if s.AdditionalProperties != nil {
		closed(s.AdditionalProperties)
	}
}
