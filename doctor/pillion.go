package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"pillion/agents/relay"
	"pillion/config"
	"pillion/internal/state"
)

func pillionProgram(_ context.Context, e exam) Finding {
	return Finding{
		ID: "pillion.program", Title: "program", Status: OK,
		Detail: fmt.Sprintf("%s, built with %s for %s/%s, %s", e.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, e.Binary),
		Data:   map[string]any{"version": e.Version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH, "path": e.Binary},
	}
}

// settings looks at the user's own file; what an editor sets it cannot see.
func settings(context.Context, exam) Finding {
	f := Finding{ID: "pillion.settings", Title: "settings", Status: OK}
	name, err := config.UserFile()
	if err != nil {
		f.Detail = "no file of your own: " + err.Error()
		return f
	}
	f.Data = map[string]any{"file": name}
	raw, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Detail = "no file of your own; it would be " + name
		return f
	case err != nil:
		f.Status, f.Detail, f.Hint = Error, "cannot be read, so your rules do not apply: "+err.Error(), "make "+name+" readable"
		return f
	}
	_, problems := config.Parse(raw)
	for i, p := range problems {
		problems[i] = redact(p)
	}
	switch {
	case len(problems) == 0:
		f.Detail = name
	case strings.HasPrefix(problems[0], "the settings are "):
		f.Status, f.Detail, f.Hint = Error, name+": "+problems[0], "fix it: until then none of your rules applies"
	default:
		f.Status, f.Detail, f.Hint = Warning, name+": "+strings.Join(problems, "; "), "docs/settings.md has every key"
	}
	if len(problems) > 0 {
		f.Data["problems"] = problems
	}
	return f
}

var longWord = regexp.MustCompile(`[A-Za-z0-9_+/=-]{24,}`)

// redact takes out of a problem what may be a key: a rule can hold a whole command.
func redact(text string) string {
	return longWord.ReplaceAllStringFunc(text, func(word string) string {
		if strings.ContainsAny(word, "0123456789") {
			return "…"
		}
		return word
	})
}

// configFolder: whoever can write there can allow agents anything.
func configFolder(context.Context, exam) Finding {
	f := Finding{ID: "pillion.config", Title: "config folder"}
	name, err := config.UserFile()
	if err != nil {
		return unplaced(f, err)
	}
	f = checkFolder(f, filepath.Dir(name), 0o022, "others could change your rules")
	if info, err := os.Stat(name); err == nil && f.Status == OK && others(info, 0o022) != 0 {
		f.Status, f.Detail, f.Hint = Warning, name+" can be written by others, who could change your rules", "chmod go-w "+name
	}
	return f
}

// stateFolder is where installing remembers what it added.
func stateFolder(_ context.Context, e exam) Finding {
	f := Finding{ID: "pillion.state", Title: "state folder"}
	if e.home == "" {
		return unplaced(f, errors.New("no home folder is known; set HOME"))
	}
	dir := state.In(runtime.GOOS, e.home, os.Getenv)
	f = checkFolder(f, dir, 0o022, "others could change what you trusted: Pillion does not start")
	if err := state.Check(dir); err != nil && f.Status == OK {
		f.Status, f.Detail = Error, err.Error()
	}
	return f
}

// registry is where agents find the editor; it holds tokens.
func registry(context.Context, exam) Finding {
	f := Finding{ID: "pillion.registry", Title: "registry"}
	place, err := relay.Folder()
	if err != nil {
		return unplaced(f, err)
	}
	return checkFolder(f, place, 0o077, "others could see the tokens of running sidecars")
}

func unplaced(f Finding, err error) Finding {
	f.Status, f.Detail = Error, "has no place: "+err.Error()
	return f
}

// checkFolder holds a folder of ours against who may use it: closed are the bits
// of its mode that must not be set, and danger is what they would let happen.
func checkFolder(f Finding, dir string, closed os.FileMode, danger string) Finding {
	f.Data = map[string]any{"path": dir}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return checkParents(f, dir)
	case err != nil:
		f.Status, f.Detail = Error, err.Error()
		return f
	case !info.IsDir():
		f.Status, f.Detail, f.Hint = Error, dir+" is not a folder", "move it away"
		return f
	}
	mode := fmt.Sprintf("%04o", info.Mode().Perm())
	f.Data["mode"] = mode
	switch {
	case !state.IsOurs(info) || !isWritable(dir):
		f.Status, f.Detail, f.Hint = Error, dir+" is not writable for you", "make it writable, or move it away"
	case others(info, closed) != 0:
		f.Status, f.Detail, f.Hint = Warning, fmt.Sprintf("%s has mode %s: %s", dir, mode, danger), fmt.Sprintf("chmod %04o %s", info.Mode().Perm()&^closed, dir)
	default:
		f.Status, f.Detail = OK, dir+", mode "+mode
	}
	return f
}

// checkParents asks whether a folder that is not there could be made.
func checkParents(f Finding, dir string) Finding {
	above := filepath.Dir(dir)
	for !exists(above) && above != filepath.Dir(above) {
		above = filepath.Dir(above)
	}
	if !isWritable(above) {
		f.Status, f.Detail, f.Hint = Error, dir+" does not exist and cannot be created", "make "+above+" writable"
		return f
	}
	f.Status, f.Detail = OK, dir+", created when needed"
	return f
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
