package approval

import (
	"fmt"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/change"
)

func (r *Request) composeFiles() {
	p := &r.Preview
	names := map[string]bool{}
	for i := range p.Files {
		p.Files[i].compose(r.Tool)
		names[p.Files[i].Path] = true
	}
	p.Subject, p.Act, p.Question = count(len(names), "file"), "change files", "Change files?"
	if len(names) == 1 {
		p.Subject = p.Files[0].Name
	}
	p.Deed = verb(p.Files, r.Tool) + " " + p.Subject
	switch {
	case p.Draft:
		p.Act, p.Question, p.Deed = "apply its draft", "Draft of "+visible(r.Agent.Name), "apply its draft of "+p.Subject
	case p.Kind == "review":
		p.Act, p.Question, p.Deed = "have a patch reviewed", "Review a patch?", "have a patch of "+p.Subject+" reviewed"
	case len(p.Files) == 1:
		p.Deed = p.Files[0].Deed
		if !p.Files[0].Text {
			p.Act = p.Deed
		}
		p.Question = p.Files[0].question()
	}
	if p.Message != "" {
		r.add(NewFact("message", "Message", visibleLines(strings.TrimSpace(p.Message))...))
	}
	because := r.particulars()
	for i := range p.Files {
		p.Files[i].banner(p, because, len(names))
	}
}

// ComposeFiles is a preview of a change that nobody is asked about.
func ComposeFiles(files []change.FilePreview) Preview {
	r := Request{Preview: Preview{Kind: "diff", Files: Files(files), Facts: []Fact{}}}
	r.composeFiles()
	r.Preview.Notices = r.Preview.notices()
	return r.Preview
}

// Files are those of a change, to be composed.
func Files(files []change.FilePreview) []File {
	out := make([]File, 0, len(files))
	for _, f := range files {
		out = append(out, File{FilePreview: f})
	}
	return out
}

func (f *File) isFolder() bool { return f.Operation == change.CreateDirectory || f.Entries != nil }

func (f *File) compose(tool string) {
	f.Name = visible(f.Path)
	switch f.Operation {
	case change.Delete:
		f.Text = f.Whole == "" && f.Before != "" && f.Entries == nil
	case change.Move, change.CreateDirectory:
	default:
		f.Text = f.Whole == ""
	}
	f.Deed, f.Summary, f.Facts = f.deed(tool), f.summary(tool), f.facts()
	for i, h := range f.Hunks {
		if h.Before == nil && f.Summary != "" {
			f.Hunks[i].Title = f.Summary
		}
	}
}

func (f *File) deed(tool string) string {
	name, whole := f.Name, ""
	if f.isFolder() {
		name = "the folder " + name
	}
	if f.Whole != "" {
		whole = " (" + visible(f.Whole) + ")"
	}
	switch f.Operation {
	case change.CreateDirectory:
		return "create " + name
	case change.Move:
		return "move " + name + " to " + visible(f.To)
	}
	return verb([]File{*f}, tool) + " " + name + whole
}

// verb is what is done to all files alike.
func verb(files []File, tool string) string {
	verbs := map[change.Operation]string{change.Create: "create", change.CreateDirectory: "create", change.Delete: "delete", change.Move: "move"}
	if tool == "write_file" {
		verbs[change.Overwrite] = "overwrite"
	}
	all := map[string]bool{}
	for _, f := range files {
		all[verbs[f.Operation]] = true
	}
	if len(all) == 1 && verbs[files[0].Operation] != "" {
		return verbs[files[0].Operation]
	}
	return "edit"
}

// summary is what happens to it beside its lines.
func (f *File) summary(tool string) string {
	said := map[change.Operation]string{change.Create: "new file", change.CreateDirectory: "new folder", change.Delete: "deleted"}[f.Operation]
	switch {
	case f.Operation == change.Move && f.To != "":
		said = "moved to " + visible(f.To)
	case f.Operation == change.Create && f.isFolder():
		said = "new folder"
	}
	if f.isFolder() && f.Operation != change.CreateDirectory {
		said = change.Words(said, entries(*f.Entries))
	}
	return change.Words(said, visible(f.Note), visible(f.Whole), f.size(tool))
}

// size is that of a text that is written whole; of an edit the lines say enough.
func (f *File) size(tool string) string {
	overwritten := f.Operation == change.Overwrite && tool == "write_file"
	switch was := len(f.Before); {
	case f.Operation != change.Create && !overwritten || f.Whole != "" || f.isFolder():
		return ""
	case overwritten && was != f.Size:
		return fmt.Sprintf("%d → %s", was, count(f.Size, "byte"))
	}
	return count(f.Size, "byte")
}

func entries(n int) string {
	if n == 0 {
		return "empty"
	}
	return count(n, "file")
}

func (f *File) facts() []Fact {
	facts := []Fact{}
	if f.Merged {
		facts = append(facts, Fact{Code: "merged", Label: "Merged", Text: "with changes made since the agent read the file", Tone: Warning})
	}
	if f.Dirty && f.Text {
		facts = append(facts, Fact{Code: "unsaved", Label: "Unsaved changes", Text: "kept; the file stays unsaved", Tone: Warning})
	}
	if said := f.encoding(); said != "" {
		fact := NewFact("encoding", "Encoding", said)
		if f.Disguised {
			fact.Tone = Warning
		}
		facts = append(facts, fact)
	}
	if f.Operation == change.Move {
		facts = append(facts, NewFact("from", "From", f.Name), NewFact("to", "To", visible(f.To)))
	}
	if f.isFolder() && f.Operation != change.CreateDirectory {
		contents := NewFact("contents", "Contents", f.contents()...)
		if f.Operation == change.Delete {
			contents.Tone = Warning
		}
		facts = append(facts, contents)
	}
	return facts
}

// encoding is "" of UTF-8.
func (f *File) encoding() string {
	if f.Disguised {
		return string(f.Encoding) + ": read as ASCII, as programs do, its bytes are another text than this one"
	}
	return string(f.Encoding)
}

// contents are how many files a folder has, and the names of the first.
func (f *File) contents() []string {
	const most = 60
	out := []string{entries(*f.Entries)}
	names := strings.FieldsFunc(f.Diff, func(c rune) bool { return c == '\n' })
	for i, name := range names {
		if i == most {
			return append(out, "and "+count(max(len(names), *f.Entries)-most, "more file"))
		}
		out = append(out, visible(name))
	}
	return out
}

func (f *File) question() string {
	verb := map[change.Operation]string{change.CreateDirectory: "Create", change.Delete: "Delete", change.Move: "Move"}[f.Operation]
	switch {
	case verb == "":
		return "Change files?"
	case f.isFolder():
		return verb + " a folder?"
	}
	return verb + " a file?"
}

// banner stands above a diff of the file.
func (f *File) banner(p *Preview, because string, files int) {
	var said []string
	if f.Merged {
		said = append(said, "merged with changes made since the agent read it")
	}
	said = append(said, f.encoding())
	switch {
	case p.Kind == "review" || p.Draft && p.Message != "":
		said = append(said, fault.Clip(visible(strings.Join(strings.Fields(p.Message), " ")), longestBanner), f.Summary)
	case because != "" && files == 1:
		said = append(said, "asks because "+fault.Clip(because, longestBanner))
	case because != "":
		said = append(said, "the change of "+count(files, "file")+" asks because "+fault.Clip(because, longestBanner))
	}
	f.Banner = strings.Join(nonEmpty(said), " · ")
}

// longestBanner is what a person reads above a diff, in characters.
const longestBanner = 300

func nonEmpty(texts []string) []string {
	out := texts[:0:0]
	for _, text := range texts {
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}
