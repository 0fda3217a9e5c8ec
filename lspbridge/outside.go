package lspbridge

import (
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
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
// it is not shown: only source files are, of the language that was asked about. What an
// agent writes into a source file can lead a server anywhere, and nothing but libraries
// is to be shown so.
func textOutside(uri, lang string) string {
	name, ok := fileOf(uri)
	if !ok || lang == "" {
		return ""
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil || language.ByName(filepath.Base(real)) != lang {
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
