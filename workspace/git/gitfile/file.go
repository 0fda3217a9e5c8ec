package gitfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// File is a file that is read here and there. Blocks of it are kept until it is closed, since
// what is used together lies together.
type File struct {
	Info   fs.FileInfo
	file   *os.File
	step   int64
	blocks []block
}

// block is a part of the file that was read. Blocks overlap: each has a step's length more
// than its step.
type block struct {
	start int64
	data  []byte // empty: nothing was read
}

// ErrEnd is what lies behind the end of a file.
var ErrEnd = errors.New("the file is too short")

// OpenFile opens a regular file, of which up to so many blocks of twice step bytes are kept.
func OpenFile(name string, step, blocks int) (*File, error) {
	f, info, err := Open(name)
	if err != nil {
		return nil, err
	}
	return &File{Info: info, file: f, step: int64(step), blocks: make([]block, blocks)}, nil
}

// Close closes the file.
func (f *File) Close() { f.file.Close() }

// From is what the file holds from offset on: at least a step of it, unless it ends before.
// It holds until the next call.
func (f *File) From(offset int64) ([]byte, error) {
	if offset < 0 || offset >= f.Info.Size() {
		return nil, ErrEnd
	}
	start := offset - offset%f.step
	b := &f.blocks[start/f.step%int64(len(f.blocks))]
	if b.start != start || len(b.data) == 0 {
		length := int(min(2*f.step, f.Info.Size()-start))
		if cap(b.data) < length {
			b.data = make([]byte, length)
		}
		b.start, b.data = start, b.data[:length]
		if n, err := f.file.ReadAt(b.data, start); n < length {
			b.data = b.data[:0]
			return nil, errors.Join(ErrEnd, err)
		}
	}
	return b.data[offset-start:], nil
}

// Exactly is n bytes, of at most a step, from offset on.
func (f *File) Exactly(offset int64, n int) ([]byte, error) {
	data, err := f.From(offset)
	if err == nil && len(data) < n {
		err = ErrEnd
	}
	if err != nil {
		return nil, err
	}
	return data[:n], nil
}

// Reader reads from offset on.
func (f *File) Reader(offset int64) io.Reader {
	return io.NewSectionReader(f.file, offset, f.Info.Size()-offset)
}
