package relay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"pillion/internal/state"
)

// Entry is how the registry knows a sidecar: one file, "<id>.json", readable by
// its user alone.
type Entry struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"` // a home may be shared between machines, a socket is not
	Socket  string    `json:"socket"`
	Token   string    `json:"token"`
	Roots   []string  `json:"roots"` // absolute workspace folders
	Focused time.Time `json:"focused"`
	Started time.Time `json:"started"`
	Editor  string    `json:"editor"`
	Version string    `json:"version"`
	Kind    Kind      `json:"kind,omitempty"`
	Index   *Index    `json:"index,omitempty"` // for `pillion doctor`
}

// Index is how it stood with the index of what is in files, when that changed last.
type Index struct {
	Files int       `json:"files"`
	Bytes int64     `json:"bytes"` // of memory
	At    time.Time `json:"at"`
}

// Kind is what a sidecar belongs to.
type Kind string

// The kinds. Only an editor knows what is unsaved, so an entry of the other kind
// counts where no editor has the folder open.
const (
	KindEditor Kind = ""
	KindWatch  Kind = "watch" // `pillion watch`
)

// Folder is where the registry is.
func Folder() (string, error) { return state.Folder("relay") }

// maxSocketPath is the shortest sun_path of the systems that we run on, less its
// final zero.
const maxSocketPath = 103

// socketPath is beside the entry, or in a folder of ours for temporary files
// where the home's path is too long for a socket.
func socketPath(folder, id string) (string, error) {
	path := filepath.Join(folder, id+".sock")
	if len(path) <= maxSocketPath {
		return path, nil
	}
	short := temporaryFolder()
	if err := state.MakePrivate(short); err != nil {
		return "", fmt.Errorf("no folder for the agents' socket: %w", err)
	}
	path = filepath.Join(short, id+".sock")
	if len(path) > maxSocketPath {
		return "", fmt.Errorf("the path %s is too long for the agents' socket; set TMPDIR to a shorter one", path)
	}
	return path, nil
}

func temporaryFolder() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("pillion-%d", os.Getuid()))
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

// writeEntry replaces the entry as a whole.
func writeEntry(folder, id string, e Entry) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := state.Replace(entryPath(folder, id), text); err != nil {
		return fmt.Errorf("registering the agents' socket: %w", err)
	}
	return nil
}

const (
	entrySuffix = ".json"
	maxEntry    = 1 << 20 // bytes
)

func entryPath(folder, id string) string { return filepath.Join(folder, id+entrySuffix) }

func removeEntry(folder, id string) error {
	err := os.Remove(entryPath(folder, id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// entries reads the registry. Files that are no entries of this user on this
// machine are left out.
func entries(folder string) map[string]Entry {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	here, out := hostname(), map[string]Entry{}
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), entrySuffix)
		if !ok || strings.HasPrefix(id, ".") {
			continue
		}
		if e, err := readEntry(entryPath(folder, id)); err == nil && e.Host == here {
			out[id] = e
		}
	}
	return out
}

func readEntry(path string) (Entry, error) {
	var e Entry
	text, err := state.Read(path, maxEntry)
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return e, err
	}
	if e.Socket == "" || e.PID <= 0 {
		return e, fmt.Errorf("%s names no socket", path)
	}
	return e, nil
}

// sweep removes what sidecars that are gone left behind.
func sweep(folder string) {
	for id, e := range entries(folder) {
		if isDead(e.Socket) {
			e.remove(folder, id)
		}
	}
	sweepStrays(folder)
	if short := temporaryFolder(); short != folder {
		if info, err := os.Lstat(short); err == nil && info.IsDir() && state.IsOurs(info) {
			sweepStrays(short)
		}
	}
}

// isDead is sure: a sidecar that is only slow is not. The process id is no proof,
// since an editor in a container or a Flatpak counts its processes by itself.
func isDead(socket string) bool {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist)
	}
	_ = conn.Close()
	return false
}

func (e Entry) remove(folder, id string) {
	_ = removeEntry(folder, id)
	// The entry is ours, and so is what it names; but only a socket is removed.
	if info, err := os.Lstat(e.Socket); err == nil && info.Mode().Type() == fs.ModeSocket && state.IsOurs(info) {
		_ = os.Remove(e.Socket)
	}
}

// strayAge keeps a sidecar that starts at this moment from being taken for one
// that is gone.
const strayAge = time.Minute

// sweepStrays removes sockets that nobody listens on and half-written entries.
func sweepStrays(folder string) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, f := range files {
		path := filepath.Join(folder, f.Name())
		info, err := f.Info()
		if err != nil || !state.IsOurs(info) || time.Since(info.ModTime()) < strayAge {
			continue
		}
		stray := strings.HasPrefix(f.Name(), state.TemporaryPrefix)
		if info.Mode().Type() == fs.ModeSocket {
			stray = isDead(path)
		}
		if stray {
			_ = os.Remove(path)
		}
	}
}
