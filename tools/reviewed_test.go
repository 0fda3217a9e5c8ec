package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pillion/tools"
)

// TestWhatIsTakenIsWhatGitApplies holds apply_patch_review against git: of a diff that
// git made, any choice of hunks gives a patch that git apply takes, and what comes of it
// is what comes of the chosen hunks alone.
func TestWhatIsTakenIsWhatGitApplies(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(31, 32))
	hunks := 0
	for round := range 12 {
		w := newWorld(t)
		w.start()
		files := newTree(r)
		files.write(t, w.path("."))
		patch := gitDiff(t, files, files.changed(r), 1+round%3)
		parts := cut(patch)
		hunks += len(parts)
		took := map[int]bool{}
		var ids []string
		for i := range parts {
			if took[i+1] = r.IntN(2) == 0; took[i+1] {
				ids = append(ids, strconv.Itoa(i+1))
			}
		}
		w.human.review = func(review tools.PatchReview) tools.ReviewAnswer {
			total := 0
			for _, f := range review.Files {
				total += len(f.Hunks)
			}
			if total != len(parts) {
				t.Errorf("%d hunks are on show, and the patch has %d:\n%s", total, len(parts), patch)
			}
			return tools.ReviewAnswer{Action: tools.ReviewApply, Selected: ids}
		}
		raw, err := json.Marshal(map[string]string{"diff": patch})
		w.must(err)
		result := w.registry.Execute(context.Background(), tools.Call{Name: "apply_patch_review", Arguments: raw, Session: w.session("main")})
		if result.Err != nil {
			t.Fatalf("%v\n%s", result.Err, patch)
		}
		var said struct {
			FilteredDiff   string `json:"filtered_diff"`
			ChunksSelected []int  `json:"chunks_selected"`
			ChunksTotal    int    `json:"chunks_total"`
		}
		w.must(json.Unmarshal(result.Structured, &said))
		if len(said.ChunksSelected) != len(ids) || said.ChunksTotal != len(parts) {
			t.Errorf("took %d of %d, says it is %d of %d", len(ids), len(parts), len(said.ChunksSelected), said.ChunksTotal)
		}
		if got, want := applied(t, files, said.FilteredDiff), applied(t, files, joinParts(parts, took), "--recount"); got != want {
			t.Errorf("hunks %v of\n%s\ngive\n%s\nwhich makes\n%s\nwant\n%s", ids, patch, said.FilteredDiff, got, want)
		}
	}
	if hunks < 60 {
		t.Errorf("only %d hunks were tried", hunks)
	}
}

// tree is files by their names: texts, of which no line is in any twice.
type tree map[string]entry

type entry struct {
	text string
	mode os.FileMode
}

func newTree(r *rand.Rand) tree {
	out := tree{}
	for i := range 8 {
		var text strings.Builder
		end := []string{"\n", "\n", "\r\n"}[r.IntN(3)]
		for line := range r.IntN(60) {
			fmt.Fprintf(&text, "%d of file %d%s", line, i, end)
		}
		one := entry{text.String(), 0o644}
		if r.IntN(4) == 0 {
			one.text = strings.TrimSuffix(one.text, end)
		}
		out[[]string{"a", "b c", "sub/d", "é", "sub/deep/f", "g", "h", "i"}[i]] = one
	}
	out["bytes"] = entry{"\x00\x01" + strconv.Itoa(r.IntN(1000)), 0o644}
	return out
}

// changed is the tree after some work: edits, moves, new and deleted files, modes.
func (f tree) changed(r *rand.Rand) tree {
	out := tree{}
	for name, one := range f {
		switch r.IntN(9) {
		case 0:
			continue
		case 1:
			one.mode = 0o755
		case 2:
			out["moved/"+name] = one
			continue
		case 3:
			name = "also moved/" + name
		}
		if name != "bytes" {
			lines := strings.SplitAfter(one.text, "\n")
			for range r.IntN(6) {
				i := r.IntN(len(lines))
				switch r.IntN(3) {
				case 0:
					lines = slices.Delete(lines, i, i+1)
				case 1:
					lines = slices.Insert(lines, i, fmt.Sprintf("new %d\n", r.IntN(1<<30)))
				default:
					lines[i] = fmt.Sprintf("other %d\n", r.IntN(1<<30))
				}
				if len(lines) == 0 {
					lines = []string{"all else is gone\n"}
				}
			}
			one.text = strings.Join(lines, "")
		} else if r.IntN(2) == 0 {
			one.text += "\x00more"
		}
		out[name] = one
	}
	out["new"] = entry{"new\nfile", 0o755}
	out["empty"] = entry{"", 0o644}
	return out
}

func (f tree) write(t *testing.T, dir string) {
	t.Helper()
	for name, one := range f {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(one.text), one.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, one.mode); err != nil {
			t.Fatal(err)
		}
	}
}

// gitDiff is git's own diff of two trees.
func gitDiff(t *testing.T, before, after tree, around int) string {
	dir := t.TempDir()
	before.write(t, dir)
	runGit(t, dir, "init", "-q")
	runGit(t, dir, "add", "-A")
	first := strings.TrimSpace(runGit(t, dir, "write-tree"))
	for name := range before {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	after.write(t, dir)
	runGit(t, dir, "add", "-A")
	return runGit(t, dir, "diff", "--cached", "--binary", "-M30%", "-U"+strconv.Itoa(around), first)
}

// part is a hunk of a patch, or all of a file that has none, with the lines that name
// its file.
type part struct{ head, body string }

func cut(patch string) []part {
	var out []part
	for _, file := range splitBefore(patch, "diff --git ") {
		at := strings.Index(file, "\n@@ ")
		if at < 0 {
			out = append(out, part{file, ""})
			continue
		}
		for _, hunk := range splitBefore(file[at+1:], "@@ ") {
			out = append(out, part{file[:at+1], hunk})
		}
	}
	return out
}

// splitBefore cuts a text before each line that begins so.
func splitBefore(text, beginning string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, beginning) || len(out) == 0 {
			out = append(out, "")
		}
		out[len(out)-1] += line
	}
	return out
}

func joinParts(parts []part, took map[int]bool) string {
	var out strings.Builder
	last := ""
	for i, p := range parts {
		if !took[i+1] {
			continue
		}
		if p.head != last {
			out.WriteString(p.head)
		}
		out.WriteString(p.body)
		last = p.head
	}
	return out.String()
}

// applied is what git apply makes of files.
func applied(t *testing.T, files tree, patch string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	files.write(t, dir)
	if patch != "" {
		file := filepath.Join(t.TempDir(), "patch")
		if err := os.WriteFile(file, []byte(patch), 0o600); err != nil {
			t.Fatal(err)
		}
		runGit(t, dir, append(append([]string{"apply", "--whitespace=nowarn"}, flags...), file)...)
	}
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		info, statErr := e.Info()
		if err != nil || statErr != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		fmt.Fprintf(&out, "%s %o %q\n", rel, info.Mode(), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// runGit runs the real git, which must be installed.
func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	command := exec.Command("git", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
