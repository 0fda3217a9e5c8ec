package change

import (
	"io"
	"io/fs"
	"os"
	"time"

	"pillion/workspace/document"
)

// sighting is what was seen under a name.
type sighting struct {
	info    fs.FileInfo // nil: nothing
	version string      // of a regular file's bytes, "" of anything else
	busy    bool        // somebody may still be writing to it
}

// look sees what is under name: never through a link, and without waiting for
// the other end of a FIFO. A file of more than limit bytes is not read.
func (f folder) look(name string, limit int64) sighting {
	info, file := f.openRegular(name)
	if file == nil {
		return sighting{info: info}
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil || int64(len(data)) > limit {
		return sighting{info: info}
	}
	return sighting{info: info, version: document.Version(data)}
}

// openRegular opens the regular file that has the name itself. It gives no info
// where there is nothing, and no file where there is something else.
func (f folder) openRegular(name string) (fs.FileInfo, *os.File) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return nil, nil
	}
	if !info.Mode().IsRegular() {
		return info, nil
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return info, nil
	}
	opened, err := file.Stat()
	if err != nil || !os.SameFile(info, opened) { // it was replaced this moment
		file.Close()
		return info, nil
	}
	return opened, file
}

// lookWhenQuiet is look at a file that nobody can open any more. Those who have
// it open for writing are waited for a moment: what they write counts.
func (f folder) lookWhenQuiet(name string, limit int64) sighting {
	busy := false
	if _, file := f.openRegular(name); file != nil {
		busy = staysBusy(file)
		file.Close()
	}
	s := f.look(name, limit)
	s.busy = busy
	return s
}

func staysBusy(file *os.File) bool {
	for deadline := time.Now().Add(quietTime); hasWriters(file); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return true
		}
	}
	return false
}

// quietTime is how long a program may take to finish writing a file.
const quietTime = 200 * time.Millisecond

// is reports whether two sightings are of the same thing, as far as anybody could
// miss it.
func (s sighting) is(other sighting) bool {
	switch {
	case s.busy || s.info == nil || other.info == nil || s.version != other.version:
		return false
	case s.version != "":
		return true
	}
	return os.SameFile(s.info, other.info) && s.info.Size() == other.info.Size() && s.info.ModTime().Equal(other.info.ModTime())
}
