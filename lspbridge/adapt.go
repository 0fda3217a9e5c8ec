package lspbridge

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace"
)

// adaptations are, by the server's name, what is known of its settings only once it is
// started: where programs are on this machine, and what the workspace has. A value that
// is set stays.
var adaptations = map[string]func(b *Bridge, s Server, root workspace.Path) (Server, error){
	"pylsp":                      adaptPylsp,
	"pyright":                    adaptPyright,
	"basedpyright":               adaptPyright,
	"bash-language-server":       adaptBash,
	"gopls":                      adaptGo,
	"typescript-language-server": adaptTypeScript,
}

// adapt is the server as it is started for a root. It is asked again and again: a
// server that comes to something else is started anew.
func (b *Bridge) adapt(s Server, root workspace.Path) (Server, error) {
	if s.Held != "" {
		return s, held(s)
	}
	if path, cut := b.searchPath(); cut {
		s.Env = withEnv(s.Env, "PATH", path)
	}
	if adapt := adaptations[s.Name]; adapt != nil {
		return adapt(b, s, root)
	}
	return s, nil
}

// under lays values at dotted names under what is set.
func under(set json.RawMessage, values map[string]any) json.RawMessage {
	for name, value := range values {
		keys := strings.Split(name, ".")
		for _, key := range slices.Backward(keys) {
			value = map[string]any{key: value}
		}
		text, err := json.Marshal(value)
		if err == nil {
			set = laid(set, text)
		}
	}
	return set
}

// adaptPylsp has it read the packages of the workspace's environment. That one's Python
// is not run, nor is that of an environment inside the workspace that is active:
// otherwise jedi would.
func adaptPylsp(b *Bridge, s Server, root workspace.Path) (Server, error) {
	if packages := b.sitePackages(root); len(packages) > 0 {
		s.Settings = under(s.Settings, map[string]any{"pylsp.plugins.jedi.extra_paths": packages})
	}
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if b.insideWorkspace(os.Getenv(name)) {
			s.Env = withEnv(s.Env, name, "")
		}
	}
	return s, nil
}

// adaptPyright likewise; it would run the Python of the environment to ask it for its
// folders, so that it gets one that is not the workspace's.
func adaptPyright(b *Bridge, s Server, root workspace.Path) (Server, error) {
	values := map[string]any{}
	for _, name := range []string{"python3", "python"} {
		if python, err := b.o.LookPath(name); err == nil {
			values["python.pythonPath"] = python
			break
		}
	}
	if packages := b.sitePackages(root); len(packages) > 0 {
		values["python.analysis.extraPaths"] = packages
		if s.Name == "basedpyright" {
			values["basedpyright.analysis.extraPaths"] = packages
		}
	}
	s.Settings = under(s.Settings, values)
	return s, nil
}

// adaptBash names the linter by its place, so that none of the workspace is run. An
// empty one means that there is none.
func adaptBash(b *Bridge, s Server, _ workspace.Path) (Server, error) {
	linter, err := b.o.LookPath("shellcheck")
	if err != nil {
		linter = ""
	}
	s.Settings = under(s.Settings, map[string]any{"bashIde.shellcheckPath": linter})
	return s, nil
}

// adaptGo keeps the go command, which gopls runs, from settings and tools of the
// workspace: a file that GOENV names can have it run any program.
func adaptGo(b *Bridge, s Server, _ workspace.Path) (Server, error) {
	for _, name := range []string{"GOENV", "GOROOT"} {
		value := os.Getenv(name)
		if b.insideWorkspace(value) || value != "" && value != "off" && !filepath.IsAbs(value) {
			s.Env = withEnv(s.Env, name, "")
		}
	}
	return s, nil
}

// adaptTypeScript names the TypeScript that was installed with the server: without it
// the server would run the one that the workspace brings along.
func adaptTypeScript(b *Bridge, s Server, _ workspace.Path) (Server, error) {
	if set := section(s.Options, "tsserver.path"); string(set) != "null" {
		return s, nil
	}
	if !b.installed(s) {
		return s, notInstalled(s)
	}
	lib := b.typeScript(s)
	if lib == "" {
		return s, fault.New(fault.LSPUnavailable, "%s needs TypeScript, which is not installed beside it", s.Name).
			WithHint("install it (%s), or %s", s.Install, instead)
	}
	s.Options = under(s.Options, map[string]any{"tsserver.path": lib})
	return s, nil
}

