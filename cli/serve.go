package cli

import (
	"context"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"pillion/agents/install"
	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/rpc"
	"pillion/sidecar"
	"pillion/tools/approval"
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
	draftOf := os.Getenv(sidecar.DraftOf)
	_ = os.Unsetenv(sidecar.DraftOf) // no program of its own is to have it
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	start := func(s rpc.Setup) (*rpc.Core, error) {
		core, err := sidecar.ForEditor(s, version, draftOf)
		if err == nil && draftOf == "" {
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

// lasting is the program that agents are set up to start; see install.Lasting.
func lasting() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return install.Lasting(self, version, launcher())
}

func launcher() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return install.Launcher(runtime.GOOS, home, os.Getenv)
}

// renewLauncher has agents that start the launcher get this version, if there is one.
func renewLauncher(s rpc.Setup) {
	if _, err := os.Stat(launcher()); err != nil {
		return
	}
	if _, err := lasting(); err != nil {
		s.Events.Problem(fmt.Sprintf("the program that your agents start could not be renewed: %v", err))
	}
}

const repair = "Repair"

// askForStranded tells of agents that start a program which is gone, and sets them up again
// if the user wants that.
func askForStranded(ctx context.Context, s rpc.Setup) {
	self, err := os.Executable()
	if err != nil {
		return
	}
	o, err := installFor(self)
	if err != nil {
		return
	}
	stranded := install.Stranded(o)
	if len(stranded) == 0 {
		return
	}
	var names, programs []string
	for _, agent := range slices.Sorted(maps.Keys(stranded)) {
		names = append(names, install.Name(agent))
		if program := fault.Quote(stranded[agent]); !slices.Contains(programs, program) {
			programs = append(programs, program)
		}
	}
	message := fmt.Sprintf("%s cannot work through Pillion: it is set up to start %s, which is gone. Repair its configuration?", strings.Join(names, ", "), strings.Join(programs, " and "))
	if answer, err := s.Human.Prompt(ctx, approval.Agent{Name: "Pillion"}, message, []string{repair, "Not Now"}); err != nil || answer != repair {
		return
	}
	for agent := range stranded {
		if err := setUpAgain(agent, o); err != nil {
			s.Events.Problem(fmt.Sprintf("%s could not be set up again: %v", install.Name(agent), err))
		}
	}
}

func setUpAgain(agent string, o install.Options) (err error) {
	if o.Binary, err = lasting(); err != nil {
		return err
	}
	plan, err := install.For(agent, o)
	if err != nil {
		return err
	}
	return plan.Apply()
}
