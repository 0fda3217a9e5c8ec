package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pillion/tools"
	"pillion/workspace/change"
	"pillion/workspace/journal"
)

// files is a tree: texts by path, with a star behind the name of what can be run.
type files map[string]string

func toggled(name string) string {
	if plain, is := strings.CutSuffix(name, "*"); is {
		return plain
	}
	return name + "*"
}

func plain(name string) string { return strings.TrimSuffix(name, "*") }

func drawFiles(t *rapid.T) files {
	out := files{}
	names := []string{"one.txt", "two words.txt", "dir/three.txt", "dir/deep/four.txt", "é.txt", "dir/q\"x.txt", "b/five.txt"}
	for _, name := range names {
		switch rapid.IntRange(0, 7).Draw(t, name) {
		case 0, 1:
		case 2:
			out[toggled(name)] = drawLines(t, name)
		default:
			out[name] = drawLines(t, name)
		}
	}
	return out
}

func drawLines(t *rapid.T, name string) string {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"alpha", "beta", "gamma", "", "}", "  delta", "epsilon"}), 0, 20).Draw(t, name+" lines")
	if rapid.IntRange(0, 5).Draw(t, name+" binary") == 0 {
		lines = append(lines, "\x00\xff\xfe bytes\r")
	}
	text := strings.Join(lines, "\n")
	if rapid.IntRange(0, 5).Draw(t, name+" end") > 0 && text != "" {
		text += "\n"
	}
	return text
}

// drawChanged is a tree after files were changed, renamed, copied, made and deleted.
func drawChanged(t *rapid.T, was files, name string, most int) files {
	out := maps.Clone(was)
	for i := range rapid.IntRange(0, most).Draw(t, name) {
		at := fmt.Sprintf("%s %d", name, i)
		if len(out) == 0 {
			return out
		}
		one := rapid.SampledFrom(slices.Sorted(maps.Keys(out))).Draw(t, at)
		fresh := fmt.Sprintf("new/%s %d.txt", name, i)
		switch rapid.SampledFrom([]string{"change", "change", "change", "rename", "copy", "make", "delete", "swap", "chmod", "program"}).Draw(t, at+" does") {
		case "change":
			out[one] = drawEdit(t, out[one], at)
		case "rename":
			out[fresh] = drawEdit(t, out[one], at)
			delete(out, one)
		case "copy":
			out[fresh] = out[one]
		case "make":
			out[fresh] = drawLines(t, at)
		case "program":
			out[toggled(fresh)] = drawEdit(t, out[one], at)
		case "chmod":
			text := drawEdit(t, out[one], at)
			delete(out, one)
			out[toggled(one)] = text
		case "delete":
			delete(out, one)
		case "swap":
			other := rapid.SampledFrom(slices.Sorted(maps.Keys(out))).Draw(t, at+" with")
			out[one], out[other] = out[other], out[one]
		}
	}
	return out
}

func drawEdit(t *rapid.T, text, name string) string {
	lines := strings.SplitAfter(text, "\n")
	from := rapid.IntRange(0, len(lines)-1).Draw(t, name+" from")
	to := min(len(lines), from+rapid.IntRange(0, 2).Draw(t, name+" lines"))
	put := rapid.SampledFrom([]string{"", "new\n", "alpha\nnew\n", "more \x00\xff\n"}).Draw(t, name+" text")
	return strings.Join(slices.Replace(lines, from, to, put), "")
}

func (f files) write(t testing.TB, dir string) {
	must(t, errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)))
	f.over(t, dir)
}

func (f files) over(t testing.TB, dir string) {
	for name, text := range f {
		at, mode := filepath.Join(dir, plain(name)), fs.FileMode(0o644)
		if name != plain(name) {
			mode = 0o755
		}
		must(t, errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644), os.Chmod(at, mode)))
	}
}

func filesIn(t testing.TB, dir string) files {
	out := files{}
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && d.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		data, err := os.ReadFile(at)
		name, _ := filepath.Rel(dir, at) //nolint:errcheck // it is in it
		if info, err := d.Info(); err == nil && info.Mode()&0o100 != 0 {
			name += "*"
		}
		out[filepath.ToSlash(name)] = string(data)
		return err
	})
	must(t, err)
	return out
}

// emptied removes the files below a folder.
func emptied(t testing.TB, dir string) {
	for name := range filesIn(t, dir) {
		must(t, os.Remove(filepath.Join(dir, plain(name))))
	}
}

func gitIn(t testing.TB, dir, input string, args ...string) (string, error) {
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "LC_ALL=C")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out), err
}

