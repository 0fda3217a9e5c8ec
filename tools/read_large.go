package tools

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
	"unicode/utf8"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/document"
)

// readLargeFile reads a range of lines of a file over the size limit. The file
// is streamed: what is held is the range, itself held to the limit.
func readLargeFile(in Input, p workspace.Path, enc document.Encoding, args readFileArgs) (*Answer, error) {
	if enc != "" && enc != document.UTF8 {
		return nil, fault.New(fault.FileTooLarge, "%s is over the size limit, and parts of such files can only be read as UTF-8", fault.Quote(p.String()))
	}
	f, info, err := p.OpenFile()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := lineScan{first: max(1, args.StartLine), last: args.EndLine, limit: in.Limits.ReadBytes}
	hash := sha256.New()
	if err := s.scan(io.TeeReader(f, hash)); err != nil {
		return nil, fault.New(fault.FileTooLarge, "%s: %w", fault.Quote(p.String()), err).WithHint("read fewer lines at a time")
	}
	text := strings.TrimPrefix(s.content.String(), "\xef\xbb\xbf")
	switch {
	case strings.IndexByte(text[:min(len(text), 8000)], 0) >= 0:
		return nil, fault.New(fault.BinaryFile, "%s is binary, not text", fault.Quote(p.String()))
	case !utf8.ValidString(text):
		return nil, fault.New(fault.EncodingError, "%s is not UTF-8 in these lines", fault.Quote(p.String()))
	}
	r := readFileResult{
		content: text, encoding: document.UTF8, eol: document.EOL(text), bom: s.bom, size: info.Size(), modified: info.ModTime(),
		totalLines: s.lines, version: hex.EncodeToString(hash.Sum(nil)[:16]), source: document.FromDisk,
	}
	r.startLine, r.endLine = lineRange(args, s.lines)
	r.linesRead, r.hasMore = max(0, r.endLine-r.startLine+1), r.endLine < s.lines
	return readAnswer(p, r), nil
}

// lineScan counts all lines of a stream and keeps some.
type lineScan struct {
	first, last int // 1-based; last 0 is the end
	limit       int64

	lines   int
	bom     bool
	content bytes.Buffer
}

type tooManyBytes struct{}

func (tooManyBytes) Error() string { return "the lines asked for are over the size limit" }

func (s *lineScan) scan(r io.Reader) error {
	b := bufio.NewReaderSize(r, 1<<16)
	head, _ := b.Peek(3) // a shorter file has no mark
	s.bom = string(head) == "\xef\xbb\xbf"
	started := false // whether the current line has any bytes
	for {
		piece, err := b.ReadSlice('\n')
		if len(piece) > 0 {
			if !started {
				s.lines++
			}
			started = piece[len(piece)-1] != '\n'
			if err := s.keep(piece); err != nil {
				return err
			}
		}
		switch err {
		case nil, bufio.ErrBufferFull:
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}

func (s *lineScan) keep(piece []byte) error {
	if s.lines < s.first || s.last > 0 && s.lines > s.last {
		return nil
	}
	if int64(s.content.Len()+len(piece)) > s.limit {
		return tooManyBytes{}
	}
	s.content.Write(piece)
	return nil
}
