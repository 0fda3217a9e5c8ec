package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pillion/internal/clients"
)

// clientsTable is for a marker of docs/clients.md: a table for each direction, and
// what stands in one column alone.
func clientsTable(root, name string) (string, error) {
	if name == "one-sided" {
		return oneSided(), nil
	}
	fromEditor := name == "editor to sidecar"
	if !fromEditor && name != "sidecar to editor" {
		return "", unknownMarker(name)
	}
	rows, err := clients.Read(root)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString("| method | VS Code | Neovim | no plugin |\n|---|---|---|---|\n")
	for _, row := range rows {
		if row.FromEditor == fromEditor {
			fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", row.Name, row.VSCode, row.Neovim, row.Plain)
		}
	}
	return out.String(), nil
}

// oneSided are the methods that only one plugin has, with the reasons.
func oneSided() string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(clients.OneSided)) {
		fmt.Fprintf(&out, "- `%s`: %s.\n", name, clients.OneSided[name])
	}
	return out.String()
}
