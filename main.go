// Command pillion is the sidecar through which coding agents work in a person's
// editor. Its commands are in package cli; see ARCHITECTURE.md.
package main

import (
	"os"

	"pillion/cli"
)

// version is set when a release is built.
var version = "0.1.0-dev"

func main() { os.Exit(cli.Run(os.Args[1:], version)) }
