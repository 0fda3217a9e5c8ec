package lspbridge

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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
	if filepath.Base(name) != name {
		return runs(name)
	}
	if !cut {
		_, err := s.bridge.o.LookPath(name)
		return err == nil
	}
	return slices.ContainsFunc(filepath.SplitList(path), func(dir string) bool { return runs(filepath.Join(dir, name)) })
}

func runs(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && (info.Mode()&0o111 != 0 || runtime.GOOS == "windows")
}
