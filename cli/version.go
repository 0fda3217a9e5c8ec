package cli

import (
	"flag"
	"fmt"
	"runtime/debug"
)

const versionHelp = "usage: pillion version\n\nPrints the version of this program.\n"

func printVersion(args []string) int {
	if _, code, ok := parse(flag.NewFlagSet("pillion version", flag.ContinueOnError), versionHelp, [2]int{0, 0}, args); !ok {
		return code
	}
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				revision = " (" + s.Value[:12] + ")"
			}
		}
	}
	fmt.Printf("pillion %s%s\n", version, revision)
	return 0
}
