package git_test

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"os"
	"syscall"
	"testing"
	"time"

	"pillion/workspace/git"
)

// TestWhatAnIndexSaysOfNewFilesIsNotBelieved: a command without a strong sandbox can write there what is not so.
func TestWhatAnIndexSaysOfNewFilesIsNotBelieved(t *testing.T) {
	r := newRig(t)
	r.Write("a", "1\n")
	r.commit()
	kept := func() (out []byte) {
		var at syscall.Stat_t
		r.Must(syscall.Lstat(r.Abs("."), &at))
		for _, part := range []int64{at.Ctim.Sec, at.Ctim.Nsec, at.Mtim.Sec, at.Mtim.Nsec, int64(at.Dev), int64(at.Ino), int64(at.Uid), int64(at.Gid), at.Size} {
			out = binary.BigEndian.AppendUint32(out, uint32(part))
		}
		return out
	}
	long := time.Now().Add(-time.Hour)
	r.Must(os.Chtimes(r.Abs("."), time.Time{}, long))
	r.git("update-index", "--force-untracked-cache")
	r.git("status")
	before := kept()
	r.Write("new", "evil\n")
	r.Must(os.Chtimes(r.Abs("."), time.Time{}, long))
	text, err := os.ReadFile(r.Abs(".git/index"))
	r.Must(err)
	if !bytes.Contains(text, before) {
		t.Fatal("git keeps nothing of the folder")
	}
	text = bytes.ReplaceAll(text[:len(text)-sha1.Size], before, kept())
	sum := sha1.Sum(text)
	r.Must(os.WriteFile(r.Abs(".git/index"), append(text, sum[:]...), 0o600))
	if status := r.git("status", "--porcelain"); status != "" {
		t.Fatalf("git itself finds the file: %s", status)
	}
	if got, err := reader.Status(t.Context(), r.root, git.StatusOptions{Dir: r.Dir}); err != nil || len(got.Files) != 1 || got.Files[0].Path != "new" {
		t.Errorf("%+v, %v", got, err)
	}
}
