package journal

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Copies are what files held at one moment, for as long as it is not known whether they
// change. They are in one file without a name in the store's folder, which ends with this
// program, however that ends: nothing of them is left to be found, or to be swept.
type Copies struct {
	file *os.File
	end  int64
}

// Copy is the content of one file.
type Copy struct {
	in       *Copies
	at, size int64
}

// Copies makes an empty one, which ends with the store at the latest.
func (s *Store) Copies() (*Copies, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, os.ErrClosed
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	old, _ := filepath.Glob(filepath.Join(s.dir, "copies-*")) //nolint:errcheck // the pattern is a good one
	for _, name := range old {
		os.Remove(name) //nolint:errcheck // of a living program, on systems that keep the name of what is open
	}
	f, err := os.CreateTemp(s.dir, "copies-*")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name()) //nolint:errcheck // see above
	s.copied = append(s.copied, f)
	return &Copies{file: f}, nil
}

// Size is how many bytes are taken.
func (c *Copies) Size() int64 { return c.end }

// Add copies a content.
func (c *Copies) Add(data []byte) (Copy, error) {
	if _, err := c.file.WriteAt(data, c.end); err != nil {
		return Copy{}, err
	}
	one := Copy{c, c.end, int64(len(data))}
	c.end += one.size
	return one, nil
}

// Clear forgets all of them.
func (c *Copies) Clear() error {
	c.end = 0
	return c.file.Truncate(0)
}

// Open gives the content, as a State has it.
func (c Copy) Open() (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(c.in.file, c.at, c.size)), nil
}

// Read gives the whole content.
func (c Copy) Read() ([]byte, error) {
	data := make([]byte, c.size)
	if _, err := c.in.file.ReadAt(data, c.at); err != nil && !(errors.Is(err, io.EOF) && c.size == 0) {
		return nil, err
	}
	return data, nil
}
