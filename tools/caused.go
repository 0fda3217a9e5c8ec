package tools

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools/policy"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/language"
)

// mostWarmed bounds the files of one call that language servers are told of in advance.
const mostWarmed = 16

// warm has the servers look at what is to be changed, so that what is wrong now is
// known by the time that the change is made.
func (p *pending) warm() {
	e := p.edits()
	if p.registry.Languages == nil || e == nil || p.decision.Verdict == policy.Refuse {
		return
	}
	var paths []workspace.Path
	for _, f := range e.Set.Files {
		paths = append(paths, f.Path())
	}
	p.prepareFor(paths)
}

// warmRead has them look at files that were read: they may be changed next.
func (p *pending) warmRead(a *Answer) {
	if p.registry.Languages == nil || a.Err != nil {
		return
	}
	p.prepareFor(slices.DeleteFunc(slices.Clone(a.Reads), func(path workspace.Path) bool {
		_, shown := a.Saw[path]
		return !shown || p.snapshot.Known(path) == nil
	}))
}

func (p *pending) prepareFor(paths []workspace.Path) {
	if len(paths) > 0 {
		p.registry.Languages.Prepare(p.snapshot, paths[:min(len(paths), mostWarmed)])
	}
}

// causedResult is what a change did to the diagnostics of one file. Lists and numbers
// are there only where they are known to be about the text as it is.
type causedResult struct {
	New       *[]language.Diagnostic `json:"new,omitempty"`
	Fixed     *[]language.Diagnostic `json:"fixed,omitempty"`
	Remaining *int                   `json:"remaining,omitempty"`
	Truncated bool                   `json:"truncated,omitempty"`
	Status    language.Freshness     `json:"status"`
	Server    string                 `json:"server,omitempty"`
	Compared  *bool                  `json:"compared,omitempty"` // false: what was wrong before is not known
	Elsewhere []elsewhereResult      `json:"elsewhere,omitempty"`
}

// elsewhereResult is a file that was not changed, and how many errors and warnings are
// new in it.
type elsewhereResult struct {
	Path  string `json:"path"`
	Count int    `json:"count"`
}

// Of each file at most so many are told.
const (
	mostCaused   = 50
	mostNoted    = 10 // in the text
	mostFileNote = 10 // files in the text
)

// noteCaused adds what the change did to what is wrong with its files, where a server
// runs that knows. The change is made, learnt and in the journal by then; whoever
// answers is bounded by the settings.
func (p *pending) noteCaused(ctx context.Context, a *Answer) {
	if p.registry.Languages == nil || p.edits() == nil { // of a command, whoever wants to know asks
		return
	}
	paths, texts := p.changed()
	if len(paths) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, p.timeout())
	defer cancel()
	found := p.registry.Languages.Caused(ctx, p.snapshot, paths, func(found map[workspace.Path]language.Caused) {
		p.call.Session.Later(causedLater(paths, texts, found))
	})
	var all causes
	byPath := map[string]causedResult{}
	for _, path := range paths {
		c, known := found[path]
		if !known {
			continue
		}
		text, there := texts[path]
		r := all.add(path, text, there, c)
		byPath[path.String()] = r
		if !p.edits().Several {
			a.caused = r
		}
	}
	if p.edits().Several && len(byPath) > 0 {
		a.caused = together(byPath)
	}
	if notes := all.said(); len(notes) > 0 {
		a.Notes = append(a.Notes, strings.Join(notes, "\n"))
	}
	a.Summary, a.problem = causedSummary(all.broke, all.mended)+a.Summary, all.worst
}

// causedLater is what the model reads of what was not known in time, with the next result.
func causedLater(paths []workspace.Path, texts map[workspace.Path]string, found map[workspace.Path]language.Caused) []string {
	var all causes
	for _, path := range paths {
		c, known := found[path]
		text, there := texts[path]
		switch {
		case known && c.Freshness == language.Fresh:
			all.add(path, text, there, c)
		case known:
			all.elsewhere = append(all.elsewhere, c.Elsewhere...)
		}
	}
	return all.said()
}

