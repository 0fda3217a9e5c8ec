package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
	"pillion/workspace"
)

func TestWalkGoesDepthFirstByName(t *testing.T) {
	noUserGit(t)
	root := rootOf(t, map[string]string{
		"b/z": "", "b/a/c": "", "b-a": "", "a": "", "B": "", "é": "", "\xff\x01\n": "", "\u202ename": "", "bad\xff/in": "", "empty/": "",
	})
	expect(t, walk(t, root, workspace.WalkOptions{}),
		"B", "a", "b", "b/a", "b/a/c", "b/z", "b-a", "bad\xff", "bad\xff/in", "empty", "é", "\u202ename", "\xff\x01\n")
	expect(t, walk(t, root, workspace.WalkOptions{MaxDepth: 1}),
		"B", "a", "b", "b-a", "bad\xff", "empty", "é", "\u202ename", "\xff\x01\n")
	expect(t, walk(t, root.Join("b"), workspace.WalkOptions{MaxDepth: 1}), "b/a", "b/z")
}

func TestWalkOfAnIgnoredFolderShowsIt(t *testing.T) {
	noUserGit(t)
	root := rootOf(t, map[string]string{".gitignore": "build\n*.o", "build/a": "", "build/a.o": "", "build/sub/.git/x": "", "c": ""})
	expect(t, walk(t, root.Join("build"), workspace.WalkOptions{}), "build/a", "build/sub")
	expect(t, walk(t, root, workspace.WalkOptions{IncludeIgnored: true}), ".gitignore", "build", "build/a", "build/a.o", "build/sub", "c")
}

func TestWalkHonoursWhatVisitReturns(t *testing.T) {
	noUserGit(t)
	root := rootOf(t, map[string]string{"a/1": "", "a/2": "", "a/3": "", "b/1": "", "c": ""})
	broken := errors.New("broken")
	for _, test := range []struct {
		at     string
		err    error
		want   []string
		result error
	}{
		{"a", fs.SkipDir, []string{"a", "b", "b/1", "c"}, nil},
		{"a/2", fs.SkipDir, []string{"a", "a/1", "a/2", "b", "b/1", "c"}, nil},
		{"c", fs.SkipDir, []string{"a", "a/1", "a/2", "a/3", "b", "b/1", "c"}, nil},
		{"a/2", fs.SkipAll, []string{"a", "a/1", "a/2"}, nil},
		{"a/2", broken, []string{"a", "a/1", "a/2"}, broken},
	} {
		var got []string
		err := root.Walk(context.Background(), workspace.WalkOptions{}, func(e workspace.Entry) error {
			if got = append(got, e.Path.Rel()); e.Path.Rel() == test.at {
				return test.err
			}
			return nil
		})
		if !errors.Is(err, test.result) {
			t.Errorf("%v at %s: error %v", test.err, test.at, err)
		}
		expect(t, got, test.want...)
	}
}

