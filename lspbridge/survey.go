package lspbridge

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"pillion/workspace"
	"pillion/workspace/language"
)

// Standing is how a language of a folder stands: who answers for it, and what is missing.
type Standing struct {
	Language string
	Files    int    // of which it is known
	Server   Server // the zero one: none is known
	Program  string // its file, "" if it is not installed
	// Linter is what the server needs to find faults, if that is missing.
	Linter, LinterInstall string
}

// How far a folder is looked through for languages.
const (
	mostSurveyed = 100_000 // entries
	mostOpened   = 200     // files whose first line is read
	surveyTime   = 10 * time.Second
)

// Survey looks through folders for languages for which a server is known, those with
// the most files first, and for their servers.
func Survey(ctx context.Context, roots []workspace.Path, servers []Server, lookPath func(string) (string, error)) []Standing {
	return (&Bridge{o: Options{LookPath: lookPath, GiveWay: func(context.Context) {}}}).survey(ctx, roots, servers)
}

func (b *Bridge) survey(ctx context.Context, roots []workspace.Path, servers []Server) []Standing {
	ctx, cancel := context.WithTimeout(ctx, surveyTime)
	defer cancel()
	files := map[string]int{}
	opened := 0
	for _, root := range roots {
		b.countLanguages(ctx, root, files, &opened)
	}
	var out []Standing
	for _, lang := range slices.SortedFunc(maps.Keys(files), func(x, y string) int {
		return cmp.Or(cmp.Compare(files[y], files[x]), strings.Compare(x, y))
	}) {
		if s, ok := b.serverFor(Settings{Servers: servers}, lang); ok {
			out = append(out, b.standing(lang, files[lang], s))
		}
	}
	return out
}

func (b *Bridge) standing(lang string, files int, s Server) Standing {
	st := Standing{Language: lang, Files: files, Server: s}
	if program, err := b.programOf(s); err == nil {
		st.Program = program
	}
	if s.Linter != "" && st.Program != "" {
		if _, err := b.o.LookPath(s.Linter); err != nil {
			st.Linter, st.LinterInstall = s.Linter, s.LinterInstall
		}
	}
	return st
}

func (b *Bridge) countLanguages(ctx context.Context, root workspace.Path, files map[string]int, opened *int) {
	seen := 0
	b.o.GiveWay(ctx)
	//nolint:errcheck // what cannot be looked through has no languages
	_ = root.Walk(ctx, workspace.WalkOptions{}, func(e workspace.Entry) error {
		if seen++; seen > mostSurveyed {
			return fs.SkipAll
		}
		b.o.GiveWay(ctx)
		if !e.Type.IsRegular() {
			return nil
		}
		lang := language.ByName(e.Path.Base())
		if lang == "" && !strings.Contains(e.Path.Base(), ".") && *opened < mostOpened {
			*opened++
			lang = languageOf(e.Path, nil)
		}
		if lang != "" {
			files[lang]++
		}
		return nil
	})
}

// TellMissing looks for servers that the open folders would need, and reports each
// that is missing once. It does not wait.
func (b *Bridge) TellMissing() {
	if !b.work() {
		return
	}
	go func() {
		defer b.running.Done()
		for _, root := range b.o.Documents.Workspace().Roots() {
			for _, problem := range missing(b.survey(b.ctx, []workspace.Path{root}, b.o.Settings(root).Servers)) {
				b.reportOnce(problem)
			}
		}
	}()
}

func (b *Bridge) reportOnce(problem string) {
	b.mu.Lock()
	told := b.told[problem] || b.ctx.Err() != nil
	b.told[problem] = true
	b.mu.Unlock()
	if !told {
		b.o.Note(problem)
	}
}

// missing says what is missing, a line for each server.
func missing(standings []Standing) []string {
	var order, lines []string
	languages, install := map[string][]string{}, map[string]string{}
	add := func(lang, what, get string) {
		if languages[what] == nil {
			order = append(order, what)
		}
		languages[what], install[what] = append(languages[what], lang), get
	}
	for _, s := range standings {
		switch {
		case s.Server.Data || s.Server.Held != "":
		case s.Program == "":
			add(s.Language, s.Server.Name+" is not installed", s.Server.Install)
		case s.Linter != "":
			add(s.Language, s.Linter+" is not installed, without which "+s.Server.Name+" finds no faults", s.LinterInstall)
		}
	}
	for _, what := range order {
		line := "[LSP] " + strings.Join(languages[what], ", ") + ": " + what
		if install[what] != "" {
			line += "; run: " + install[what]
		}
		lines = append(lines, line)
	}
	return lines
}
