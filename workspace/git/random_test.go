package git_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pillion/internal/testrig/machine"
	"pillion/workspace/git"
)

// world makes a repository by random steps, the same ones for the same seed.
type world struct {
	*rig
	*rand.Rand
}

func (w world) name() string {
	return []string{"", "dir/", "dir/sub/", "dir.d/", "ü /"}[w.IntN(5)] + []string{"a", "b", "c c", "d.txt", "e.x", "\"f\""}[w.IntN(6)]
}

// text is short and repetitive, in one of a few shapes.
func (w world) text() string {
	var out strings.Builder
	end := []string{"\n", "\n", "\n", "\r\n"}[w.IntN(4)]
	for range w.IntN(30) {
		fmt.Fprintf(&out, "%sword %d%s", []string{"", "", "\t", "func "}[w.IntN(4)], w.IntN(25), end)
	}
	switch w.IntN(12) {
	case 0:
		out.WriteString("no newline at end")
	case 1:
		out.WriteString("\x00binary\n")
	case 2:
		return ""
	}
	return out.String()
}

func (w world) step() {
	name := w.name()
	full := w.path(name)
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) { // a file may stand in the way
		if info, err := os.Lstat(w.path(dir)); err == nil && !info.IsDir() {
			w.remove(dir)
		}
	}
	info, err := os.Lstat(full)
	isFile := err == nil && info.Mode().IsRegular()
	switch w.IntN(10) {
	case 0, 1:
		w.remove(name)
	case 2:
		if isFile {
			w.must(os.Chmod(full, 0o755))
		}
	case 3:
		w.remove(name)
		w.must(os.MkdirAll(filepath.Dir(full), 0o755))
		w.must(os.Symlink([]string{"a", "../b", "nowhere"}[w.IntN(3)], full))
	case 4:
		if to := w.path(w.name()); isFile && filepath.Dir(to) == filepath.Dir(full) {
			w.must(os.RemoveAll(to))
			w.must(os.Rename(full, to))
		}
	case 5, 6:
		if isFile { // a small change
			old, err := os.ReadFile(full)
			w.must(err)
			lines := strings.SplitAfter(string(old), "\n")
			at := w.IntN(len(lines))
			w.write(name, strings.Join(slices.Insert(lines, at, fmt.Sprint("inserted ", w.IntN(9), "\n")), ""))
		}
	default:
		w.remove(name)
		w.write(name, w.text())
	}
}

func (w world) steps() {
	for range 1 + w.IntN(12) {
		w.step()
	}
}

// headers is a diff without its hunks.
func headers(diff string) string {
	var out []string
	for line := range strings.Lines(diff) {
		if !strings.ContainsAny(line[:1], "@+- \\") || strings.HasPrefix(line, "---") || strings.HasPrefix(line, "+++") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

// TestApplies checks that diffs apply with git, forwards on what they started
// from and backwards on what they lead to.
func TestApplies(t *testing.T) {
	applied := 0
	seeds := machine.Cases(6, 40)
	for seed := range uint64(seeds) {
		w := world{newRig(t), rand.New(rand.NewPCG(seed, 2))}
		for range 3 {
			w.steps()
		}
		w.commit()
		w.steps()
		w.git("add", "-A")
		w.steps()
		for _, c := range []struct {
			o    git.DiffOptions
			back []string
		}{
			{git.DiffOptions{Context: 3}, []string{"apply", "--check", "-R"}},
			{git.DiffOptions{Context: 1, Staged: true}, []string{"apply", "--check", "-R", "--cached"}},
			{git.DiffOptions{Context: 3, Base: "HEAD"}, []string{"apply", "--check", "-R"}},
		} {
			got, err := w.diff(c.o)
			w.must(err)
			if _, err := w.try(w.oracle(c.o), c.back...); err != nil || got.Diff == "" {
				continue // git's own does not apply: a binary file, or an untracked one in the way
			}
			applied++
			if out, err := w.try(got.Diff, c.back...); err != nil {
				t.Errorf("seed %d, %+v: git %v: %s\n%s", seed, c.o, c.back, out, got.Diff)
			}
			if c.o.Base == "" {
				continue
			}
			w.git("stash", "-q", "--include-untracked")
			if out, err := w.try(got.Diff, "apply", "--check"); err != nil {
				t.Errorf("seed %d, %+v: git apply: %s\n%s", seed, c.o, out, got.Diff)
			}
		}
	}
	if applied < seeds*3/2 {
		t.Errorf("only %d diffs were tried", applied)
	}
}
