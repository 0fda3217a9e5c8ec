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

// serverKey tells servers apart: one for each program and root.
type serverKey struct {
	name string
	root workspace.Path
}

// serverOf is the server for p, which need not run. Without one the error says why.
func (b *Bridge) serverOf(p workspace.Path) (*server, error) { return b.serverOfFile(target(p)) }

// serverOfFile is serverOf for a file by its own name, which no link leads to.
func (b *Bridge) serverOfFile(p workspace.Path) (*server, error) {
	return b.serverSpeaking(languageOf(p, b.bufferOf(p)), p)
}

// serverSpeaking is serverOfFile for a file whose language is known.
func (b *Bridge) serverSpeaking(lang string, p workspace.Path) (*server, error) {
	set := b.o.Settings(p.Top())
	if s := b.foundLately(p, lang, set.Servers); s != nil {
		return s, nil
	}
	spec, ok := b.serverFor(set, lang)
	if !ok {
		return nil, noServer(p, lang)
	}
	key := serverKey{spec.Name, rootOf(p, spec.RootMarkers)}
	adapted, err := b.adapt(spec, key.root)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		return nil, errClosed
	}
	s := b.servers[key]
	if s == nil || !s.spec.same(adapted) {
		if s != nil {
			s.end()
			delete(b.servers, key)
		}
		b.makeRoomLocked()
		s = newServer(b, adapted, key.root)
		b.servers[key] = s
	}
	if len(b.lately) >= mostLately {
		clear(b.lately)
	}
	b.lately[p] = finding{s, lang, set.Servers, time.Now()}
	return s, nil
}

const (
	latelyTime  = 2 * time.Second // for which it holds which server a file has
	mostLately  = 256             // files of which that is kept
	mostServers = 16              // of a sidecar; another takes the place of the one that was not used for longest
)

// finding is which server a file has, and what that rests on.
type finding struct {
	server   *server
	language string
	set      []Server
	at       time.Time
}

// foundLately is the server of p if it was looked for just now, among the same. Where
// programs and roots are is looked up in many places.
func (b *Bridge) foundLately(p workspace.Path, lang string, set []Server) *server {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.lately[p]
	if f.server == nil || b.ctx.Err() != nil || f.language != lang || time.Since(f.at) > latelyTime || len(set) != len(f.set) || &set[0] != &f.set[0] {
		return nil
	}
	if b.servers[serverKey{f.server.spec.Name, f.server.root}] != f.server {
		return nil // another took its place
	}
	return f.server
}

// makeRoomLocked ends the server that nobody used for longest if there are too many:
// each folder with a marker of a project in it has its own.
func (b *Bridge) makeRoomLocked() {
	if len(b.servers) < mostServers {
		return
	}
	var oldest serverKey
	var when time.Time
	for key, s := range b.servers {
		if used := s.lastUsed(); oldest == (serverKey{}) || used.Before(when) {
			oldest, when = key, used
		}
	}
	b.servers[oldest].end()
	delete(b.servers, oldest)
}

// FoldersChanged ends the servers of folders that are not open any more.
func (b *Bridge) FoldersChanged() {
	roots := b.o.Documents.Workspace().Roots()
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, s := range b.servers {
		if !slices.Contains(roots, key.root.Top()) {
			s.end()
			delete(b.servers, key)
		}
	}
}

func (b *Bridge) bufferOf(p workspace.Path) *document.Buffer { return b.o.Documents.Buffer(p) }

// target is the file itself, so that one that is reached by a link is one document.
func target(p workspace.Path) workspace.Path {
	if real, err := p.Target(); err == nil {
		return real
	}
	return p
}

// rootOf is the innermost folder above p that holds one of the markers, else the
// workspace folder.
func rootOf(p workspace.Path, markers []string) workspace.Path {
	for dir := p; !dir.IsRoot(); {
		dir = dir.Dir()
		for _, m := range markers {
			if dir.Join(m).Exists() {
				return dir
			}
		}
	}
	return p.Top()
}

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
