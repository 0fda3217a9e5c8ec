package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pillion/tools"
)

// property is the part of JSON Schema that the tools' arguments use.
type property struct {
	Type        string                     `json:"type"`
	Description string                     `json:"description"`
	Items       json.RawMessage            `json:"items"`
	Properties  map[string]json.RawMessage `json:"properties"`
	Required    []string                   `json:"required"`
	Minimum     *float64                   `json:"minimum"`
	Maximum     *float64                   `json:"maximum"`
	Default     json.RawMessage            `json:"default"`
}

// meaning is the description with what else may be said of a value.
func (p property) meaning() string {
	var parts []string
	if p.Description != "" {
		parts = append(parts, p.Description)
	}
	switch {
	case p.Minimum != nil && p.Maximum != nil:
		parts = append(parts, fmt.Sprintf("from %v to %v", *p.Minimum, *p.Maximum))
	case p.Minimum != nil && *p.Minimum > 0:
		parts = append(parts, fmt.Sprintf("at least %v", *p.Minimum))
	}
	if p.Default != nil {
		parts = append(parts, "default "+string(p.Default))
	}
	return strings.Join(parts, "; ")
}

func argumentsTable(d tools.Definition) (string, error) {
	var schema property
	if err := json.Unmarshal(d.InputSchema, &schema); err != nil {
		return "", err
	}
	order, err := keys(d.InputSchema)
	if err != nil {
		return "", err
	}
	if len(order) == 0 {
		return "It takes no arguments.\n", nil
	}
	var out strings.Builder
	out.WriteString("| argument | type | |\n|---|---|---|\n")
	for _, name := range order {
		var p property
		if err := json.Unmarshal(schema.Properties[name], &p); err != nil {
			return "", err
		}
		label := "`" + name + "`"
		if slices.Contains(schema.Required, name) {
			label = "**" + label + "**"
		}
		fmt.Fprintf(&out, "| %s | %s | %s |\n", label, typeName(schema.Properties[name]), cell(p.meaning()))
	}
	return out.String(), nil
}

// typeName is the type in words; of an object it names the keys, with a question mark
// after those that may be left out.
func typeName(raw json.RawMessage) string {
	var p property
	if err := json.Unmarshal(raw, &p); err != nil {
		return "any"
	}
	switch {
	case p.Type == "array":
		item := typeName(p.Items)
		if strings.HasPrefix(item, "`") {
			return "array of " + item
		}
		return "array of " + item + "s"
	case p.Type != "object":
		return p.Type
	case len(p.Properties) == 0:
		return "object of strings"
	}
	names, err := keys(raw)
	if err != nil {
		return "object"
	}
	for i, name := range names {
		if !slices.Contains(p.Required, name) {
			names[i] += "?"
		}
	}
	return "`{" + strings.Join(names, ", ") + "}`"
}

// keys are the properties of a schema in the order in which they are written.
func keys(schema json.RawMessage) ([]string, error) {
	var top struct {
		Properties json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(schema, &top); err != nil {
		return nil, err
	}
	if len(top.Properties) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(strings.NewReader(string(top.Properties)))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var out []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprint(name))
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return nil, err
		}
	}
	return out, nil
}
