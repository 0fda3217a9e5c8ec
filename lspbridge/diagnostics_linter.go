package lspbridge

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// linterMissing says what to do about a server whose linter is not there: it runs, and
// says that all is well. The answer is "" if the linter is there or none is needed.
func (s *server) linterMissing() string {
	name := s.spec.Linter
	if name == "" {
		return ""
	}
	if s.spec.LinterSetting != "" {
		var set *string
		if json.Unmarshal(section(s.spec.Settings, s.spec.LinterSetting), &set) == nil && set != nil {
			name = *set
		}
	}
	if name != "" && s.finds(name) {
		return ""
	}
	return fmt.Sprintf("%s finds faults with %s, which is not installed: %s", s.spec.Name, s.spec.Linter, s.spec.LinterInstall)
}

// finds looks for a program where the server will.
func (s *server) finds(name string) bool {
	path, cut := s.spec.Env["PATH"]
	if !cut || filepath.Base(name) != name {
		_, err := s.bridge.o.LookPath(name)
		if err == nil && filepath.IsAbs(name) {
			_, err = exec.LookPath(name)
		}
		return err == nil
	}
	for _, dir := range filepath.SplitList(path) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}
