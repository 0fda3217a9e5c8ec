package cli

import (
	"cmp"
	"flag"
	"fmt"
	"runtime/debug"
	"strings"

	"pillion/terminal"
)

const versionHelp = `usage: pillion version

Prints the version of this program, and the commit that it was built from with its date.
`

// Build is what this program was built from. Without a commit it is the one that Go
// noted, if it did.
type Build struct{ Version, Commit, Date string }

func printVersion(args []string) error {
	if _, err := parse(flag.NewFlagSet("pillion version", flag.ContinueOnError), versionHelp, [2]int{0, 0}, args); err != nil {
		return err
	}
	fmt.Fprintln(terminal.Stdout, build)
	return nil
}

// known is the build with what Go noted of it, both short.
func (b Build) known() Build {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = cmp.Or(b.Commit, s.Value)
			case "vcs.time":
				b.Date = cmp.Or(b.Date, s.Value)
			}
		}
	}
	b.Commit = b.Commit[:min(len(b.Commit), 12)]
	b.Date, _, _ = strings.Cut(b.Date, "T")
	return b
}

// String is the version, and in brackets the commit and the date, if they are known.
func (b Build) String() string {
	b = b.known()
	from := strings.Join(strings.Fields(b.Commit+" "+b.Date), ", ")
	if from != "" {
		from = " (" + from + ")"
	}
	return "pillion " + b.Version + from
}