// causes is what a change of several files did.
type causes struct {
	notes         []string // of each file, for the model
	broke, mended []language.Diagnostic
	worst         *Problem
	elsewhere     []language.Elsewhere
}

func (all *causes) add(path workspace.Path, text string, there bool, c language.Caused) causedResult {
	r := caused(c)
	if r.Status == language.Fresh && c.Compared {
		all.broke, all.mended = append(all.broke, c.New...), append(all.mended, c.Fixed...)
		for _, d := range c.New {
			if all.worst == nil || rank(d) < all.worst.Severity {
				all.worst = &Problem{path.String(), d.Range, rank(d)}
			}
		}
	}
	if note := causedNote(path, text, c, r); note != "" && there {
		all.notes = append(all.notes, note)
	}
	all.elsewhere = append(all.elsewhere, c.Elsewhere...)
	return r
}

// said is what the model reads of it.
func (all *causes) said() []string {
	notes := all.notes
	if more := len(notes) - mostFileNote; more > 0 {
		notes = append(notes[:mostFileNote], fmt.Sprintf("(%s more; see diagnostics)", Count(more, "file")))
	}
	if len(all.elsewhere) > 0 {
		notes = append(notes, elsewhereNote(all.elsewhere))
	}
	return notes
}

// changed are the files that have other text now, and those that are gone or have another
// name, which have none in texts.
func (p *pending) changed() (paths []workspace.Path, texts map[workspace.Path]string) {
	texts = map[workspace.Path]string{}
	for _, o := range p.outcomes {
		if o.Tree != nil && o.Tree.Text != nil && (o.Operation == change.Delete || o.Operation == change.Move) {
			paths = append(paths, o.Tree.Source)
		}
		if o.Tree == nil && o.Operation != change.Unchanged && !p.leaves(o.File) {
			paths = append(paths, o.File.Path())
			texts[o.File.Path()] = o.Text
		}
	}
	return paths, texts
}

// leaves: the set gave the file another name, by which no server knows it yet.
func (p *pending) leaves(f change.File) bool {
	return slices.ContainsFunc(p.outcomes, func(o change.Outcome) bool {
		return o.Tree != nil && o.Tree.Operation == change.Move && o.Tree.Source == f.Target
	})
}

// causedSummary is what the user reads of it in the list of activity, first: lists are
// narrow.
func causedSummary(broke, mended []language.Diagnostic) string {
	var said []string
	if len(broke) > 0 {
		said = append(said, "caused "+CountBySeverity(broke))
	}
	if len(mended) > 0 {
		said = append(said, "fixed "+CountBySeverity(mended))
	}
	if len(said) == 0 {
		return ""
	}
	return strings.Join(said, "; ") + ": "
}

func caused(c language.Caused) causedResult {
	r := causedResult{Status: c.Freshness, Server: fault.Clip(c.Server.Name, LongWord)}
	if r.Status == "" {
		r.Status = language.TimedOut
	}
	for _, e := range c.Elsewhere {
		r.Elsewhere = append(r.Elsewhere, elsewhereResult{e.Path.String(), len(e.New)})
	}
	if r.Status != language.Fresh {
		return r
	}
	created, fixed := MostSevere(c.New, mostCaused), MostSevere(c.Fixed, mostCaused)
	r.New, r.Fixed, r.Remaining, r.Compared = &created, &fixed, &c.Remaining, &c.Compared
	r.Truncated = len(created) < len(c.New) || len(fixed) < len(c.Fixed)
	if !c.Compared {
		r.Fixed = nil
	}
	return r
}

