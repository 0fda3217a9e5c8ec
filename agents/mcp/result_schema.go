package mcp

import (
	"encoding/json"

	"pillion/internal/bug"
)

// resultSchema is what stands in each conversation of the schema of a result: its fields and
// theirs. What is further inside would be most of it.
type resultSchema struct {
	Type       any                      `json:"type,omitempty"`
	Properties map[string]*resultSchema `json:"properties,omitempty"`
	Items      *resultSchema            `json:"items,omitempty"`
	Required   []string                 `json:"required,omitempty"`
}

// UnmarshalJSON reads true, which is anything, as well.
func (s *resultSchema) UnmarshalJSON(raw []byte) error {
	type plain resultSchema
	if string(raw) == "true" {
		return nil
	}
	return json.Unmarshal(raw, (*plain)(s))
}

const resultLevels = 2

func (s *resultSchema) cut(levels int) {
	if levels == 0 {
		s.Properties, s.Items = nil, nil
		return
	}
	for _, property := range s.Properties {
		property.cut(levels - 1)
		if property.Items != nil {
			property.Items.cut(levels - 1)
		}
	}
}

// shownResult is the schema as it is listed; a door that gives no structure has none.
func shownResult(full json.RawMessage) json.RawMessage {
	if len(full) == 0 {
		return nil
	}
	var s resultSchema
	err := json.Unmarshal(full, &s)
	if err == nil {
		s.cut(resultLevels)
		full, err = json.Marshal(s)
	}
	if err != nil {
		_ = bug.Errorf("a result's schema: %w", err)
	}
	return full
}
