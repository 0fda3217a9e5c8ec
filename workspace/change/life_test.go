package change

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
)

// life is one file while a user types in an editor, other programs write to
// disk and an agent makes changes, in any order. Everyone only adds lines, each
// of them once, so that nothing of anybody's may ever be missing.
type life struct {
	*bench
	rt  *rapid.T
	doc *openDocument // nil when it is closed

	lines int
	added []string // what must be in the editor or on disk
	made  []string // the agent's, of changes that were reported as made
	// The disk as the editor last read or wrote it: it saves over nothing else.
	known string
}

const lifeFile = "a.txt"

func TestNothingOfAnybodysIsEverMissing(t *testing.T) {
	machine.Rapid(t, 12, 200)
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		l := &life{bench: newBenchIn(t, dir), rt: rt}
		l.editor.plugin = rapid.Bool().Draw(rt, "the editor has a plugin")
		l.write(lifeFile, "first\nlast\n")
		l.editor.onEdit = func(_ *openDocument, e BufferEdit) (BufferResult, error) { return l.edit(e), nil }
		rt.Repeat(map[string]func(*rapid.T){
			"open":    func(*rapid.T) { l.open() },
			"close":   func(*rapid.T) { l.close() },
			"type":    func(*rapid.T) { l.typeLine() },
			"save":    func(*rapid.T) { l.save() },
			"outside": func(*rapid.T) { l.outside() },
			"reload":  func(*rapid.T) { l.reload() },
			"agent":   func(rt *rapid.T) { l.agent(rt) },
			"":        func(*rapid.T) { l.check() },
		})
	})
}

func (l *life) line(who string) string {
	l.lines++
	return fmt.Sprintf("%s %d\n", who, l.lines)
}

func (l *life) open() {
	if l.doc == nil {
		l.doc = l.show(lifeFile)
		l.known = l.doc.text
	}
}

// close is what a careful human does: only what is saved is closed.
func (l *life) close() {
	if l.doc != nil && !l.doc.dirty {
		l.doc.close()
		l.doc = nil
	}
}

func (l *life) typeLine() {
	if l.doc == nil {
		return
	}
	line := l.line("human")
	l.added = append(l.added, line)
	l.doc.set(l.doc.text + line)
}

// save refuses where the disk is newer, as editors do.
func (l *life) save() {
	if l.doc != nil && l.doc.dirty && l.onDisk(lifeFile) == l.known {
		l.doc.save()
		l.known = l.doc.text
	}
}

func (l *life) outside() {
	line := l.line("outside")
	l.added = append(l.added, line)
	l.write(lifeFile, line+l.onDisk(lifeFile))
}

// reload is what editors do with a clean buffer whose file changed.
func (l *life) reload() {
	if l.doc == nil || l.doc.dirty || l.onDisk(lifeFile) == l.doc.text {
		return
	}
	l.doc.version++
	l.doc.text = l.onDisk(lifeFile)
	l.known = l.doc.text
	l.editor.store.Change(l.doc.path, l.doc.version, l.doc.text)
	l.doc.tellState()
}

func (l *life) edit(e BufferEdit) BufferResult {
	save := e.Save && l.onDisk(lifeFile) == l.known
	e.Save = save && l.editor.plugin
	r := l.doc.edit(e)
	if e.Save && r.Applied {
		l.known = l.doc.text
	}
	if !l.editor.plugin {
		r = stockAnswer(e)
	}
	return r
}

// agent plans, lets somebody act, and commits, planning again where that is asked
// for, as the door does.
func (l *life) agent(rt *rapid.T) {
	line := l.line("agent")
	between := rapid.SampledFrom([]func(){func() {}, func() {}, l.typeLine, l.save, l.outside, l.reload, l.open, l.close}).Draw(rt, "between")
	top := rapid.Bool().Draw(rt, "at the top")
	for range 3 {
		before, err := l.Documents.Snapshot(limit).Read(l.path(lifeFile), "")
		if err != nil {
			rt.Fatal(err)
		}
		after := before.Content
		if after.Text += line; top {
			after.Text = line + before.Text
		}
		f, err := New(before, after)
		if err != nil {
			rt.Fatal(err)
		}
		between()
		between = func() {}
		_, err = l.commit(f)
		switch {
		case err == nil:
			l.made = append(l.made, line)
			return
		case !errors.Is(err, ErrMoved):
			if fault.CodeOf(err) != fault.ConcurrentModification {
				rt.Fatal(err)
			}
			return
		}
	}
}

func (l *life) check() {
	disk, buffer := l.onDisk(lifeFile), ""
	if l.doc != nil {
		buffer = l.doc.text
	}
	for _, line := range slices.Concat(l.added, l.made) {
		inDisk, inBuffer := strings.Count(disk, line), strings.Count(buffer, line)
		if inDisk == 0 && inBuffer == 0 {
			l.rt.Fatalf("%q is lost; on disk %q, in the editor %q", line, disk, buffer)
		}
		if inDisk > 1 || inBuffer > 1 {
			l.rt.Fatalf("%q was made twice; on disk %q, in the editor %q", line, disk, buffer)
		}
	}
	entries, err := os.ReadDir(l.dir)
	if err != nil || len(entries) != 1 {
		l.rt.Fatalf("left behind: %v, %v", entries, err)
	}
}
