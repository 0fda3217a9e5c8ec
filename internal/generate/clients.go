package main

import (
	"fmt"
	"strings"

	"pillion/internal/clients"
)

// clientsTable is for a marker of docs/clients.md: one for each direction.
func clientsTable(root, name string) (string, error) {
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
