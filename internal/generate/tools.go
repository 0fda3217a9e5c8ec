package main

import (
	"fmt"
	"slices"
	"strings"

	"pillion/tools"
)

// toolTable is for a marker of docs/tools.md: "catalogue", or "arguments of TOOL".
func toolTable(_, name string) (string, error) {
	catalogue := tools.Catalogue()
	if name == "catalogue" {
		return catalogueTable(catalogue), nil
	}
	tool, ok := strings.CutPrefix(name, "arguments of ")
	at := slices.IndexFunc(catalogue, func(t tools.Tool) bool { return t.Name == tool })
	if !ok || at < 0 {
		return "", unknownMarker(name)
	}
	return argumentsTable(catalogue[at].Definition())
}

func catalogueTable(catalogue []tools.Tool) string {
	var out strings.Builder
	out.WriteString("| tool | class | what it is |\n|---|---|---|\n")
	for _, t := range catalogue {
		d := t.Definition()
		fmt.Fprintf(&out, "| [`%s`](#%s) | %s | %s |\n", d.Name, anchor(d.Name), d.Access, cell(firstSentence(d.Description)))
	}
	return out.String()
}

// anchor is the fragment that a heading `name` gets in rendered Markdown.
func anchor(name string) string { return strings.ReplaceAll(name, ".", "") }

func firstSentence(text string) string {
	first, _, more := strings.Cut(text, ". ")
	if more {
		first += "."
	}
	return first
}
