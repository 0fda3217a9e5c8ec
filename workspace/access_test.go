package workspace_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
	"pillion/workspace"
)

func TestReadFile(t *testing.T) {
	dir := planted(t, map[string]string{
		"file": "12345", "empty": "", "link": "->file", "sub/up": "->../file", "dangling": "->nowhere", "loop": "->loop", "to-dir": "->sub",
		"out": "->/etc/passwd", "bad\xff\n": "odd", "sub/": "",
	})
	root := open(t, dir).Roots()[0]
	for _, test := range []struct {
		name  string
		limit int64
		want  string // the text, or the error's code and a part of its message
	}{
		{"file", 5, "12345"},
		{"file", 100, "12345"},
		{"empty", 0, ""},
		{"link", 5, "12345"},
		{"sub/up", 5, "12345"},
		{"bad\xff\n", 5, "odd"},
		{"file", 4, "FILE_TOO_LARGE file has 5 bytes, over the limit of 4"},
		{"link", 4, "FILE_TOO_LARGE"},
		{"nowhere", 5, "FILE_NOT_FOUND nowhere does not exist"},
		{"dangling", 5, "FILE_NOT_FOUND"},
		{"file/x", 5, "FILE_NOT_FOUND a part of the path is a file"},
		{"loop", 5, "EXECUTION_FAILED too many levels of symbolic links"},
		{"out", 5, "PATH_OUTSIDE_WORKSPACE"},
		{".", 5, "NOT_A_FILE . is a folder; list it with list_files"},
		{"sub", 5, "NOT_A_FILE"},
		{"to-dir", 5, "NOT_A_FILE"},
		{strings.Repeat("x", 300), 5, "INVALID_PATH longer than the file system allows"},
		{"gone\nbad", 5, `FILE_NOT_FOUND "gone\nbad" does not exist`},
	} {
		data, info, err := root.Join(test.name).ReadFile(test.limit)
		code, message, _ := strings.Cut(test.want, " ")
		switch {
		case err == nil && (string(data) != test.want || info.Size() != int64(len(data))):
			t.Errorf("%q: %q, want %q", test.name, data, test.want)
		case err != nil && (string(fault.CodeOf(err)) != code || !strings.Contains(err.Error(), message)):
			t.Errorf("%q: %v, want %s", test.name, err, test.want)
		case err != nil && strings.Contains(err.Error(), dir):
			t.Errorf("%q: the message tells where the workspace lies: %v", test.name, err)
		}
	}
}

