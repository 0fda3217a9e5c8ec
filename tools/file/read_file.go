package file

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/tools"
	"pillion/workspace"
	"pillion/workspace/document"
)

var _ = tools.Define(tools.NewRead(tools.Spec{
	Name:        "read_file",
	Title:       "Read file",
	Description: "Reads a file, with the user's unsaved changes. A long one comes in pages of whole lines that say where to go on; start_line with end_line gives exactly those lines. Images and audio come as such.",
	Success:     true,
	Results:     []any{readFileFields{}, mediaResult{}},
}, planReadFile))

type readFileArgs struct {
	Path      string `json:"path" jsonschema:"relative to the workspace"`
	Encoding  string `json:"encoding,omitempty" jsonschema:"default UTF-8"`
	StartLine int    `json:"start_line,omitempty" minimum:"1"`
	EndLine   int    `json:"end_line,omitempty" jsonschema:"inclusive" minimum:"1"`
	Stream    bool   `json:"stream,omitempty" jsonschema:"send content as progress"`
}

type readFileResult struct {
	content    string
	encoding   document.Encoding
	eol        string
	bom        bool
	size       int64
	modified   time.Time
	startLine  int
	endLine    int
	linesRead  int
	totalLines int
	hasMore    bool
	version    string
	source     document.Source
	dirty      bool // the editor has it with unsaved changes
	// cut is how many bytes the last line has, where a page holds only its beginning; 0 else.
	cut int
	// alone: the text is all that a model gets.
	alone bool
}

// readFileFields is what appendFields writes.
type readFileFields struct {
	Content      string    `json:"content"`
	Encoding     string    `json:"encoding"`
	EOL          string    `json:"eol"`
	BOM          bool      `json:"bom"`
	Size         int64     `json:"size"`
	Modified     time.Time `json:"modified"`
	StartLine    int       `json:"start_line"`
	EndLine      int       `json:"end_line"`
	LinesRead    int       `json:"lines_read"`
	TotalLines   int       `json:"total_lines"`
	HasMore      bool      `json:"has_more"`
	Version      string    `json:"version"`
	Source       string    `json:"source"`
	NextLine     int       `json:"next_line,omitempty"`
	CutLineBytes int       `json:"cut_line_bytes,omitempty"`
}

var _ tools.Appender = readFileResult{}

// AppendFields is written by hand because the content may be megabytes.
func (r readFileResult) AppendFields(dst []byte) (out []byte, field tools.TextField) {
	dst = slices.Grow(dst, 512+escapedWeight(len(r.content)))
	dst = append(dst, `"content":`...)
	field = tools.TextField{Text: r.content, At: tools.Span{From: len(dst)}}
	dst = wire.AppendString(dst, r.content)
	field.At.To = len(dst)
	dst = append(dst, `,"encoding":`...)
	dst = wire.AppendString(dst, string(r.encoding))
	dst = append(dst, `,"eol":`...)
	dst = wire.AppendString(dst, r.eol)
	dst = fmt.Appendf(dst, `,"bom":%t,"size":%d,"modified":%q,"start_line":%d,"end_line":%d,"lines_read":%d,"total_lines":%d,"has_more":%t,"version":%q,"source":%q`,
		r.bom, r.size, r.modified.UTC().Format(time.RFC3339), r.startLine, r.endLine, r.linesRead, r.totalLines, r.hasMore, r.version, r.source)
	if r.hasMore {
		dst = fmt.Appendf(dst, `,"next_line":%d`, r.endLine+1)
	}
	if r.cut > 0 {
		dst = fmt.Appendf(dst, `,"cut_line_bytes":%d`, r.cut)
	}
	return dst, field
}

func planReadFile(ctx context.Context, in tools.Input, args readFileArgs) (*tools.Answer, error) {
	p, enc, err := args.check(in)
	if err != nil {
		return nil, err
	}
	if mayBeMedia(in, p) {
		if a, err := readMedia(in, p); a != nil || err != nil {
			return a, err
		}
	}
	f, err := in.Snapshot.Read(p, enc)
	if errors.Is(err, fault.New(fault.FileTooLarge, "")) {
		if refused := in.Limits.TooLarge(err); refused != nil {
			return nil, refused
		}
		if args.StartLine == 0 && args.EndLine == 0 && in.Page == 0 && !(args.Stream && in.Streams) {
			return nil, fault.From(err).WithHint("read a part of it with start_line and end_line")
		}
		return readLargeFile(ctx, in, p, enc, args)
	}
	if err != nil {
		return nil, err
	}
	r := readLines(in, f, args)
	if args.Stream && in.Streams {
		return streamed(readAnswer(p, r), r), nil
	}
	r.page(pageOf(in, args))
	return readAnswer(p, r), nil
}

