package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/term"
	"mvdan.cc/sh/v3/syntax"

	"pillion/agents/relay"
	"pillion/internal/fault"
	"pillion/sidecar"
	"pillion/terminal"
	"pillion/tools/approval"
	"pillion/try"
	"pillion/try/sample"
)

const tryHelp = `usage: pillion try [--yes] [--dir FOLDER]

A scripted agent fixes a bug in a small sample project, and you decide, in this
terminal, what it can do. It works only in the sample's folder.

  --dir FOLDER    the folder for the sample, instead of a new temporary one; it must
                  be empty or not exist yet
  --yes           approve everything, for scripts

Answers can be piped in, one per line: printf 'a\na\n' | pillion try

The exit status is 0 if the agent finished, whatever you answered, 1 if something
failed or the answers ran out, 2 if the command line is wrong, 130 after Ctrl+C.
`

// tryRide has a scripted agent work on a copy of the sample project. The
// questions are asked in this terminal; the agent comes in the way that real
// ones do, through a `pillion mcp` of its own.
func tryRide(args []string) error {
	flags := flag.NewFlagSet("pillion try", flag.ContinueOnError)
	yes := flags.Bool("yes", false, "")
	dir := flags.String("dir", "", "")
	if _, err := parse(flags, tryHelp, [2]int{0, 0}, args); err != nil {
		return err
	}
	harden()
	ctx, stop := untilInterrupted()
	defer stop()
	copied, err := makeSample(*dir)
	if err != nil {
		return err
	}
	style := terminal.StyleOf(os.Stdout)
	introduce(style, copied)
	human := &witness{Person: humanForRide(*yes, style, ctx.Done())}
	outcome, err := ride(ctx, copied, human, style)
	account{style: style, out: terminal.Stdout, sample: copied, outcome: outcome, human: human, interrupted: ctx.Err() != nil}.print()
	if err == nil && outcome.Left > 0 && !human.cancelled() {
		err = exitFailed
	}
	return ended(ctx, err)
}

// sampleCopy is where the sample is.
type sampleCopy struct {
	project string
	remove  string // what to delete when done with it
}

func makeSample(dir string) (sampleCopy, error) {
	if dir == "" {
		parent, err := os.MkdirTemp("", "pillion-try-")
		if err != nil {
			return sampleCopy{}, err
		}
		project := filepath.Join(parent, "kettle")
		return sampleCopy{project: project, remove: parent}, sample.Write(project)
	}
	project, err := filepath.Abs(dir)
	if err != nil {
		return sampleCopy{}, err
	}
	return sampleCopy{project: project, remove: project}, sample.Write(project)
}

func introduce(style terminal.Style, p sampleCopy) {
	fmt.Fprintln(terminal.Stdout, style.Bold("Pillion: an agent works, you decide"))
	fmt.Fprintln(terminal.Stdout)
	fmt.Fprintln(terminal.Stdout, style.Wrap("", "", "A small project with one bug is now in "+p.project+"."))
	fmt.Fprintln(terminal.Stdout, style.Wrap("", "", "A scripted agent looks for the bug. It can read without asking; before it changes a file or runs a command, it asks you here."))
}

// ride lets the agent work until its script ends, or the user does. When it
// returns nothing runs any more, and no agent can find this terminal.
func ride(ctx context.Context, p sampleCopy, human sidecar.Person, style terminal.Style) (outcome try.Outcome, err error) {
	c, err := sidecar.ForPerson(p.project, human)
	if err != nil {
		return outcome, err
	}
	err = c.Host(relay.Host{Version: version, Editor: "this terminal"}, func(*relay.Server) error {
		server, err := mcpServerIn(p.project)
		if err != nil {
			return err
		}
		outcome, err = try.Run(ctx, try.Options{Out: terminal.Stdout, Style: style, Server: server})
		return err
	})
	return outcome, err
}

// humanForRide asks on standard input even when that is no terminal, so that the
// answers can be piped in.
func humanForRide(yes bool, style terminal.Style, stop <-chan struct{}) sidecar.Person {
	if yes {
		return &terminal.Yes{Out: terminal.Stdout, Style: style}
	}
	return terminal.NewAsker(terminal.Options{In: os.Stdin, Out: os.Stdout, Style: style, Stop: stop})
}

// mcpServerIn is this very program as an agent would start it. It ends when its
// input does, also when this program is killed.
func mcpServerIn(project string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	server := exec.Command(self, "mcp", "--structured", "--answer-within", "0") // a newcomer reads for as long as it takes
	server.Dir = project
	ownGroup(server)
	if term.IsTerminal(int(os.Stderr.Fd())) {
		server.Stderr = io.Discard // its log would run into the questions
	} else {
		server.Stderr = os.Stderr
	}
	return server, nil
}

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
	case wasAsked && answer.DecisionID == "turn":
		return "you approved it, for this turn"
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
