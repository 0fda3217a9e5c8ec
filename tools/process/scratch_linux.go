package process

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// scratch is where the folders for temporary files of commands in bubblewrap are: each
// session has its own, so that a command finds no socket of another program there, also
// none that is made later, and leaves nothing there for another program.
type scratch struct {
	mu    sync.Mutex // guards what follows
	bases []string   // of this sidecar; made when one is first needed
	named map[string][]string
}

// mostNamed bounds the files of one session in shared folders for temporary files.
const mostNamed = 64

const scratchPrefix = "pillion-commands-" // followed by the process whose it is

// folder gives a session's own folder in place of a folder for temporary files.
func (s *scratch) folder(session, instead string, writable []string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	base, err := s.base(writable)
	if err != nil {
		return "", err
	}
	name := hash(session) + strings.ReplaceAll(instead, string(filepath.Separator), "-")
	dir := filepath.Join(base, name)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return dir, os.Chmod(dir, 0o777|os.ModeSticky) // as programs expect it; nobody else gets this far
}

// base is where no command can put a link in the place of a folder: out of the folders that
// they may write.
func (s *scratch) base(writable []string) (string, error) {
	for _, base := range s.bases {
		if !withinAny(writable, base) {
			return base, nil
		}
	}
	for _, in := range []string{os.TempDir(), "/tmp", "/var/tmp", "/dev/shm"} {
		if in = Resolve(in); withinAny(writable, in) || !isFolder(in) {
			continue
		}
		sweep(in, scratchPrefix)
		base, err := os.MkdirTemp(in, scratchPrefix+strconv.Itoa(os.Getpid())+"-")
		if err != nil {
			return "", err
		}
		s.bases = append(s.bases, base)
		return base, nil
	}
	return "", errors.New("all such folders lie in the workspace")
}

// blank gives an empty file that stands in place of others.
func (s *scratch) blank() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	base, err := s.base(nil)
	if err != nil {
		return "", err
	}
	file := filepath.Join(base, "blank")
	if err := os.WriteFile(file, nil, 0o444); err != nil && !errors.Is(err, os.ErrPermission) {
		return "", err
	}
	return file, nil
}

// shared are the files in folders for temporary files that lines of the session named, with
// these: you saw them, and look for them where they were said to be.
func (s *scratch) shared(session string, files []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.named == nil {
		s.named = map[string][]string{}
	}
	for _, file := range files {
		if known := s.named[session]; !slices.Contains(known, file) && len(known) < mostNamed {
			s.named[session] = append(known, file)
		}
	}
	return slices.Clone(s.named[session])
}

func (s *scratch) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, base := range s.bases {
		RemoveAll(base)
	}
	s.bases = nil
}