// pageOf is how much text a read may have: what is asked for exactly comes whole as long as
// the agent does not cut it.
func pageOf(in tools.Input, a readFileArgs) int {
	if a.EndLine > 0 {
		return in.Range
	}
	return in.Page
}

func (a readFileArgs) check(in tools.Input) (workspace.Path, document.Encoding, error) {
	if a.EndLine > 0 && a.EndLine < a.StartLine {
		return workspace.Path{}, "", fault.Invalid("end_line %d is before start_line %d", a.EndLine, a.StartLine)
	}
	enc, err := encodingNamed(a.Encoding)
	if err != nil {
		return workspace.Path{}, "", err
	}
	p, err := in.Snapshot.Workspace().Resolve(a.Path)
	return p, enc, err
}

// encodingNamed leaves it open, "", where no encoding is named.
func encodingNamed(name string) (document.Encoding, error) {
	if name == "" {
		return "", nil
	}
	return document.LookupEncoding(name)
}

func readLines(in tools.Input, f *document.File, args readFileArgs) readFileResult {
	r := readFileResult{
		content: f.Text, encoding: f.Encoding, eol: document.EOL(f.Text), bom: f.BOM, size: f.Size,
		modified: f.Modified, version: f.Version, source: f.Source, dirty: f.Dirty, alone: in.Page > 0, totalLines: document.LineCount(f.Text),
	}
	r.startLine, r.endLine = lineRange(args, r.totalLines)
	if r.startLine != 1 || r.endLine < r.totalLines {
		r.content = document.LineRange(f.Text, r.startLine, r.endLine)
	}
	r.linesRead = max(0, r.endLine-r.startLine+1)
	r.hasMore = r.endLine < r.totalLines
	return r
}

// page keeps of what was read the whole lines that limit bytes hold; of a longer line, its
// beginning. 0 is no limit.
func (r *readFileResult) page(limit int) {
	if limit <= 0 || tools.FitsPage(r.content, limit) {
		return
	}
	line, _, _ := strings.Cut(r.content, "\n")
	r.keep(tools.FirstLines(r.content, limit, tools.PageLines), len(line))
}

// keep is the page of what was read, whose first line has so many bytes.
func (r *readFileResult) keep(page string, firstLine int) {
	r.content = page
	if !strings.HasSuffix(page, "\n") {
		r.cut = firstLine
	}
	r.linesRead = document.LineCount(page)
	r.endLine = r.startLine + r.linesRead - 1
	r.hasMore = r.endLine < r.totalLines
}

// lineRange is what the arguments mean for a file of total lines. Past its end
// nothing is read.
func lineRange(args readFileArgs, total int) (first, last int) {
	first, last = max(1, args.StartLine), total
	if args.EndLine > 0 {
		last = min(args.EndLine, total)
	}
	if first > total {
		last = first - 1
	}
	return first, last
}

func readAnswer(p workspace.Path, r readFileResult) *tools.Answer {
	name, shows := fault.Quote(p.String()), r.content
	if data, err := (document.Content{Text: r.content, Encoding: r.encoding}).View(); err == nil && r.encoding != document.UTF8 {
		shows += "\n" + string(data)
	}
	a := &tools.Answer{
		Result: r, Text: r.content, Reads: []workspace.Path{p}, Shows: map[workspace.Path]string{p: shows},
		Saw:     map[workspace.Path]string{p: r.version},
		Summary: fmt.Sprintf("%s, %s", name, tools.Count(r.linesRead, "line")),
	}
	switch {
	case r.cut > 0: // of its last line only the beginning was seen
		a.Lines = &tools.LinesRead{First: r.startLine, Last: r.endLine - 1, Total: r.totalLines}
	case r.startLine > 1 || r.hasMore:
		a.Lines = &tools.LinesRead{First: r.startLine, Last: r.endLine, Total: r.totalLines}
	}
	if note := r.note(name); note != "" {
		a.Notes = []string{note}
	}
	a.Paged = true
	return a
}

// note says what of the file was read, and what of it cannot be seen in the text.
func (r readFileResult) note(name string) string {
	var facts []string
	switch {
	case r.totalLines > 0 && r.startLine > r.totalLines:
		facts = append(facts, fmt.Sprintf("%s has %s; there is nothing from line %s on", name, tools.Count(r.totalLines, "line"), tools.Grouped(r.startLine)))
	case r.linesRead == 0:
		facts = append(facts, name+" is empty")
	case r.startLine > 1 || r.hasMore:
		facts = append(facts, fmt.Sprintf("lines %s to %s of %s", tools.Grouped(r.startLine), tools.Grouped(r.endLine), tools.Grouped(r.totalLines)))
	case r.alone:
		facts = append(facts, tools.Count(r.totalLines, "line"))
	default:
		return ""
	}
	if r.alone {
		facts = append(facts, r.unseen()...)
	}
	text := "(" + strings.Join(facts, ", ")
	if r.cut > 0 {
		text += fmt.Sprintf("; line %d is cut after %s of %s bytes: read it with start_line and end_line, or find a part of it with run_command", r.endLine, tools.Grouped(len(r.content)), tools.Grouped(r.cut))
	}
	if r.hasMore {
		text += fmt.Sprintf("; go on with start_line %d", r.endLine+1)
	}
	return text + ")"
}

