package file

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"time"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/lines"
)

// largeFile is a file over the size limit. What is held of it is the lines that
// are asked for, themselves held to the limit, or nothing where they are streamed.
type largeFile struct {
	path  workspace.Path
	f     io.ReaderAt
	close func() error
	stamp func() (name string, touched time.Time)
	index func(context.Context, *lines.Cache) (*lines.Index, error)
	info  fs.FileInfo
	enc   document.Encoding
	mark  int // bytes of the byte order mark
	limit int64
}

// readLargeFile reads a range of lines of a file over the size limit.
func readLargeFile(ctx context.Context, in tools.Input, p workspace.Path, enc document.Encoding, args readFileArgs) (*tools.Answer, error) {
	l, err := openLarge(in, p, enc)
	if err != nil {
		return nil, err
	}
	defer l.close() //nolint:errcheck // nothing was written
	stamp, _ := l.stamp()
	index, err := l.index(ctx, in.Lines)
	if err != nil {
		return nil, l.fault(err)
	}
	version, err := l.version(index, stamp)
	if err != nil {
		return nil, l.fault(err)
	}
	r := readFileResult{
		encoding: l.enc, bom: l.mark > 0, size: l.info.Size(), modified: l.info.ModTime(),
		totalLines: index.Lines(), version: version, source: document.FromDisk, alone: in.Page > 0,
	}
	r.startLine, r.endLine = lineRange(args, r.totalLines)
	r.linesRead, r.hasMore = max(0, r.endLine-r.startLine+1), r.endLine < r.totalLines
	from, to, err := index.Range(l.f, r.startLine, r.endLine)
	if err != nil {
		return nil, l.fault(err)
	}
	from = min(max(from, int64(l.mark)), to)
	if in.Streams && args.Stream {
		return l.streamed(r, from, to), nil
	}
	if limit := pageOf(in, args); limit > 0 {
		err = l.page(index, &r, from, to, limit)
	} else {
		r.content, err = l.text(from, to)
	}
	if err != nil {
		return nil, err
	}
	r.eol = document.EOL(r.content)
	return readAnswer(p, r), nil
}

// page reads of the bytes from up to to what a page of limit bytes holds.
func (l *largeFile) page(index *lines.Index, r *readFileResult, from, to int64, limit int) error {
	size := int64(limit)
	if l.unit() != lines.Bytes {
		size *= 2 // UTF-16 has about twice the bytes of its text
	}
	if size >= to-from {
		content, err := l.text(from, to)
		r.content = content
		r.page(limit) // it may be longer than its bytes
		return err
	}
	piece := make([]byte, size)
	if err := lines.ReadAt(l.f, piece, from); err != nil {
		return l.fault(err)
	}
	n := cutChunk(piece, l.unit(), l.enc == document.UTF8)
	if n == 0 {
		return fault.New(fault.FileTooLarge, "%s: line %d is longer than a page of %d bytes", fault.Quote(l.path.String()), r.startLine, limit).
			WithHint("read it with start_line and end_line, or find a part of it with run_command")
	}
	content, err := l.decode(piece[:n])
	if err != nil {
		return err
	}
	start, end, err := index.Range(l.f, r.startLine, r.startLine)
	if err != nil {
		return l.fault(err)
	}
	r.keep(tools.FirstLines(content, limit, tools.PageLines), int(end-start))
	return nil
}

func openLarge(in tools.Input, p workspace.Path, enc document.Encoding) (*largeFile, error) {
	f, info, err := p.OpenFile()
	if err != nil {
		return nil, err
	}
	head := make([]byte, 8000)
	n, err := f.ReadAt(head, 0)
	if err != nil && n == 0 {
		f.Close()
		return nil, fault.New(fault.ExecutionFailed, "%s could not be read: %w", fault.Quote(p.String()), err)
	}
	l := &largeFile{path: p, f: f, close: f.Close, info: info, limit: in.Limits.ReadBytes}
	l.stamp = func() (string, time.Time) { return workspace.Stamp(f) }
	l.index = func(ctx context.Context, kept *lines.Cache) (*lines.Index, error) {
		return kept.Index(ctx, f, info.Size(), l.unit(), l.stamp)
	}
	l.enc, l.mark = document.Marked(head[:n], enc)
	if l.unit() == lines.Bytes && bytes.IndexByte(head[:n], 0) >= 0 {
		f.Close()
		return nil, fault.New(fault.BinaryFile, "%s is binary, not text", fault.Quote(p.String())).
			WithHint("use run_command with a program for its format")
	}
	return l, nil
}

func (l *largeFile) unit() lines.Unit {
	switch wide, bigEndian := l.enc.IsUTF16(); {
	case bigEndian:
		return lines.BigEndian
	case wide:
		return lines.LittleEndian
	}
	return lines.Bytes
}

// hashedSize is the size up to which the version of a file is the hash of its
// content. Beyond, hashing would take much longer than all else and serve nobody: no
// tool writes files of this size. The version is then that of the stamp.
const hashedSize = 64 << 20

func (l *largeFile) version(index *lines.Index, stamp string) (string, error) {
	if l.info.Size() > hashedSize {
		return document.Version([]byte(stamp)), nil
	}
	sum, err := index.Digest(l.f)
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(sum[:16]), nil
}

func (l *largeFile) fault(err error) error {
	if errors.Is(err, lines.ErrShorter) {
		return fault.New(fault.ConcurrentModification, "%s became shorter while it was read; read it again", fault.Quote(l.path.String()))
	}
	return err
}

func (l *largeFile) tooMuch() error {
	return fault.New(fault.FileTooLarge, "%s: the requested lines are over the size limit", fault.Quote(l.path.String())).
		WithHint("read fewer lines at a time")
}

// text reads and decodes the bytes from up to to.
func (l *largeFile) text(from, to int64) (string, error) {
	if to-from > l.limit {
		return "", l.tooMuch()
	}
	data := make([]byte, to-from)
	if err := lines.ReadAt(l.f, data, from); err != nil {
		return "", l.fault(err)
	}
	return l.decode(data)
}

func (l *largeFile) decode(data []byte) (string, error) {
	c, err := document.DecodePart(data, l.enc)
	switch fault.CodeOf(err) {
	case "":
		return c.Text, nil
	case fault.BinaryFile:
		return "", fault.New(fault.BinaryFile, "%s is binary, not text, in these lines", fault.Quote(l.path.String()))
	}
	return "", fault.New(fault.EncodingError, "%s is not %s in these lines", fault.Quote(l.path.String()), l.enc).
		WithHint("%s", document.HintAt(data))
}
