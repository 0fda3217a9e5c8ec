package lspbridge

import (
	"io"
	"slices"
	"sync"
	"time"

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

// languageIn is languageOf for what p leads to. A text that the snapshot has is not read
// again.
func languageIn(s *document.Snapshot, p workspace.Path) string {
	file, buffer := s.Real(p), s.Buffer(p)
	if known := s.Known(p); known != nil && buffer == nil {
		return language.Of("", file.Base(), known.Text)
	}
	return languageOf(file, buffer)
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

// lookTime is for how long it holds that a program is there, or is not.
const lookTime = 2 * time.Second

// installations is which programs were found, for a moment.
type installations struct {
	mu    sync.Mutex // guards found
	found map[string]installation
}

type installation struct {
	there bool
	until time.Time
}

// programOf is the file of a server that is installed.
func (b *Bridge) programOf(s Server) (string, error) {
	if len(s.Command) == 0 {
		return "", notInstalled(s)
	}
	program, err := b.o.LookPath(s.Command[0])
	if err != nil || s.Name == "typescript" && !isNativeTypeScript(program) {
		return "", notInstalled(s)
	}
	return program, nil
}

func (b *Bridge) installed(s Server) bool {
	if len(s.Command) == 0 || s.Held != "" {
		return false
	}
	name, now := s.Command[0], time.Now()
	b.installations.mu.Lock()
	defer b.installations.mu.Unlock()
	if l, ok := b.installations.found[name]; ok && now.Before(l.until) {
		return l.there
	}
	_, err := b.programOf(s)
	there := err == nil
	if b.installations.found == nil {
		b.installations.found = map[string]installation{}
	}
	b.installations.found[name] = installation{there, now.Add(lookTime)}
	return there
}
