package file

import (
	"path/filepath"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/session"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/document"
)

// treeReasons are what the user should know beside the names.
func treeReasons(c change.TreeChange) []approval.Reason {
	var out []approval.Reason
	if c.Operation == change.ChangeMode {
		return nil // the preview says it, and policy
	}
	for _, f := range c.Unsaved() {
		out = append(out, approval.Because("unsaved_text", "%s has unsaved changes in the editor; they stay there", fault.Quote(f.Path.String())))
	}
	if link := c.Was.Top().Link; link != "" {
		out = append(out, approval.Because("link", "it is a symbolic link to %s, which stays", fault.Quote(link)))
	}
	if c.Over.Exists() {
		out = append(out, approval.Because("replaces", "it replaces the file %s", fault.Quote(c.To.String())))
	}
	if len(c.Missing) > 0 && c.Operation == change.Move {
		out = append(out, approval.Because("creates", "it creates the folder %s", fault.Quote(c.Target.Dir().String())))
	}
	return out
}

// checkKnown refuses to take away a file that is not the one that the session read.
func checkKnown(s *session.Session, c change.TreeChange) error {
	if c.Text == nil {
		return nil
	}
	b := basisOf(s, c.Text, "")
	if b.version == document.Absent || !b.moved {
		return nil
	}
	b.remembered = false // both sides are the file's own: there is nothing to merge
	return b.conflict(c.Text, "")
}

// treeKnowledge has the session know what became of the files that it knew.
func treeKnowledge(s *session.Session, c change.TreeChange) map[workspace.Path]tools.Knowledge {
	out := map[workspace.Path]tools.Knowledge{}
	if c.Operation == change.ChangeMode {
		return out
	}
	if c.Over.Exists() {
		if version, known := tools.SeenVersion(s, c.Target); known { // the agent itself put there what it may not know
			out[c.Target] = tools.Knowledge{Version: version, Result: c.Was.Top().Version}
		}
	}
	top := c.Source.Abs()
	for _, k := range s.Known() {
		rel, err := filepath.Rel(top, k.Path)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		version, _ := s.Seen(k.Path)
		out[c.Source.Join(filepath.ToSlash(rel))] = tools.Knowledge{Version: document.Absent}
		if c.Operation == change.Move {
			out[c.Target.Join(filepath.ToSlash(rel))] = tools.Knowledge{Version: version}
		}
	}
	return out
}

// treeEdits is the plan of a tool that changes the tree in one place.
func treeEdits(in tools.Input, c change.TreeChange, title string, answer func(change.Outcome) *tools.Answer) *tools.Edits {
	return &tools.Edits{
		Title:   title,
		Reasons: treeReasons(c),
		Set:     change.Set{Tree: []change.TreeChange{c}, Label: title, Backup: true},
		Answer: func(o []change.Outcome) *tools.Answer {
			a := answer(o[0])
			if o[0].Operation != change.Unchanged {
				a.Knows = treeKnowledge(in.Session, c)
				a.Display = tools.DisplayDiff(change.Set{Tree: []change.TreeChange{c}}.Preview()...)
			}
			return a
		},
	}
}

// folderEntries is how many files a folder held; nothing of what is no folder.
func folderEntries(c change.TreeChange) *int {
	if !c.IsDir() {
		return nil
	}
	return &c.Entries
}