// causedNote is what the model reads of it.
func causedNote(path workspace.Path, text string, c language.Caused, r causedResult) string {
	name, by := fault.Quote(path.String()), Answered(c.Server)
	switch {
	case r.Status == language.LinterMissing, r.Status == language.NoServer:
		return "" // nothing that asking again would tell
	case r.Status == language.Stale:
		return fmt.Sprintf("%s changed again before the diagnostics of this change were known (%s, %s); lsp_diagnostics has the current ones.", name, r.Status, by)
	case r.Status != language.Fresh:
		return fmt.Sprintf("The diagnostics of %s after this change are not known yet (%s, %s); use lsp_diagnostics.", name, r.Status, by)
	case len(c.New) == 0 && len(c.Fixed) == 0 && c.Remaining == 0:
		return fmt.Sprintf("No problems in %s after this (fresh, %s).", name, by)
	}
	said := "The change caused no new diagnostics"
	switch {
	case len(c.New) > 0 && c.Compared:
		said = "The change caused " + CountBySeverity(c.New)
	case len(c.New) > 0:
		said = "Diagnostics on the changed lines: " + CountBySeverity(c.New)
	case !c.Compared:
		said = "There are no diagnostics on the changed lines"
	}
	said = fmt.Sprintf("%s in %s (fresh, %s)", said, name, by)
	if len(c.Fixed) > 0 {
		said += fmt.Sprintf("; it fixed %d", len(c.Fixed))
	}
	switch {
	case c.Remaining > 0 && c.Compared:
		said += fmt.Sprintf("; %d from before remain", c.Remaining)
	case c.Remaining > 0:
		said += fmt.Sprintf("; %d more in the file", c.Remaining)
	}
	if !c.Compared {
		said += "; the diagnostics before the change are unknown"
	}
	if len(c.New) == 0 {
		return said + "."
	}
	return said + ". Lines and characters are counted from 0:" + ListDiagnostics(path, text, MostSevere(c.New, mostNoted), len(c.New), true)
}

// elsewhereNote is what the model reads of files that were not changed. They need not be
// all, and servers do not say why they found something.
func elsewhereNote(all []language.Elsewhere) string {
	var said []string
	for _, e := range all[:min(len(all), mostFileNote)] {
		said = append(said, fmt.Sprintf("%s in %s", CountBySeverity(e.New), fault.Quote(e.Path.String())))
	}
	if more := len(all) - len(said); more > 0 {
		said = append(said, fmt.Sprintf("and %s more", Count(more, "file")))
	}
	return "New problems since the change in other files: " + strings.Join(said, "; ") + ". lsp_diagnostics has them."
}

// severalCaused is what a change of several files did: what causedResult says of one,
// said of all of them, and how much of it is known of each.
type severalCaused struct {
	New       *[]placedDiagnostic     `json:"new,omitempty"`
	Fixed     *[]placedDiagnostic     `json:"fixed,omitempty"`
	Remaining *int                    `json:"remaining,omitempty"`
	Truncated bool                    `json:"truncated,omitempty"`
	Status    language.Freshness      `json:"status"` // of the first file that is not fresh, if there is one
	Compared  *bool                   `json:"compared,omitempty"`
	Files     map[string]causedResult `json:"files"` // without their lists
}

// placedDiagnostic is a diagnostic of one of several files.
type placedDiagnostic struct {
	Path string `json:"path"`
	language.Diagnostic
}

// together joins what is known of each file. An empty list is given only where all files
// are known, and a number only then.
func together(byPath map[string]causedResult) severalCaused {
	out := severalCaused{Status: language.Fresh, Files: map[string]causedResult{}}
	var created, fixed []placedDiagnostic
	remaining, compared := 0, true
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		r := byPath[path]
		if r.Status != language.Fresh && out.Status == language.Fresh {
			out.Status = r.Status
		}
		created, fixed = placed(created, path, r.New), placed(fixed, path, r.Fixed)
		if r.Remaining != nil {
			remaining += *r.Remaining
			compared = compared && *r.Compared
		}
		out.Truncated = out.Truncated || r.Truncated
		r.New, r.Fixed = nil, nil
		out.Files[path] = r
	}
	known := out.Status == language.Fresh
	if known || len(created) > 0 {
		out.New = &created
	}
	if known && compared || len(fixed) > 0 {
		out.Fixed = &fixed
	}
	if known {
		out.Remaining, out.Compared = &remaining, &compared
	}
	return out
}

func placed(all []placedDiagnostic, path string, list *[]language.Diagnostic) []placedDiagnostic {
	if all == nil {
		all = []placedDiagnostic{}
	}
	if list == nil {
		return all
	}
	for _, d := range *list {
		all = append(all, placedDiagnostic{path, d})
	}
	return all
}
