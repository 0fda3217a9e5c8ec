package git_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/workspace/git"
)

// object stores an object, and returns its hash.
func (r *rig) object(kind string, data []byte) string {
	r.Helper()
	whole := append(fmt.Appendf(nil, "%s %d\x00", kind, len(data)), data...)
	sum := sha1.Sum(whole)
	name := hex.EncodeToString(sum[:])
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	if _, err := w.Write(whole); err != nil {
		r.Fatal(err)
	}
	r.must(w.Close())
	r.write(".git/objects/"+name[:2]+"/"+name[2:], packed.String())
	return name
}

// folder stores a tree that has one entry as often as there are names.
func (r *rig) folder(mode, hash string, names ...string) string {
	r.Helper()
	raw, err := hex.DecodeString(hash)
	r.must(err)
	var data []byte
	for _, name := range names {
		data = append(append(data, mode+" "+name+"\x00"...), raw...)
	}
	return r.object("tree", data)
}

// branch makes a branch of one commit of a tree.
func (r *rig) branch(name, tree string) {
	r.Helper()
	const who = "A <a@example.com> 1700000000 +0000\n"
	commit := r.object("commit", []byte("tree "+tree+"\nauthor "+who+"committer "+who+"\nm\n"))
	r.write(".git/refs/heads/"+name, commit+"\n")
}

// A few objects can stand for more folders than there is memory, or for folders in
// folders without end. To look at such a commit is refused.
func TestTreesThatAreTooMuch(t *testing.T) {
	git.Spend(t, 1<<20)
	r := newRig(t)
	r.write("a", "one\n")
	r.commit()
	blob := r.object("blob", []byte("x\n"))
	deep := r.folder("100644", blob, "file")
	for range 60 {
		deep = r.folder("40000", deep, strings.Repeat("d", 200))
	}
	r.branch("deep", deep)
	wide := r.folder("100644", blob, strings.Split("a b c d e f g h i j", " ")...)
	empty := r.object("tree", nil)
	for range 8 {
		wide = r.folder("40000", wide, strings.Split("a b c d e f g h i j", " ")...)
		empty = r.folder("40000", empty, strings.Split("a b c d e f g h i j", " ")...)
	}
	r.branch("wide", wide)
	r.branch("empty", empty)
	for name, words := range map[string]string{"deep": "too deep", "wide": "more files and folders differ", "empty": "more files and folders differ"} {
		for _, o := range []git.DiffOptions{{Base: name}, {Base: name, Staged: true}} {
			_, err := r.diff(o)
			asFault(t, err, fault.GitError, words)
		}
		_, err := git.Show(context.Background(), r.root, git.ShowOptions{Dir: r.top, Ref: name})
		asFault(t, err, fault.GitError, words)
		_, err = git.Switch(context.Background(), r.root, r.top, name)
		asFault(t, err, fault.GitError, words)
		r.git("symbolic-ref", "HEAD", "refs/heads/"+name)
		_, err = r.status(git.StatusOptions{})
		asFault(t, err, fault.GitError, words)
		_, err = git.NewDraft(context.Background(), r.root, git.CommitOptions{Dir: r.top, Files: []string{r.path("a")}})
		asFault(t, err, fault.GitError, words)
		r.git("symbolic-ref", "HEAD", "refs/heads/main")
	}
}

// Each file is included by ten others, ten times: to read them all takes for ever.
func TestConfigurationsThatAreTooMuch(t *testing.T) {
	r := newRig(t)
	r.write("a", "one\n")
	r.commit()
	whole, err := os.ReadFile(r.path(".git/config"))
	r.must(err)
	for i := range 9 {
		r.write(fmt.Sprint(".git/c", i), "[include]\n"+strings.Repeat(fmt.Sprintf("path = c%d\n", i+1), 30))
	}
	for name, text := range map[string]string{
		"in a loop": "[include]\n" + strings.Repeat("path = config\n", 20),
		"too many":  "[include]\npath = c0\n",
	} {
		r.write(".git/config", string(whole)+text)
		_, err := r.status(git.StatusOptions{})
		if f := asFault(t, err, fault.GitError, "includes too many files"); f != nil && f.Hint == "" {
			t.Errorf("%s: nothing says what to do", name)
		}
	}
}

// Grafts can lead back to where one came from.
func TestAHistoryInACircle(t *testing.T) {
	r := newRig(t)
	r.commit()
	first := strings.TrimSpace(r.git("rev-parse", "HEAD"))
	r.commit()
	r.commit()
	last := strings.TrimSpace(r.git("rev-parse", "HEAD"))
	r.write(".git/info/grafts", first+" "+last+"\n")
	_, err := git.Show(context.Background(), r.root, git.ShowOptions{Dir: r.top, Ref: "HEAD~2000000000"})
	asFault(t, err, fault.GitError, "round in a circle")
	if _, err := git.Log(context.Background(), r.root, git.LogOptions{Dir: r.top, Limit: 10}); err != nil {
		t.Error(err)
	}
}

// In the index's version 4 a path is made of the one before, so that a small file holds
// long paths.
func TestAnIndexOfLongPaths(t *testing.T) {
	r := newRig(t)
	const entries = 50_000
	data := append([]byte("DIRC\x00\x00\x00\x04"), byte(entries>>24), byte(entries>>16&0xff), byte(entries>>8&0xff), byte(entries&0xff))
	for i := range entries {
		fixed := make([]byte, 62)
		fixed[26], fixed[27] = 0x81, 0xa4 // a file
		data = append(data, fixed...)
		if i%200 != 0 || i == 0 {
			data = append(data, "\x00x\x00"...)
		} else {
			data = append(data, "\x00/x\x00"...)
		}
	}
	sum := sha1.Sum(data)
	r.write(".git/index", string(append(data, sum[:]...)))
	_, err := r.status(git.StatusOptions{})
	asFault(t, err, fault.GitError, "its paths are too long")
}

// Of a message that nobody can read the beginning is told.
func TestMessagesWithoutEnd(t *testing.T) {
	r := newRig(t)
	tree := r.object("tree", nil)
	long := strings.Repeat("x", 1<<20)
	commit := r.object("commit", []byte("tree "+tree+"\nauthor "+long+" <"+long+"> 1700000000 +0000\ncommitter C <c@example.com> 1700000000 +0000\n\nsubject\n\n"+strings.Repeat("line\n", 1<<20)))
	tag := r.object("tag", []byte("object "+commit+"\ntype commit\ntag v1\ntagger C <c@example.com> 1700000000 +0000\n\n"+strings.Repeat("line\n", 1<<20)))
	r.write(".git/refs/heads/main", commit+"\n")
	r.write(".git/refs/tags/v1", tag+"\n")
	log, err := git.Log(context.Background(), r.root, git.LogOptions{Dir: r.top, Limit: 10})
	if err != nil || len(log) != 1 {
		t.Fatal(log, err)
	}
	shown, err := git.Show(context.Background(), r.root, git.ShowOptions{Dir: r.top, Ref: "v1"})
	if err != nil || shown.Tag == nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"body": log[0].Body, "body of show": shown.Commit.Body, "tag": shown.Tag.Message} {
		if len(text) > 100<<10 || !strings.HasSuffix(text, "bytes of the message are left out]") {
			t.Errorf("%s: %d bytes", what, len(text))
		}
	}
	if c := log[0]; c.Subject != "subject" || len(c.Author.Name) > 1000 || len(c.Author.Email) > 1000 {
		t.Errorf("%q by a name of %d bytes", c.Subject, len(c.Author.Name))
	}
}
