package install

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/bug"
)

// edit is one thing that an agent's JSON settings must say.
type edit struct {
	path  []string
	value any    // what stands at path, or is in the array there
	item  string // what the array at path contains, or how the value is known there
	why   string
	ours  bool // the whole of path belongs to Pillion: uninstalling needs no memory of it
}

func (e edit) same(o edit) bool { return slices.Equal(e.path, o.path) && e.item == o.item }

// record remembers, per settings file, which of the edits made a difference:
// a rule that the user had written before is not ours to take out again.
type record struct {
	File string     `json:"file"`
	Did  []recorded `json:"did"`
}

type recorded struct {
	Path []string `json:"path"`
	Item string   `json:"item,omitempty"`
	Was  any      `json:"was,omitempty"` // what a replaced value was
	// Text is the same as it was written, or a whole entry of the user's that had our name.
	Text string `json:"text,omitempty"`
	// Had is how many of the path's containers were there before, from the outermost: those
	// stay, also empty.
	Had int `json:"had,omitempty"`
}

// planJSON edits one settings file and its record. present says that our
// server is installed at all: without it and without a record, nothing in the
// file is ours.
func planJSON(o Options, agent, path string, edits []edit, present bool) ([]FileChange, error) {
	before, existed, err := read(path)
	if err != nil {
		return nil, err
	}
	doc, err := parseJSON(path, before)
	if err != nil {
		return nil, err
	}
	past, err := o.readRecord(agent, path)
	if err != nil {
		return nil, err
	}
	old := doc.decode()
	change := FileChange{Path: path, Before: before, Existed: existed}
	switch {
	case o.Uninstall && (past.existed || present && ourMaking(doc, edits)):
		change.Why = uninstall(doc, edits, past)
	case o.Uninstall:
		return nil, nil
	default:
		theirs(doc, edits, past)
		change.Why, err = installInto(doc, edits, past)
	}
	if err = errors.Join(err, doc.broken); err != nil {
		return nil, err
	}
	if !equalJSON(without(old, edits), without(doc.decode(), edits)) {
		return nil, fmt.Errorf("%s would lose a part that is not Pillion's, so it was left alone; please report this", path)
	}
	var files []FileChange
	if len(change.Why) > 0 {
		change.After = doc.text
		if o.Uninstall && doc.empty() {
			change.After, change.Delete = "", true
		}
		files = append(files, change)
	}
	return append(files, past.change(o)...), nil
}

// theirs remembers an entry that has our name and is not of our making, and makes room
// for ours in its place.
func theirs(doc *jsonText, edits []edit, past *recordFile) {
	at := slices.IndexFunc(edits, func(e edit) bool { return e.ours })
	if at < 0 {
		return
	}
	entry := edit{path: edits[at].own()}
	if _, known := past.find(entry); known || past.existed {
		return
	}
	_, depth := doc.find(entry.path)
	made := recorded{Path: entry.path, Had: min(depth, len(entry.path)-1)}
	if text := doc.textAt(entry.path); text != "" && !ourMaking(doc, edits) {
		made.Text = text
		doc.put(entry.path, "{}")
	}
	if parent, ok := doc.get(entry.path[:made.Had]); made.Text != "" || ok && made.Had > 0 && equalJSON(parent, map[string]any{}) {
		past.add(made)
	}
}

// ourMaking says that the entry is as an installation without a record leaves it, wherever
// the program was then.
func ourMaking(doc *jsonText, edits []edit) bool {
	for _, e := range edits {
		is, _ := doc.get(e.path)
		if list, ok := is.([]any); ok && e.path[len(e.path)-1] == "args" {
			is = list[:min(len(list), 1)] // flags came later
			e.value = []string{"mcp"}
		}
		if e.ours && !strings.HasPrefix(e.path[len(e.path)-1], "command") && !equalJSON(is, e.value) {
			return false
		}
	}
	return true
}

func installInto(doc *jsonText, edits []edit, past *recordFile) (why []string, err error) {
	before := *doc
	for _, e := range edits {
		was, had := doc.get(e.path)
		_, depth := before.find(e.path)
		var changed bool
		if e.item != "" {
			changed, err = doc.add(e.path, e.item, cmp.Or(e.value, any(e.item)))
		} else {
			changed, err = doc.set(e.path, e.value)
		}
		if err != nil {
			return nil, err
		}
		if !changed {
			continue
		}
		if !slices.Contains(why, e.why) {
			why = append(why, e.why)
		}
		if !e.ours {
			past.remember(e, was, had, depth, before.textAt(e.path))
		}
	}
	return why, nil
}

