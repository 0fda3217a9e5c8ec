package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"pillion/internal/bug"
	"pillion/tools"
	_ "pillion/tools/all"
)

// Choose reads which tools to offer: "core", "all", or names with commas between them. With
// anyName tools of any name may be found.
func Choose(what string, anyName bool) ([]string, error) {
	if what == "" || what == "all" {
		return nil, nil
	}
	chosen, unknown := tools.Choose(strings.Split(what, ","))
	if len(unknown) > 0 && !anyName {
		return nil, fmt.Errorf("unknown tool %q; use core, all, or names from `pillion tools` separated by commas", unknown[0])
	}
	return chosen, nil
}

// listed is a tool as MCP lists it. All of it is in each conversation, so nothing stands
// there that is MCP's default; the SDK's own type writes some of these out.
type listed struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	// OutputSchema is there where structuredContent is.
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  *hints          `json:"annotations,omitempty"`
}

// hints are MCP's annotations of a tool.
type hints struct {
	ReadOnly    bool  `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	Idempotent  bool  `json:"idempotentHint,omitempty"`
	OpenWorld   *bool `json:"openWorldHint,omitempty"`
}

func listedTool(d tools.Definition, n *names) listed {
	return listed{
		Name: n.shown(d.Name), Title: d.Title, Description: n.plainText(d.Description),
		// Whoever tries another argument hears of it from the door.
		InputSchema:  bytes.ReplaceAll(d.InputSchema, []byte(`,"additionalProperties":false`), nil),
		OutputSchema: shownResult(d.OutputSchema),
		Annotations:  hintsOf(d.Annotations),
	}
}

// hintsOf leaves out what MCP assumes: a tool that is not read-only is destructive and not
// idempotent, of a read-only one neither means anything, and every tool reaches the open world.
func hintsOf(a tools.Annotations) *hints {
	out := hints{ReadOnly: a.ReadOnly}
	if !a.OpenWorld {
		out.OpenWorld = new(bool)
	}
	if !a.ReadOnly {
		out.Idempotent = a.Idempotent
		if !a.Destructive {
			out.Destructive = new(bool)
		}
	}
	if out == (hints{}) {
		return nil
	}
	return &out
}

// Cost is what a tool's definition takes of each conversation.
type Cost struct {
	Name  string
	Bytes int
	Core  bool
}

// Costs are those of the tools, as they are sent.
func Costs(definitions []tools.Definition) []Cost {
	var n names
	n.learn("", nil)
	out := make([]Cost, 0, len(definitions))
	for _, d := range definitions {
		out = append(out, Cost{Name: plainName(d.Name), Bytes: len(encoded(listedTool(d, &n))), Core: tools.IsCore(d.Name)})
	}
	return out
}

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
	if err := json.Unmarshal(full, &s); err != nil {
		_ = bug.Errorf("a result's schema: %w", err)
		return full
	}
	s.cut(resultLevels)
	return encoded(s)
}
