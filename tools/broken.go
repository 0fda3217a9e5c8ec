package tools

import (
	"fmt"
	"strings"

	"pillion/internal/fault"
	"pillion/tools/wellformed"
	"pillion/workspace/change"
)

// brokenFile is a file of data that could be read before the change, and cannot be now.
type brokenFile struct {
	Path   string `json:"path"`
	Format string `json:"format"`
	Line   int    `json:"line"` // from 1
	Reason string `json:"reason"`
}

// noteBroken tells of files that the change has left invalid. Nothing is refused for it: a
// change may be one of several.
func (p *pending) noteBroken(a *Answer) {
	for _, o := range p.outcomes {
		if o.Tree != nil || o.Operation == change.Unchanged {
			continue
		}
		if problem := wellformed.Broken(o.File.Path().Rel(), o.File.Before.Text, o.Text); problem != nil {
			a.broken = append(a.broken, brokenFile{o.File.Path().String(), problem.Format, problem.Line, problem.Reason})
		}
	}
	if len(a.broken) == 0 {
		return
	}
	var lines []string
	for _, b := range a.broken[:min(len(a.broken), mostFileNote)] {
		lines = append(lines, fmt.Sprintf("%s is not valid %s now, line %d: %s", fault.Quote(b.Path), b.Format, b.Line, fault.Line(fault.Clip(b.Reason, 300))))
	}
	a.Notes = append(a.Notes, strings.Join(lines, "\n"))
	a.Summary = fmt.Sprintf("invalid %s: ", a.broken[0].Format) + a.Summary
}
