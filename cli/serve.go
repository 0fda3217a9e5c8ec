package cli

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"syscall"

	"pillion/agents/install"
	"pillion/internal/wire"
	"pillion/rpc"
	"pillion/sidecar"
)

const serveHelp = `usage: pillion serve [--stdio]

The sidecar that an editor starts. It speaks JSON-RPC on its standard input and output,
framed like a language server's, and logs to standard error.

  --stdio    accepted because editors pass it; this is the only transport
`

// serve is the sidecar as an editor starts it: frames on stdin and stdout, the
// log on stderr.
func serve(args []string) error {
	flags := flag.NewFlagSet("pillion serve", flag.ContinueOnError)
	flags.Bool("stdio", true, "")
	if _, err := parse(flags, serveHelp, [2]int{0, 0}, args); err != nil {
		return err
	}
	explainTo("an editor", "pillion serve")
	harden()
	sidecar.LimitMemory()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	start := func(s rpc.Setup) (*rpc.Core, error) {
		core, err := sidecar.ForEditor(s, version)
		if err == nil {
			ready := core.Ready
			core.Ready = func() {
				ready()
				go func() {
					renewLauncher(s)
					askForStranded(ctx, s)
				}()
			}
		}
		return core, err
	}
	return exit(rpc.Serve(ctx, wire.Stdio(os.Stdin, os.Stdout), rpc.Options{Version: version, Start: start, Logf: log.Printf, Agents: installable()}))
}

// installable are the agents that an editor can offer to set up.
func installable() []rpc.Agent {
	var out []rpc.Agent
	for _, id := range install.Agents() {
		out = append(out, rpc.Agent{ID: id, Name: install.Name(id)})
	}
	return out
}
