package workspace_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/workspace"
)

// A reader gives of each file what Path.ReadFile gives, and refuses what that refuses.
func TestAReaderReadsAsPathsAreRead(t *testing.T) {
	dir := planted(t, map[string]string{
		"empty": "", "small": "x", "sub/deep/er": "text", "large": strings.Repeat("a line\n", 100_000), "most": strings.Repeat("m", 1<<20), "over": strings.Repeat("o", 1<<20+1),
		"bad\xffname": "y", "closed": "z", "folder/in": "",
	})
	must(t, os.Chmod(filepath.Join(dir, "closed"), 0))
	if err := os.Symlink("small", filepath.Join(dir, "link")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	if err := os.Symlink("sub", filepath.Join(dir, "linked")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	root := open(t, dir).Roots()[0]
	reader, err := root.NewReader()
	must(t, err)
	defer reader.Close()
	const limit = 1 << 20
	for _, name := range []string{"large", "empty", "small", "most", "over", "sub/deep/er", "bad\xffname", "closed", "folder", "none", "sub/none/x", "small/x", "link", "linked/deep/er", "small"} {
		p := root.Join(name)
		want, info, wantErr := p.ReadFile(limit)
		got, stamp, gotErr := reader.Read(p, limit)
		if fault.CodeOf(gotErr) != fault.CodeOf(wantErr) || !bytes.Equal(got, want) {
			t.Errorf("%q: %d bytes, %v; and not %d bytes, %v", name, len(got), gotErr, len(want), wantErr)
			continue
		}
		if wantErr == nil && (stamp.Size != info.Size() || stamp.Modified != info.ModTime().UnixNano()) {
			t.Errorf("%q: %+v is not the stamp of %+v", name, stamp, info)
		}
	}
}

func TestAStampTellsAFileFromAnother(t *testing.T) {
	dir := planted(t, map[string]string{"a": "one", "b": "two"})
	root := open(t, dir).Roots()[0]
	reader, err := root.NewReader()
	must(t, err)
	defer reader.Close()
	stamp := func() workspace.FileStamp {
		_, read, err := reader.Read(root.Join("a"), 100)
		must(t, err)
		now, err := reader.Stamp(root.Join("a"))
		if err != nil || now != read {
			t.Fatalf("%+v, %v: not %+v", now, err, read)
		}
		return now
	}
	before := stamp()
	if stamp() != before {
		t.Error("the stamp of a file that is only read changes")
	}
	info, err := os.Stat(filepath.Join(dir, "a"))
	must(t, err)
	// Of the same size and with the same time, but another file.
	must(t, os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "a")))
	must(t, os.Chtimes(filepath.Join(dir, "a"), info.ModTime(), info.ModTime()))
	if stamp() == before {
		t.Error("another file has the same stamp")
	}
	if _, err := reader.Stamp(root.Join("none")); fault.CodeOf(err) != fault.FileNotFound {
		t.Errorf("the stamp of no file: %v", err)
	}
}
