package workspace

import (
	"io/fs"
	"time"
)

// FileReader reads many files of one workspace folder, one after the other, with few
// system calls and into one buffer. It is for one goroutine. It follows no link, and takes
// only what a listing gave: what may be named by an agent goes through Path's own methods.
type FileReader struct {
	folder folderHandle
	buffer []byte
}

// FileStamp tells whether a file is the one that was read, unchanged: a program that writes
// to it, or puts another in its place, cannot keep all of it as it was.
type FileStamp struct {
	Size              int64
	Modified, Changed int64 // Unix nanoseconds, by the file system's clock
	Inode             uint64
	// Names is how many hard links it has, and Mode who may do what with it.
	Names, Mode uint32
}

// Settled says that a change after the stamp was taken, at the time now, would show in
// it: the file system's clock has ticked since the file changed. Where there is no time
// of the last change, which no program can set, it is false.
func (s FileStamp) Settled(now time.Time) bool {
	const tick = 3 * time.Second // FAT's is two seconds, most others' ten milliseconds at most
	return s.Changed != 0 && now.UnixNano()-max(s.Changed, s.Modified) > int64(tick)
}

// NewReader makes a reader of the files in the workspace folder that holds p. It is to be
// closed.
func (p Path) NewReader() (*FileReader, error) {
	r := &FileReader{buffer: make([]byte, 256<<10)}
	return r, p.fault(r.folder.open(p.Top()))
}

// Close ends the reader; what it has read last is not to be used any more.
func (r *FileReader) Close() { r.folder.close() }

// Read is Path.ReadFile, with what stamp the file had before it was read. The data is the
// reader's own, until it reads again.
func (r *FileReader) Read(p Path, limit int64) ([]byte, FileStamp, error) {
	data, stamp, answered, err := r.read(p, limit)
	if answered {
		return data, stamp, p.fault(err)
	}
	data, info, err := p.ReadFile(limit)
	if err != nil {
		return nil, FileStamp{}, err
	}
	return data, stampOf(info), nil
}

// Stamp is the present stamp of the file p.
func (r *FileReader) Stamp(p Path) (FileStamp, error) {
	if stamp, ok := r.folder.stamp(p.rel); ok {
		return stamp, nil
	}
	info, err := p.Lstat()
	if err != nil {
		return FileStamp{}, err
	}
	return stampOf(info), nil
}

func stampOf(info fs.FileInfo) FileStamp {
	facts := factsOf(info)
	s := FileStamp{Size: info.Size(), Modified: info.ModTime().UnixNano(), Inode: facts.inode, Names: uint32(HardLinks(info)), Mode: uint32(info.Mode().Perm())} //nolint:gosec // a count
	if !facts.changed.IsZero() {
		s.Changed = facts.changed.UnixNano()
	}
	return s
}
