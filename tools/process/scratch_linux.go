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
	base  string     // of this sidecar; made when it is first needed
	named map[string][]string
}

// mostNamed bounds the files of one session in shared folders for temporary files.
const mostNamed = 64

const scratchPrefix = "pillion-commands-" // followed by the process whose it is

// folder gives a session's own folder in place of a folder for temporary files.
func (s *scratch) folder(session, instead string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.base == "" {
		sweep(os.TempDir(), scratchPrefix)
		base, err := os.MkdirTemp("", scratchPrefix+strconv.Itoa(os.Getpid())+"-")
		if err != nil {
			return "", err
		}
		s.base = Resolve(base)
	}
	name := hash(session) + strings.ReplaceAll(instead, string(filepath.Separator), "-")
	dir := filepath.Join(s.base, name)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return dir, os.Chmod(dir, 0o777|os.ModeSticky) // as programs expect it; nobody else gets this far
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
	if s.base != "" {
		_ = os.RemoveAll(s.base)
		s.base = ""
	}
}
