package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pillion/internal/fault"
	"pillion/workspace"
)

// What a List has is held against a Walk wherever one is tested: see walk.

func TestAListHasNoMoreThanItMay(t *testing.T) {
	noUserGit(t)
	dir := t.TempDir()
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("d%d/f%d", i/20, i)] = ""
	}
	tree(t, dir, files)
	root := open(t, dir).Roots()[0]
	c, err := root.List(context.Background(), workspace.WalkOptions{}, false, 210)
	if err != nil || c.Facts().Total != 210 {
		t.Errorf("%d of 210 entries: %v", c.Facts().Total, err)
	}
	if _, err := root.List(context.Background(), workspace.WalkOptions{}, false, 209); !errors.Is(err, workspace.ErrTooMany) {
		t.Errorf("one too many: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := root.List(ctx, workspace.WalkOptions{}, false, 1000); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestAListOfWhatCannotBeListed(t *testing.T) {
	noUserGit(t)
	dir := planted(t, map[string]string{"file": "", "closed/in": "", "open/in": "", "link": "->open", "out": "->/etc"})
	root := open(t, dir).Roots()[0]
	for name, want := range map[string]fault.Code{"file": fault.NotAFile, "gone": fault.FileNotFound, "out": fault.PathOutsideWorkspace} {
		if _, err := root.Join(name).List(context.Background(), workspace.WalkOptions{}, false, 10); fault.CodeOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := list(t, root.Join("link"), workspace.WalkOptions{}); len(got) != 1 || got[0] != "link/in" {
		t.Errorf("through a link: %q", got)
	}
	must(t, os.Chmod(filepath.Join(dir, "closed"), 0))
	defer os.Chmod(filepath.Join(dir, "closed"), 0o755) //nolint:errcheck // for the tidying up
	c, err := root.List(context.Background(), workspace.WalkOptions{}, false, 10)
	must(t, err)
	closed := c.Entries[0].Below
	if _, err := os.ReadDir(filepath.Join(dir, "closed")); err != nil && fault.CodeOf(closed.Err) != fault.PermissionDenied { // root may read everything
		t.Errorf("a closed folder: %+v", closed)
	}
	if in, found := c.Find(root.Join("open")); !found || len(in.Entries) != 1 {
		t.Errorf("open is not found in the list: %v", in)
	}
	for _, name := range []string{"file", "link", "gone", "open/in"} {
		if in, found := c.Find(root.Join(name)); found {
			t.Errorf("%s is found as a folder: %v", name, in)
		}
	}
}
