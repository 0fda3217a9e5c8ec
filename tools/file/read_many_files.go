package file

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
	"pillion/workspace/document"
	"pillion/workspace/search"
)

var _ = tools.Define(tools.NewRead(tools.Spec{
	Name:        "read_many_files",
	Title:       "Read many files",
	Description: "Reads several files at once, with a header for each.",
	Success:     true,
	Results:     []any{readManyResult{}},
}, planReadManyFiles))

type readManyArgs struct {
	Paths    []string `json:"paths,omitempty" jsonschema:"files, or folders"`
	Include  []string `json:"include,omitempty" jsonschema:"globs, such as src/**/*.py"`
	Exclude  []string `json:"exclude,omitempty" jsonschema:"globs"`
	MaxBytes int      `json:"max_bytes,omitempty" jsonschema:"of text in all" minimum:"1"`
}

type readManyResult struct {
	Files     []manyFile `json:"files"`
	Count     int        `json:"count"` // of files that were read
	Truncated bool       `json:"truncated"`
}

// manyFile has either what read_file says of a file, or why it was not read.
type manyFile struct {
	Path string `json:"path"`
	*manyText
	MIMEType string `json:"mime_type,omitempty"` // of an image or a sound, which is a part of its own
	*manyState
	Error *fault.Error `json:"error,omitempty"`
	shown string       // of an image or a sound, its bytes
}

type manyText struct {
	Content    string            `json:"content"`
	Encoding   document.Encoding `json:"encoding"`
	EOL        string            `json:"eol"`
	BOM        bool              `json:"bom"`
	TotalLines int               `json:"total_lines"`
}

type manyState struct {
	Size     int64           `json:"size"`
	Modified string          `json:"modified"`
	Version  string          `json:"version"`
	Source   document.Source `json:"source"`
}

const (
	defaultManyBytes = 1 << 20
	maxManyFiles     = 1000
)

func planReadManyFiles(ctx context.Context, in tools.Input, args readManyArgs) (*tools.Answer, error) {
	if len(args.Paths)+len(args.Include) == 0 {
		return nil, fault.Invalid("name files in paths, or globs in include")
	}
	c := collection{in: in, known: map[workspace.Path]bool{}}
	if err := c.globs(args); err != nil {
		return nil, err
	}
	for _, name := range args.Paths {
		if err := c.named(ctx, name); err != nil {
			return nil, err
		}
	}
	if err := c.found(ctx); err != nil {
		return nil, err
	}
	room := min(cmp.Or(int64(args.MaxBytes), defaultManyBytes), in.Limits.ReadBytes)
	m := manyReading{in: in, limit: room, room: room}
	for _, f := range c.files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.read(f)
	}
	return m.answer(c), nil
}

// collection is the files that are meant, each once, in the order in which the
// arguments name them.
type collection struct {
	in       tools.Input
	include  []func(rel string) bool
	exclude  []func(rel string) bool
	roots    []workspace.Path
	files    []wanted
	known    map[workspace.Path]bool
	overflow bool
}

// wanted is a file to read, or a name that leads to none.
type wanted struct {
	path  workspace.Path
	name  string
	err   error
	found bool // by a folder or a glob, not named itself
}

func (c *collection) globs(args readManyArgs) (err error) {
	w := c.in.Snapshot.Workspace()
	c.roots = w.Roots()
	for _, g := range slices.Concat(args.Include, args.Exclude) {
		if err := tools.CheckGlob(w, g); err != nil {
			return err
		}
	}
	if c.include, err = compileGlobs(args.Include); err != nil {
		return err
	}
	// A glob that leaves out what it matches leaves out all below it as well.
	negated := make([]string, len(args.Exclude))
	for i, g := range args.Exclude {
		if strings.HasPrefix(g, "!") {
			return fault.Invalid("exclude already leaves files out; write the glob without \"!\"")
		}
		negated[i] = "!" + g
	}
	c.exclude, err = compileGlobs(negated)
	return err
}

func compileGlobs(patterns []string) ([]func(rel string) bool, error) {
	var out []func(rel string) bool
	for _, pattern := range patterns {
		matches, err := search.CompileGlob(pattern)
		if err != nil {
			return nil, err
		}
		out = append(out, matches)
	}
	return out, nil
}

