package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"mvdan.cc/sh/v3/shell"

	"pillion/internal/fault"
	"pillion/tools/approval"
)

// findEditor is the person's editor as git finds it: VISUAL, then EDITOR, which
// may hold arguments and quotes, then what is usually there.
func findEditor() []string {
	for _, variable := range []string{"VISUAL", "EDITOR"} {
		if words, err := shell.Fields(os.Getenv(variable), nil); err == nil && len(words) > 0 {
			return words
		}
	}
	for _, name := range []string{"editor", "nano", "vi", "notepad.exe"} {
		if found, err := exec.LookPath(name); err == nil {
			return []string{found}
		}
	}
	return nil
}

// console is where programs run that take the terminal over.
type console struct {
	in  *os.File // nil where there is no terminal
	out io.Writer
}

// run waits for a program. It is ended only when the person stops pillion: what
// they write in an editor is not thrown away because an agent lost patience.
func (c console) run(stop <-chan struct{}, stdin io.Reader, words ...string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = 2 * time.Second
	command.Stdin = stdin
	if stdin == nil && c.in != nil {
		command.Stdin = c.in
	}
	command.Stdout, command.Stderr = c.out, c.out
	return command.Run()
}

func canEdit(p approval.Preview) bool {
	return p.Kind == "diff" && len(p.Files) > 0 || p.Kind == "command" || p.Message != ""
}

// editProposal opens the person's editor on what is proposed.
func (a *Asker) editProposal(ctx context.Context, r approval.Request) (approval.Answer, error) {
	answer := approval.Answer{Decision: approval.Edit, Digest: r.Digest}
	if r.Preview.Kind != "diff" {
		return answer, a.editArgument(r, &answer)
	}
	answer.After = map[string]string{}
	for _, f := range r.Preview.Files {
		text, err := a.editText(path.Base(f.Path), f.After)
		if err != nil {
			return answer, err
		}
		if text != f.After {
			answer.After[f.Path] = text
		}
	}
	if len(answer.After) == 0 {
		return answer, askAgain("You left it as it was proposed; a approves it.")
	}
	return answer, ctx.Err()
}

// editArgument has the command line or the message edited, and keeps the other
// arguments.
func (a *Asker) editArgument(r approval.Request, answer *approval.Answer) error {
	name, file, proposed := "command", "command.sh", r.Preview.Command
	if r.Preview.Message != "" {
		name, file, proposed = "message", "COMMIT_EDITMSG", r.Preview.Message // by which editors know what it is
	}
	text, err := a.editText(file, proposed+"\n")
	if err != nil {
		return err
	}
	text = strings.TrimRight(text, "\r\n")
	switch {
	case text == strings.TrimRight(proposed, "\r\n"):
		return askAgain("You left it as it was proposed; a approves it.")
	case strings.TrimSpace(text) == "":
		return askAgain("You left no " + name + "; r rejects it.")
	}
	var arguments map[string]json.RawMessage
	if err := json.Unmarshal(r.Arguments, &arguments); err != nil {
		return fmt.Errorf("the call's arguments cannot be edited: %w", err)
	}
	if arguments[name], err = json.Marshal(text); err != nil {
		return err
	}
	answer.ModifiedArguments, err = json.Marshal(arguments)
	return err
}

// editText opens the editor on a text of its own, in a folder of its own, under a
// name by which the editor knows the language.
func (a *Asker) editText(name, text string) (string, error) {
	dir, err := os.MkdirTemp("", "pillion-edit-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary file at worst
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	if err := a.console.run(a.o.Stop, nil, append(a.editor[:len(a.editor):len(a.editor)], file)...); err != nil {
		return "", askAgain(fmt.Sprintf("The editor %s did not finish (%v), so nothing of it is taken.", fault.Quote(a.editor[0]), err))
	}
	edited, err := os.ReadFile(file)
	switch {
	case err != nil:
		return "", askAgain(fmt.Sprintf("The editor left no file (%v), so nothing of it is taken.", err))
	case !utf8.Valid(edited):
		return "", askAgain("What the editor left is not UTF-8, so nothing of it is taken.")
	}
	// Most editors end the last line of what they save.
	if text != "" && !strings.HasSuffix(text, "\n") {
		edited = bytes.TrimSuffix(bytes.TrimSuffix(edited, []byte("\n")), []byte("\r"))
	}
	return string(edited), nil
}

// view shows a whole preview in the person's pager.
func (a *Asker) view(r approval.Request) error {
	var shown strings.Builder
	a.style.Preview(output{out: &shown}, r.Preview)
	text := shown.String()
	words, err := shell.Fields(os.Getenv("PAGER"), nil)
	if err != nil || len(words) == 0 {
		words = []string{"less", "-R"}
	}
	if _, err := exec.LookPath(words[0]); err != nil || a.console.run(a.o.Stop, strings.NewReader(text), words...) != nil {
		fmt.Fprint(a.out, text)
	}
	return askAgain("That was all of it.")
}
