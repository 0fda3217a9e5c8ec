// Package cli is the command line: one file a command, and Run, which finds the one
// that is meant. What a command does with agents and files is in the packages below.
package cli

import (
	"fmt"
	"log"
	"os"

	"pillion/tools/process"
)

// version is what `pillion version` prints, and what editors and agents are given.
var version string

// The commands. Each returns its exit code.
var commands = map[string]func(args []string) int{
	"serve":   serve,
	"mcp":     mcpCommand,
	"call":    call,
	"tools":   listTools,
	"watch":   watchCommand,
	"chat":    chat,
	"try":     tryRide,
	"doctor":  examine,
	"trust":   trust,
	"rules":   rules,
	"journal": journalCommand,
	"audit":   auditCommand,
	"session": sessionCommand,
	"version": printVersion,
}

// Run is the program: it runs the command that the arguments name, and gives its exit
// code. It is called once.
func Run(args []string, programVersion string) int {
	version = programVersion
	// Editors show stderr in their log of the sidecar; stdout carries frames.
	log.SetPrefix("pillion: ")
	log.SetFlags(log.Ltime)
	if len(args) > 1 && args[0] == "help" {
		args = append(args[1:], "--help")
	}
	if len(args) == 0 || args[0] == "help" || args[0] == "--help" || args[0] == "-h" {
		fmt.Print(usage)
		return 0
	}
	if args[0] == "--version" {
		args[0] = "version"
	}
	command, ok := commands[args[0]]
	if part := process.Parts[args[0]]; part != nil {
		command, ok = part, true
	}
	if !ok {
		fmt.Fprintf(os.Stderr, "pillion: unknown command %q\n\n%s", args[0], usage)
		return exitUsage
	}
	return command(args[1:])
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "pillion:", err)
	return exitFailed
}

const usage = `pillion lets coding agents work in your project through your editor.

  pillion serve                  the sidecar, started by an editor
  pillion mcp                    the MCP server, started by an agent
  pillion mcp install AGENT      set up an agent: Claude Code, Codex and others
  pillion watch                  see and answer agents' requests without an editor
  pillion chat                   talk to a gateway's agent in this terminal
  pillion call TOOL [JSON]       call a tool yourself, in this folder
  pillion tools [TOOL]           list the tools, or describe one
  pillion trust                  trust a project's settings
  pillion rules                  list the rules of a folder, and forget some
  pillion journal                list what agents changed in a folder, and revert it
  pillion session                list agents' sessions and their to-do lists
  pillion audit                  show the log of calls, and verify it
  pillion try                    watch an agent work on a sample project
  pillion doctor                 check this machine, this folder and your agents
  pillion version                print the version

Run a command with --help for more.
`
