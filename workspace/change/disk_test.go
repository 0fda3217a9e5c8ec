package change

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/workspace/document"
	"pillion/workspace/handle"
	"pillion/workspace/journal"
)

func TestCommitToDisk(t *testing.T) {
	for _, c := range []struct{ name, before, text, want string }{
		{"a change", "one\ntwo\n", "one\n2\n", "one\n2\n"},
		{"no final newline", "one", "two", "two"},
		{"emptied", "one\n", "", ""},
		{"from empty", "", "one\n", "one\n"},
		{"mixed line ends", "a\r\nb\nc\r\n", "a\r\nB\nc\r\n", "a\r\nB\nc\r\n"},
		{"with a mark", "\xef\xbb\xbfone", "two", "\xef\xbb\xbftwo"},
		{"UTF-16", "\xff\xfea\x00", "é", "\xff\xfe\xe9\x00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.Write("a.txt", c.before)
			out := b.mustCommit(b.plan("a.txt", c.text))
			b.want("a.txt", c.want)
			o := out[0]
			if o.Operation != Overwrite || !o.Saved || o.Formatted || o.Bytes != len(c.want) || o.Version != document.Version([]byte(c.want)) {
				t.Errorf("%+v", o)
			}
			again := b.plan("a.txt", c.text)
			if o := b.mustCommit(again)[0]; o.Operation != Unchanged || o.Version != document.Version([]byte(c.want)) {
				t.Errorf("again: %+v", o)
			}
		})
	}
}

func TestCreate(t *testing.T) {
	b := newBench(t)
	if o := b.mustCommit(b.plan("deep/er/new.txt", "text\n"))[0]; o.Operation != Create || !o.Saved {
		t.Errorf("%+v", o)
	}
	b.want("deep/er/new.txt", "text\n")
	b.mustCommit(b.plan("empty.txt", ""))
	b.want("empty.txt", "")
	f := b.plan("none/new.txt", "text")
	f.CreateDirs = false
	b.wantFault(fault.FileNotFound, f)
	b.want("none", "<absent>")
}

// TestFileMovedAfterThePlan: whatever stands there when the change is made stays.
func TestFileMovedAfterThePlan(t *testing.T) {
	for _, c := range []struct {
		name string
		does func(b *bench)
		want string // "" where it is no regular file
	}{
		{"written", func(b *bench) { b.Write("a.txt", "human\n") }, "human\n"},
		{"written, of the same length", func(b *bench) { b.Write("a.txt", "two\n") }, "two\n"},
		{"grown", func(b *bench) { b.Write("a.txt", strings.Repeat("x", 5<<20)) }, strings.Repeat("x", 5<<20)},
		{"deleted", func(b *bench) { b.Remove("a.txt") }, "<absent>"},
		{"a folder now", func(b *bench) { b.Remove("a.txt"); b.Must(os.Mkdir(b.Abs("a.txt"), 0o755)) }, ""},
		{"a link now, to the same text", func(b *bench) {
			b.Write("b.txt", "one\n")
			b.Remove("a.txt")
			b.Link("b.txt", "a.txt")
		}, "one\n"},
		{"opened in the editor", func(b *bench) { b.show("a.txt") }, "one\n"},
		{"opened and typed in", func(b *bench) { b.show("a.txt").set("mine\n") }, "one\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.Write("a.txt", "one\n")
			f := b.plan("a.txt", "agent\n")
			c.does(b)
			before, err := os.Lstat(b.Abs("a.txt"))
			if _, err := b.commit(f); !errors.Is(err, ErrMoved) || fault.CodeOf(err) != fault.ConcurrentModification {
				t.Errorf("committed with %v", err)
			}
			if c.want != "" {
				b.want("a.txt", c.want)
			}
			if after, _ := os.Lstat(b.Abs("a.txt")); err == nil && !os.SameFile(before, after) {
				t.Error("another thing stands there now")
			}
		})
	}
}

func TestSomebodyElseCreatesTheFile(t *testing.T) {
	b := newBench(t)
	f := b.plan("new.txt", "agent")
	b.Write("new.txt", "human")
	b.wantMoved(f)
	b.want("new.txt", "human")
}

