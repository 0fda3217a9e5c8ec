package main

import (
	"fmt"
	"strings"

	"pillion/config"
)

// settingsTable is for the marker "settings" of docs/settings.md.
func settingsTable(_, name string) (string, error) {
	if name != "settings" {
		return "", unknownMarker(name)
	}
	var out strings.Builder
	out.WriteString("| key | type | default | meaning |\n|---|---|---|---|\n")
	for _, key := range config.Keys() {
		value := key.Default
		if value != "" {
			value = "`" + value + "`"
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", key.Name, key.Type, value, cell(key.Meaning))
	}
	return out.String(), nil
}
