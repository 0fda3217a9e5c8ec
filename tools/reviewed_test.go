package tools_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pillion/internal/testrig/machine"
	"pillion/tools/patching"
)

// TestWhatIsTakenIsWhatGitApplies holds apply_patch_review against git: of a diff that
// git made, any choice of hunks gives a patch that git apply takes, and what comes of it
// is what comes of the chosen hunks alone.
func TestWhatIsTakenIsWhatGitApplies(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(31, 32))
	hunks := 0
	for round := range machine.Cases(8, 40) {
		w := readyWorld(t)
		files := newTree(r)
		files.over(t, w.path("."))
		patch := gitDiff(t, files, files.changed(r), "-M30%", fmt.Sprint("-U", 1+round%3))
		parts := cut(patch)
		hunks += len(parts)
		took := map[int]bool{}
		var ids []string
		for i := range parts {
			if took[i+1] = r.IntN(2) == 0; took[i+1] {
				ids = append(ids, strconv.Itoa(i+1))
			}
		}
		shown := 0
		said := review(t, w, patch, func(_ patching.ReviewFile, h patching.ReviewHunk) bool {
			shown++
			return slices.Contains(ids, h.ID)
		})
		if shown != len(parts) {
			t.Errorf("%d hunks are on show, and the patch has %d:\n%s", shown, len(parts), patch)
		}
		if len(said.ChunksSelected) != len(ids) || said.ChunksTotal != len(parts) {
			t.Errorf("took %d of %d, says it is %d of %d", len(ids), len(parts), len(said.ChunksSelected), said.ChunksTotal)
		}
		if got, want := applied(t, files, said.FilteredDiff), applied(t, files, joinParts(parts, took), "--recount"); !maps.Equal(got, want) {
			t.Errorf("hunks %v of\n%s\ngive\n%s\nwhich makes\n%q\nwant\n%q", ids, patch, said.FilteredDiff, got, want)
		}
	}
	if hunks < 40 {
		t.Errorf("only %d hunks were tried", hunks)
	}
}

// newTree is some texts, of which no line is in any twice, and bytes.
func newTree(r *rand.Rand) files {
	out := files{}
	for i := range 8 {
		var text strings.Builder
		end := []string{"\n", "\n", "\r\n"}[r.IntN(3)]
		for line := range r.IntN(60) {
			fmt.Fprintf(&text, "%d of file %d%s", line, i, end)
		}
		one := text.String()
		if r.IntN(4) == 0 {
			one = strings.TrimSuffix(one, end)
		}
		out[[]string{"a", "b c", "sub/d", "é", "sub/deep/f", "g", "h", "i"}[i]] = one
	}
	out["bytes"] = "\x00\x01" + strconv.Itoa(r.IntN(1000))
	return out
}

// changed is the tree after some work: edits, moves, new and deleted files, modes.
func (f files) changed(r *rand.Rand) files {
	out := files{}
	for _, was := range slices.Sorted(maps.Keys(f)) {
		name, text := was, f[was]
		switch r.IntN(9) {
		case 0:
			continue
		case 1:
			name += "*"
		case 2:
			out["moved/"+name] = text
			continue
		case 3:
			name = "also moved/" + name
		}
		if was != "bytes" {
			lines := strings.SplitAfter(text, "\n")
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
			text = strings.Join(lines, "")
		} else if r.IntN(2) == 0 {
			text += "\x00more"
		}
		out[name] = text
	}
	out["new*"], out["empty"] = "new\nfile", ""
	return out
}

// trees is a repository that git makes differences in; turns has each be of trees of its own.
var (
	trees = sync.OnceValues(func() (string, error) {
		dir := filepath.Join(common, "trees.git")
		return dir, exec.Command("git", "init", "-q", "--bare", dir).Run()
	})
	turns atomic.Int64
)

// gitDiff is git's own difference of two trees.
func gitDiff(t testing.TB, before, after files, options ...string) string {
	t.Helper()
	dir, err := trees()
	must(t, err)
	turn := turns.Add(1)
	var stream strings.Builder
	for name, tree := range map[string]files{"before": before, "after": after} {
		fmt.Fprintf(&stream, "commit refs/heads/%s%d\ncommitter A <a@example.org> 0 +0000\ndata 0\n", name, turn)
		for name, text := range tree {
			mode := "100644"
			if name != plain(name) {
				mode = "100755"
			}
			fmt.Fprintf(&stream, "M %s inline %q\ndata %d\n%s\n", mode, plain(name), len(text), text)
		}
	}
	if _, err := gitIn(t, dir, stream.String(), "fast-import", "--quiet"); err != nil {
		t.Fatal(err)
	}
	diff, err := gitIn(t, dir, "", slices.Concat([]string{"diff", "--binary"}, options, []string{fmt.Sprint("before", turn), fmt.Sprint("after", turn), "--"})...)
	must(t, err)
	return diff
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
func applied(t *testing.T, of files, patch string, flags ...string) files {
	t.Helper()
	if patch == "" {
		return of
	}
	dir := t.TempDir()
	of.write(t, dir)
	if _, err := gitIn(t, dir, patch, append(append([]string{"apply", "--whitespace=nowarn"}, flags...), "-")...); err != nil {
		t.Fatalf("%v\n%s", err, patch)
	}
	return filesIn(t, dir)
}