// isNativeTypeScript says if a tsc is a language server itself, as it is from TypeScript 7 on: an
// earlier one has a tsserver beside it.
func isNativeTypeScript(program string) bool {
	program, err := filepath.EvalSymlinks(program)
	if err != nil {
		return false
	}
	lib := filepath.Join(program, "../../lib") // from bin/tsc
	_, older := os.Stat(filepath.Join(lib, "tsserver.js"))
	_, err = os.Stat(filepath.Join(lib, "tsc.js"))
	return err == nil && older != nil
}

// typeScript is the tsserver.js that stands beside the server, or whose tsserver is in PATH.
func (b *Bridge) typeScript(s Server) string {
	for _, try := range []struct{ program, lib string }{
		{s.Command[0], "../../../typescript/lib/tsserver.js"}, // from lib/cli.mjs
		{"tsserver", "../../lib/tsserver.js"},                 // from bin/tsserver
	} {
		program, err := b.o.LookPath(try.program)
		if err != nil {
			continue
		}
		program, err = filepath.EvalSymlinks(program)
		if err != nil {
			continue
		}
		lib := filepath.Join(program, filepath.FromSlash(try.lib))
		if info, err := os.Stat(lib); err == nil && info.Mode().IsRegular() && !b.insideWorkspace(lib) {
			return lib
		}
	}
	return ""
}

// environments are where Python's virtual environments usually are.
var environments = []string{".venv", "venv", "env"}

// sitePackages are the folders of packages of the virtual environment that lies in the
// root or in the workspace folder, or is active and inside the workspace.
func (b *Bridge) sitePackages(root workspace.Path) []string {
	var places []workspace.Path
	if active := os.Getenv("VIRTUAL_ENV"); active != "" {
		if p, ok := b.o.Documents.Workspace().Place(active); ok {
			places = append(places, p)
		}
	}
	for _, dir := range []workspace.Path{root, root.Top()} {
		for _, name := range environments {
			places = append(places, dir.Join(name))
		}
	}
	for _, place := range places {
		if !place.Join("pyvenv.cfg").Exists() {
			continue
		}
		if packages := packagesOf(place); len(packages) > 0 {
			return packages
		}
	}
	return nil
}

// packagesOf looks for site-packages as they lie in an environment.
func packagesOf(environment workspace.Path) []string {
	if runtime.GOOS == "windows" {
		if packages := environment.Join("Lib").Join("site-packages"); packages.Exists() {
			return []string{packages.Abs()}
		}
		return nil
	}
	lib := environment.Join("lib")
	entries, _ := lib.ReadDir()
	var out []string
	for _, e := range entries {
		if packages := lib.Join(e.Name()).Join("site-packages"); strings.HasPrefix(e.Name(), "python") && packages.Exists() {
			out = append(out, packages.Abs())
		}
	}
	return out
}

// searchPath is PATH without the folders that lie in the workspace or depend on where
// one stands: what a server starts is found where the server was. It is cut if there
// were any.
func (b *Bridge) searchPath() (path string, cut bool) {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	kept := slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool {
		return !filepath.IsAbs(dir) || b.insideWorkspace(dir)
	})
	return strings.Join(kept, string(filepath.ListSeparator)), len(kept) < len(dirs)
}

// insideWorkspace says that a file or folder is one of the workspace's.
func (b *Bridge) insideWorkspace(place string) bool {
	if place == "" {
		return false
	}
	w := b.o.Documents.Workspace()
	if _, inside := w.Place(place); inside {
		return true
	}
	real, err := filepath.EvalSymlinks(place)
	if err != nil {
		return false
	}
	_, inside := w.Place(real)
	return inside
}

func withEnv(env map[string]string, name, value string) map[string]string {
	out := map[string]string{name: value}
	for n, v := range env {
		out[n] = v
	}
	return out
}
