package main

import (
	"fmt"
	"strings"

	"pillion/lspbridge"
)

// serversTable is for the marker "servers" of docs/languages.md.
func serversTable(_, name string) (string, error) {
	if name != "servers" {
		return "", unknownMarker(name)
	}
	var out strings.Builder
	out.WriteString("| languages | server | how to get it | |\n|---|---|---|---|\n")
	for _, s := range lspbridge.Known() {
		note := ""
		if s.Held != "" {
			note = "only if you enable it: " + s.Held
		}
		fmt.Fprintf(&out, "| %s | `%s` | %s | %s |\n", strings.Join(s.Languages, ", "), strings.Join(s.Command, " "), cell(s.Install), cell(note))
	}
	return out.String(), nil
}
