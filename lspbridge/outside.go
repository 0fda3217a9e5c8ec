package lspbridge

import (
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

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
	name, ok := fileOf(uri)
	if !ok {
		return ""
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil || !r.isLibrary(filepath.Base(real)) {
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

// isLibrary says if a file of this name may be part of a library of the language that
// was asked about. What an agent writes into a source file can lead a server anywhere,
// and nothing but libraries is to be shown so: no data, no scripts of a shell, which has
// no libraries and whose files people keep secrets in, and nothing hidden.
func (r *reader) isLibrary(base string) bool {
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

// fileOf is the absolute name of a file URI.
func fileOf(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return "", false
	}
	name := u.Path
	if runtime.GOOS == "windows" {
		name = strings.TrimPrefix(name, "/")
	}
	name = filepath.FromSlash(name)
	return name, filepath.IsAbs(name)
}

// excerpt is the beginning of what stands in a range, in whole lines.
func excerpt(text string, r document.Range) string {
	start := document.Offset(text, document.Position{Line: r.Start.Line})
	end := document.Offset(text, document.Position{Line: r.Start.Line + excerptLines})
	return strings.TrimRight(clip(text[start:end], excerptBytes), "\r\n")
}