func TestErrorsKeepNumbersForThePerson(t *testing.T) {
	_, _, err := rootOf(t, map[string]string{"file": "12345"}).Join("file").ReadFile(3)
	if got, want := fault.From(err).Details, map[string]any{"size": int64(5), "limit": int64(3)}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

func TestAnUnreadableFile(t *testing.T) {
	dir := planted(t, map[string]string{"file": "text", "sub/a": ""})
	machine.Must(t, os.Chmod(filepath.Join(dir, "file"), 0))
	machine.Must(t, os.Chmod(filepath.Join(dir, "sub"), 0))
	t.Cleanup(func() { machine.Must(t, os.Chmod(filepath.Join(dir, "sub"), 0o755)) })
	want := fault.PermissionDenied
	if os.Geteuid() == 0 {
		want = "" // modes do not bind root
	}
	root := open(t, dir).Roots()[0]
	_, _, err := root.Join("file").ReadFile(10)
	_, errDir := root.Join("sub").ReadDir()
	if fault.CodeOf(err) != want || fault.CodeOf(errDir) != want {
		t.Errorf("file: %v, folder: %v", err, errDir)
	}
}

func TestReadDir(t *testing.T) {
	root := rootOf(t, map[string]string{"b": "", "a/c": "", "B": "", "bad\xff/in": "", "to": "->a", "out": "->/etc"})
	names := func(p workspace.Path) string {
		entries, err := p.ReadDir()
		if err != nil {
			return string(fault.CodeOf(err))
		}
		var out []string
		for _, e := range entries {
			out = append(out, e.Name())
			info, err := e.Info()
			now, lstatErr := p.Join(e.Name()).Lstat()
			if err != nil || lstatErr != nil || !os.SameFile(info, now) || info.Mode().Type() != e.Type() || info.IsDir() != e.IsDir() {
				t.Errorf("%s in %s: %v %v", e.Name(), p, info, err)
			}
		}
		return strings.Join(out, " ")
	}
	for name, want := range map[string]string{
		".": "B a b bad\xff out to", "bad\xff": "in", "to": "c", "out": outsideWorkspace, "b": string(fault.NotAFile), "nowhere": string(fault.FileNotFound),
	} {
		if got := names(root.Join(name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestStatFollowsAndLstatDoesNot(t *testing.T) {
	root := rootOf(t, map[string]string{"file": "", "link": "->file", "out": "->/etc/passwd"})
	info, err := root.Join("link").Stat()
	machine.Must(t, err)
	if !info.Mode().IsRegular() {
		t.Errorf("Stat: %v", info.Mode())
	}
	info, err = root.Join("out").Lstat()
	machine.Must(t, err)
	if info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("Lstat: %v", info.Mode())
	}
	if _, err = root.Join("out").Stat(); fault.CodeOf(err) != fault.PathOutsideWorkspace {
		t.Errorf("Stat of a link out: %v", err)
	}
}

// TestALinkSwappedUnderneath has a folder replaced by a link out, over and over,
// while a file in it is read.
func TestALinkSwappedUnderneath(t *testing.T) {
	outer := t.TempDir()
	dir := filepath.Join(outer, "ws")
	tree(t, outer, map[string]string{"ws/real/canary": "inside", "ws/bad": "->../secret", "secret/canary": "canary"})
	w := open(t, dir)
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		at := func(name string) string { return filepath.Join(dir, name) }
		for {
			select {
			case <-stop:
				return
			default:
			}
			err := errors.Join(os.Rename(at("real"), at("sub")), os.Rename(at("sub"), at("real")), os.Rename(at("bad"), at("sub")), os.Rename(at("sub"), at("bad")))
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	seen := map[string]int{}
	for range 5000 {
		p, err := w.Resolve("sub/canary")
		if err == nil {
			var data []byte
			data, _, err = p.ReadFile(100)
			seen[string(data)]++
		}
		seen[string(fault.CodeOf(err))]++
	}
	close(stop)
	swapping.Wait()
	if seen["canary"] > 0 {
		t.Errorf("read from outside: %v", seen)
	}
}

func TestNotFoundNamesWhatMayHaveBeenMeant(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"README.md": "", "src/parser.py": "", "src/parser_test.py": "", "src/main.go": "", "src/handlers/user.go": "", ".env": "", ".gitignore": "", "Makefile": "",
		"zz\x01name": "", "out": "->/etc", "e\u0301.txt": "", "Bildschirmfoto 9\u202fAM.png": "", "stra\u00dfe.md": "",
	}
	for i := range 9 {
		files[fmt.Sprintf("many/report%d.txt", i)] = ""
	}
	tree(t, dir, files)
	root := open(t, dir).Roots()[0]
	for name, want := range map[string][]string{
		"readme.md":               {"README.md"},
		"README.txt":              {"README.md"},
		"src/parsre.py":           {"src/parser.py"},
		"src/parser.go":           {"src/parser.py", "src/parser_test.py"},
		"src/parser.rs":           {"src/parser.py", "src/parser_test.py"},
		"scr/main.go":             {"src/main.go"},
		"scr/nothing.go":          nil, // nothing of that name is in src
		"src/handler/user.go":     {"src/handlers/user.go"},
		".envrc":                  {".env"},
		".x":                      nil,
		"many/report.txt":         {"many/report0.txt", "many/report1.txt", "many/report2.txt", "many/report3.txt", "many/report4.txt"},
		"zz name":                 {`"zz\x01name"`},
		"\u00e9.txt":              {fault.Quote("e\u0301.txt")},
		"Bildschirmfoto 9 am.png": {fault.Quote("Bildschirmfoto 9\u202fAM.png")},
		"STRASSE.md":              {fault.Quote("stra\u00dfe.md")},
		"out/passwdd":             nil,
		"completely-different":    nil,
		strings.Repeat("x", 99):   nil,
	} {
		_, _, err := root.Join(name).ReadFile(1)
		e := fault.From(err)
		got, _ := e.Details["similar"].([]string)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if e.Hint == "" {
			t.Errorf("%s: the error does not say what to do", name)
		}
	}
}

// A reader gives of each file what Path.ReadFile gives, and refuses what that refuses.
func TestAReaderReadsAsPathsAreRead(t *testing.T) {
	dir := planted(t, map[string]string{
		"empty": "", "small": "x", "sub/deep/er": "text", "large": strings.Repeat("a line\n", 100_000), "most": strings.Repeat("m", 1<<20), "over": strings.Repeat("o", 1<<20+1),
		"bad\xffname": "y", "closed": "z", "folder/in": "", "link": "->small", "linked": "->sub",
	})
	machine.Must(t, os.Chmod(filepath.Join(dir, "closed"), 0))
	root := open(t, dir).Roots()[0]
	reader, err := root.NewReader()
	machine.Must(t, err)
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
	machine.Must(t, err)
	defer reader.Close()
	stamp := func() workspace.FileStamp {
		_, read, err := reader.Read(root.Join("a"), 100)
		machine.Must(t, err)
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
	machine.Must(t, err)
	// Of the same size and with the same time, but another file.
	machine.Must(t, os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "a")))
	machine.Must(t, os.Chtimes(filepath.Join(dir, "a"), info.ModTime(), info.ModTime()))
	if stamp() == before {
		t.Error("another file has the same stamp")
	}
	if _, err := reader.Stamp(root.Join("none")); fault.CodeOf(err) != fault.FileNotFound {
		t.Errorf("the stamp of no file: %v", err)
	}
}
