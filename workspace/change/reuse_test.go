package change

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pillion/workspace/document"
	"pillion/workspace/journal"
)

// TestRevertOfNamesThatWereUsedAgain: what stands at an old place goes back to its own
// in the same revert.
func TestRevertOfNamesThatWereUsedAgain(t *testing.T) {
	type plan func(b trees) TreeChange
	mv := func(from, to string) plan { return func(b trees) TreeChange { return b.move(from, to) } }
	rm := func(name string) plan { return func(b trees) TreeChange { return b.remove(name) } }
	mk := func(name string) plan { return func(b trees) TreeChange { return b.mkdir(name) } }
	for name, plans := range map[string][]plan{
		"a folder takes a file's name":       {mv("file", "dir/file"), mv("other", "file")},
		"two change places":                  {mv("file", "aside"), mv("second", "file"), mv("aside", "second")},
		"two folders change places":          {mv("dir", "aside"), mv("other", "dir"), mv("aside", "other")},
		"three go round":                     {mv("file", "x"), mv("second", "file"), mv("third", "second"), mv("x", "third")},
		"moved to where one was deleted":     {rm("file"), mv("second", "file")},
		"a folder where one was deleted":     {rm("dir"), mk("dir"), mv("file", "dir/file")},
		"made where one was moved away":      {mv("dir", "new/dir"), mk("dir"), rm("new/dir/a")},
		"moved, and a part of it deleted":    {mv("dir", "new/dir"), rm("new/dir/a")},
		"moved, and a part of it moved":      {mv("dir", "new/dir"), mv("new/dir/a", "new/x")},
		"moved, and something moved into it": {mv("dir", "new/dir"), mv("file", "new/dir/file")},
		"moved, and a folder made in it":     {mv("dir", "new/dir"), mk("new/dir/more")},
		"moved, and a folder in it deleted":  {mv("dir", "new/dir"), rm("new/dir/sub")},
		"there and back and there again":     {mv("file", "x/y"), mv("x/y", "file"), mv("file", "x/z")},
		"into the folder that took the name": {mv("file", "f2"), mv("dir", "file"), mv("f2", "file/f")},
	} {
		t.Run(name, func(t *testing.T) {
			b := newTrees(t)
			for _, file := range []string{"file", "second", "third", "dir/a", "dir/sub/b", "other/c"} {
				b.Write(file, file)
			}
			before := b.all()
			for i, p := range plans {
				b.commitAs(fmt.Sprint(i), Set{Tree: []TreeChange{p(b)}})
			}
			after := b.all()
			b.wantReverted(Selection{SessionID: "s"}, "back")
			b.wantAll(before)
			b.wantReverted(Selection{CallID: "back"}, "again")
			b.wantAll(after)
		})
	}
}

// TestARevertInSeveralSetsIsMadeWholeOrNot has each write of the journal fail once.
func TestARevertInSeveralSetsIsMadeWholeOrNot(t *testing.T) {
	for failing, whole := 1, false; !whole; failing++ {
		b := newTrees(t)
		b.Write("dir/a", "a")
		b.Write("dir/b", "b")
		for i, plan := range []func() TreeChange{
			func() TreeChange { return b.move("dir", "new") },
			func() TreeChange { return b.remove("new/a") },
			func() TreeChange { return b.move("new/b", "b") },
		} {
			b.commitAs(fmt.Sprint(i), Set{Tree: []TreeChange{plan()}})
		}
		after, n := b.all(), 0
		b.Journal.Store.Break(journal.Faults{Write: func() error {
			if n++; n == failing {
				return errors.New("the disk is full")
			}
			return nil
		}})
		_, err := b.Revert(context.Background(), Selection{SessionID: "s"}, journal.Origin{CallID: "back"}, false)
		b.Journal.Store.Break(journal.Faults{})
		switch {
		case err != nil:
			b.wantAll(after)
		default:
			b.wantAll("dir/ dir/a=a dir/b=b")
		}
		whole = n < failing
	}
}

// TestARevertIsRightToTheByte: also where the agent left nothing that tells how lines
// ended.
func TestARevertIsRightToTheByte(t *testing.T) {
	b := newTrees(t)
	for i, before := range []string{"a\r\nb\r\n", "a\r\nb\nc\rd", "\ufeffa\r\n", "\r\n", "a\rb", "no end", "\n"} {
		for k, after := range []string{"", "x", "x\n", "a\nb\n"} {
			call := fmt.Sprint(i, " ", k)
			b.Write("file", before)
			b.commitAs(call, Set{Files: []File{b.plan("file", after)}})
			b.wantCallReverted(call)
			b.want("file", before)
		}
	}
}

// TestARevertReadsInTheEncoding that the change was made in, beside what somebody has written since.
func TestARevertReadsInTheEncoding(t *testing.T) {
	for encoding, texts := range map[document.Encoding][2]string{"windows-1252": {"é\n", "\xe9\n"}, "iso-2022-jp": {"あ\n", "\x1b$B$\"\x1b(B\n"}} {
		b := newTrees(t)
		lines := strings.Repeat("line\n", 9)
		b.Write("file", "one\n"+lines)
		before, err := b.Documents.Snapshot(limit).Read(b.path("file"), encoding)
		b.Must(err)
		f, err := New(before, document.Content{Text: texts[0] + lines, Encoding: encoding})
		b.Must(err)
		b.commitAs("c", Set{Files: []File{f}})
		b.want("file", texts[1]+lines)
		b.Write("file", texts[1]+lines+"more\n")
		if r := b.revertCall("c"); len(r.Merged) != 1 {
			t.Errorf("%s: %+v", encoding, r)
		}
		b.want("file", "one\n"+lines+"more\n")
	}
}

// TestADeletedFileComesBackBeneathItsBuffer: an editor keeps the text of a file that is
// gone; what was on disk comes back there.
func TestADeletedFileComesBackBeneathItsBuffer(t *testing.T) {
	b := newTrees(t)
	b.Write("file", "saved\n")
	b.show("file").set("saved\ntyped\n")
	b.commitAs("c", Set{Tree: []TreeChange{b.remove("file")}})
	b.wantCallReverted("c")
	b.want("file", "saved\n")
}