func uninstall(doc *jsonText, edits []edit, past *recordFile) (why []string) {
	dropped := map[string][]string{}
	for _, e := range edits {
		did, known := past.find(e)
		name := strings.Join(e.path, ".")
		switch {
		case e.ours: // the whole object goes below
		case past.existed && !known: // it was there before us
		case e.item != "":
			if doc.drop(e.path, e.item, did.Had) {
				dropped[name] = append(dropped[name], e.item)
			}
		case did.Text != "":
			if doc.textAt(e.path) != "" {
				doc.put(e.path, did.Text)
				why = append(why, "puts "+name+" back to what it was")
			}
		case did.Was != nil: // by a program that did not keep the text
			if changed, err := doc.set(e.path, did.Was); err == nil && changed {
				why = append(why, "puts "+name+" back to what it was")
			}
		default:
			if now, ok := doc.get(e.path); ok && equalJSON(now, e.value) && doc.remove(e.path, did.Had) {
				why = append(why, "takes "+name+" out")
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(dropped)) {
		why = append(why, "takes "+strings.Join(dropped[name], ", ")+" out of "+name)
	}
	if len(why) > 0 && !past.existed {
		why = append(why, "finds no record of the installation, so identical rules of your own are removed too")
	}
	for _, e := range edits {
		if !e.ours {
			continue
		}
		made, _ := past.find(edit{path: e.own()})
		switch {
		case made.Text != "" && doc.textAt(e.own()) != "":
			doc.put(e.own(), made.Text)
			why = append(why, "restores your own server of that name")
		case doc.remove(e.own(), made.Had):
			why = append(why, "removes the server")
		}
		break // the entry is one for all of them
	}
	past.text = ""
	return why
}

// own is the path of the object that is all Pillion's.
func (e edit) own() []string { return e.path[:slices.Index(e.path, server)+1] }

// without is the document with everything that the edits touch taken out, for
// comparing the rest.
func without(doc any, edits []edit) any {
	root, ok := doc.(map[string]any)
	if !ok {
		return doc
	}
	for _, e := range edits {
		path := e.path
		if e.ours {
			path = e.own()
		}
		strip(root, path, e.item)
	}
	return root
}

// strip deletes the value at path, or item from the array there, and what that
// leaves empty. Empty containers are nobody's.
func strip(m map[string]any, path []string, item string) {
	name := path[0]
	switch x := m[name].(type) {
	case map[string]any:
		if len(path) > 1 {
			strip(x, path[1:], item)
		}
		if len(path) == 1 || len(x) == 0 {
			delete(m, name)
		}
	case []any:
		x = slices.DeleteFunc(x, func(v any) bool { return item != "" && isItem(v, item) })
		m[name] = x
		if len(x) == 0 || item == "" {
			delete(m, name)
		}
	default:
		if len(path) == 1 {
			delete(m, name)
		}
	}
}

// recordFile is the record of one settings file, in Pillion's state folder.
type recordFile struct {
	record
	path    string
	before  string
	existed bool
	text    string // what it shall hold; empty deletes it
}

func (o Options) readRecord(agent, file string) (*recordFile, error) {
	sum := sha256.Sum256([]byte(file))
	r := &recordFile{path: filepath.Join(o.stateFolder(), "install", agent+"-"+hex.EncodeToString(sum[:4])+".json")}
	var err error
	if r.before, r.existed, err = read(r.path); err != nil {
		return nil, err
	}
	r.text = r.before
	if r.existed {
		if err := json.Unmarshal([]byte(r.before), &r.record); err != nil {
			return nil, fmt.Errorf("%s is damaged, delete it and run this again: %w", r.path, err)
		}
	}
	r.File = file
	return r, nil
}

func (r *recordFile) find(e edit) (recorded, bool) {
	i := slices.IndexFunc(r.Did, func(d recorded) bool { return e.same(edit{path: d.Path, item: d.Item}) })
	if i < 0 {
		return recorded{}, false
	}
	return r.Did[i], true
}

func (r *recordFile) remember(e edit, was any, had bool, depth int, text string) {
	if _, known := r.find(e); known {
		return
	}
	d := recorded{Path: e.path, Item: e.item, Had: depth}
	if had && e.item == "" {
		d.Was, d.Text = was, text
	}
	r.add(d)
}

func (r *recordFile) add(d recorded) {
	r.Did = append(r.Did, d)
	b, err := json.MarshalIndent(r.record, "", "  ")
	if err != nil {
		_ = bug.Errorf("printing a record: %w", err)
	}
	r.text = string(b) + "\n"
}

func (r *recordFile) change(o Options) []FileChange {
	if r.text == r.before {
		return nil
	}
	f := FileChange{Path: r.path, Before: r.before, After: r.text, Existed: r.existed, Delete: r.text == ""}
	if o.Uninstall {
		f.Why = []string{"deletes the record of what the installation added"}
	} else {
		f.Why = []string{"records which rules were added, so that uninstalling removes only these"}
	}
	return []FileChange{f}
}