// named takes a name from paths.
func (c *collection) named(ctx context.Context, name string) error {
	p, err := c.in.Snapshot.Workspace().Resolve(name)
	if err != nil {
		c.files = append(c.files, wanted{name: name, err: err})
		return nil
	}
	if info, err := p.Stat(); err == nil && info.IsDir() {
		return c.below(ctx, p, func(workspace.Path) bool { return true })
	}
	c.add(wanted{path: p, name: p.String()})
	return nil
}

// found takes what the include globs find.
func (c *collection) found(ctx context.Context) error {
	if len(c.include) == 0 {
		return nil
	}
	for _, root := range c.roots {
		if err := c.below(ctx, root, func(p workspace.Path) bool { return c.matches(c.include, p) }); err != nil {
			return err
		}
	}
	return nil
}

func (c *collection) below(ctx context.Context, dir workspace.Path, takes func(workspace.Path) bool) error {
	return c.in.Files.Visit(ctx, dir, workspace.WalkOptions{}, false, func(in *workspace.Contents, e *workspace.Listed) error {
		if !e.Type.IsRegular() {
			return nil
		}
		p := in.Folder.Join(e.Name)
		if !takes(p) {
			return nil
		}
		c.add(wanted{path: p, name: p.String(), found: true})
		if c.overflow {
			return fs.SkipAll
		}
		return nil
	})
}

// matches judges p by its path in its folder, and as tools print it.
func (c *collection) matches(globs []func(string) bool, p workspace.Path) bool {
	return slices.ContainsFunc(globs, func(matches func(string) bool) bool {
		return matches(p.Rel()) || len(c.roots) > 1 && matches(p.String())
	})
}

// excluded: each of these globs, negated, is true of what stays.
func (c *collection) excluded(p workspace.Path) bool {
	return slices.ContainsFunc(c.exclude, func(stays func(string) bool) bool {
		return !stays(p.Rel()) || len(c.roots) > 1 && !stays(p.String())
	})
}

func (c *collection) add(f wanted) {
	if c.known[f.path] || c.excluded(f.path) {
		return
	}
	if len(c.files) == maxManyFiles {
		c.overflow = true
		return
	}
	c.known[f.path] = true
	c.files = append(c.files, f)
}

// manyReading reads one file after the other into one answer.
type manyReading struct {
	in    tools.Input
	limit int64
	room  int64 // bytes that are left
	spent int64 // bytes that were read, also of files that turned out too large

	files []manyFile
	text  strings.Builder
	media []tools.Part
	reads []workspace.Path
	saw   map[workspace.Path]string
	shows map[workspace.Path]string
	count int
	full  bool
}

func (m *manyReading) read(w wanted) {
	read := m.content
	if w.err == nil && mayBeMedia(m.in, w.path) && headKind(w.path) != "" {
		read = m.medium
	}
	f, err := read(w)
	f.Path = w.name
	if err != nil {
		f.Error = fault.From(err)
		m.files = append(m.files, f)
		fmt.Fprintf(&m.text, "--- %s (not read: %s) ---\n", fault.Quote(w.name), f.Error.Message)
		return
	}
	m.files = append(m.files, f)
	m.show(f)
	m.count++
	m.reads = append(m.reads, w.path)
	if m.saw == nil {
		m.saw, m.shows = map[workspace.Path]string{}, map[workspace.Path]string{}
	}
	m.saw[w.path] = f.Version
	if m.shows[w.path] = f.shown; f.manyText != nil {
		m.shows[w.path] = f.Content
	}
}

// show puts a file into the text.
func (m *manyReading) show(f manyFile) {
	var facts []string
	switch {
	case f.manyText == nil:
		facts = []string{f.MIMEType, tools.Count(int(f.Size), "byte")}
	case m.in.Page > 0:
		facts = []string{tools.Count(f.TotalLines, "line")}
	}
	if m.in.Page > 0 {
		facts = append(facts, "version "+f.Version)
	}
	head := fault.Quote(f.Path)
	if len(facts) > 0 {
		head += " (" + strings.Join(facts, ", ") + ")"
	}
	fmt.Fprintf(&m.text, "--- %s ---\n", head)
	if f.manyText == nil {
		return
	}
	m.text.WriteString(f.Content)
	if f.Content != "" && !strings.HasSuffix(f.Content, "\n") {
		m.text.WriteByte('\n')
	}
}

