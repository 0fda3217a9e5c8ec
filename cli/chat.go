package cli

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"pillion/agents/gateway"
	"pillion/conversation"
	"pillion/sidecar"
	"pillion/terminal"
	"pillion/tools"
	"pillion/workspace"
)

const chatHelp = `usage: pillion chat [--gateway URL] [--session ID] [-C FOLDER]

Talk in this terminal to an agent that comes by a gateway. Before it changes a file or
runs a command, you are asked here.

  --gateway URL    the gateway, such as wss://codelab.example.org/ws; the setting
                   gateway.url by default
  --session ID     the session to go on with, instead of a new one
  -C FOLDER        the folder to work in, instead of the current one

The gateway's token is what the command of the setting gateway.tokenCommand prints, or the
environment variable PILLION_GATEWAY_TOKEN.

The exit status is 0 when you end it, 1 if something failed, 2 if the command line
is wrong.
`

// chat is a conversation with a gateway's agent in a terminal.
func chat(args []string) error {
	flags := flag.NewFlagSet("pillion chat", flag.ContinueOnError)
	url := flags.String("gateway", "", "")
	session := flags.String("session", "", "")
	folder := flags.String("C", ".", "")
	if _, err := parse(flags, chatHelp, [2]int{0, 0}, args); err != nil {
		return err
	}
	harden()
	ctx, stop := untilInterrupted()
	defer stop()
	return chatIn(ctx, *folder, *url, *session)
}

func chatIn(ctx context.Context, folder, url, session string) error {
	var c *sidecar.Sidecar
	talk := func() (*conversation.Conversation, error) { return c.Conversations.Get("") }
	resolve := func(path string) (string, error) { return c.Resolve(path) }
	at := terminal.NewChat(terminal.Options{In: os.Stdin, Out: os.Stdout, Style: terminal.StyleOf(os.Stdout), Stop: ctx.Done()}, talk, resolve)
	options, err := sidecar.OptionsFor(folder, at)
	if err != nil {
		return err
	}
	if why := workspace.Unfit(options.Folders[0].Dir); why != "" {
		return fmt.Errorf("%s %s; work in a project's folder", options.Folders[0].Dir, why)
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	options.Passing, options.Events = false, chatEvents{chat: at, end: end}
	if c, err = sidecar.New(options); err != nil {
		return err
	}
	g := c.Gateway(version)
	defer c.Close() //nolint:errcheck // nothing is left that could fail for the person
	defer g.Close()
	c.Conversations.Follow(at.Follower())
	c.Announce()
	token, err := c.GatewayToken()
	if err != nil {
		return err
	}
	url = cmp.Or(url, c.GatewayURL())
	if url == "" {
		return errors.New("name a gateway with --gateway URL, or set gateway.url")
	}
	at.Open(c.Roots()[0], url)
	if _, err := g.Connect(url, token, session); err != nil {
		return err
	}
	err = at.Serve(ctx)
	if refused := context.Cause(ctx); refused != nil && !errors.Is(refused, context.Canceled) {
		return refused
	}
	return err
}

// chatEvents shows what happens in the chat's terminal.
type chatEvents struct {
	sidecar.Logged
	chat *terminal.Chat
	end  context.CancelCauseFunc
}

func (e chatEvents) Problem(text string)       { e.chat.Say(text) }
func (e chatEvents) Remark(string)             {}
func (e chatEvents) Activity(a tools.Activity) { e.chat.Heard(a) }

// Gateway says how the gateway is connected. One that will not have us ends the chat.
func (e chatEvents) Gateway(state any) {
	s := state.(gateway.State)
	switch {
	case s.State == conversation.Connected:
		e.chat.Say("Connected; session " + s.SessionID + ".")
	case s.State == conversation.Reconnecting:
		e.chat.Say(fmt.Sprintf("Not connected: %v. Trying again in %s.", s.Error, (time.Duration(s.RetryInMS) * time.Millisecond).Round(100*time.Millisecond)))
	case s.State == conversation.Disconnected && s.Error != nil:
		e.end(s.Error)
	}
}
