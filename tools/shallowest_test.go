package tools

import (
	"fmt"
	"slices"
	"testing"
)

// TestOfManyProtectedPathsTheShallowestAreClosed: a project with thousands of them is
// worked in as well.
func TestOfManyProtectedPathsTheShallowestAreClosed(t *testing.T) {
	paths := []string{"/w/a/b/c/AGENTS.md", "/w/.git", "/w/.vscode"}
	for i := range 3000 {
		paths = append(paths, fmt.Sprintf("/w/p%d/AGENTS.md", i))
	}
	paths = append(paths, "/w/.envrc")
	got := Shallowest(paths)
	if len(got) != mostProtected || !slices.Equal(got[:3], []string{"/w/.git", "/w/.vscode", "/w/.envrc"}) || slices.Contains(got, paths[0]) {
		t.Errorf("%d: %q", len(got), got[:min(len(got), 5)])
	}
	if few := paths[:3]; !slices.Equal(Shallowest(few), few) {
		t.Error("a few are not all closed")
	}
}
