// Package terminal asks a person in a terminal, and shows there what came of it.
//
// Asker is the terminal's implementation of approval.Asker and tools.Human. What
// a call does, and whether it must be asked, is decided in package tools.
package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"sync"

	"pillion/internal/fault"
	"pillion/tools/approval"
)

// Asker asks on a terminal, one question at a time.
type Asker struct {
	// Echo repeats each answer, for when answers are piped in and no terminal
	// shows them.
	Echo bool

	out   io.Writer
	style Style
	lines <-chan string
	edit  string // the person's editor, "" when none is set

	mu sync.Mutex // held while a question is on show
}

// NewAsker asks on out and reads answers from in, line by line, until in ends.
func NewAsker(in io.Reader, out io.Writer, colour bool) *Asker {
	lines := make(chan string)
	go func() {
		defer close(lines)
		s := bufio.NewScanner(in)
		for s.Scan() {
			lines <- s.Text()
		}
	}()
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	return &Asker{out: out, style: Style{Colour: colour}, lines: lines, edit: editor}
}

// Ask shows the request and reads the person's choice.
func (a *Asker) Ask(ctx context.Context, r approval.Request) (approval.Answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.show(r)
	keys := a.keys(r)
	for {
		fmt.Fprintf(a.out, "%s ", a.style.Bold(keys.prompt()))
		line, err := a.read(ctx)
		if err != nil {
			return approval.Answer{}, err
		}
		if k, ok := keys.find(line); ok {
			answer, err := k.answer(ctx)
			if err == nil {
				return answer, nil
			}
			fmt.Fprintln(a.out, a.style.Red(err.Error()))
			continue
		}
		fmt.Fprintln(a.out, "Please type one of the letters.")
	}
}

func (a *Asker) show(r approval.Request) {
	fmt.Fprintf(a.out, "\n%s %s\n", a.style.Yellow("?"), a.style.Bold(fault.Quote(r.Agent.Name)+" asks: "+fault.Escape(r.Title)))
	for _, reason := range r.Reasons {
		fmt.Fprintln(a.out, "  "+a.style.Yellow("•")+" "+fault.Escape(reason))
	}
	fmt.Fprintln(a.out)
	a.style.Preview(a.out, r.Preview)
	fmt.Fprintln(a.out)
}

// key is one letter that answers.
type key struct {
	letter, label string
	answer        func(context.Context) (approval.Answer, error)
}

type keyList []key

func (l keyList) prompt() string {
	var labels []string
	for _, k := range l {
		labels = append(labels, "["+k.letter+"]"+strings.TrimPrefix(k.label, k.letter))
	}
	return strings.Join(labels, "  ") + "?"
}

func (l keyList) find(line string) (key, bool) {
	word := strings.ToLower(strings.TrimSpace(line))
	for _, k := range l {
		if word == k.letter || word == k.label {
			return k, true
		}
	}
	return key{}, false
}

// keys are the choices for a request. There is no default: an empty line is no
// answer.
func (a *Asker) keys(r approval.Request) keyList {
	decided := func(d approval.Decision, id string) func(context.Context) (approval.Answer, error) {
		return func(context.Context) (approval.Answer, error) {
			return approval.Answer{Decision: d, DecisionID: id, Digest: r.Digest}, nil
		}
	}
	out := keyList{{"a", "approve", decided(approval.Approve, approval.ApproveID)}}
	for _, c := range r.Decisions {
		if c.Scope == approval.Session {
			out = append(out, key{"s", "session: allow " + fault.Escape(c.Rule), decided(approval.Approve, c.ID)})
		}
	}
	if a.edit != "" && r.Preview.Kind == "diff" {
		out = append(out, key{"e", "edit", func(ctx context.Context) (approval.Answer, error) { return a.editProposal(ctx, r) }})
	}
	return append(out, key{"r", "reject", a.reject}, key{"c", "cancel", decided(approval.Cancel, "")})
}

func (a *Asker) reject(ctx context.Context) (approval.Answer, error) {
	fmt.Fprint(a.out, "Reason, for the agent (empty for none): ")
	reason, err := a.read(ctx)
	return approval.Answer{Decision: approval.Reject, Feedback: strings.TrimSpace(reason)}, err
}

