package sidecar

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"pillion/config"
	"pillion/lspbridge"
	"pillion/rpc"
	"pillion/tools/process"
	"pillion/workspace"
)

// newLanguages is what asks language servers, none of which runs yet. ask asks those
// of the editor, nil if there are none.
func (c *Sidecar) newLanguages(ask rpc.Languages) *lspbridge.Bridge {
	return lspbridge.New(lspbridge.Options{
		Documents: c.documents,
		Spawn:     c.spawnServer,
		LookPath:  c.lookPath,
		Settings:  c.languageSettings,
		Ask:       ask,
		Report:    c.events.Problem,
		Note:      c.events.Remark,
		Logf:      logf,
		GiveWay:   c.giveWay,
		Settle:    c.tree.Settle,
	})
}

// languageSettings are what is set about language servers in a folder: as the call that
// asks them found the settings when it began.
func (c *Sidecar) languageSettings(folder workspace.Path) lspbridge.Settings {
	return c.settings.languagesOf(folder.RootDir())
}

// languagesOf is made once for each view of the settings.
func (s *liveSettings) languagesOf(root string) lspbridge.Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.languagesIn != s.view {
		s.languagesIn, s.languages = s.view, map[string]lspbridge.Settings{}
	}
	made, ok := s.languages[root]
	if !ok {
		made = s.makeLanguages(root)
		s.languages[root] = made
	}
	return made
}

// makeLanguages needs the lock.
func (s *liveSettings) makeLanguages(root string) lspbridge.Settings {
	set := s.view.Settings.LanguageServers
	for _, f := range s.view.Folders {
		if f.Root == root {
			set = f.LanguageServers
		}
	}
	servers, problems := LanguageServers(set.Servers)
	for _, p := range problems {
		if !s.reported[p] {
			s.reported[p] = true
			s.events.Problem(p)
		}
	}
	return lspbridge.Settings{
		Servers: servers, PreferOwn: set.Prefer == "own", EditorDiagnostics: set.Diagnostics == "editor",
		EditWait: set.EditWait(), Idle: set.Idle(),
	}
}

func LanguageServers(set config.Servers) (servers []lspbridge.Server, problems []string) {
	over := map[string]lspbridge.Override{}
	for name, s := range set {
		over[name] = lspbridge.Override(s)
	}
	return lspbridge.Servers(over)
}

// lookPath finds a program in PATH, but none that the workspace brought along.
func (c *Sidecar) lookPath(name string) (string, error) {
	if rest, inHome := strings.CutPrefix(name, "~/"); inHome {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		name = filepath.Join(home, rest)
	}
	if filepath.IsAbs(name) {
		return exec.LookPath(name) // the user named a file
	}
	if filepath.Base(name) != name {
		return "", exec.ErrNotFound
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file, err := exec.LookPath(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		real, err := filepath.EvalSymlinks(file)
		if err != nil || c.holds(file) || c.holds(real) {
			continue
		}
		return file, nil
	}
	return "", exec.ErrNotFound
}

func (c *Sidecar) holds(file string) bool {
	_, inside := c.workspace.Place(file)
	return inside
}

// spawnServer starts a language server below a guardian, in the environment that
// commands get.
func (c *Sidecar) spawnServer(command lspbridge.Command) (lspbridge.Child, error) {
	p := process.Program{Args: command.Args, Dir: command.Dir, Env: command.Env}
	if c.draftOf != "" { // what it runs of a draft nobody has seen
		held := c.now().Sandbox
		box, ok := held.Box(process.Box{Folders: c.Roots(), Writes: true})
		if !ok {
			return lspbridge.Child{}, errors.New("it cannot be held here, which a draft needs")
		}
		box.Hidden = append(box.Hidden, held.Hidden...)
		p.Confine = box
	}
	s, err := c.runner.Serve(p)
	if err != nil {
		return lspbridge.Child{}, err
	}
	return lspbridge.Child{Stdin: s.Stdin, Stdout: s.Stdout, Stderr: s.Said, Done: s.Done(), Err: s.Err, Kill: s.Kill}, nil
}
