package lspbridge

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// What is shown of a file outside the workspace.
const (
	mostOutside  = 4 << 20 // bytes that are read
	excerptLines = 8
	excerptBytes = 1000
)

// textOutside is the text of a file outside the workspace that a server led to, "" if
// it is not shown.
func (r *reader) textOutside(uri string) string {
	name, ok := workspace.FilePathOf(uri)
	if !ok {
		return ""
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil || !r.isSource(filepath.Base(real)) || !inLibrary(real, os.Getenv) {
		return ""
	}
	info, err := os.Stat(real)
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostOutside {
		return ""
	}
	f, err := os.Open(real)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostOutside))
	if err != nil || !utf8.Valid(data) {
		return ""
	}
	return string(data)
}

// libraryFolders are folders in which package managers put libraries, wherever they are.
var libraryFolders = regexp.MustCompile(`/(site-packages|dist-packages|node_modules|lib(64)?/python[0-9.]+|pkg/mod/[^@]+@v[^/]+)/`)

// libraryRoots are where systems and toolchains have theirs. Those that begin with ~ are
// below the home, those with $ where a variable says.
var libraryRoots = strings.Fields(`
	/usr/include /usr/lib /usr/lib32 /usr/lib64 /usr/share /usr/local/include /usr/local/lib /usr/local/share /usr/local/go
	/nix/store /gnu/store /opt/homebrew/Cellar /usr/local/Cellar /home/linuxbrew/.linuxbrew/Cellar /Library/Frameworks /Library/Developer /Applications
	~/sdk ~/.cargo/registry/src ~/.cargo/git/checkouts ~/.rustup/toolchains ~/.pyenv/versions ~/.rbenv/versions ~/.goenv/versions ~/.nvm/versions
	~/.asdf/installs ~/.local/share/mise/installs ~/.sdkman/candidates
	$GOROOT $GOMODCACHE $JAVA_HOME $RUSTUP_HOME
`)

// inLibrary says if a file, by its real name, lies where libraries are. What an agent writes
// into a source file, such as an entry of sys.path, can lead a server to any folder, and
// nothing of another project is to be shown so.
func inLibrary(name string, getenv func(string) string) bool {
	name = filepath.ToSlash(name)
	if libraryFolders.MatchString(name) {
		return true
	}
	return slices.ContainsFunc(libraryRoots, func(root string) bool {
		switch {
		case strings.HasPrefix(root, "$"):
			root = getenv(root[1:])
		case strings.HasPrefix(root, "~"):
			if root = root[1:]; getenv("HOME") != "" {
				root = getenv("HOME") + root
			}
		}
		real, err := filepath.EvalSymlinks(root)
		return err == nil && len(real) > 1 && strings.HasPrefix(name, filepath.ToSlash(real)+"/")
	})
}

// isSource says if a file of this name may be source of a library of the language that
// was asked about: no data, no scripts of a shell, which has no libraries and whose files
// people keep secrets in, and nothing hidden.
func (r *reader) isSource(base string) bool {
	asked, is := languageOf(r.asked, r.snapshot.Buffer(r.asked)), language.ByName(base)
	if is == "" || is == "shellscript" || strings.HasPrefix(base, ".") {
		return false
	}
	kin := is == asked
	for _, s := range r.bridge.o.Settings(r.asked.Top()).Servers {
		if !slices.Contains(s.Languages, is) {
			continue
		}
		if s.Data {
			return false
		}
		kin = kin || slices.Contains(s.Languages, asked) // C and C++
	}
	return kin
}

// excerpt is the beginning of what stands in a range, in whole lines.
func excerpt(text string, r document.Range) string {
	start := document.Offset(text, document.Position{Line: r.Start.Line})
	end := document.Offset(text, document.Position{Line: r.Start.Line + excerptLines})
	return strings.TrimRight(clip(text[start:end], excerptBytes), "\r\n")
}
