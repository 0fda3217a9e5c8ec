package house

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"pillion/config"
)

// TestSettingsInVSCode: the extension declares every setting, and no other. Neovim
// passes the object on as it is.
func TestSettingsInVSCode(t *testing.T) {
	type property struct {
		Properties map[string]property `json:"properties"`
	}
	var manifest struct {
		Contributes struct {
			Configuration property `json:"configuration"`
		} `json:"contributes"`
	}
	if err := json.Unmarshal(read(t, "vscode-extension/package.json"), &manifest); err != nil {
		t.Fatal(err)
	}
	var declared []string
	for name, p := range manifest.Contributes.Configuration.Properties {
		name = strings.TrimPrefix(name, "pillion.")
		if name == "requests.openIn" || strings.HasPrefix(name, "notifications.") || name == "chat.mcpServer" {
			continue // VS Code's own, which session.ts keeps to itself
		}
		if len(p.Properties) == 0 {
			declared = append(declared, name)
		}
		for inner := range maps.Keys(p.Properties) {
			declared = append(declared, name+"."+inner)
		}
	}
	var want []string
	for _, key := range config.Keys() {
		want = append(want, key.Name)
	}
	slices.Sort(declared)
	slices.Sort(want)
	if !slices.Equal(declared, want) {
		t.Errorf("vscode-extension/package.json declares\n%q\nthe settings are\n%q", declared, want)
	}
}
