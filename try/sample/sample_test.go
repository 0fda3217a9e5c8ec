package sample

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5"
)

// The head of the sample's history. Changing the sample changes it: take the
// new one from the failing test.
const head = "a2b42849ece355acd754f7ff433e53e6a410056f"

func write(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a folder", "kettle")
	if err := Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWriteIsTheSameEveryTime(t *testing.T) {
	for range 2 {
		repo, err := git.PlainOpen(write(t))
		if err != nil {
			t.Fatal(err)
		}
		ref, err := repo.Head()
		if err != nil {
			t.Fatal(err)
		}
		if ref.Name() != branch || ref.Hash().String() != head {
			t.Errorf("head is %s at %s, want %s at %s", ref.Name(), ref.Hash(), branch, head)
		}
	}
}

// The last commit holds exactly the embedded files, and so does the folder.
func TestHistoryEndsInFiles(t *testing.T) {
	dir := write(t)
	var names []string
	err := fs.WalkDir(Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		names = append(names, name)
		want, err := fs.ReadFile(Files, name)
		if err != nil {
			return err
		}
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && string(got) != string(want) {
			t.Errorf("%s differs from the embedded file", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if tracked := strings.Fields(gitOutput(t, dir, "ls-files")); len(tracked) != len(names) {
		t.Errorf("tracked are %q, embedded %q", tracked, names)
	}
}

func TestRealGitFindsItSound(t *testing.T) {
	dir := write(t)
	gitOutput(t, dir, "fsck", "--strict")
	if out := gitOutput(t, dir, "status", "--porcelain"); out != "" {
		t.Errorf("status says %q", out)
	}
	log := strings.Split(strings.TrimSpace(gitOutput(t, dir, "log", "--format=%an: %s")), "\n")
	if len(log) != len(commits) || log[0] != "Mira Okafor: Test the clock" {
		t.Errorf("log says %q", log)
	}
	for _, script := range []string{"brew.sh", "run-tests.sh"} {
		info, err := os.Stat(filepath.Join(dir, script))
		if err != nil || info.Mode()&0o100 == 0 {
			t.Errorf("%s cannot be run: %v %v", script, info, err)
		}
	}
}

func TestWriteRefusesAFolderThatHoldsSomething(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("got %v", err)
	}
	if err := Write(filepath.Join(dir, "mine")); err == nil {
		t.Error("wrote over a file")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left %v behind", entries)
	}
}

// The ride, its calls done by hand: what is searched is there, the edit fits
// once, and the tests fail before it and pass after.
func TestRideMendsTheBug(t *testing.T) {
	dir := write(t)
	step := map[string]map[string]any{}
	for _, s := range Ride() {
		if s.Say == "" {
			t.Errorf("%s comes without a word", s.Tool)
		}
		step[s.Tool] = s.Arguments
	}
	file := filepath.Join(dir, step["edit_file"]["path"].(string))
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := runTests(dir, step); err == nil || !strings.Contains(out, "'4:5' != '4:05'") || !strings.Contains(out, "failures=1)") {
		t.Errorf("before the edit: %v\n%s", err, out)
	}
	query := step["search_in_project"]["query"].(string)
	if out := gitOutput(t, dir, "grep", "-F", query); !strings.Contains(out, "kettle/__main__.py") || !strings.Contains(out, "4:05") {
		t.Errorf("searching %q finds\n%s", query, out)
	}
	old, replacement := step["edit_file"]["old_string"].(string), step["edit_file"]["new_string"].(string)
	if n := strings.Count(string(before), old); n != 1 {
		t.Fatalf("old_string is there %d times", n)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(before), old, replacement, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := runTests(dir, step); err != nil || !strings.Contains(out, "OK") {
		t.Errorf("after the edit: %v\n%s", err, out)
	}
	if out := gitOutput(t, dir, "status", "--porcelain"); strings.TrimSpace(out) != "M "+buggyFile {
		t.Errorf("afterwards status says %q", out)
	}
}

func runTests(dir string, step map[string]map[string]any) (string, error) {
	cmd := exec.Command("/bin/sh", "-c", step["run_command"]["command"].(string))
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func gitOutput(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
