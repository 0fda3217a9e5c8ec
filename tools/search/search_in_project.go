package search

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/search"
)

var _ = tools.Define(tools.NewRead(tools.Spec{
	Name:        "search_in_project",
	Title:       "Search in project",
	Description: "Searches the text of files, unsaved changes included, without binary files and what git ignores. Returns path:line: text; three hits or fewer come with the lines around them.",
	Success:     true,
	Results:     []any{searchResult{}},
}, planSearch))

type searchArgs struct {
	Query         string `json:"query" jsonschema:"plain text"`
	Path          string `json:"path,omitempty" jsonschema:"folder or file"`
	CaseSensitive bool   `json:"case_sensitive,omitempty"`
	Regex         bool   `json:"regex,omitempty" jsonschema:"query is a regular expression (RE2)"`
	Glob          string `json:"glob,omitempty" jsonschema:"only files that match, such as *.py"`
	ContextLines  *int   `json:"context_lines,omitempty" minimum:"0" maximum:"50"`
	MaxMatches    int    `json:"max_matches,omitempty" minimum:"1" default:"200"`
}

type searchResult struct {
	Matches       []search.Match `json:"matches"`
	Count         int            `json:"count"`
	FilesSearched int            `json:"files_searched"`
	Truncated     bool           `json:"truncated"`
	Skipped       int            `json:"skipped,omitempty"` // files that might hold hits and could not be searched
}

func planSearch(ctx context.Context, in tools.Input, args searchArgs) (*tools.Answer, error) {
	contextLines := search.AutoContext
	if args.ContextLines != nil {
		contextLines = *args.ContextLines
	}
	if args.Query == "" {
		return nil, fault.Invalid("query is empty; give the text to search for")
	}
	roots, err := tools.FoldersAt(in, args.Path)
	if err != nil {
		return nil, err
	}
	if _, err := roots[0].Stat(); err != nil {
		return nil, err
	}
	source := searchSource{Snapshot: in.Snapshot, in: in, at: roots[0]}
	source.links = slices.ContainsFunc(roots, func(p workspace.Path) bool { return in.Snapshot.Real(p) != p })
	query := search.Query{
		Text: args.Query, Regex: args.Regex, CaseSensitive: args.CaseSensitive, Glob: args.Glob,
		Context: contextLines, MaxMatches: args.MaxMatches, Files: in.Files, IndexBytes: in.Limits.IndexBytes,
	}
	found, err := search.Run(ctx, roots, query, source)
	if err != nil {
		return nil, err
	}
	ignored := 0 // files that git ignores, and that were not searched
	if found.Count == 0 && !found.Late {
		if query.IncludeIgnored = namesPlace(roots, args.Glob); query.IncludeIgnored {
			found, err = search.Run(ctx, roots, query, source)
		} else {
			ignored, err = ignoredFiles(ctx, in, roots)
		}
		if err != nil {
			return nil, err
		}
	}
	if found.Matches == nil {
		found.Matches = []search.Match{}
	}
	text := pageOfHits(&found, in.Page)
	a := &tools.Answer{
		Result:  searchResult{found.Matches, found.Count, found.FilesSearched, found.Truncated, found.Skipped},
		Text:    text,
		Paged:   true,
		Summary: fmt.Sprintf("%s for %s", tools.Count(found.Count, "hit"), fault.Quote(fault.Clip(args.Query, 60))),
	}
	for _, m := range found.Matches {
		a.ShowKeys(in.Snapshot.Workspace(), m.Path, strings.Join(slices.Concat(m.Before, []string{m.Text}, m.After), "\n"))
	}
	switch {
	case ignored > 0:
		a.Notes = append(a.Notes, fmt.Sprintf("(not searched: %s that git ignores; name their folder as path to search there)", atMost(ignored, "file")))
	case query.IncludeIgnored && found.Count > 0:
		a.Notes = append(a.Notes, "(in files that git ignores)")
	}
	if found.Late {
		a.Notes = append(a.Notes, fmt.Sprintf("(stopped when the time was up, after %s; narrow the search with path or glob)", tools.Count(found.FilesSearched, "file")))
	} else if found.Truncated {
		a.Notes = append(a.Notes, fmt.Sprintf("(the first %s; for others narrow the search with path, glob or a longer query)", tools.Count(found.Count, "hit")))
	}
	if found.ReadAll {
		a.Notes = append(a.Notes, "(slow: every file was read, because no text of four characters or more is in every match; a query with such a text, path or glob is much faster)")
	}
	if found.Skipped > 0 {
		a.Notes = append(a.Notes, fmt.Sprintf("(%s not searched: too large, in an unknown encoding, or a secret)", tools.Count(found.Skipped, "file")))
	}
	return a, nil
}

