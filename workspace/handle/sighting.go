package handle

import (
	"io"
	"io/fs"
	"os"
	"time"

	"pillion/workspace"
	"pillion/workspace/document"
)

// Sighting is what was seen under a name.
type Sighting struct {
	Info    fs.FileInfo // nil: nothing
	Version string      // of a regular file's bytes, "" where they were not read
	Busy    bool        // somebody may still be writing to it
	Blind   bool        // nobody tells whether somebody is
	Err     error       // why it could not be read, though it is a file
}

// Look sees what is under name: never through a link, and without waiting for the
// other end of a FIFO. A file of more than limit bytes is not read. One that nobody can
// open any more is looked at when it is quiet: those who have it open for writing are
// waited for a moment, for what they write counts.
//
// Known are bytes whose version is known: to find them again is to compare.
func (f Folder) Look(name string, limit int64, whenQuiet bool, known Content) Sighting {
	info, file, err := f.OpenRegular(name)
	if file == nil {
		return Sighting{Info: info, Err: err}
	}
	defer file.Close()
	s := Sighting{Info: info}
	if whenQuiet {
		s.Busy, s.Blind = f.staysBusy(file)
		if again, err := file.Stat(); err == nil {
			s.Info = again
		}
	}
	if s.Info.Size() > limit {
		return s
	}
	s.Err = f.Try("read", func() (err error) {
		s.Version, err = known.versionIn(file, s.Info.Size(), limit)
		return err
	})
	return s
}

// Content is the bytes of a version; its zero value is of none.
type Content struct{ Bytes, Version string }

// versionIn is the version of what a file holds, "" if that is more than limit bytes.
func (c Content) versionIn(file *os.File, size, limit int64) (string, error) {
	if c.Version != "" && int64(len(c.Bytes)) == size && workspace.Holds(file, c.Bytes) {
		return c.Version, nil
	}
	data, err := ReadAll(file, min(size, limit), limit)
	if err != nil || int64(len(data)) > limit {
		return "", err
	}
	return document.Version(data), nil
}

// ReadAll reads into a buffer of the expected size, and a byte more than limit at most.
func ReadAll(file *os.File, size, limit int64) ([]byte, error) {
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

// OpenRegular opens the regular file that has the name itself. It gives no info
// where there is nothing, and no file where there is something else.
func (f Folder) OpenRegular(name string) (info fs.FileInfo, file *os.File, err error) {
	err = f.Try("stat", func() (err error) {
		info, err = f.Root.Lstat(name)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return info, nil, nil
	}
	err = f.Try("open", func() (err error) {
		file, err = f.Root.OpenFile(name, os.O_RDONLY|NonBlocking, 0)
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
func (c Calls) staysBusy(file *os.File) (busy, blind bool) {
	for deadline := time.Now().Add(quietTime); ; time.Sleep(time.Millisecond) {
		has, known := HasWriters(file)
		switch {
		case !known || c.Blind:
			return false, true
		case !has || time.Now().After(deadline):
			return has, false
		}
	}
}

// quietTime is how long a program may take to finish writing a file.
const quietTime = 200 * time.Millisecond

// Is reports whether two sightings are of the same thing, as far as anybody could
// miss it.
func (s Sighting) Is(other Sighting) bool {
	switch {
	case s.Busy || s.Info == nil || other.Info == nil:
		return false
	case s.Version != "" && other.Version != "":
		return s.Version == other.Version
	}
	return os.SameFile(s.Info, other.Info) && s.Info.Size() == other.Info.Size() && s.Info.ModTime().Equal(other.Info.ModTime())
}
