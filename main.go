// Command pillion is the sidecar through which coding agents work in a person's
// editor. This package is the command line and the wiring; see ARCHITECTURE.md.
package main

import (
	"fmt"
	"os"

	"pillion/tools/process"
)

// version is set when a release is built.
var version = "0.1.0-dev"

// commands are what pillion can be asked to do. Each returns its exit code.
var commands = map[string]func(args []string) int{
	"serve":    serve,
	"mcp":      mcpCommand,
	"call":     call,
	"tools":    listTools,
	"watch":    watchCommand,
	"try":      tryRide,
	"doctor":   examine,
	"trust":    trust,
	"rules":    rules,
	"journal":  journalCommand,
	"audit":    auditCommand,
	"version":  printVersion,
	"guardian": process.Guardian, // started by ourselves, see package process
}

func main() {
	args := os.Args[1:]
	if len(args) > 1 && args[0] == "help" {
		args = append(args[1:], "--help")
	}
	if len(args) == 0 || args[0] == "help" || args[0] == "--help" || args[0] == "-h" {
		fmt.Print(usage)
		return
	}
	if args[0] == "--version" {
		args[0] = "version"
	}
	command, ok := commands[args[0]]
	if !ok {
		fmt.Fprintf(os.Stderr, "pillion: unknown command %q\n\n%s", args[0], usage)
		os.Exit(2)
	}
	os.Exit(command(args[1:]))
}