func TestWritesThroughLinks(t *testing.T) {
	b := newBench(t)
	b.Write("real/a.txt", "one")
	b.Link("real/a.txt", "link.txt")
	b.Link("real", "folder")
	b.mustCommit(b.plan("link.txt", "two"))
	b.want("real/a.txt", "two")
	if info, err := os.Lstat(b.Abs("link.txt")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link itself was replaced: %v, %v", info, err)
	}
	b.mustCommit(b.plan("folder/a.txt", "three"))
	b.want("real/a.txt", "three")
	b.mustCommit(b.plan("folder/new/b.txt", "new"))
	b.want("real/new/b.txt", "new")
}

// TestFolderBecomesALink: nobody agreed to a write where the link leads.
func TestFolderBecomesALink(t *testing.T) {
	b := newBench(t)
	b.Write("src/keep", "")
	b.Write(".git/hooks/keep", "")
	created := b.plan("src/hooks/pre-commit", "#!/bin/sh\n")
	b.Remove("src")
	b.Link(".git", "src")
	b.wantMoved(created)
	b.want(".git/hooks/pre-commit", "<absent>")
}

func TestBufferIsUndoneWithTheRest(t *testing.T) {
	b := newBench(t)
	b.Write("open.txt", "one\n")
	b.Write("closed.txt", "c")
	doc := b.show("open.txt")
	set := []File{b.plan("closed.txt", "C"), b.plan("open.txt", "two\n")}
	b.Write("closed.txt", "human")
	b.wantMoved(set...)
	b.want("closed.txt", "human")
	b.want("open.txt", "one\n")
	if doc.text != "one\n" || doc.dirty {
		t.Errorf("the buffer holds %q", doc.text)
	}
}

func TestCancelledCallChangesNothing(t *testing.T) {
	b := newBench(t)
	b.Write("a.txt", "one")
	f := b.plan("a.txt", "two")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.Commit(ctx, Only(f, ""), journal.Origin{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	b.want("a.txt", "one")
}

// TestTextThatDoesNotFitItsEncoding fails before anything is written.
func TestTextThatDoesNotFitItsEncoding(t *testing.T) {
	b := newBench(t)
	b.Write("a.txt", "caf\xe9")
	before, err := b.Documents.Snapshot(limit).Read(b.path("a.txt"), "windows-1252")
	b.Must(err)
	if _, err := New(before, document.Content{Text: "語", Encoding: "windows-1252"}); fault.CodeOf(err) != fault.EncodingError {
		t.Errorf("planned with %v", err)
	}
	f, err := New(before, document.Content{Text: "thé", Encoding: "windows-1252"})
	b.Must(err)
	f.After.Text = "語" // as a user may edit a proposal
	b.wantFault(fault.EncodingError, f)
	b.want("a.txt", "caf\xe9")
	f.After.Text = "thé"
	b.mustCommit(f)
	b.want("a.txt", "th\xe9")
}

func TestHardLinkKeepsTheOldText(t *testing.T) {
	b := newBench(t)
	b.Write("a.txt", "one")
	b.Must(os.Link(b.Abs("a.txt"), b.Abs("other.txt")))
	b.mustCommit(b.plan("a.txt", "two"))
	b.want("a.txt", "two")
	b.want("other.txt", "one")
}

// TestSwapStandsInForExchange is the way of file systems that cannot exchange names.
func TestSwapStandsInForExchange(t *testing.T) {
	b := newBench(t)
	b.Write("a", "A")
	b.Write("b", "B")
	f, _, err := handle.Calls{}.OpenFolder(b.path("."), false)
	b.Must(err)
	defer f.Close()
	b.Must(f.Swap("a", "b"))
	b.want("a", "B")
	b.want("b", "A")
	if err := f.Swap("a", "none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("with nothing: %v", err)
	}
	b.want("a", "B")
	b.Must(os.Mkdir(b.Abs("dir"), 0o755))
	if err := f.Swap("a", "dir"); err == nil {
		t.Error("a folder was swapped away")
	}
	b.want("a", "B")
	names, err := filepath.Glob(b.Abs("*"))
	b.Must(err)
	if len(names) != 3 {
		t.Errorf("left behind: %v", names)
	}
}
