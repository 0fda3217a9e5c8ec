//go:build linux && rides

package test

import (
	"os"
	"path/filepath"
	"testing"

	"pillion/internal/testrig/machine"
)

// TestMoreServersRunNothingOfARepository: those of shell scripts, TypeScript and Go likewise.
func TestMoreServersRunNothingOfARepository(t *testing.T) {
	cache, err := os.UserCacheDir()
	must(t, err)
	t.Setenv("XDG_CACHE_HOME", cache) // gopls need not read all of Go anew
	e, ended := amongHostile(t, filepath.Join(machine.Part(t, "language-servers"), "node_modules/.bin"), machine.Part(t, "gopls"))
	askAll(t, e, object{"path": "run.sh", "line": 4, "character": 1})
	askAll(t, e, object{"path": "shop.ts", "line": 1, "character": 20})
	askAll(t, e, object{"path": "main.go", "line": 2, "character": 24})
	ended()
}
