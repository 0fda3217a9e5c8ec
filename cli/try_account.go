package cli

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"pillion/internal/fault"
	"pillion/sidecar"
	"pillion/terminal"
	"pillion/tools/approval"
	"pillion/try"
	"pillion/try/sample"
)

// witness remembers what the user answered.
type witness struct {
	sidecar.Person

	mu      sync.Mutex // guards answers
	answers map[string]approval.Answer
}

func (w *witness) Ask(ctx context.Context, r approval.Request) (approval.Answer, error) {
	answer, err := w.Person.Ask(ctx, r)
	if err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.answers == nil {
			w.answers = map[string]approval.Answer{}
		}
		w.answers[plainName(r.Tool)] = answer
	}
	return answer, err
}

func (w *witness) answer(tool string) (approval.Answer, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a, ok := w.answers[tool]
	return a, ok
}

func (w *witness) cancelled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.answers {
		if a.Decision == approval.Cancel {
			return true
		}
	}
	return false
}

// account is what `pillion try` says at the end: what happened, and where. Of the
// files it tells what is on disk, not what the agent believes.
type account struct {
	style       terminal.Style
	out         io.Writer
	sample      sampleCopy
	outcome     try.Outcome
	human       *witness
	interrupted bool
}

func (a account) print() {
	fmt.Fprintln(a.out, "\n"+a.style.Bold("What happened"))
	for _, s := range a.outcome.Steps {
		mark := a.style.Green("✓")
		if !s.Done() {
			mark = a.style.Red("✗")
		}
		call := strings.TrimSpace(s.Tool + " " + fault.Escape(s.What))
		if a.style.Width > 0 && a.style.Width < 80 {
			fmt.Fprintln(a.out, "  "+mark+" "+call+"\n"+a.style.Wrap("      ", "      ", a.ending(s)))
			continue
		}
		fmt.Fprintf(a.out, "  %s %-34s %s\n", mark, call, a.ending(s))
	}
	if a.outcome.Left > 0 || a.interrupted {
		fmt.Fprintln(a.out, "  "+a.style.Yellow(a.early()))
	}
	fmt.Fprintln(a.out, "\n"+a.style.Wrap("  ", "  ", a.files()))
	project := quoted(a.sample.project)
	fmt.Fprintf(a.out, "\n%s\n  cd %s && git diff\n  rm -r %s   %s\n", a.style.Bold("Where"), project, quoted(a.sample.remove), a.style.Dim("# when you are done"))
	install := ownName() + " mcp install claude"
	fmt.Fprintf(a.out, "\n%s\n  %s   %s\n  %-*s   %s\n", a.style.Bold("Next"), install, a.style.Dim("# or codex, or qwen"),
		len(install), "make try-vscode", a.style.Dim("# the same in VS Code"))
}

// ownName is what to type to start this program.
func ownName() string {
	if _, err := exec.LookPath("pillion"); err == nil {
		return "pillion"
	}
	return quoted(os.Args[0])
}

// ending says how a call came to its end.
func (a account) ending(s try.Step) string {
	answer, wasAsked := a.human.answer(s.Tool)
	switch {
	case s.Code == fault.UserRejected && s.Feedback != "":
		return "you refused: " + fault.Escape(s.Feedback)
	case s.Code == fault.UserRejected:
		return "you refused"
	case s.Code == fault.Cancelled && wasAsked && answer.Decision == approval.Cancel:
		return "you cancelled"
	case s.Code == fault.Cancelled:
		return "interrupted"
	case s.Code == fault.ApprovalUnavailable:
		return "nobody answered"
	case s.Code != "":
		return "failed: " + fault.Escape(s.Message)
	case s.ExitCode != 0:
		return approved(answer, wasAsked, s) + fmt.Sprintf("; it failed with exit code %d", s.ExitCode)
	}
	return approved(answer, wasAsked, s)
}

func approved(answer approval.Answer, wasAsked bool, s try.Step) string {
	switch {
	case s.Edited || answer.Decision == approval.Edit:
		return "you edited and approved it"
	case wasAsked && answer.DecisionID != approval.ApproveID:
		return "you approved it, for this session"
	case wasAsked:
		return "you approved it"
	}
	return "not asked: it only reads"
}

func (a account) early() string {
	left := fmt.Sprintf("; %d more calls were skipped", a.outcome.Left)
	switch {
	case a.outcome.Left == 0:
		left = ""
	case a.outcome.Left == 1:
		left = "; 1 more call was skipped"
	}
	switch {
	case a.interrupted:
		return "Interrupted" + left + "."
	case a.human.cancelled():
		return "You cancelled, and the agent stopped" + left + "."
	}
	return "The input ended before you answered" + left + "."
}

// files says what is different on disk.
func (a account) files() string {
	changed, err := changedFiles(a.sample.project)
	switch {
	case err != nil:
		return fmt.Sprintf("Could not check what changed on disk: %v.", err)
	case len(changed) == 0:
		return "No file was changed."
	}
	return "Changed on disk: " + strings.Join(changed, ", ") + ". Nothing is committed."
}

// changedFiles compares the project with the sample as it was written.
func changedFiles(project string) ([]string, error) {
	var changed []string
	err := fs.WalkDir(sample.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		was, err := fs.ReadFile(sample.Files, name)
		if err != nil {
			return err
		}
		is, err := os.ReadFile(filepath.Join(project, filepath.FromSlash(name)))
		if err != nil || string(is) != string(was) {
			changed = append(changed, name)
		}
		return nil
	})
	return changed, err
}

// quoted is a path as a shell takes it.
func quoted(path string) string {
	if q, err := syntax.Quote(path, syntax.LangBash); err == nil {
		return q
	}
	return path
}
