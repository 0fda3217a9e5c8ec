package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/search"
)

var _ = define(NewRead(Spec{
	Name:        "list_files",
	Title:       "List files",
	Description: "Lists a folder by name, without what git ignores.",
	Success:     true,
	Results:     []any{listFilesFields{}},
}, planListFiles))

type listFilesArgs struct {
	Path           string `json:"path,omitempty"`
	Recursive      bool   `json:"recursive,omitempty"`
	Pattern        string `json:"pattern,omitempty" jsonschema:"glob"`
	IncludeIgnored bool   `json:"include_ignored,omitempty"`
	Limit          int    `json:"limit,omitempty" minimum:"1" default:"2000"`
}

// listFilesResult is encoded as it is gathered, for there may be many files. Each has
// name, path, type (file, directory or symlink), size and modified.
type listFilesResult json.RawMessage

func (r listFilesResult) encoded() json.RawMessage { return json.RawMessage(r) }

const (
	defaultListLimit = 2000
	// mostListBytes is how large an answer may become, however high the limit is: the
	// wires have theirs.
	mostListBytes = 24 << 20
)

func planListFiles(ctx context.Context, in Input, args listFilesArgs) (*Answer, error) {
	l := listing{limit: cmp.Or(args.Limit, defaultListLimit), out: newListEncoder()}
	if args.Pattern != "" {
		var err error
		if l.matches, err = search.CompileGlob(args.Pattern); err != nil {
			return nil, err
		}
	}
	roots, err := foldersAt(in, args.Path)
	if err != nil {
		return nil, err
	}
	options := workspace.WalkOptions{IncludeIgnored: args.IncludeIgnored}
	if !args.Recursive {
		options.MaxDepth = 1
	}
	if len(roots) == 1 && args.Recursive {
		a, err := l.again(ctx, in, roots[0], options, args)
		if err != nil || a.Text != nothingMatches || args.IncludeIgnored {
			return a, err
		}
		return listIgnored(ctx, in, args, a)
	}
	for _, root := range roots {
		if err := l.walk(ctx, in, root, options); err != nil {
			return nil, err
		}
	}
	if l.count > 0 || args.IncludeIgnored {
		return l.answer(args.Path), nil
	}
	return listIgnored(ctx, in, args, l.answer(args.Path))
}

const nothingMatches = "(nothing matches)"

// listIgnored lists what git ignores where there is nothing else: a place that somebody names is
// listed although it is ignored.
func listIgnored(ctx context.Context, in Input, args listFilesArgs, empty *Answer) (*Answer, error) {
	args.IncludeIgnored = true
	a, err := planListFiles(ctx, in, args)
	if err != nil || a.Text == nothingMatches {
		return empty, err
	}
	a.Notes = append(a.Notes, "(git ignores them)")
	return a, nil
}

// foldersAt is the folder that is meant; in a workspace of several folders an
// empty path means all of them.
func foldersAt(in Input, name string) ([]workspace.Path, error) {
	w := in.Snapshot.Workspace()
	if roots := w.Roots(); (name == "" || name == "." || name == "/") && len(roots) > 1 {
		return roots, nil
	}
	p, err := w.ResolveDir(name)
	return []workspace.Path{p}, err
}

// oneFolder is the folder that is meant where only one can be. In a workspace of
// several folders it has to be named.
func oneFolder(in Input, argument, name string) (workspace.Path, error) {
	w := in.Snapshot.Workspace()
	if roots := w.Roots(); name == "" && len(roots) > 1 {
		var names []string
		for _, root := range roots {
			names = append(names, fault.Quote(root.String()))
		}
		return workspace.Path{}, invalid("several folders are open; give %s, beginning with one of: %s", argument, strings.Join(names, ", "))
	}
	return w.ResolveDir(name)
}

type listing struct {
	limit   int
	matches func(rel string) bool // nil: all
	from    string                // what the names that are matched are relative to

	dir   *workspace.Contents
	out   listEncoder
	count int

	truncated bool
}

func (l *listing) walk(ctx context.Context, in Input, root workspace.Path, o workspace.WalkOptions) error {
	l.from = leading(root)
	return in.Files.Visit(ctx, root, o, l.limit > fewFiles || o.MaxDepth == 1, l.visit)
}

// leading is what the names of all that lies below the folder begin with.
func leading(folder workspace.Path) string {
	if name := folder.String(); name != "." {
		return name + "/"
	}
	return ""
}

func (l *listing) take(c *workspace.Contents) error {
	l.out.grow(min(c.Facts().Total, l.limit))
	return c.Walk(l.visit)
}

func (l *listing) visit(dir *workspace.Contents, e *workspace.Listed) error {
	if dir != l.dir {
		l.dir = dir
		l.out.enter(strings.TrimSuffix(dir.Name(e), e.Name))
	}
	if l.matches != nil && !l.matches(strings.TrimPrefix(l.out.prefix+e.Name, l.from)) {
		return nil
	}
	if l.count == l.limit || l.out.size() > mostListBytes {
		l.truncated = true
		return fs.SkipAll
	}
	if e.Modified().IsZero() {
		if info, err := dir.Folder.Join(e.Name).Lstat(); err == nil { // it may be gone by now
			looked := workspace.Of(info)
			e = &looked
		}
	}
	l.count++
	l.out.add(e)
	return nil
}

// fewFiles is how many entries are looked at one by one. More are looked at as they
// are listed, which takes as long as all else.
const fewFiles = 5000

func (l *listing) answer(name string) *Answer {
	summary := fmt.Sprintf("%d entries", l.count)
	if name != "" {
		summary = fault.Quote(name) + ", " + summary
	}
	a := &Answer{
		Result:  listFilesResult(fmt.Appendf(l.out.files, `],"count":%d,"truncated":%t}`, l.count, l.truncated)),
		Text:    l.out.text.String(),
		rest:    "narrow it with path or pattern, or leave recursive out",
		Summary: summary,
	}
	if l.count == 0 {
		a.Text = nothingMatches
	} else {
		a.textJSON = append(l.out.json, '"')
	}
	if l.truncated {
		a.Notes = append(a.Notes, fmt.Sprintf("(there are more than %d entries; narrow it with path or pattern, or raise limit)", l.count))
	}
	return a
}