// editProposal opens the person's editor on each proposed text.
func (a *Asker) editProposal(ctx context.Context, r approval.Request) (approval.Answer, error) {
	answer := approval.Answer{Decision: approval.Edit, After: map[string]string{}, Digest: r.Digest}
	for _, f := range r.Preview.Files {
		text, err := a.editText(ctx, path.Base(f.Path), f.After)
		if err != nil {
			return answer, fmt.Errorf("the editor did not finish: %w", err)
		}
		if text != f.After {
			answer.After[f.Path] = text
		}
	}
	if len(answer.After) == 0 {
		return answer, errors.New("nothing was edited")
	}
	return answer, nil
}

func (a *Asker) editText(ctx context.Context, name, text string) (string, error) {
	dir, err := os.MkdirTemp("", "pillion-edit-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	file := dir + string(os.PathSeparator) + name
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	words := strings.Fields(a.edit)
	command := exec.CommandContext(ctx, words[0], append(words[1:], file)...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		return "", err
	}
	edited, err := os.ReadFile(file)
	return string(edited), err
}

// read waits for a line. The end of the input is nobody to answer.
func (a *Asker) read(ctx context.Context) (string, error) {
	select {
	case line, ok := <-a.lines:
		if !ok {
			return "", fmt.Errorf("the terminal is closed (%w)", approval.ErrUnavailable)
		}
		if a.Echo {
			fmt.Fprintln(a.out, line)
		}
		return line, nil
	case <-ctx.Done():
		fmt.Fprintln(a.out)
		return "", ctx.Err()
	}
}

// Changed says that what is on show has changed; the answer will be asked again.
func (a *Asker) Changed(c approval.Changed) {
	if !c.Moved {
		fmt.Fprintln(a.out, a.style.Yellow("\nThe files changed meanwhile. Whatever you answer, you will see the new proposal first."))
	}
}

// Resolved says so when a question ended without an answer.
func (a *Asker) Resolved(_ string, outcome approval.Outcome) {
	switch outcome {
	case approval.Withdrawn, approval.Expired, approval.Stale:
		fmt.Fprintf(a.out, "(%s)\n", outcome)
	}
}

// Prompt asks a question with numbered answers.
func (a *Asker) Prompt(ctx context.Context, _, message string, actions []string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	fmt.Fprintf(a.out, "\n%s %s\n", a.style.Yellow("?"), a.style.Bold(message))
	for i, action := range actions {
		fmt.Fprintf(a.out, "  [%d] %s\n", i+1, action)
	}
	for {
		fmt.Fprint(a.out, "Number, or empty to cancel: ")
		line, err := a.read(ctx)
		if err != nil {
			return "", err
		}
		line = strings.TrimSpace(line)
		if line == "" {
			return "cancel", nil
		}
		if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(actions) {
			return actions[n-1], nil
		}
	}
}

// Yes approves everything, for scripts. It shows what it approves on out.
type Yes struct {
	Out    io.Writer
	Colour bool
}

// Ask shows the request and approves it.
func (y Yes) Ask(_ context.Context, r approval.Request) (approval.Answer, error) {
	s := Style{Colour: y.Colour}
	fmt.Fprintf(y.Out, "%s %s\n", s.Yellow("approved with --yes:"), fault.Escape(r.Title))
	s.Preview(y.Out, r.Preview)
	return approval.Answer{Decision: approval.Approve, DecisionID: approval.ApproveID, Digest: r.Digest}, nil
}

// Changed does nothing: the plan is checked again before anything is done.
func (Yes) Changed(approval.Changed) {}

// Resolved does nothing.
func (Yes) Resolved(string, approval.Outcome) {}

// Prompt cannot be answered by a script.
func (Yes) Prompt(context.Context, string, string, []string) (string, error) {
	return "", fault.New(fault.ApprovalUnavailable, "--yes answers no questions; run it in a terminal")
}

// Nobody is the human of a program without a terminal.
type Nobody struct{ approval.Nobody }

// Prompt refuses.
func (n Nobody) Prompt(context.Context, string, string, []string) (string, error) {
	return "", fault.New(fault.ApprovalUnavailable, "the human cannot be asked: %s", n.Why)
}
