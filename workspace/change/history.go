package change

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pillion/workspace/diff"
	"pillion/workspace/document"
	"pillion/workspace/journal"
)

// Selection is the change sets that somebody means. Empty fields mean all.
type Selection struct {
	CallID    string `json:"callId"`
	SessionID string `json:"sessionId"`
	Turn      int    `json:"turn"`
	SinceTurn int    `json:"sinceTurn"` // this turn and all later ones
	ID        string `json:"-"`         // of one entry
	Path      string `json:"-"`         // of one file in them, as tools print it
	// Since leaves out what an earlier session of the same id did.
	Since time.Time `json:"-"`
}

// IsEmpty reports whether it selects everything.
func (s Selection) IsEmpty() bool {
	return s.CallID == "" && s.SessionID == "" && s.Turn == 0 && s.SinceTurn == 0 && s.ID == ""
}

func (s Selection) has(e *journal.Entry) bool {
	return (s.CallID == "" || s.CallID == e.CallID) && (s.SessionID == "" || s.SessionID == e.SessionID) &&
		(s.ID == "" || s.ID == e.ID) && (s.Turn == 0 || s.Turn == e.Turn) && e.Turn >= s.SinceTurn && !e.Time.Before(s.Since)
}

// EntryInfo is a change set as editors list it.
type EntryInfo struct {
	ID        string             `json:"id"`
	CallID    string             `json:"callId"`
	SessionID string             `json:"sessionId"`
	Agent     EntryAgent         `json:"agent"`
	Tool      string             `json:"tool"`
	Title     string             `json:"title"`
	Turn      int                `json:"turn"`
	Prompt    string             `json:"prompt,omitempty"` // how what the user wrote begins that the turn came of
	Time      time.Time          `json:"time"`
	State     journal.EntryState `json:"state"`
	Why       string             `json:"why,omitempty"` // of one that was undone or interrupted
	Paths     []string           `json:"paths"`
	Files     []EntryFile        `json:"files"`
}

// EntryAgent names who made it.
type EntryAgent struct {
	Name string `json:"name"`
	Via  string `json:"via"`
}

// EntryFile is what a change set did to one path.
type EntryFile struct {
	Path      string `json:"path"`
	Operation string `json:"operation"`
	To        string `json:"to,omitempty"` // of a move
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	// Note is a clause on what else comes of it: "runs when you next use make".
	Note string `json:"note,omitempty"`
}

// JournalChanged is what editors hear of a change set that was made, or put back.
type JournalChanged struct {
	Entry EntryInfo     `json:"entry"`
	Files []ChangedFile `json:"files"`
}

// ChangedFile is one path of it.
type ChangedFile struct {
	Path      string      `json:"path"`
	URI       string      `json:"uri"`
	Operation string      `json:"operation"`
	To        string      `json:"to,omitempty"`
	ToURI     string      `json:"toUri,omitempty"`
	Lines     []LineRange `json:"lines"`
	Merged    bool        `json:"merged"`
}

// LineRange is lines of a text as it is now, from 0, End not among them. Where lines
// were only removed, both are the line that followed. Removed is how many lines stood
// there before: with it an editor moves older marks of a file that it has not open.
type LineRange struct {
	Start   int `json:"start"`
	End     int `json:"end"`
	Removed int `json:"removed"`
}

// History lists the change sets of this workspace, newest first. Those that somebody
// is still making are left out.
func (c *Committer) History(sel Selection, limit int) ([]EntryInfo, error) {
	entries, err := c.entries(sel, limit)
	if err != nil {
		return nil, err
	}
	out := make([]EntryInfo, 0, len(entries))
	for _, e := range entries {
		out = append(out, c.info(e))
	}
	return out, nil
}

func (c *Committer) entries(sel Selection, limit int) ([]journal.Entry, error) {
	if c.Journal == nil {
		return nil, nil
	}
	found, err := c.Journal.Store.Entries(journal.Query{Limit: limit, Wants: func(e *journal.Entry) bool {
		return sel.has(e) && c.isHere(e) && (e.State != journal.StatePending || !c.Journal.Store.Live(*e))
	}})
	for i := range found {
		if found[i].State == journal.StatePending {
			found[i].State = journal.StateInterrupted
		}
	}
	return found, err
}

