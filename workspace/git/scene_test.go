package git_test

import (
	"crypto/sha1"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// scene is a repository that rapid draws. Git's processes are what takes time, so most
// of it is written as files, and history comes by one git fast-import.
type scene struct {
	*rapid.T
	top  string
	tree tree // what is in the work tree
	// renames are looked for. Then no file ends without a newline, which counts only since
	// git 2.44, and none is in conflict, which git's diff takes for a renamed one.
	renames bool
	story   []string // how it was made, for whoever reads a failure
	busy    *sync.WaitGroup
	turns   chan struct{} // of git's processes: two at a time
}

// newScene makes a repository without a commit in a new folder of dir, with the lines of
// config.
func newScene(t *rapid.T, dir string, config ...string) *scene {
	t.Helper()
	s := &scene{T: t, tree: tree{}, busy: &sync.WaitGroup{}, turns: make(chan struct{}, 2)}
	var err error
	s.top, err = os.MkdirTemp(dir, "")
	s.must(err)
	t.Cleanup(func() {
		s.busy.Wait()
		_ = os.RemoveAll(s.top) // what is left is the test's folder's to tell
	})
	s.repository(".git", config...)
	return s
}

// scenes is the folder for the scenes of a test.
func scenes(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// repository writes what git init makes.
func (s *scene) repository(dir string, config ...string) {
	s.story = append(s.story, "git init -q -b main "+path.Dir(dir))
	for _, line := range config {
		s.story = append(s.story, "config "+strings.ReplaceAll(line, "\n\t", "."))
	}
	s.must(os.MkdirAll(s.path(dir+"/objects/pack"), 0o755))
	s.must(os.MkdirAll(s.path(dir+"/refs/heads"), 0o755))
	s.must(os.MkdirAll(s.path(dir+"/info"), 0o755))
	s.set(dir+"/HEAD", "ref: refs/heads/main\n")
	s.set(dir+"/config", "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"+strings.Join(config, ""))
}

func (s *scene) path(name string) string { return filepath.Join(s.top, filepath.FromSlash(name)) }

func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.fail("%v", err)
	}
}

// set writes a file of git's.
func (s *scene) set(name, text string) {
	s.Helper()
	s.must(os.WriteFile(s.path(name), []byte(text), 0o644))
}

func (s *scene) read(name string) (string, error) {
	data, err := os.ReadFile(s.path(name))
	return string(data), err
}

func (s *scene) mkdir(name string) error {
	s.story = append(s.story, fmt.Sprintf("mkdir -p %q", name))
	return os.MkdirAll(s.path(name), 0o755)
}

