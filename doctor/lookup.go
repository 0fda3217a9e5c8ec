package doctor

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"pillion/tools/process"
)

// versionTime is how long a program may take to tell its version. Those that are
// written in JavaScript take a second, on a busy machine several.
const versionTime = 10 * time.Second

// maxAtOnce keeps a small machine from starting ten programs at the same time.
const maxAtOnce = 4

// lookup finds programs and asks them for their version.
type lookup struct {
	folders []string // of PATH
	env     []string
	dir     string        // where programs are run
	slots   chan struct{} // one for each that may run
}

// newLookup takes the folders of PATH, but for those that belong to the project:
// a repository must not choose what is run by being looked at.
func newLookup(project, home string) lookup {
	l := lookup{dir: rootOf(project), slots: make(chan struct{}, maxAtOnce)}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) && (contains(project, home) || !contains(project, dir)) {
			l.folders = append(l.folders, dir)
		}
	}
	for _, entry := range process.Environment(os.Environ()) {
		if name, _, _ := strings.Cut(entry, "="); !strings.EqualFold(name, "PATH") {
			l.env = append(l.env, entry)
		}
	}
	l.env = append(l.env, "PATH="+strings.Join(l.folders, string(os.PathListSeparator)))
	return l
}

// rootOf is a folder in which no project's settings are: the drive's or the
// system's own.
func rootOf(path string) string {
	return filepath.VolumeName(path) + string(os.PathSeparator)
}

// contains reports whether path is the folder or below it, links followed.
func contains(folder, path string) bool {
	if path == "" {
		return false
	}
	rel, err := filepath.Rel(real(folder), real(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(os.PathSeparator))
}

func real(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return filepath.Clean(path)
}

// find is the program of that name, "" if there is none.
func (l lookup) find(names ...string) string {
	for _, name := range names {
		for _, dir := range l.folders {
			for _, suffix := range suffixes() {
				if path := filepath.Join(dir, name+suffix); isProgram(path) {
					return path
				}
			}
		}
	}
	return ""
}

func suffixes() []string {
	if isWindows() {
		return []string{".exe", ".cmd", ".bat"}
	}
	return []string{""}
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (isWindows() || info.Mode().Perm()&0o111 != 0)
}

var versionPattern = regexp.MustCompile(`\d+(\.\d+)+([-+~][0-9A-Za-z.]+)*|Build \d+`)

// version is what a program says when it is asked for its version, "" if it says
// nothing of the kind.
func (l lookup) version(ctx context.Context, program string, args ...string) string {
	said, err := l.run(ctx, program, args...)
	if err != nil {
		return ""
	}
	return strings.ToLower(versionPattern.FindString(said))
}

// run runs a program in no project, and gives the beginning of what it prints on
// both streams.
func (l lookup) run(ctx context.Context, program string, args ...string) (string, error) {
	l.slots <- struct{}{}
	defer func() { <-l.slots }()
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	return l.start(exec.CommandContext(ctx, program, args...))
}

// start runs what was prepared and waits for it.
func (l lookup) start(c *exec.Cmd) (string, error) {
	said := &beginning{}
	c.Dir, c.Env, c.Stdout, c.Stderr = l.dir, l.env, said, said
	c.WaitDelay = time.Second // for what it started and left behind
	endTogether(c)
	err := c.Run()
	return said.String(), err
}

// beginning keeps the first few thousand bytes.
type beginning struct{ bytes.Buffer }

func (b *beginning) Write(p []byte) (int, error) {
	const most = 4096
	if room := most - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
