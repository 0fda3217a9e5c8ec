package cli

import (
	"errors"
	"flag"
	"io"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/term"

	"pillion/agents/mcp"
	"pillion/internal/fault"
	"pillion/sidecar"
	"pillion/tools/session"
	"pillion/tools/session/kept"
)

const mcpHelp = `usage: pillion mcp [-C FOLDER] [--structured] [--tools LIST] [--dialect NAME] [--answer-within SECONDS] [--session ID]

The MCP server that a coding agent starts, on its standard input and output. It
passes calls to the editor that has the folder open. Without one it works on the files
itself, and asks you through the agent, if the agent can ask.

  -C FOLDER       the agent's folder, instead of the current one; for an agent that
                  names its folders itself (MCP roots), those count
  --structured    add structuredContent to the text of results. Most agents then show
                  that to their model instead of the text
  --tools LIST    offer only these tools: core (the ten most useful), or a list with
                  commas, such as core,tracker__create_issue.
                  ` + "`pillion tools --cost`" + ` counts their tokens
  --dialect NAME  call the tools as another agent does: coder or qwen
  --answer-within SECONDS
                  how long the agent waits for a call, 0 for forever; the default
                  depends on the agent's name. A longer call gets an answer in time,
                  and goes on
  --session ID    the agent's own name for this conversation. Started again with it in
                  the same folder, the agent has its to-do list, mode and rules again;
                  the default is the environment variable PILLION_SESSION, or what
                  Claude Code and Qwen Code say themselves

To have an agent start it, run ` + "`pillion mcp install claude`" + `.
`

// mcpCommand is the MCP server that an agent starts.
func mcpCommand(args []string) error {
	flags := flag.NewFlagSet("pillion mcp", flag.ContinueOnError)
	folder := flags.String("C", ".", "")
	var answerWithin *time.Duration
	flags.Func("answer-within", "", func(text string) error {
		seconds, err := strconv.ParseUint(text, 10, 32)
		within := time.Duration(seconds) * time.Second
		answerWithin = &within
		return err
	})
	structured := flags.Bool("structured", false, "")
	dialect := flags.String("dialect", "", "")
	offered := flags.String("tools", "all", "")
	name := flags.String("session", sessionName(os.Getenv), "")
	if _, err := parse(flags, mcpHelp, [2]int{0, 0}, args); err != nil {
		return err
	}
	cwd, err := filepath.Abs(*folder)
	if err != nil {
		return err
	}
	chosen, err := mcp.Choose(*offered, sidecar.MayFind(cwd))
	if err != nil {
		return err
	}
	if *name != "" {
		if err := session.CheckID(*name); err != nil {
			return err
		}
	}
	explainTo("an agent", "pillion mcp")
	harden()
	ctx, stop := untilInterrupted()
	defer stop()
	err = mcp.Serve(ctx, mcp.Options{
		In: standardInput(), Out: os.Stdout, Cwd: cwd, Version: version, Alone: sidecar.Alone, Logf: log.Printf,
		Structured: *structured, Dialect: *dialect, Tools: chosen, AnswerWithin: answerWithin,
		Key: keyFor(*name),
	})
	if err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// sessionName is the name that the environment gives the agent's conversation: ours, or
// that which the agent hands to its MCP servers, the same when it goes on with one later.
func sessionName(getenv func(string) string) string {
	for _, variable := range []string{"PILLION_SESSION", "CLAUDE_CODE_SESSION_ID", "QWEN_CODE_SESSION_ID"} {
		if name := getenv(variable); name != "" {
			return name
		}
	}
	return ""
}

// keyFor is where the session of that name is proven by, and by what for the agent's hooks.
func keyFor(name string) func(agent, folder string) mcp.Key {
	return func(agent, folder string) mcp.Key {
		key := agentKey{hooks: kept.OpenKey(agent, folder, processName(strconv.Itoa(os.Getppid())))}
		if name == "" {
			return key
		}
		if key.own = kept.OpenKey(agent, folder, name); key.own == nil {
			log.Printf("another program has the session %s, so this one is new", fault.Quote(name))
		}
		return key
	}
}

// processName is the name under which an agent's hooks find its session, while it runs.
func processName(pid string) string { return "process-" + pid }

// agentKey is a key under two names, of which nil ones are nowhere.
type agentKey struct{ own, hooks *kept.Key }

// Load is what the agent itself had, under its own name.
func (k agentKey) Load() (p session.Proof) {
	if k.own != nil {
		p = k.own.Load()
	}
	return p
}

// Save implements mcp.Key.
func (k agentKey) Save(p session.Proof) (err error) {
	for _, key := range []*kept.Key{k.own, k.hooks} {
		if key != nil {
			err = errors.Join(err, key.Save(p))
		}
	}
	return err
}

// standardInput can be closed while it is read. Of a terminal that is not true.
func standardInput() io.Reader {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return os.Stdin
	}
	in, out := io.Pipe()
	go func() {
		_, err := io.Copy(out, os.Stdin)
		out.CloseWithError(err) //nolint:errcheck // never fails
	}()
	return in
}