func TestWalkEndsWhenCancelled(t *testing.T) {
	noUserGit(t)
	root := rootOf(t, map[string]string{"a": "", "b": "", "c": ""})
	ctx, cancel := context.WithCancel(context.Background())
	visited := 0
	err := root.Walk(ctx, workspace.WalkOptions{}, func(workspace.Entry) error {
		visited++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || visited != 1 {
		t.Errorf("%d visited, error %v", visited, err)
	}
}

func TestWalkFollowsNoLinkAndSaysWhatAnEntryIs(t *testing.T) {
	noUserGit(t)
	dir := planted(t, map[string]string{
		"a/loop": "->..", "a/self": "->self", "a/out": "->/etc", "a/file": "", "a/up": "->../a", "b/": "", "gone": "->nowhere",
	})
	types := map[string]fs.FileMode{}
	machine.Must(t, open(t, dir).Roots()[0].Walk(context.Background(), workspace.WalkOptions{}, func(e workspace.Entry) error {
		types[e.Path.Rel()] = e.Type
		return nil
	}))
	want := map[string]fs.FileMode{
		"a": fs.ModeDir, "b": fs.ModeDir, "a/file": 0,
		"a/loop": fs.ModeSymlink, "a/self": fs.ModeSymlink, "a/out": fs.ModeSymlink, "a/up": fs.ModeSymlink, "gone": fs.ModeSymlink,
	}
	for name, typ := range want {
		if got, ok := types[name]; !ok || got != typ {
			t.Errorf("%s: %v, %v", name, got, ok)
		}
	}
	if len(types) != len(want) {
		t.Errorf("visited %v", types)
	}
}

func TestWalkOfWhatIsNoFolder(t *testing.T) {
	noUserGit(t)
	root := rootOf(t, map[string]string{"file": "", "to": "->folder", "folder/a": ""})
	for name, code := range map[string]fault.Code{"file": fault.NotAFile, "gone": fault.FileNotFound, "file/a": fault.FileNotFound} {
		err := root.Join(name).Walk(context.Background(), workspace.WalkOptions{}, func(workspace.Entry) error { return nil })
		if fault.CodeOf(err) != code {
			t.Errorf("%s: %v", name, err)
		}
	}
	expect(t, walk(t, root.Join("to"), workspace.WalkOptions{}), "to/a")
}

func TestWalkCountsWhatItCannotRead(t *testing.T) {
	noUserGit(t)
	dir := planted(t, map[string]string{"a/b": "", "c": ""})
	root := open(t, dir).Roots()[0]
	var visited, unreadable []string
	err := root.Walk(context.Background(), workspace.WalkOptions{
		Unreadable: func(p workspace.Path, err error) {
			if err == nil {
				t.Error("no reason was given")
			}
			unreadable = append(unreadable, p.Rel())
		},
	}, func(e workspace.Entry) error {
		visited = append(visited, e.Path.Rel())
		if e.Path.Rel() == "a" { // a folder that goes away is unreadable for every user
			machine.Must(t, os.RemoveAll(filepath.Join(dir, "a")))
		}
		return nil
	})
	machine.Must(t, err)
	expect(t, visited, "a", "c")
	expect(t, unreadable, "a")
}

func TestWalkOfNestedFoldersNamesEachEntryOnce(t *testing.T) {
	noUserGit(t)
	dir := t.TempDir()
	inner := filepath.Join(dir, "outer", "inner")
	tree(t, dir, map[string]string{"outer/a": "", "outer/inner/b/c": "", "outer/z": "", "outer/.gitignore": "c"})
	w := open(t, filepath.Join(dir, "outer"), inner)
	expect(t, walk(t, w.Roots()[0], workspace.WalkOptions{}), "outer/.gitignore", "outer/a", "inner", "inner/b", "outer/z")
	expect(t, walk(t, w.Roots()[1], workspace.WalkOptions{}), "inner/b", "inner/b/c") // no repository: rules end at the folder
}

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
	machine.Must(t, os.Chmod(filepath.Join(dir, "closed"), 0))
	defer os.Chmod(filepath.Join(dir, "closed"), 0o755) //nolint:errcheck // for the tidying up
	c, err := root.List(context.Background(), workspace.WalkOptions{}, false, 10)
	machine.Must(t, err)
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

// TestWatchedFolders: those that a walk enters, each visited before it is listed,
// so that what is made as soon as it is watched is listed.
func TestWatchedFolders(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	top := machine.NewFolder(t)
	tree(t, top.Dir, map[string]string{
		".git/objects/": "", "src/deep/": "", "node_modules/x/": "", "src/target/": "", "other/": "", ".gitignore": "node_modules/\ntarget\n", "link": "->src",
	})
	w := open(t, top.Dir)
	for _, one := range []struct {
		dir, also string // also is made in each folder when it is visited
		want      []string
	}{
		{".", "", []string{".", "other", "src", "src/deep"}},
		{"src", "", []string{"src", "src/deep"}},
		{"node_modules", "", nil},
		{".git", "", nil},
		{"src/target", "", nil},
		{".", "new", []string{".", "new", "other", "other/new", "src", "src/deep", "src/deep/new", "src/new"}},
		{"gone", "", []string{"gone"}},
		{"..", "", nil},
	} {
		var got []string
		err := w.WatchedFolders(context.Background(), top.Abs(one.dir), func(folder string) error {
			rel, err := filepath.Rel(top.Dir, folder)
			got = append(got, rel)
			if one.also != "" && len(got) < 9 && filepath.Base(folder) != one.also {
				top.Must(os.MkdirAll(filepath.Join(folder, one.also), 0o755))
			}
			return err
		})
		if (err != nil) != (one.dir == "gone") || !slices.Equal(got, one.want) {
			t.Errorf("%s: %v, %v, want %v", one.dir, got, err, one.want)
		}
	}
}
