package tools

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/search"
)

var _ = define(NewRead(Spec{
	Name:  "list_files",
	Title: "List files",
	Description: "Lists a folder of the workspace, in the order of names. Files that git ignores are left out unless include_ignored is set. " +
		"With recursive it lists the whole tree below; pattern (a glob such as *.py or src/**/*.ts) narrows either.",
	Success: true,
}, planListFiles))

type listFilesArgs struct {
	Path           string `json:"path,omitempty" jsonschema:"the folder, relative to the workspace folder; default is the workspace folder"`
	Recursive      bool   `json:"recursive,omitempty" jsonschema:"list everything below, not the folder alone; default false"`
	Pattern        string `json:"pattern,omitempty" jsonschema:"glob that a file's path below the folder must match; without a slash its name"`
	IncludeIgnored bool   `json:"include_ignored,omitempty" jsonschema:"list what git ignores as well; default false"`
	Limit          int    `json:"limit,omitempty" jsonschema:"most entries to give; default 2000"`
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
	Modified string `json:"modified"`
}

const defaultListLimit = 2000

func planListFiles(ctx context.Context, in Input, args listFilesArgs) (*Answer, error) {
	if args.Limit < 0 {
		return nil, invalid("limit must be 1 or more")
	}
	l := listing{limit: args.Limit, recursive: args.Recursive, matches: func(string) bool { return true }}
	if l.limit == 0 {
		l.limit = defaultListLimit
	}
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
	for _, root := range roots {
		if err := l.walk(ctx, root, options); err != nil {
			return nil, err
		}
	}
	return l.answer(args.Path), nil
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
	limit     int
	recursive bool
	matches   func(rel string) bool

	files     []listedFile
	truncated bool
}

func (l *listing) walk(ctx context.Context, root workspace.Path, o workspace.WalkOptions) error {
	if _, err := root.ReadDir(); err != nil {
		return err
	}
	prefix := root.Rel() + "/"
	return root.Walk(ctx, o, func(e workspace.Entry) error {
		rel := strings.TrimPrefix(e.Path.Rel(), prefix)
		if !l.matches(rel) {
			return nil
		}
		if len(l.files) == l.limit {
			l.truncated = true
			return fs.SkipAll
		}
		l.files = append(l.files, describe(e))
		return nil
	})
}

func describe(e workspace.Entry) listedFile {
	f := listedFile{Name: e.Path.Base(), Path: e.Path.String(), Type: "file"}
	switch {
	case e.Type.IsDir():
		f.Type = "directory"
	case e.Type&fs.ModeSymlink != 0:
		f.Type = "symlink"
	}
	if info, err := e.Path.Lstat(); err == nil { // it may be gone by now
		f.Modified = info.ModTime().UTC().Format(time.RFC3339)
		if f.Type != "directory" {
			f.Size = info.Size()
		}
	}
	return f
}

func (l *listing) answer(name string) *Answer {
	if l.files == nil {
		l.files = []listedFile{}
	}
	if name == "" {
		name = "."
	}
	a := &Answer{
		Result:  listFilesResult{l.files, len(l.files), l.truncated},
		Text:    l.text(),
		Summary: fmt.Sprintf("%s, %d entries", fault.Quote(name), len(l.files)),
	}
	if l.truncated {
		a.Notes = append(a.Notes, fmt.Sprintf("(there are more than %d entries; narrow it with path or pattern, or raise limit)", l.limit))
	}
	return a
}

func (l *listing) text() string {
	if len(l.files) == 0 {
		return "(nothing matches)"
	}
	var out strings.Builder
	for _, f := range l.files {
		out.WriteString(fault.Quote(f.Path))
		switch f.Type {
		case "directory":
			out.WriteByte('/')
		case "symlink":
			out.WriteByte('@')
		}
		out.WriteByte('\n')
	}
	return out.String()
}