// unseen are facts of the file that its text does not show.
func (r readFileResult) unseen() []string {
	var out []string
	if r.encoding != document.UTF8 {
		out = append(out, string(r.encoding))
	}
	if r.eol != "" && r.eol != "lf" {
		out = append(out, r.eol+" line ends")
	}
	if r.dirty {
		out = append(out, "with unsaved changes in the editor")
	}
	if r.endLine == r.totalLines && r.content != "" && !strings.HasSuffix(r.content, "\n") && r.cut == 0 {
		out = append(out, "no line end after the last") // which what follows in the same text would hide
	}
	return append(out, "version "+r.version)
}

// mediaTypes are how files begin that a model can look at or listen to; a ? is any byte.
var mediaTypes = []struct{ kind, head string }{
	{"image/png", "\x89PNG"},
	{"image/jpeg", "\xff\xd8\xff"},
	{"image/gif", "GIF8?a"},
	{"image/webp", "RIFF????WEBP"},
	{"image/bmp", "BM"},
	{"audio/mpeg", "ID3"},
	{"audio/mpeg", "\xff\xfb"},
	{"audio/mpeg", "\xff\xf3"},
	{"audio/mpeg", "\xff\xf2"},
	{"audio/wav", "RIFF????WAVE"},
	{"audio/ogg", "OggS"},
	{"audio/flac", "fLaC"},
	{"audio/mp4", "????ftyp"},
	{"audio/aac", "\xff\xf1"},
	{"audio/aac", "\xff\xf9"},
}

// mediaKind goes by the bytes, "" where they are something else.
func mediaKind(data []byte) string {
	for _, m := range mediaTypes {
		at := 0
		for at < len(m.head) && at < len(data) && (m.head[at] == '?' || m.head[at] == data[at]) {
			at++
		}
		if at == len(m.head) {
			return m.kind
		}
	}
	return ""
}

// headKind is that of a file, as far as it can be read.
func headKind(p workspace.Path) string {
	f, _, err := p.OpenFile()
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // nothing was written
	head := make([]byte, 16)
	n, _ := f.ReadAt(head, 0)
	return mediaKind(head[:n])
}

// mayBeMedia goes by the name, which is only why the bytes are looked at.
func mayBeMedia(in tools.Input, p workspace.Path) bool {
	return slices.Contains(mediaEndings, strings.ToLower(path.Ext(p.Base()))) && in.Snapshot.Buffer(p) == nil && !in.Limits.CodeLab
}

var mediaEndings = strings.Fields(".png .jpg .jpeg .gif .webp .bmp .mp3 .wav .ogg .flac .m4a .aac")

type mediaResult struct {
	Path     string    `json:"path"`
	MIMEType string    `json:"mime_type"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	Version  string    `json:"version"`
	Source   string    `json:"source"`
}

// readMedia gives nil where the bytes are no media.
func readMedia(in tools.Input, p workspace.Path) (*tools.Answer, error) {
	data, info, err := p.ReadFile(in.Limits.ReadBytes)
	if err != nil {
		return nil, err
	}
	kind := mediaKind(data)
	if kind == "" {
		return nil, nil //nolint:nilnil // it is no media
	}
	version := document.Version(data)
	family, _, _ := strings.Cut(kind, "/")
	note := fmt.Sprintf("%s, %s, version %s", kind, tools.Count(len(data), "byte"), version)
	if in.Page > 0 { // it is for the agent to know if its model takes it
		note += "; if it is not in front of you, your agent leaves such files out: look at it with a program, by run_command"
	}
	return &tools.Answer{
		Result:  mediaResult{p.String(), kind, info.Size(), info.ModTime().UTC().Truncate(time.Second), version, string(document.FromDisk)},
		Media:   []tools.Part{{Type: family, Data: base64.StdEncoding.EncodeToString(data), MIMEType: kind}},
		Notes:   []string{"(" + note + ")"},
		Reads:   []workspace.Path{p},
		Shows:   map[workspace.Path]string{p: string(data)},
		Saw:     map[workspace.Path]string{p: version},
		Summary: fmt.Sprintf("%s, %s of %d bytes", fault.Quote(p.String()), family, info.Size()),
	}, nil
}

// escapedWeight allows for an eighth of a text to be escaped.
func escapedWeight(n int) int { return n + n/8 }
