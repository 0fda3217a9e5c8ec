// Command pillion is the sidecar through which coding agents work in a person's
// editor. Its commands are in package cli; see ARCHITECTURE.md.
package main

import (
	"os"

	"pillion/cli"
)

// What is set when the program is built, by scripts/build.sh. The version is that of
// CHANGELOG.md's newest heading; -dev is what no release is made of.
var version, commit, date = "0.1.0-dev", "", ""

func main() {
	os.Exit(cli.Run(os.Args[1:], cli.Build{Version: version, Commit: commit, Date: date}))
}
