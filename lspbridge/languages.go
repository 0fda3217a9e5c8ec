package lspbridge

import (
	"io"
	"slices"

	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// languageOf is the language of a file, as its buffer, its name or its first line say.
func languageOf(p workspace.Path, b *document.Buffer) string {
	if b != nil {
		return language.Of(b.Language, p.Base(), b.Text)
	}
	if id := language.ByName(p.Base()); id != "" {
		return id
	}
	return language.Of("", p.Base(), beginning(p))
}

// beginning is the first bytes of a file, "" if they cannot be read.
func beginning(p workspace.Path) string {
	file, _, err := p.OpenFile()
	if err != nil {
		return ""
	}
	defer file.Close()
	text, _ := io.ReadAll(io.LimitReader(file, language.ShebangBytes))
	return string(text)
}

// serverFor finds the server of a language: the first that is installed, else the
// first.
func (b *Bridge) serverFor(set Settings, lang string) (spec Server, ok bool) {
	for _, s := range set.Servers {
		if !slices.Contains(s.Languages, lang) {
			continue
		}
		if !ok {
			spec, ok = s, true
		}
		if b.installed(s) {
			return s, true
		}
	}
	return spec, ok
}

func (b *Bridge) installed(s Server) bool {
	if len(s.Command) == 0 || s.Held != "" {
		return false
	}
	_, err := b.o.LookPath(s.Command[0])
	return err == nil
}
