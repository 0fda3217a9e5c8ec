package approval

import (
	"fmt"
	"strings"

	"pillion/workspace/change"
)

// Reason is why a call needs approval. Code is for programs; Text is a clause for people,
// lower case, without a full stop, with nothing invisible in it.
type Reason struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// ReasonClass is the code of what holds for every call of a tool.
const ReasonClass = "class"

// The codes of reasons that a fact says better.
const (
	ReasonEnvironment = "environment"
	ReasonInput       = "input"
	reasonUnsaved     = "unsaved"
	reasonMerged      = "merged"
)

// Because is a reason in words.
func Because(code, format string, args ...any) Reason {
	return Reason{code, fmt.Sprintf(format, args...)}
}

// UnsavedReason is that open files have text which would not be seen, if there are any.
func UnsavedReason(files []string) []Reason {
	if len(files) == 0 {
		return nil
	}
	return []Reason{{reasonUnsaved, "your unsaved changes in " + strings.Join(visibleAll(files), ", ") + " are not included"}}
}

// Preview shows what would happen. Kind says which fields are meant. What is composed is
// lines of text that are shown as they are: everything invisible in them is written out.
type Preview struct {
	Kind string `json:"kind"` // diff, command, url, text, plan or review

	// Composed by Request.Compose.
	Act      string   `json:"act"`      // completes "the agent wants to" in general: "run a command"
	Deed     string   `json:"deed"`     // and in particular: "run pytest -q"
	Subject  string   `json:"subject"`  // the deed without its verb
	Question string   `json:"question"` // the name of a dialog: "Run a command?"
	Lines    []string `json:"lines,omitempty"`
	Notices  []string `json:"notices,omitempty"` // warnings below what is shown
	Facts    []Fact   `json:"facts"`

	Files []File `json:"files,omitempty"` // diff and review
	Draft bool   `json:"draft,omitempty"` // they are what is in a draft

	Command string        `json:"command,omitempty"` // command
	Cwd     string        `json:"cwd,omitempty"`
	Parts   []CommandPart `json:"parts,omitzero"`  // empty, not absent, of a command without any
	Writes  []string      `json:"writes,omitzero"` // likewise
	Network bool          `json:"network,omitempty"`
	Hosts   []string      `json:"hosts,omitempty"`   // of a command without a network, what it can reach all the same
	Sandbox string        `json:"sandbox,omitempty"` // what really holds the command: "none"
	Unsaved []string      `json:"unsaved,omitempty"` // open files whose text it would not see

	URL      string `json:"url,omitempty"`      // url
	Markdown string `json:"markdown,omitempty"` // text and plan
	Message  string `json:"message,omitempty"`  // the argument of that name, which the user may edit
	Diff     string `json:"diff,omitempty"`     // in git's format
}

// Fact is a line or several under one label.
type Fact struct {
	Code   string   `json:"code"`
	Label  string   `json:"label"`
	Text   string   `json:"text"`
	Items  []string `json:"items,omitempty"` // in place of Text
	Tone   Tone     `json:"tone,omitempty"`
	Action string   `json:"action,omitempty"` // what an editor may offer beside it: ActionSave
}

// Tone is how much a fact stands out.
type Tone string

// The tones.
const (
	Warning Tone = "warning" // something that the user may not expect
	Muted   Tone = "muted"   // what is nearly always so
)

// ActionSave offers to save the files of Preview.Unsaved.
const ActionSave = "save"

// NewFact is a fact of one value or several.
func NewFact(code, label string, values ...string) Fact {
	if len(values) == 1 {
		return Fact{Code: code, Label: label, Text: values[0]}
	}
	return Fact{Code: code, Label: label, Items: values}
}

// Values are what stands under the label.
func (f Fact) Values() []string {
	if len(f.Items) > 0 {
		return f.Items
	}
	return []string{f.Text}
}

// File is one file of a change or a review.
type File struct {
	change.FilePreview
	// Composed:
	Name    string `json:"name"`
	Deed    string `json:"deed"`    // completes "the agent wants to": "delete the folder old"
	Summary string `json:"summary"` // what happens to it beside its lines
	Text    bool   `json:"text"`    // its two texts can be compared side by side
	Facts   []Fact `json:"facts"`
	Banner  string `json:"banner"` // what a diff of it cannot say by itself
}

// CommandPart is one simple command of a command line, and why it asks.
type CommandPart struct {
	Argv []string `json:"argv"`
	Why  string   `json:"why"`
}
