package cli

import (
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"pillion/agents/install"
	"pillion/internal/fault"
	"pillion/rpc"
	"pillion/tools/approval"
)

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
	home, err := os.UserHomeDir()
	if err != nil {
		return
	}
	self, err := os.Executable()
	if err != nil {
		return
	}
	o := install.Options{Binary: self, Home: home, Getenv: os.Getenv}
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
