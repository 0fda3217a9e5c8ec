package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"golang.org/x/term"

	"pillion/agents/relay"
	"pillion/internal/fault"
	"pillion/page"
	"pillion/rpc"
	"pillion/sidecar"
	"pillion/terminal"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/workspace"
)

const watchHelp = `usage: pillion watch [-C FOLDER] [--browser]

Shows what agents do in a folder, and asks you here before they change a file or
run a command, while no editor with Pillion has the folder open. It works with every
agent that was set up with ` + "`pillion mcp install`" + `, even if it cannot ask itself.

  -C FOLDER    the folder to watch, instead of the current one
  --browser    ask on a page in the browser and print its address; this is the
               default without a terminal

Between requests you can type ` + "`resume`" + ` to let an agent go on that you stopped
with c. Ctrl+C ends the watch: waiting requests are rejected.

The exit status is 0 when you end it, 1 if something failed, 2 if the command line
is wrong.
`

// watchCommand is a sidecar like an editor's, with the person at this terminal or at a page
// in the browser.
func watchCommand(args []string) error {
	flags := flag.NewFlagSet("pillion watch", flag.ContinueOnError)
	folder := flags.String("C", ".", "")
	browser := flags.Bool("browser", false, "")
	if _, err := parse(flags, watchHelp, [2]int{0, 0}, args); err != nil {
		return err
	}
	harden()
	ctx, stop := untilInterrupted()
	defer stop()
	return keepWatch(ctx, *folder, *browser || !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stdout.Fd())))
}

// post is where the person is.
type post interface {
	sidecar.Person
	Say(line string)
	Paused(agent string)
	Elsewhere(editor string) // who asks instead; "" nobody
	Heard(a tools.Activity)
	Open(folder string) // says what is watched, and how
	// Serve listens to the person until ctx or they end it.
	Serve(ctx context.Context) error
}

func keepWatch(ctx context.Context, folder string, browser bool) error {
	var c *sidecar.Sidecar
	at, err := postFor(ctx, browser, func() []string { return c.Resume() })
	if err != nil {
		return err
	}
	person := &attended{Person: at, left: make(chan struct{})}
	options, err := sidecar.OptionsFor(folder, person)
	if err != nil {
		return err
	}
	// Reading asks nothing, and agents are served that are started anywhere below.
	if why := workspace.Unfit(options.Folders[0].Dir); why != "" {
		return fmt.Errorf("%s %s; watch a project's folder", fault.Quote(options.Folders[0].Dir), why)
	}
	options.Passing, options.Events = false, watchEvents{post: at}
	if c, err = sidecar.New(options); err != nil {
		return err
	}
	return c.Host(relay.Host{Version: version, Editor: "`pillion watch`", Kind: relay.KindWatch}, func(agents *relay.Server) error {
		defer agents.Settle(lastAnswers)
		defer close(person.left)
		at.Open(c.Roots()[0])
		c.Announce()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		go findEditors(ctx, c.Roots()[0], at)
		return at.Serve(ctx)
	})
}

func postFor(ctx context.Context, browser bool, resume func() []string) (post, error) {
	if browser {
		return page.New(page.Options{Out: terminal.Stdout, Resume: resume})
	}
	return terminal.NewWatch(terminal.Options{In: os.Stdin, Out: os.Stdout, Style: terminal.StyleOf(os.Stdout), Stop: ctx.Done()}, resume), nil
}

// lastAnswers is how long answers may take to reach their agents at the end.
const lastAnswers = 2 * time.Second

// editorTime is how often an editor is looked for: what it changes is what the person
// reads, since agents look by themselves.
const editorTime = 2 * time.Second

// findEditors says when agents go to an editor, and when they come back.
func findEditors(ctx context.Context, folder string, at post) {
	ticker := time.NewTicker(editorTime)
	defer ticker.Stop()
	for known := ""; ; {
		now := ""
		if e, ok, err := relay.Find(folder); ok && err == nil && e.Kind == relay.KindEditor {
			now = e.Editor
		}
		if now != known {
			at.Elsewhere(now)
			known = now
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// watchEvents shows what happens where the person is.
type watchEvents struct {
	sidecar.Logged
	post post
}

func (e watchEvents) Problem(text string)       { e.post.Say(text) }
func (e watchEvents) Remark(string)             {}
func (e watchEvents) Activity(a tools.Activity) { e.post.Heard(a) }

func (e watchEvents) Untrusted(u rpc.Untrusted) { sidecar.DescribeUntrusted(u, e.post.Say) }

func (e watchEvents) Unusual(u rpc.Unusual) {
	e.post.Say(u.Message)
	if u.Acted != "" {
		e.post.Paused(u.Agent.Name)
	}
}

// attended is a person until they leave: from then on nobody can be asked.
type attended struct {
	sidecar.Person
	left chan struct{}
}

// Ask asks, as long as the person is there.
func (a *attended) Ask(ctx context.Context, r approval.Request) (approval.Answer, error) {
	ctx, cancel := a.whilePresent(ctx)
	defer cancel()
	answer, err := a.Person.Ask(ctx, r)
	if errors.Is(context.Cause(ctx), errLeft) {
		return approval.Nobody{Why: errLeft.Error() + "; " + comeBack}.Ask(ctx, r)
	}
	return answer, err
}

// Prompt asks, likewise.
func (a *attended) Prompt(ctx context.Context, by approval.Agent, message string, actions []string) (string, error) {
	ctx, cancel := a.whilePresent(ctx)
	defer cancel()
	action, err := a.Person.Prompt(ctx, by, message, actions)
	if errors.Is(context.Cause(ctx), errLeft) {
		return "", fault.New(fault.ApprovalUnavailable, "%w before there was an answer", errLeft).WithHint("%s", comeBack)
	}
	return action, err
}

func (a *attended) whilePresent(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-a.left:
			cancel(errLeft)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

var errLeft = errors.New("`pillion watch` was closed")

const comeBack = "run `pillion watch` again in a terminal in this folder, or open it in VS Code or Neovim with Pillion, then call again"