// TestPatchesOfTreesAsGit: what git makes of a patch of a tree, on the one it was made
// for or on one that has moved on, the tool makes as well, or both refuse it as a whole;
// beyond that it is lenient only where it says so, and refuses where it says why. What
// it made can be put back.
func TestPatchesOfTreesAsGit(t *testing.T) {
	t.Parallel()
	w := readyWorld(t)
	kept, err := journal.Open(filepath.Join(t.TempDir(), "journal"), journal.Options{})
	must(t, err)
	w.registry.Committer.Journal = &change.Journal{Store: kept}
	w.registry.Committer.Journal.Configure(change.JournalRequire, true)
	theirs, mine := w.path("../theirs"), w.path(".")
	seen, turn := map[string]int{}, 0
	rapid.Check(t, func(r *rapid.T) {
		turn++
		base := drawFiles(r)
		after := drawChanged(r, base, "change", 5)
		now := base
		if rapid.Bool().Draw(r, "moved on") {
			now = drawChanged(r, base, "meanwhile", 2)
		}
		diff := gitDiff(t, base, after, rapid.SampledFrom([]string{"-M", "-C", "--no-renames", "--no-prefix"}).Draw(r, "option"))
		if diff == "" {
			return
		}
		now.write(t, theirs)
		strip := "-p1"
		if strings.Contains(diff, "diff --git one") || !strings.Contains(diff, " a/") && !strings.Contains(diff, ` "a/`) {
			strip = "-p0"
		}
		_, refused := gitIn(t, theirs, diff, "apply", strip, "--whitespace=nowarn", "-")
		emptied(t, mine)
		now.over(t, mine)
		got := applyPatch(t, w, turn, diff)
		kind := "same"
		switch {
		case refused != nil && !got.Applied:
			kind = "both refuse"
			if !maps.Equal(filesIn(t, mine), now) {
				r.Fatalf("a refused patch changed something:\n%s", diff)
			}
		case refused != nil && !strings.Contains(got.raw, `"leniency"`):
			r.Fatalf("git refuses and we do not: %v\n%q\n%s", refused, now, diff)
		case refused != nil:
			kind = "lenient"
		case !got.Applied && strings.Contains(got.raw, "order of their places"), !got.Applied && strings.Contains(got.raw, "in the place of another file"),
			!got.Applied && strings.Contains(got.raw, "the file is binary, not text"): // of lines, where it has become binary meanwhile
			kind = "stricter"
		case !got.Applied:
			r.Fatalf("git applies it and we do not: %s\n%q\n%s", got.raw, now, diff)
		case !maps.Equal(filesIn(t, mine), filesIn(t, theirs)):
			r.Fatalf("not the same:\n%q\ngit: %q\nours: %q\n%s", now, filesIn(t, theirs), filesIn(t, mine), diff)
		}
		seen[kind]++
		if !got.Applied || strings.Contains(got.raw, `"diff":""`) {
			return
		}
		back, err := w.registry.Committer.Revert(t.Context(), change.Selection{CallID: fmt.Sprintf("s%d", turn)}, journal.Origin{CallID: "back"}, false)
		if err != nil || !maps.Equal(filesIn(t, mine), now) {
			r.Fatalf("put back: %v %v\nwas: %q\nis:  %q\n%s", err, back, now, filesIn(t, mine), diff)
		}
	})
	t.Log(seen)
	if seen["same"] == 0 || seen["both refuse"] == 0 {
		t.Errorf("not both was tried: %v", seen)
	}
}

type patchAnswer struct {
	Applied bool `json:"applied"`
	raw     string
}

// applyPatch calls the tool in a session of its own, and says yes to what is asked in it.
func applyPatch(t testing.TB, w *world, turn int, diff string) (a patchAnswer) {
	name := fmt.Sprintf("s%d", turn)
	w.do("session " + name + " full_access")
	w.human.next = []answer{approve()}
	result := w.registry.Execute(context.Background(), tools.Call{Name: "apply_patch", Arguments: w.json(map[string]string{"diff": diff}), CallID: name, Session: w.session(name)})
	must(t, json.Unmarshal(result.Structured, &a))
	a.raw = string(result.Structured)
	return a
}

// TestDiffOfAnotherEncoding: the lines of a file in UTF-16 stand in a difference as text.
// git apply takes it where git is told of the encoding.
func TestDiffOfAnotherEncoding(t *testing.T) {
	w := readyWorld(t)
	utf16 := func(text string) string {
		out := "\xff\xfe"
		for _, b := range []byte(text) {
			out += string([]byte{b, 0})
		}
		return out
	}
	mine, theirs := w.path("."), w.path("../theirs")
	w.write("wide.txt", utf16("one\ntwo\nthree\n"))
	files{"wide.txt": utf16("one\ntwo\nthree\n"), ".gitattributes": "wide.txt working-tree-encoding=UTF-16LE-BOM\n"}.write(t, theirs)
	var got struct{ Diff string }
	answer := applyPatch(t, w, 1, "--- a/wide.txt\n+++ b/wide.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n")
	w.must(json.Unmarshal([]byte(answer.raw), &got))
	for _, args := range [][]string{{"init", "-q"}, {"apply", "-"}} {
		if _, err := gitIn(t, theirs, got.Diff, args...); err != nil {
			t.Fatalf("%v\n%s", err, answer.raw)
		}
	}
	if ours, git := filesIn(t, mine)["wide.txt"], filesIn(t, theirs)["wide.txt"]; ours != utf16("one\n2\nthree\n") || git != ours {
		t.Errorf("%q, git: %q", ours, git)
	}
}