// git runs the real git, which must not fail.
func (s *scene) git(stdin string, args ...string) string {
	s.Helper()
	line := "git " + strings.Join(args, " ")
	if stdin != "" {
		line += " <<END\n" + stdin + "END"
	}
	s.story = append(s.story, line)
	out, err := runGit(s.top, stdin, args...)
	if err != nil {
		s.fail("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// asked has git answer while others ask as well. The answer is waited for where it is
// needed; that git fails is an answer, too.
func (s *scene) asked(args ...string) (answer func() string) { return s.askedAbout("", args...) }

// askedAbout gives git something to read.
func (s *scene) askedAbout(stdin string, args ...string) (answer func() string) {
	var out string
	done := make(chan struct{})
	s.busy.Go(func() {
		defer close(done)
		s.turns <- struct{}{}
		defer func() { <-s.turns }()
		var err error
		if out, err = runGit(s.top, stdin, append([]string{"--no-optional-locks"}, args...)...); err != nil {
			out += err.Error()
		}
	})
	return func() string { <-done; return out }
}

func runGit(dir, stdin string, args ...string) (string, error) {
	command := exec.Command("git", args...)
	command.Dir = dir
	command.Stdin = strings.NewReader(stdin)
	var complaint strings.Builder
	command.Stderr = &complaint
	out, err := command.Output()
	if err != nil {
		return string(out) + complaint.String(), err
	}
	return string(out), nil
}

// fail ends the test with the way to the repository. Its words are the same for the same
// repository: rapid makes no other failure smaller.
func (s *scene) fail(format string, args ...any) {
	s.Helper()
	said := fmt.Sprintf(format, args...) + "\n\nthe repository:\n" + strings.Join(s.story, "\n")
	s.Fatal(strings.ReplaceAll(said, s.top, "TOP"))
}

// entry is something with a name in a work tree or a commit.
type entry struct {
	mode string // git's
	text string // or where a link leads
}

const (
	plain      = "100644"
	executable = "100755"
	link       = "120000"
	gitlink    = "160000"
)

// tree is all of a work tree or commit.
type tree map[string]entry

// put has e at name, and nothing in its way.
func (t tree) put(name string, e entry) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		delete(t, dir)
	}
	maps.DeleteFunc(t, func(other string, _ entry) bool { return strings.HasPrefix(other, name+"/") })
	t[name] = e
}

func (t tree) names() []string { return slices.Sorted(maps.Keys(t)) }

// become makes the work tree be t.
func (s *scene) become(t tree) {
	s.Helper()
	for _, name := range s.tree.names() {
		if t[name].mode != s.tree[name].mode || t[name].mode == link && t[name] != s.tree[name] {
			s.story = append(s.story, fmt.Sprintf("rm %q", name))
			s.must(os.Remove(s.path(name)))
			s.empty(path.Dir(name))
		}
	}
	for _, name := range t.names() {
		if t[name] != s.tree[name] {
			s.write(name, t[name])
		}
	}
	s.tree = maps.Clone(t)
}

// empty removes folders that have nothing any more.
func (s *scene) empty(dir string) {
	for ; dir != "."; dir = path.Dir(dir) {
		if os.Remove(s.path(dir)) != nil {
			return
		}
	}
}

func (s *scene) write(name string, e entry) {
	s.Helper()
	s.must(os.MkdirAll(filepath.Dir(s.path(name)), 0o755))
	switch e.mode {
	case link:
		s.story = append(s.story, fmt.Sprintf("ln -s %q %q", e.text, name))
		s.must(os.Symlink(e.text, s.path(name)))
	case executable:
		s.story = append(s.story, fmt.Sprintf("write %q %q; chmod +x", name, e.text))
		s.must(os.WriteFile(s.path(name), []byte(e.text), 0o755))
	default:
		s.story = append(s.story, fmt.Sprintf("write %q %q", name, e.text))
		s.must(os.WriteFile(s.path(name), []byte(e.text), 0o644))
	}
}

// blob is the hash that git gives to a file.
func blob(text string) string {
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text)))
}

// imported is a commit for git fast-import. It is the branch c1, c2 and so on.
type imported struct {
	date    int
	parents []int // counted from 1
	files   tree
}

// fastImport makes the commits, in a pack or as single files. It returns their hashes.
func (s *scene) fastImport(commits []imported, packed bool) []string {
	s.Helper()
	var stream strings.Builder
	for i, c := range commits {
		fmt.Fprintf(&stream, "commit refs/heads/c%d\nmark :%d\nauthor A U Thor <a@example.com> %d -0330\ncommitter C <c@example.com> %d +0000\n", i+1, i+1, c.date, c.date)
		message := fmt.Sprint("commit ", i+1)
		fmt.Fprintf(&stream, "data %d\n%s\n", len(message), message)
		for i, p := range c.parents {
			fmt.Fprintf(&stream, "%s :%d\n", []string{"from", "merge"}[min(i, 1)], p)
		}
		stream.WriteString("deleteall\n")
		for _, name := range c.files.names() {
			f := c.files[name]
			fmt.Fprintf(&stream, "M %s inline %s\ndata %d\n%s\n", f.mode, quoted(name), len(f.text), f.text)
		}
	}
	limit := "fastimport.unpackLimit=1000"
	if packed {
		limit = "fastimport.unpackLimit=1"
	}
	s.git(stream.String()+"done\n", "-c", limit, "fast-import", "--quiet", "--done", "--force", "--export-marks=.git/marks")
	marks, err := os.ReadFile(s.path(".git/marks"))
	s.must(err)
	hashes := make([]string, len(commits))
	for line := range strings.Lines(string(marks)) {
		var n int
		var hash string
		if _, err := fmt.Sscanf(line, ":%d %s", &n, &hash); err != nil {
			s.fail("%q: %v", line, err)
		}
		hashes[n-1] = hash
	}
	return hashes
}

// quoted is a name for fast-import.
func quoted(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(name) + `"`
}

// packReferences does what git pack-refs does with branches.
func (s *scene) packReferences(hashes []string) {
	s.Helper()
	s.story = append(s.story, "git pack-refs --all")
	var lines []string
	for i, hash := range hashes {
		name := fmt.Sprintf("refs/heads/c%d", i+1)
		lines = append(lines, hash+" "+name+"\n")
		s.must(os.Remove(s.path(".git/" + name)))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[41:], b[41:]) })
	s.set(".git/packed-refs", "# pack-refs with: peeled fully-peeled sorted \n"+strings.Join(lines, ""))
}
