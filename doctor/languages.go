package doctor

import (
	"context"
	"os/exec"
	"path/filepath"

	"pillion/lspbridge"
	"pillion/workspace"
)

// languages are those of the folder for which Pillion knows a server, and how that
// one stands.
func languages(ctx context.Context, e exam) []Finding {
	w, err := workspace.Open(workspace.Folder{Dir: e.Folder})
	if err != nil {
		return nil // folder tells
	}
	defer w.Close() //nolint:errcheck // it was only read
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	all := lspbridge.Survey(ctx, w.Roots(), e.Servers, e.programs.lookPath)
	return each(all, func(s lspbridge.Standing) (Finding, bool) { return e.language(ctx, s), true })
}

// lookPath is find as lspbridge asks it.
func (l lookup) lookPath(name string) (string, error) {
	if filepath.IsAbs(name) && isProgram(name) {
		return name, nil
	}
	if path := l.find(name); path != "" && filepath.Base(name) == name {
		return path, nil
	}
	return "", exec.ErrNotFound
}

func (e exam) language(ctx context.Context, s lspbridge.Standing) Finding {
	f := Finding{ID: "language." + s.Language, Title: s.Language, Status: OK, Data: map[string]any{"files": s.Files, "server": s.Server.Name}}
	f.Detail = count(s.Files, "file") + ": " + s.Server.Name
	if s.Program == "" {
		f.Status, f.Detail, f.Hint = Missing, f.Detail+" is not installed", s.Server.Install
		if s.Server.Data || s.Server.Held != "" {
			f.Status = Info
		}
		return f
	}
	f.Data["path"] = s.Program
	args := s.Server.VersionArgs
	if args == nil {
		args = []string{"--version"}
	}
	if len(args) > 0 {
		if version := e.programs.version(ctx, s.Program, args...); version != "" {
			f.Data["version"] = version
			f.Detail += " " + version
		}
	}
	f.Detail += ", " + s.Program
	switch {
	case s.Server.Held != "":
		f.Status, f.Detail = Info, f.Detail+"; disabled by default: "+s.Server.Held
		f.Hint = "if you trust the repository: languageServers.servers." + s.Server.Name + ".enabled in your own settings"
	case s.Linter != "":
		f.Status, f.Detail, f.Hint = Missing, f.Detail+"; without "+s.Linter+" it finds no errors", s.LinterInstall
	}
	return f
}