// medium reads an image or a sound that is named itself.
func (m *manyReading) medium(w wanted) (manyFile, error) {
	if w.found {
		return manyFile{}, fault.New(fault.BinaryFile, "it is %s", headKind(w.path)).WithHint("name it in paths to have it")
	}
	if info, err := w.path.Stat(); err == nil && info.Size() > m.room {
		return manyFile{}, m.noRoom(info.Size(), m.room)
	}
	a, err := readMedia(m.in, w.path)
	if err != nil {
		return manyFile{}, err
	}
	if a == nil { // by now
		return m.content(w)
	}
	r := a.Result.(mediaResult)
	m.room -= r.Size
	m.media = append(m.media, a.Media...)
	return manyFile{MIMEType: r.MIMEType, shown: a.Shows[w.path], manyState: &manyState{r.Size, r.Modified.Format(time.RFC3339), r.Version, document.Source(r.Source)}}, nil
}

func (m *manyReading) content(w wanted) (f manyFile, err error) {
	if w.err != nil {
		return f, w.err
	}
	if w.found && tools.IsSecret(w.path) {
		if !tools.Knows(m.in.Session, m.in.Snapshot, w.path) {
			return f, fault.New(fault.PermissionDenied, "it looks like a file with secrets").
				WithHint("name it in paths to ask the user for it")
		}
	}
	room := m.left(w)
	info, err := w.path.Stat()
	if err == nil && info.Mode().IsRegular() && (info.Size() > 2*room || m.spent > 2*m.limit) && m.in.Snapshot.Buffer(w.path) == nil {
		return f, m.noRoom(info.Size(), room) // UTF-16 may have twice the bytes of its text
	}
	is, err := m.in.Snapshot.Read(w.path, "")
	if err != nil {
		return f, err
	}
	m.spent += is.Size
	if int64(len(is.Text)) > room {
		return f, m.noRoom(int64(len(is.Text)), room)
	}
	m.room -= int64(len(is.Text))
	f.manyText = &manyText{is.Text, is.Encoding, document.EOL(is.Text), is.BOM, document.LineCount(is.Text)}
	f.manyState = &manyState{is.Size, is.Modified.UTC().Format(time.RFC3339), is.Version, is.Source}
	return f, nil
}

// left is how many bytes of a file's text there is room for.
func (m *manyReading) left(w wanted) int64 {
	if m.in.Page == 0 {
		return m.room
	}
	const head = 80 // about what stands above a file, without its name; a tenth is for files that do not fit
	return min(m.room, max(0, int64(m.in.Page*9/10-m.text.Len()-len(w.name)-head)))
}

func (m *manyReading) noRoom(size, room int64) error {
	m.full = true
	limit, of := m.limit, "max_bytes"
	if room < m.room {
		limit, of = int64(m.in.Page), "a page"
	}
	return fault.New(fault.FileTooLarge, "its %d bytes no longer fit into the %d of %s", size, limit, of).
		WithHint("read it with read_file, whole or by lines")
}

func (m *manyReading) answer(c collection) *tools.Answer {
	if m.files == nil {
		m.files = []manyFile{}
		m.text.WriteString("(nothing matches)")
	}
	a := &tools.Answer{
		Result: readManyResult{m.files, m.count, m.full || c.overflow},
		Text:   m.text.String(), Media: m.media, Reads: m.reads, Shows: m.shows, Saw: m.saw,
		Rest:    "name fewer files, or read one with read_file",
		Summary: fmt.Sprintf("%s of %d", tools.Count(m.count, "file"), len(m.files)),
	}
	if c.overflow {
		a.Notes = append(a.Notes, fmt.Sprintf("(there are more than %d files; narrow include or paths)", maxManyFiles))
	}
	return a
}
