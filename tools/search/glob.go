package search

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/workspace"
	"pillion/workspace/search"
)

var _ = tools.Define(tools.NewRead(tools.Spec{
	Name:        "glob",
	Title:       "Find files",
	Description: "Finds files by name, such as *.py or src/**/*.{ts,tsx}; without a slash the pattern matches names in any folder. Leaves out what git ignores.",
	Success:     true,
	Results:     []any{globResult{}},
}, planGlob))

type globArgs struct {
	Pattern string `json:"pattern" jsonschema:"relative to path"`
	Path    string `json:"path,omitempty"`
	Sort    string `json:"sort,omitempty" jsonschema:"path, or modified for newest first"`
	Limit   int    `json:"limit,omitempty" minimum:"1" default:"2000"`
}

type globResult struct {
	Matches   []string `json:"matches"`
	Count     int      `json:"count"`
	Truncated bool     `json:"truncated"`
}

func planGlob(ctx context.Context, in tools.Input, args globArgs) (*tools.Answer, error) {
	if args.Sort != "" && args.Sort != "path" && args.Sort != "modified" {
		return nil, fault.Invalid("sort must be path or modified, not %s", fault.Quote(args.Sort))
	}
	if err := tools.CheckGlob(in.Snapshot.Workspace(), args.Pattern); err != nil {
		return nil, err
	}
	matches, err := search.CompileGlob(args.Pattern)
	if err != nil {
		return nil, err
	}
	roots, err := tools.FoldersAt(in, args.Path)
	if err != nil {
		return nil, err
	}
	g := globbing{matches: matches, limit: cmp.Or(args.Limit, tools.DefaultListLimit), newest: args.Sort == "modified", several: len(roots) > 1}
	for _, root := range roots {
		if err := g.walk(ctx, in, root, workspace.WalkOptions{}); err != nil {
			return nil, err
		}
	}
	if len(g.found) > 0 {
		return g.answer(args), nil
	}
	for _, root := range roots {
		if err := g.walk(ctx, in, root, workspace.WalkOptions{IncludeIgnored: true}); err != nil {
			return nil, err
		}
	}
	if namesPlace(roots, args.Pattern) {
		a := g.answer(args)
		if len(g.found) > 0 {
			a.Notes = append(a.Notes, "(git ignores them)")
		}
		return a, nil
	}
	ignored, first := len(g.found), ""
	if ignored > 0 {
		first, g.found = g.found[0].name, nil
	}
	a := g.answer(args)
	if ignored > 0 {
		a.Text = fmt.Sprintf("(nothing matches but %s that git ignores, such as %s; name their folder as path to have them)", tools.Count(ignored, "file"), fault.Quote(first))
	}
	return a, nil
}

// namesPlace says whether somebody named a place within the workspace: what is in it is then
// meant, ignored or not.
func namesPlace(roots []workspace.Path, pattern string) bool {
	folder, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(pattern, "./"), "/"), "/")
	isPlain := func(text string) bool { return text != "" && !strings.ContainsAny(text, `*?{[\`) }
	return !roots[0].IsRoot() || !strings.HasPrefix(pattern, "!") && isPlain(folder) && (rest != "" || isPlain(pattern))
}

// globbing is one search for names.
type globbing struct {
	matches func(rel string) bool
	limit   int
	newest  bool
	several bool // folders are looked in: their names may lead the glob

	found     []globbed
	bytes     int // of the names
	truncated bool
}

type globbed struct {
	name     string
	modified time.Time
}

func (g *globbing) walk(ctx context.Context, in tools.Input, root workspace.Path, o workspace.WalkOptions) error {
	from := tools.NamePrefix(root)
	return in.Files.Visit(ctx, root, o, g.newest, func(dir *workspace.Contents, e *workspace.Listed) error {
		if !e.Type.IsRegular() {
			return nil
		}
		name := dir.Name(e)
		switch {
		case !g.matches(strings.TrimPrefix(name, from)) && !(g.several && g.matches(name)):
			return nil
		case !g.newest && len(g.found) == g.limit || g.bytes > tools.MostListBytes/3:
			g.truncated = true
			return fs.SkipAll
		}
		g.bytes += len(name)
		g.found = append(g.found, globbed{name, e.Modified()})
		return nil
	})
}

func (g *globbing) answer(args globArgs) *tools.Answer {
	if g.newest {
		slices.SortStableFunc(g.found, func(a, b globbed) int { return b.modified.Compare(a.modified) })
	}
	if len(g.found) > g.limit {
		g.found, g.truncated = g.found[:g.limit], true
	}
	matches := make([]string, len(g.found))
	var text strings.Builder
	for i, f := range g.found {
		matches[i] = f.name
		text.WriteString(fault.Quote(f.name) + "\n")
	}
	if len(matches) == 0 {
		text.WriteString(tools.NothingMatches)
	}
	a := &tools.Answer{
		Result:  globResult{matches, len(matches), g.truncated},
		Text:    text.String(),
		Rest:    "narrow it with path or pattern",
		Summary: fmt.Sprintf("%s, %s", fault.Quote(fault.Clip(args.Pattern, 60)), tools.Count(len(matches), "file")),
	}
	if g.truncated {
		a.Notes = append(a.Notes, fmt.Sprintf("(there are more than %d files; narrow it with path or pattern, or raise limit)", len(matches)))
	}
	return a
}
