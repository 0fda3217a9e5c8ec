package house

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// TestOneVersion: the newest heading of the changelog is the version of everything.
func TestOneVersion(t *testing.T) {
	newest := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+)\b`).FindSubmatch(read(t, "CHANGELOG.md"))
	if newest == nil {
		t.Fatal("CHANGELOG.md has no heading with a version")
	}
	version := string(newest[1])
	if !strings.Contains(string(read(t, "main.go")), `"`+version+`-dev"`) {
		t.Errorf("main.go has another version than CHANGELOG.md, %s", version)
	}
	var extension struct{ Version string }
	if err := json.Unmarshal(read(t, "vscode-extension/package.json"), &extension); err != nil || extension.Version != version {
		t.Errorf("vscode-extension/package.json has %q, CHANGELOG.md has %s: %v", extension.Version, version, err)
	}
}
