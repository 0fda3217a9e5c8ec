package tools_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/policy"
)

func approve() answer {
	return answer{Answer: approval.Answer{Decision: approval.Approve, DecisionID: approval.ApproveID}}
}

func reject() answer { return answer{Answer: approval.Answer{Decision: approval.Reject}} }

// runScript calls run_command on a script that somebody changes after the yes, as
// the command is about to start.
func runScript(t *testing.T, line string, answers ...answer) (result tools.Result, asked []string, w *world) {
	w = newWorld(t)
	w.write("build.sh", "echo approved >>out.txt\n")
	w.start()
	w.must(os.Chmod(w.path("build.sh"), 0o755))
	changed := false
	w.registry.Activity = func(a tools.Activity) {
		if a.State == tools.Running && !changed {
			changed = true
			w.write("build.sh", "echo planted >>out.txt\n")
		}
	}
	w.human.take(&call{answers: answers})
	result = w.ask(t.Context(), "run_command", map[string]string{"command": line})
	if !changed {
		t.Fatal("the script was not changed")
	}
	w.human.done(t)
	return result, w.human.asked, w
}

func TestAScriptThatChangesInTheLastMomentDoesNotRunOnTheOldYes(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"sh build.sh", "sh ./build.sh", "sh < build.sh", "cat build.sh | sh", "X=1 sh build.sh", ". ./build.sh", "true && sh build.sh",
		"mkdir -p sub && cd sub && sh ../build.sh; cd ..", "sh -c 'sh build.sh'",
	} {
		t.Run(line, func(t *testing.T) {
			result, asked, w := runScript(t, line, approve(), reject())
			if result.Err == nil || result.Err.Code != fault.UserRejected || w.holds("out.txt") != "" {
				t.Errorf("%s; it printed %q, asked %q", result.Structured, w.holds("out.txt"), asked)
			}
		})
	}
	t.Run("approved again", func(t *testing.T) {
		result, asked, w := runScript(t, "sh build.sh", approve(), approve())
		if result.IsError || w.holds("out.txt") != "planted\n" || slices.Index(asked[1:], asked[0]) < 0 {
			t.Errorf("%s; it printed %q, asked %q", result.Structured, w.holds("out.txt"), asked)
		}
	})
}

// A name that leads out of the workspace, or through a link, is looked at as well.
func TestAScriptThatIsALinkDoesNotRunOnTheOldYes(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "tool.sh")
	for name, change := range map[string]func(w *world){
		"what it leads to is written": func(w *world) { w.must(os.WriteFile(outside, []byte("echo planted >>out.txt\n"), 0o600)) },
		"it is turned round": func(w *world) {
			w.must(os.Remove(w.path("link.sh")))
			w.must(os.Symlink("other.sh", w.path("link.sh")))
		},
	} {
		for _, target := range []string{outside, "build.sh"} {
			if target == "build.sh" && name != "it is turned round" {
				continue
			}
			t.Run(name, func(t *testing.T) {
				w := newWorld(t)
				w.write("build.sh", "echo approved >>out.txt\n")
				w.write("other.sh", "echo planted >>out.txt\n")
				w.must(os.WriteFile(outside, []byte("echo approved >>out.txt\n"), 0o600))
				w.must(os.Symlink(target, w.path("link.sh")))
				w.start()
				w.registry.Activity = func(a tools.Activity) {
					if a.State == tools.Running && name != "" {
						change(w)
						w.registry.Activity = nil
					}
				}
				w.human.take(&call{answers: []answer{approve(), reject()}})
				result := w.ask(t.Context(), "run_command", `{"command":"sh link.sh"}`)
				if result.Err == nil || result.Err.Code != fault.UserRejected || w.holds("out.txt") != "" {
					t.Errorf("to %s: %s; it printed %q", target, result.Structured, w.holds("out.txt"))
				}
			})
		}
	}
}

// TestAHugeScript: a question does not wait until gigabytes are read, and still
// notices that they change.
func TestAHugeScript(t *testing.T) {
	w := newWorld(t)
	w.write("huge.sh", "true\nexit\n")
	w.must(os.Truncate(w.path("huge.sh"), 1<<40))
	before := w.need("sh huge.sh")
	f, err := os.OpenFile(w.path("huge.sh"), os.O_WRONLY, 0)
	w.must(err)
	_, err = f.WriteAt([]byte("planted"), 1<<39)
	w.must(errors.Join(err, f.Close()))
	if after := w.need("sh huge.sh"); before.Verdict != "ask" || after.Digest == before.Digest {
		t.Errorf("%+v\n%+v", before, after)
	}
}

// What is no script of the command may change as it likes.
func TestWhatACommandDoesNotRunMayChange(t *testing.T) {
	result, _, _ := runScript(t, "cat build.sh", approve())
	if result.IsError {
		t.Errorf("%s", result.Structured)
	}
}

// A program that lies in a folder of PATH inside the workspace is no program of the
// system: no pattern allows it, and its bytes are part of the yes.
func TestAPlantedProgramIsNotWhatARuleMeans(t *testing.T) {
	w := newWorld(t)
	w.write("node_modules/.bin/tsc", "#!/bin/sh\necho planted\n")
	w.must(os.Chmod(w.path("node_modules/.bin/tsc"), 0o755))
	w.do("allow run_command(tsc *)")
	w.do("allow run_command(true *)")
	w.start()
	w.registry.SearchPath = []string{"/usr/bin", w.path("node_modules/.bin")}
	if n := w.need("tsc --noEmit"); n.Verdict != "ask" || n.Preview.Parts[0].Why != "tsc would be a program of this workspace, which PATH leads to" {
		t.Errorf("%+v", n)
	}
	before := w.need("tsc").Digest
	w.write("node_modules/.bin/tsc", "#!/bin/sh\necho other\n")
	if w.need("tsc").Digest == before {
		t.Error("the yes would not be bound to the program")
	}
	if n := w.need("true"); n.Verdict != "run" {
		t.Errorf("%+v", n)
	}
}

// TestALongLineTakesItsLength: what is looked up on disk for a line is bounded, and a line
// twice as long takes twice the work, of which what is allocated is the measure; for a path
// the square, since each of its parts is looked up by a name as long.
func TestALongLineTakesItsLength(t *testing.T) {
	w := newWorld(t)
	w.write("a/a/a/x", "")
	w.start()
	words := func(n int) string {
		var out strings.Builder
		for i := range n {
			fmt.Fprintf(&out, " %x", i)
		}
		return out.String()
	}
	for what, line := range map[string]func(n int) string{
		"folders": func(n int) string { return strings.Repeat("cd a;", n/5) + "sh" + words(n) },
		"scripts": func(n int) string { return "sh -c '" + words(n) + "'" },
		"ups": func(n int) string {
			return "cat " + strings.Repeat("a/", n/2) + " " + strings.Repeat("a/../", n/5) + "x"
		},
		"redirects": func(n int) string { return strings.Repeat("cat x>y;", n/5) },
	} {
		work := func(n int) uint64 {
			before, of := allocated(), line(n)
			if need := w.need(of); need.Verdict != policy.Ask {
				t.Errorf("%s: %s", what, need.Verdict)
			}
			return allocated() - before
		}
		if half, whole := work(500), work(1000); whole > 5*half+1<<20 {
			t.Errorf("%s: it takes %d bytes, and half of it %d", what, whole, half)
		}
	}
}
