package workspace_test

import (
	"context"
	"slices"
	"testing"

	"pillion/workspace"
)

// TestWhatIsOpenedIsNotIgnoredFromAbove: a home that is a repository with the rule *, and a folder of
// it that somebody opens. Rules that are not about the folder itself hold.
func TestWhatIsOpenedIsNotIgnoredFromAbove(t *testing.T) {
	for rules, want := range map[string][]string{
		"*\n":            {".gitignore", "a.nix", "b", "b/c.nix"},
		"work/\n":        {".gitignore", "a.nix", "b", "b/c.nix"},
		"*.nix\nx.log\n": {".gitignore", "b"},
	} {
		home := t.TempDir()
		tree(t, home, map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".gitignore": rules, "work/.gitignore": "x.log\n", "work/a.nix": "", "work/x.log": "", "work/b/c.nix": ""})
		var got []string
		err := open(t, home+"/work").Roots()[0].Walk(context.Background(), workspace.WalkOptions{}, func(e workspace.Entry) error {
			got = append(got, e.Path.Rel())
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", rules, got, err, want)
		}
	}
}
