package file

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/workspace"
	"pillion/workspace/search"
)

var _ = tools.Define(tools.NewRead(tools.Spec{
	Name:        "list_files",
	Title:       "List files",
	Description: "Lists a folder by name, without what git ignores.",
	Success:     true,
	Results:     []any{listFilesResult{}},
}, planListFiles))

type listFilesArgs struct {
	Path           string `json:"path,omitempty"`
	Recursive      bool   `json:"recursive,omitempty"`
	Pattern        string `json:"pattern,omitempty" jsonschema:"glob"`
	IncludeIgnored bool   `json:"include_ignored,omitempty"`
	Limit          int    `json:"limit,omitempty" minimum:"1" default:"2000"`
}

type listFilesResult struct {
	Files     []listedFile `json:"files"`
	Count     int          `json:"count"`
	Truncated bool         `json:"truncated"`
}

type listedFile struct {
	Name     string `json:"name"`
	Path     string `json:"path"`
	Type     string `json:"type"` // file, directory or symlink
	Size     int64  `json:"size"`
	Modified string `json:"modified"` // RFC 3339, in UTC
}

func planListFiles(ctx context.Context, in tools.Input, args listFilesArgs) (*tools.Answer, error) {
	l := listing{limit: cmp.Or(args.Limit, tools.DefaultListLimit)}
	if args.Pattern != "" {
		var err error
		if l.matches, err = search.CompileGlob(args.Pattern); err != nil {
			return nil, err
		}
	}
	roots, err := tools.FoldersAt(in, args.Path)
	if err != nil {
		return nil, err
	}
	options := workspace.WalkOptions{IncludeIgnored: args.IncludeIgnored}
	if !args.Recursive {
		options.MaxDepth = 1
	}
	for _, root := range roots {
		if err := l.walk(ctx, in, root, options); err != nil {
			return nil, err
		}
	}
	if len(l.files) > 0 || args.IncludeIgnored {
		return l.answer(args.Path), nil
	}
	return listIgnored(ctx, in, args, l.answer(args.Path))
}

// listIgnored lists what git ignores where there is nothing else: a place that somebody names is
// listed although it is ignored.
func listIgnored(ctx context.Context, in tools.Input, args listFilesArgs, empty *tools.Answer) (*tools.Answer, error) {
	args.IncludeIgnored = true
	a, err := planListFiles(ctx, in, args)
	if err != nil || a.Text == tools.NothingMatches {
		return empty, err
	}
	a.Notes = append(a.Notes, "(git ignores them)")
	return a, nil
}

type listing struct {
	limit   int
	matches func(rel string) bool // nil: all
	from    string                // what the names that are matched are relative to

	files     []listedFile
	text      strings.Builder // a line for each
	bytes     int             // about as many as the result has
	truncated bool
}

func (l *listing) walk(ctx context.Context, in tools.Input, root workspace.Path, o workspace.WalkOptions) error {
	l.from = tools.NamePrefix(root)
	return in.Files.Visit(ctx, root, o, l.limit > fewFiles || o.MaxDepth == 1, l.visit)
}

// bytesBeside is what an entry of the result has beside its names.
const bytesBeside = 100

func (l *listing) visit(dir *workspace.Contents, e *workspace.Listed) error {
	name := dir.Name(e)
	if l.matches != nil && !l.matches(strings.TrimPrefix(name, l.from)) {
		return nil
	}
	if len(l.files) == l.limit || l.bytes > tools.MostListBytes {
		l.truncated = true
		return fs.SkipAll
	}
	if e.Modified().IsZero() {
		if info, err := dir.Folder.Join(e.Name).Lstat(); err == nil { // it may be gone by now
			looked := workspace.Of(info)
			e = &looked
		}
	}
	f, mark := listedFile{Name: e.Name, Path: name, Type: "file", Size: e.Size}, "\n"
	switch {
	case e.Type.IsDir():
		f.Type, mark = "directory", "/\n"
	case e.Type&fs.ModeSymlink != 0:
		f.Type, mark = "symlink", "@\n"
	}
	if t := e.Modified(); !t.IsZero() {
		f.Modified = t.UTC().Format(time.RFC3339)
	}
	l.files = append(l.files, f)
	line := fault.Quote(name) + mark
	l.text.WriteString(line)
	l.bytes += tools.WireSize(line, name, e.Name) + bytesBeside
	return nil
}

// fewFiles is how many entries are looked at one by one. More are looked at as they
// are listed, which takes as long as all else.
const fewFiles = 5000

func (l *listing) answer(name string) *tools.Answer {
	summary := fmt.Sprintf("%d entries", len(l.files))
	if name != "" {
		summary = fault.Quote(name) + ", " + summary
	}
	a := &tools.Answer{
		Result:  listFilesResult{l.files, len(l.files), l.truncated},
		Text:    l.text.String(),
		Rest:    "narrow it with path or pattern, or leave recursive out",
		Summary: summary,
	}
	if len(l.files) == 0 {
		a.Text, a.Result = tools.NothingMatches, listFilesResult{Files: []listedFile{}, Truncated: l.truncated}
	}
	if l.truncated {
		a.Notes = append(a.Notes, fmt.Sprintf("(there are more than %d entries; narrow it with path or pattern, or raise limit)", len(l.files)))
	}
	return a
}
