package change

import (
	"io"
	"io/fs"
	"os"
	"time"

	"pillion/workspace"
	"pillion/workspace/document"
)

// sighting is what was seen under a name.
type sighting struct {
	info    fs.FileInfo // nil: nothing
	version string      // of a regular file's bytes, "" where they were not read
	busy    bool        // somebody may still be writing to it
	blind   bool        // nobody tells whether somebody is
	err     error       // why it could not be read, though it is a file
}

// look sees what is under name: never through a link, and without waiting for the
// other end of a FIFO. A file of more than limit bytes is not read. One that nobody can
// open any more is looked at when it is quiet: those who have it open for writing are
// waited for a moment, for what they write counts.
//
// Known are bytes whose version is known: to find them again is to compare.
func (f folder) look(name string, limit int64, whenQuiet bool, known content) sighting {
	info, file, err := f.openRegular(name)
	if file == nil {
		return sighting{info: info, err: err}
	}
	defer file.Close()
	s := sighting{info: info}
	if whenQuiet {
		s.busy, s.blind = f.staysBusy(file)
		if again, err := file.Stat(); err == nil {
			s.info = again
		}
	}
	if s.info.Size() > limit {
		return s
	}
	s.err = f.try("read", func() (err error) {
		s.version, err = known.versionIn(file, s.info.Size(), limit)
		return err
	})
	return s
}

// content is the bytes of a version; its zero value is of none.
type content struct{ bytes, version string }

// versionIn is the version of what a file holds, "" if that is more than limit bytes.
func (c content) versionIn(file *os.File, size, limit int64) (string, error) {
	if c.version != "" && int64(len(c.bytes)) == size && workspace.Holds(file, c.bytes) {
		return c.version, nil
	}
	data, err := readAll(file, min(size, limit), limit)
	if err != nil || int64(len(data)) > limit {
		return "", err
	}
	return document.Version(data), nil
}

// readAll reads into a buffer of the expected size, and a byte more than limit at most.
func readAll(file *os.File, size, limit int64) ([]byte, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	data := make([]byte, size+1)
	n, err := io.ReadFull(file, data)
	switch err {
	case io.EOF, io.ErrUnexpectedEOF:
		return data[:n], nil
	case nil: // it grew
		rest, err := io.ReadAll(io.LimitReader(file, limit+1-int64(n)))
		return append(data, rest...), err
	}
	return nil, err
}

// openRegular opens the regular file that has the name itself. It gives no info
// where there is nothing, and no file where there is something else.
func (f folder) openRegular(name string) (info fs.FileInfo, file *os.File, err error) {
	err = f.try("stat", func() (err error) {
		info, err = f.root.Lstat(name)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return info, nil, nil
	}
	err = f.try("open", func() (err error) {
		file, err = f.root.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
		return err
	})
	if err != nil {
		return info, nil, err
	}
	opened, err := file.Stat()
	if err != nil || !os.SameFile(info, opened) { // it was replaced this moment
		file.Close()
		return info, nil, nil
	}
	return opened, file, nil
}

// staysBusy waits a moment for those who have the file open for writing. Blind: the
// system does not tell.
func (c calls) staysBusy(file *os.File) (busy, blind bool) {
	for deadline := time.Now().Add(quietTime); ; time.Sleep(time.Millisecond) {
		has, known := hasWriters(file)
		switch {
		case !known || c.blind:
			return false, true
		case !has || time.Now().After(deadline):
			return has, false
		}
	}
}

// quietTime is how long a program may take to finish writing a file.
const quietTime = 200 * time.Millisecond

// is reports whether two sightings are of the same thing, as far as anybody could
// miss it.
func (s sighting) is(other sighting) bool {
	switch {
	case s.busy || s.info == nil || other.info == nil:
		return false
	case s.version != "" && other.version != "":
		return s.version == other.version
	}
	return os.SameFile(s.info, other.info) && s.info.Size() == other.info.Size() && s.info.ModTime().Equal(other.info.ModTime())
}