// isHere: it changed something in a folder that is open, or a file apart.
func (c *Committer) isHere(e *journal.Entry) bool {
	w := c.Documents.Workspace()
	for _, root := range w.Roots() {
		if slices.ContainsFunc(e.Records, func(r journal.Record) bool { return isIn(root.Abs(), r.Path) }) {
			return true
		}
	}
	return slices.ContainsFunc(e.Records, func(r journal.Record) bool {
		_, apart := w.ApartAt(r.Path)
		return apart
	})
}

func isIn(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func (c *Committer) info(e journal.Entry) EntryInfo {
	out := EntryInfo{
		ID: e.ID, CallID: e.CallID, SessionID: e.SessionID, Agent: EntryAgent{e.Agent, e.Via}, Tool: e.Tool, Title: e.Title,
		Turn: e.Turn, Prompt: e.Prompt, Time: e.Time, State: e.State, Why: e.Why, Paths: []string{}, Files: []EntryFile{},
	}
	for _, r := range e.Records {
		f := EntryFile{Path: c.nameOf(r.Path, r.Name), Operation: r.Operation, Additions: r.Additions, Deletions: r.Deletions}
		if r.To != "" {
			f.To = c.nameOf(r.To, r.ToName)
		}
		if c.Journal.Note != nil {
			f.Note = c.Journal.Note(cmp.Or(f.To, f.Path))
		}
		out.Files = append(out.Files, f)
		if !slices.Contains(out.Paths, f.Path) {
			out.Paths = append(out.Paths, f.Path)
		}
	}
	return out
}

// nameOf is a path as tools print it here; it may have been another workspace then.
func (c *Committer) nameOf(abs, then string) string {
	if p, err := c.Documents.Workspace().Known(abs); err == nil {
		return p.String()
	}
	return then
}

func (c *Committer) uriOf(abs string) string {
	if p, err := c.Documents.Workspace().Known(abs); err == nil {
		return p.URI()
	}
	return ""
}

// notifyChanged has the editor hear of a set. The lines are those of the records, in order.
func (c *Committer) notifyChanged(e journal.Entry, lines [][]LineRange, merged []bool) {
	if c.Journal.Changed == nil {
		return
	}
	out := JournalChanged{Entry: c.info(e), Files: make([]ChangedFile, 0, len(e.Records))}
	for i, r := range e.Records {
		f := ChangedFile{Path: out.Entry.Files[i].Path, URI: c.uriOf(r.Path), Operation: r.Operation, To: out.Entry.Files[i].To, Lines: []LineRange{}}
		if r.To != "" {
			f.ToURI = c.uriOf(r.To)
		}
		if i < len(lines) && lines[i] != nil {
			f.Lines = lines[i]
		}
		f.Merged = i < len(merged) && merged[i]
		out.Files = append(out.Files, f)
	}
	c.Journal.Changed(out)
}

// changedLines are the lines of the new text that hunks put there.
func changedLines(hunks []diff.Hunk) []LineRange {
	out := []LineRange{}
	for _, h := range hunks {
		at := h.NewStart - 1
		if h.NewLines == 0 {
			at = h.NewStart
		}
		open := false
		for _, line := range h.Lines {
			if line.Op == diff.Context {
				at, open = at+1, false
				continue
			}
			if !open {
				out, open = append(out, LineRange{Start: at, End: at}), true
			}
			if line.Op == diff.Delete {
				out[len(out)-1].Removed++
			}
			if line.Op == diff.Insert {
				at++
				out[len(out)-1].End = at
			}
		}
	}
	return out
}

// DiffOf is what a record did to one text, "" where that is not known.
func DiffOf(content *journal.Content, r journal.Record) string {
	texts := [2]document.Content{}
	for i, st := range []*journal.State{r.Before, r.After} {
		if st == nil {
			continue
		}
		if st.Type != journal.TypeFile || st.Size > maxReadBack {
			return ""
		}
		data, err := content.Read(st)
		if err != nil {
			return ""
		}
		if st.Encoding == string(document.Binary) {
			return binaryDiffer(sideName(r.Before, "a/"+r.Name), sideName(r.After, "b/"+r.Name))
		}
		if texts[i], err = document.Decode(data, document.Encoding(st.Encoding)); err != nil {
			return ""
		}
	}
	hunks := diff.Hunks(texts[0].Text, texts[1].Text, contextLines)
	if len(hunks) == 0 {
		return ""
	}
	return "--- " + sideName(r.Before, "a/"+r.Name) + "\n+++ " + sideName(r.After, "b/"+r.Name) + "\n" + diff.Unified(hunks)
}

func sideName(st *journal.State, name string) string {
	if st == nil {
		return "/dev/null"
	}
	return GitName(name)
}
