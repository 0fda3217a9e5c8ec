package install

import (
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
	ours  bool   // the whole of path belongs to Pillion: uninstalling needs no memory of it. Such edits come first in their file
	tool  string // the agent's own tool that it turns off
}

// record remembers, per settings file, which of the edits made a difference:
// a rule that the user had written before is not ours to take out again.
type record struct {
	File string     `json:"file"`
	Did  []recorded `json:"did"`
}

type recorded struct {
	Path []string `json:"path"`
	Item string   `json:"item,omitempty"`
	// Text is a replaced value as it was written, or a whole entry of the user's that had our name.
	Text string `json:"text,omitempty"`
	// Had is how many of the path's containers were there before, from the outermost: those
	// stay, also empty.
	Had int `json:"had,omitempty"`
}

// planJSON edits an agent's settings files and their records.
func planJSON(o Options, agent string, files []jsonFile) (changes []FileChange, err error) {
	for i, f := range files {
		more, err := f.plan(o, agent, i == 0 || len(changes) > 0)
		if err != nil {
			return nil, err
		}
		changes = append(changes, more...)
	}
	return changes, nil
}

// plan edits one. present says that our server can be installed: without it and without a record,
// nothing in the file is ours.
func (f jsonFile) plan(o Options, agent string, present bool) (changes []FileChange, err error) {
	doc, change, err := openJSON(f.path)
	if err != nil {
		return nil, err
	}
	past, err := o.readRecord(agent, f.path)
	if err != nil {
		return nil, err
	}
	old := decodeValue(doc.root)
	switch {
	case !o.Uninstall:
		theirs(doc, f.edits, past)
		change.Why, err = installInto(doc, f.edits, past)
	case past.Existed || present && ourMaking(doc, f.edits):
		change.Why = uninstall(doc, f.edits, past)
	default:
		return nil, nil
	}
	if err = errors.Join(err, doc.broken); err != nil {
		return nil, err
	}
	if !equalJSON(without(old, f.edits), without(decodeValue(doc.root), f.edits)) {
		return nil, wouldLose(f.path)
	}
	if len(change.Why) > 0 {
		changes = append(changes, change.to(doc.text, o.Uninstall && doc.empty()))
	}
	return append(changes, past.changes(o)...), nil
}

func wouldLose(path string) error {
	return fmt.Errorf("%s would lose a part that is not Pillion's, so it was left alone; please report this", path)
}

// theirs remembers an entry that has our name and is not of our making, and makes room
// for ours in its place.
func theirs(doc *jsonText, edits []edit, past *recordFile) {
	if past.Existed || !edits[0].ours {
		return
	}
	path := edits[0].own()
	_, depth := doc.find(path)
	made := recorded{Path: path, Had: min(depth, len(path)-1)}
	if text := doc.textAt(path); text != "" && !ourMaking(doc, edits) {
		made.Text = text
		doc.put(path, "{}")
	}
	if parent, ok := doc.get(path[:made.Had]); made.Text != "" || ok && made.Had > 0 && equalJSON(parent, map[string]any{}) {
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
		changed, err := doc.set(e)
		if err != nil {
			return nil, err
		}
		if !changed {
			continue
		}
		if !slices.Contains(why, e.why) {
			why = append(why, e.why)
		}
		if _, known := past.find(e.path, e.item); !known && !e.ours {
			did := recorded{Path: e.path, Item: e.item}
			_, did.Had = before.find(e.path)
			if e.item == "" {
				did.Text = before.textAt(e.path)
			}
			past.add(did)
		}
	}
	return why, nil
}

func uninstall(doc *jsonText, edits []edit, past *recordFile) (why []string) {
	dropped := map[string][]string{}
	for _, e := range edits {
		did, known := past.find(e.path, e.item)
		name := strings.Join(e.path, ".")
		switch {
		case e.ours: // the whole object goes below
		case past.Existed && !known: // it was there before us
		case e.item != "":
			if doc.remove(e.path, e.item, did.Had) {
				dropped[name] = append(dropped[name], e.item)
			}
		case did.Text != "":
			if doc.textAt(e.path) != "" {
				doc.put(e.path, did.Text)
				why = append(why, "puts "+name+" back to what it was")
			}
		default:
			if now, ok := doc.get(e.path); ok && equalJSON(now, e.value) && doc.remove(e.path, "", did.Had) {
				why = append(why, "takes "+name+" out")
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(dropped)) {
		why = append(why, "takes "+strings.Join(dropped[name], ", ")+" out of "+name)
	}
	if len(why) > 0 && !past.Existed {
		why = append(why, "finds no record of the installation, so identical rules of your own are removed too")
	}
	if edits[0].ours {
		path := edits[0].own()
		made, _ := past.find(path, "")
		switch {
		case made.Text != "" && doc.textAt(path) != "":
			doc.put(path, made.Text)
			why = append(why, "restores your own server of that name")
		case doc.remove(path, "", made.Had):
			why = append(why, "removes the server")
		}
	}
	past.After = ""
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

// recordFile is the record of one settings file, in Pillion's state folder, and what becomes of it.
type recordFile struct {
	record
	FileChange // without After it goes
}

func (o Options) readRecord(agent, file string) (*recordFile, error) {
	sum := sha256.Sum256([]byte(file))
	path := filepath.Join(o.stateFolder(), "install", agent+"-"+hex.EncodeToString(sum[:4])+".json")
	text, existed, err := read(path)
	if err != nil {
		return nil, err
	}
	r := &recordFile{FileChange: FileChange{Path: path, Before: text, After: text, Existed: existed}}
	if existed {
		if err := json.Unmarshal([]byte(text), &r.record); err != nil {
			return nil, fmt.Errorf("%s is damaged, delete it and run this again: %w", path, err)
		}
	}
	r.File = file
	return r, nil
}

func (r *recordFile) find(path []string, item string) (recorded, bool) {
	i := slices.IndexFunc(r.Did, func(d recorded) bool { return slices.Equal(d.Path, path) && d.Item == item })
	if i < 0 {
		return recorded{}, false
	}
	return r.Did[i], true
}

func (r *recordFile) add(d recorded) {
	r.Did = append(r.Did, d)
	b, err := json.MarshalIndent(r.record, "", "  ")
	if err != nil {
		_ = bug.Errorf("printing a record: %w", err)
	}
	r.After = string(b) + "\n"
}

func (r *recordFile) changes(o Options) []FileChange {
	if r.After == r.Before {
		return nil
	}
	r.Why = []string{"records which rules were added, so that uninstalling removes only these"}
	if o.Uninstall {
		r.Why = []string{"deletes the record of what the installation added"}
	}
	return []FileChange{r.to(r.After, r.After == "")}
}
