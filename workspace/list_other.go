//go:build !linux

package workspace

import (
	"io/fs"
	"os"
)

// folderReader reads one folder after the other.
type folderReader struct {
	infos map[string]fs.DirEntry
}

func (r *folderReader) open(_ *os.File, _ string, at Path) ([]Listed, error) {
	entries, err := at.readEntries()
	if err != nil {
		return nil, err
	}
	r.infos = make(map[string]fs.DirEntry, len(entries))
	out := make([]Listed, len(entries))
	for i, e := range entries {
		out[i] = Listed{Name: e.Name(), Type: e.Type()}
		r.infos[e.Name()] = e
	}
	return out, nil
}

// entriesIn reads the folder at, which is open as f.
func entriesIn(f *os.File, _ Path) ([]fs.DirEntry, error) { return f.ReadDir(-1) }

func (r *folderReader) close() {}

func (r *folderReader) stat(e *Listed) {
	info, err := r.infos[e.Name].Info()
	if err != nil {
		return // it is gone by now
	}
	e.Type, e.modified = info.Mode().Type(), info.ModTime().UnixNano()
	if !info.IsDir() {
		e.Size = info.Size()
	}
}
