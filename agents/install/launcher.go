package install

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/semver"
)

// VS Code puts each version of an extension into a folder of its own, and deletes the ones
// before it. An agent that was set up to start the program in such a folder would start
// nothing after the next update. So what agents start is a launcher: the program under
// another name, in a folder that stays, as new as the newest that was started.

// Launcher is where it is, "" without a home.
func Launcher(goos, home string, getenv func(string) string) string {
	base, name := getenv("XDG_DATA_HOME"), "pillion"
	switch {
	case goos == "windows":
		base, name = getenv("LOCALAPPDATA"), "pillion.exe"
	case goos == "darwin":
		base = filepath.Join(home, "Library", "Application Support")
	case !filepath.IsAbs(base):
		base = filepath.Join(home, ".local", "share")
	}
	if !filepath.IsAbs(base) {
		return ""
	}
	return filepath.Join(base, "pillion", "bin", name)
}

// Lasting is the program that an agent can be set up to start: this one, or the launcher where
// this one came with an extension of VS Code. It makes and renews the launcher.
func Lasting(program, version, launcher string) (string, error) {
	if launcher == "" || !isBundled(program) {
		return program, nil
	}
	if !isNewer(version, launcher) {
		return launcher, nil
	}
	if err := renew(program, version, launcher); err != nil {
		return program, err
	}
	return launcher, nil
}

// isBundled says whether a program came with an extension of VS Code.
func isBundled(program string) bool {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(program)), "package.json"))
	var manifest struct {
		Engines struct {
			VSCode string `json:"vscode"`
		} `json:"engines"`
	}
	return err == nil && json.Unmarshal(text, &manifest) == nil && manifest.Engines.VSCode != ""
}

// noteOf is the file with the launcher's version.
func noteOf(launcher string) string { return filepath.Join(filepath.Dir(launcher), "version") }

// isNewer says whether the launcher is missing or older. One of the same version is made anew
// too: it costs a link.
func isNewer(version, launcher string) bool {
	if info, err := os.Stat(launcher); err != nil || !info.Mode().IsRegular() {
		return true
	}
	known, err := os.ReadFile(noteOf(launcher))
	return err != nil || semver.Compare("v"+version, "v"+strings.TrimSpace(string(known))) >= 0
}

// renew puts the program where the launcher is, as a whole or not at all: a link to its
// content, which stays when its own folder goes, or a copy.
func renew(program, version, launcher string) error {
	dir := filepath.Dir(launcher)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(dir, ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	made := filepath.Join(temp, "pillion")
	if real, err := filepath.EvalSymlinks(program); err != nil || os.Link(real, made) != nil {
		if err := copyProgram(program, made); err != nil {
			return err
		}
	}
	if err := os.Rename(made, launcher); err != nil {
		if _, there := os.Stat(launcher); there == nil && errors.Is(err, fs.ErrPermission) {
			return nil // Windows: an agent runs it; the next start renews it
		}
		return err
	}
	return os.WriteFile(noteOf(launcher), []byte(version+"\n"), 0o600)
}

func copyProgram(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}

// Stranded are the agents whose own configuration starts a program of Pillion's that is not
// there any more.
func Stranded(o Options) map[string]string {
	out := map[string]string{}
	o.Project = ""
	for _, agent := range Agents() {
		state, err := Look(agent, o)
		if err != nil || !filepath.IsAbs(state.Server) {
			continue
		}
		if _, err := os.Stat(state.Server); errors.Is(err, fs.ErrNotExist) {
			out[agent] = state.Server
		}
	}
	return out
}
