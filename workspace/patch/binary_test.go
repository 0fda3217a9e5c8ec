package patch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
)

// binaryDiff is git's diff of a file's bytes.
func binaryDiff(t *testing.T, dir string, was, now []byte, options ...string) string {
	t.Helper()
	repo := machine.Folder{TB: t, Dir: dir}
	git := func(args ...string) string {
		out, err := machine.Git(t, dir, "", args...)
		machine.Must(t, err)
		return out
	}
	repo.Write("x", string(was))
	git("add", "x")
	git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x", "--allow-empty")
	repo.Write("x", string(now))
	return git(append([]string{"diff"}, options...)...)
}

func newRepo(t *testing.T, format string) string {
	dir := t.TempDir()
	_, err := machine.Git(t, dir, "", "init", "-q", "--object-format="+format)
	machine.Must(t, err)
	return dir
}

func applyBinary(t *testing.T, diff string, was []byte, most int64) ([]byte, error) {
	t.Helper()
	files, err := Parse(diff)
	if err != nil {
		return nil, err
	}
	if len(files) != 1 || files[0].Binary == nil {
		t.Fatalf("read as %+v", files)
	}
	return files[0].Binary.Apply("x", was, false, most)
}

// TestBytesAsGit: literal and delta, in both kinds of repositories.
func TestBytesAsGit(t *testing.T) {
	long := make([]byte, 0, 70_000)
	for i := range 70_000 {
		long = append(long, byte(i*i>>3))
	}
	for _, format := range []string{"sha1", "sha256"} {
		dir := newRepo(t, format)
		for i, c := range []struct{ was, now []byte }{
			{[]byte("\x00a"), []byte("\x00b\r\n\xff")},
			{long, append(append(append([]byte{}, long[:30_000]...), "\x00new"...), long[29_000:]...)},
			{long, long[5:6_000]},
			{[]byte("\x00a"), []byte("text\n")},
			{[]byte("text\n"), []byte("\x00")},
			{[]byte("\x00gone"), nil},
			{nil, []byte("\x00new")},
		} {
			diff := binaryDiff(t, dir, c.was, c.now, "--binary")
			for _, said := range []string{diff, strings.ReplaceAll(diff, "\n", "\r\n")} {
				out, err := applyBinary(t, said, c.was, 1<<20)
				if err != nil || string(out) != string(c.now) {
					t.Errorf("%s, %d: made %d bytes with %v\n%s", format, i, len(out), err, diff)
				}
			}
		}
	}
}

// TestBytesThatDoNotFit are refused: git refuses them as well.
func TestBytesThatDoNotFit(t *testing.T) {
	dir := newRepo(t, "sha1")
	was, now := []byte("\x00was"), []byte("\x00now and more")
	diff := binaryDiff(t, dir, was, now, "--binary")
	short := binaryDiff(t, dir, was, now)
	_, line, _ := strings.Cut(diff, "index ")
	ids, _, _ := strings.Cut(line, " ")
	_, data, _ := strings.Cut(diff, "literal ")
	_, data, _ = strings.Cut(data, "\n")
	data, _, _ = strings.Cut(data, "\n")
	other := []byte(data)
	other[len(other)/2]++
	for name, c := range map[string]struct {
		diff string
		was  []byte
		most int64
		code fault.Code
		says string
	}{
		"other bytes":       {diff, []byte("\x00other"), 1 << 20, fault.PatchApplyFailed, "does not have the bytes that the patch was made for"},
		"applied before":    {diff, now, 1 << 20, fault.PatchApplyFailed, "may have been applied before"},
		"no data":           {short, was, 1 << 20, fault.BinaryFile, "git diff --binary"},
		"short hashes":      {strings.Replace(diff, ids, ids[:7]+".."+ids[42:49], 1), was, 1 << 20, fault.PatchApplyFailed, "hashes in full"},
		"another result":    {strings.Replace(diff, ids[42:], strings.Repeat("1", 40), 1), was, 1 << 20, fault.PatchApplyFailed, "is damaged"},
		"a damaged line":    {strings.Replace(diff, data, string(other), 1), was, 1 << 20, fault.PatchApplyFailed, "is damaged"},
		"a cut line":        {strings.Replace(diff, data, data[:len(data)-1], 1), was, 1 << 20, fault.PatchApplyFailed, "corrupt data line"},
		"more than may be":  {diff, was, 5, fault.FileTooLarge, "the limit of 5 bytes"},
		"another size said": {strings.Replace(diff, "literal 13", "literal 14", 1), was, 1 << 20, fault.PatchApplyFailed, "is damaged"},
	} {
		_, err := applyBinary(t, c.diff, c.was, c.most)
		var why *fault.Error
		if fault.CodeOf(err) != c.code || !errors.As(err, &why) || !strings.Contains(fmt.Sprint(why.Message, why.Hint), c.says) {
			t.Errorf("%s: refused with %v, want %s with %q", name, err, c.code, c.says)
		}
		if c.code == fault.FileTooLarge {
			continue
		}
		plain := t.TempDir() // in which git has no objects to fall back on
		machine.Must(t, os.WriteFile(filepath.Join(plain, "x"), c.was, 0o644))
		if _, err := machine.Git(t, plain, c.diff, "apply", "-"); err == nil {
			t.Errorf("%s: git applies it", name)
		}
	}
}
