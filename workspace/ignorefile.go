package workspace

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const maxIgnoreFile = 1 << 20 // bytes; a longer file is no ignore file

// ruleFolder reads the ignore files of one folder: through its Path where it is
// in the workspace, else by its absolute name. A file that cannot be read, or is
// no small regular file, ignores nothing.
type ruleFolder struct {
	path   Path
	listed func(name string) bool // whether path has such an entry, if that is known
	abs    string                 // if path is zero
}

func (f ruleFolder) has(name string) bool {
	var err error
	switch {
	case f.path.IsZero():
		_, err = os.Lstat(filepath.Join(f.abs, name))
	case f.listed != nil:
		return f.listed(name)
	default:
		_, err = f.path.root.fs().Lstat(filepath.Join(filepath.FromSlash(f.path.rel), name))
	}
	return err == nil
}

func (f ruleFolder) read(name string) string {
	if !f.has(name) {
		return ""
	}
	return f.readAt(name)
}

func (f ruleFolder) readAt(name string) string {
	if f.path.IsZero() {
		return readIgnoreFile(filepath.Join(f.abs, filepath.FromSlash(name)))
	}
	p := f.path
	p.rel = filepath.ToSlash(filepath.Join(p.rel, name))
	data, _, err := p.ReadFile(maxIgnoreFile)
	if err != nil {
		return ""
	}
	return string(data)
}

// exclude reads the repository's own info/exclude. Where .git is a file, it
// names a work tree's or submodule's folder, which may name a common one.
func (f ruleFolder) exclude() string {
	if !f.has(".git") {
		return ""
	}
	named, isFile := strings.CutPrefix(f.readAt(".git"), "gitdir:")
	if !isFile {
		return f.readAt(".git/info/exclude")
	}
	dir := f.abs
	if !f.path.IsZero() {
		dir = f.path.Abs()
	}
	git := from(dir, named)
	if common := readIgnoreFile(filepath.Join(git, "commondir")); common != "" {
		git = from(git, common)
	}
	return readIgnoreFile(filepath.Join(git, "info", "exclude"))
}

// from reads a folder's name as git wrote it, relative to the folder dir.
func from(dir, name string) string {
	name = filepath.FromSlash(strings.TrimSpace(name))
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

var excludesFile = regexp.MustCompile(`(?im)^[ \t]*excludesfile[ \t]*=[ \t]*"?([^"\r\n#;]+?)"?[ \t\r]*$`)

// readUserIgnore finds the user's ignore file as ripgrep does, without git's
// includes and conditions.
func readUserIgnore() string {
	home := homeDir()
	folder := os.Getenv("XDG_CONFIG_HOME")
	if folder == "" {
		folder = filepath.Join(home, ".config")
	}
	name := filepath.Join(folder, "git", "ignore")
	for _, config := range []string{filepath.Join(home, ".gitconfig"), filepath.Join(folder, "git", "config")} {
		found := excludesFile.FindStringSubmatch(readIgnoreFile(config))
		if found == nil {
			continue
		}
		name = found[1]
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			name = filepath.Join(home, filepath.FromSlash(rest))
		}
		break
	}
	return readIgnoreFile(name)
}

// readIgnoreFile reads a small regular file outside the workspace, or nothing.
func readIgnoreFile(abs string) string {
	if !filepath.IsAbs(abs) {
		return ""
	}
	f, err := os.OpenFile(abs, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnoreFile {
		return ""
	}
	data, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	if err != nil {
		return ""
	}
	return string(data)
}
