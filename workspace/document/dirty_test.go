package document

import (
	"testing"

	"pillion/workspace"
)

// TestDirtiness follows a buffer through what editors send, with and without the
// state that LSP does not have.
func TestDirtiness(t *testing.T) {
	d := newDesk(t)
	state := func(version int32, dirty bool) func(workspace.Path) {
		return func(p workspace.Path) {
			d.SetState(p, State{Version: version, Dirty: dirty, Encoding: "utf8"})
		}
	}
	change := func(version int32, text string) func(workspace.Path) {
		return func(p workspace.Path) { d.Change(p, version, text) }
	}
	disk := func(text string) func(workspace.Path) {
		return func(workspace.Path) { d.write("a.txt", text) }
	}
	saved := func(p workspace.Path) { d.Saved(p) }
	type events = []func(workspace.Path)
	for _, c := range []struct {
		name  string
		does  events
		dirty bool
		text  string
	}{
		{"opened, nothing said", events{}, false, "one"},
		{"typed, nothing said", events{change(2, "two")}, true, "two"},
		{"typed and saved, nothing said", events{change(2, "two"), disk("two"), saved}, false, "two"},
		{"clean, and the disk changes", events{state(1, false), disk("other")}, false, "other"},
		{"nothing said, and the disk changes", events{disk("other")}, false, "other"},
		{"nothing said, the disk changes and is reloaded", events{disk("other"), change(2, "other"), disk("more")}, false, "more"},
		{"typed, and the disk changes", events{change(2, "two"), disk("other")}, true, "two"},
		{"typed, saved, and the disk changes", events{change(2, "two"), disk("two"), saved, disk("other")}, false, "other"},
		{"clean, and the file goes", events{state(1, false), func(workspace.Path) { d.remove("a.txt") }}, false, ""},
		{"nothing said, and the file goes", events{func(workspace.Path) { d.remove("a.txt") }}, false, ""},
		{"typed, before the editor says dirty", events{state(1, false), change(2, "two")}, true, "two"},
		{"said dirty", events{state(1, false), change(2, "two"), state(2, true)}, true, "two"},
		{"dirty with the text of the disk", events{state(1, true)}, true, "one"},
		{"undone", events{state(1, false), change(2, "two"), state(2, true), change(3, "one"), state(3, false)}, false, "one"},
		{"clean said of an older version", events{state(1, false), change(2, "two"), change(3, "three"), state(2, false)}, true, "three"},
		{"clean said of a version to come", events{state(7, false), disk("other")}, true, "one"},
		{"that version comes", events{state(2, false), disk("other"), change(2, "other")}, false, "other"},
		{"reloaded without another word", events{state(1, false), disk("other"), change(2, "other")}, false, "other"},
		{"reloaded, then the disk changes again", events{state(1, false), disk("b"), change(2, "b"), disk("c")}, false, "c"},
		{"reloaded late: the disk is further on", events{state(1, false), disk("c"), change(2, "b"), change(3, "c"), disk("d")}, false, "d"},
		{"saved", events{state(1, false), change(2, "two"), state(2, true), disk("two"), saved}, false, "two"},
		{"typed while it was being saved", events{state(1, false), change(2, "two"), state(2, true), disk("two"), change(3, "three"), saved}, true, "three"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.t = t
			d.write("a.txt", "one")
			p := d.show("a.txt", "one", false)
			defer d.Close(p)
			for _, event := range c.does {
				event(p)
			}
			if got := d.isDirty("a.txt"); got != c.dirty {
				t.Errorf("dirty: %v, want %v", got, c.dirty)
			}
			if f := d.read("a.txt"); f.Text != c.text {
				t.Errorf("the text is %q, want %q", f.Text, c.text)
			}
		})
	}
}

func TestDirtinessInAnotherEncoding(t *testing.T) {
	d := newDesk(t)
	d.write("a.txt", "caf\xe9")
	p := d.show("a.txt", "café", false)
	d.SetState(p, State{Version: 1, Encoding: "windows1252"})
	d.write("a.txt", "th\xe9")
	d.Change(p, 2, "thé") // reloaded
	if f := d.read("a.txt"); d.isDirty("a.txt") || f.Text != "thé" || f.Encoding != "windows-1252" {
		t.Errorf("%+v", f)
	}
	d.SetState(p, State{Version: 2, Encoding: "an unknown one"})
	if f := d.read("a.txt"); f.Text != "thé" || f.Source != FromBuffer || f.DiskFault == nil {
		t.Errorf("in an encoding unknown here: %+v", f)
	}
}