// mostIgnored bounds the count of what an empty answer has not looked at.
const mostIgnored = 10_000

// ignoredFiles counts the files below the folders that git ignores.
func ignoredFiles(ctx context.Context, in tools.Input, roots []workspace.Path) (int, error) {
	counted := func(o workspace.WalkOptions) (n int, err error) {
		for _, root := range roots {
			err = in.Files.Visit(ctx, root, o, false, func(_ *workspace.Contents, e *workspace.Listed) error {
				if e.Type.IsRegular() {
					n++
				}
				if o.IncludeIgnored && n > 2*mostIgnored {
					return fs.SkipAll
				}
				return nil
			})
			if err != nil {
				return 0, err
			}
		}
		return n, nil
	}
	some, err := counted(workspace.WalkOptions{})
	if err != nil || some > mostIgnored {
		return 0, err // it was no small thing that was searched
	}
	all, err := counted(workspace.WalkOptions{IncludeIgnored: true})
	return min(all-some, mostIgnored), err
}

// atMost is a count that was not taken to its end.
func atMost(n int, of string) string {
	if n >= mostIgnored {
		return fmt.Sprintf("%s %ss or more", tools.Grouped(mostIgnored), of)
	}
	return tools.Count(n, of)
}

// searchSource leaves out the files whose reading would have to be asked for.
type searchSource struct {
	*document.Snapshot
	in    tools.Input
	at    workspace.Path // what was asked for
	links bool           // a link leads to what is searched
}

func (s searchSource) IsApart(p workspace.Path) bool {
	return s.links || s.Snapshot.HasOpen(p) || tools.IsNamedSecret(p)
}

func (s searchSource) Open() (files []workspace.Path, all bool) {
	return s.Snapshot.Open(), s.links
}

func (s searchSource) ReadText(p workspace.Path) (string, error) {
	isSecret := tools.IsNamedSecret(p) || (s.links || p == s.at) && tools.IsSecret(p) // below a folder no link is followed
	if !isSecret {
		return s.Snapshot.ReadText(p)
	}
	if !tools.Knows(s.in.Session, s.Snapshot, p) {
		return "", fault.New(fault.PermissionDenied, "%s looks like a file with secrets; read_file asks the user", fault.Quote(p.String()))
	}
	return s.Snapshot.ReadText(p)
}

// pageOfHits is the text of the hits; those that a page does not hold are left out of the
// result as well.
func pageOfHits(r *search.Result, page int) string {
	if len(r.Matches) == 0 {
		return fmt.Sprintf("no hits in %s", tools.Count(r.FilesSearched, "file"))
	}
	var out strings.Builder
	lines := 0
	for i, m := range r.Matches {
		before := out.Len()
		hitText(&out, m)
		lines += len(m.Before) + 1 + len(m.After)
		if page > 0 && i > 0 && (out.Len() > page || lines > tools.PageLines) {
			r.Matches, r.Count, r.Truncated = r.Matches[:i], i, true
			return out.String()[:before]
		}
	}
	return out.String()
}

func hitText(out *strings.Builder, m search.Match) {
	name := fault.Quote(m.Path)
	for i, line := range m.Before {
		fmt.Fprintf(out, "%s-%d- %s\n", name, m.Line-len(m.Before)+i, line)
	}
	fmt.Fprintf(out, "%s:%d: %s\n", name, m.Line, m.Text)
	for i, line := range m.After {
		fmt.Fprintf(out, "%s-%d- %s\n", name, m.Line+1+i, line)
	}
}
