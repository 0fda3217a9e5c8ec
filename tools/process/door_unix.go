//go:build unix

package process

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// doorFD is where the first shell in a box reads what it is to do; see doorkeeper.
const doorFD = boxFD + 1

// runOrder is what a box is to do: it follows the assignment that made the box.
type runOrder struct {
	Script []byte
}

// variable is a name that a shell can export.
var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// errand is the order as the first shell of a box reads it. That shell has the
// environment base, no folder of its own, and the pipe for the command's input.
func (o order) errand(base []string) runOrder {
	var out strings.Builder
	out.WriteString("exec " + strconv.Itoa(doorFD) + "<&-\n")
	if !o.stdin {
		out.WriteString("exec </dev/null\n")
	}
	out.WriteString("cd " + quote(o.dir) + " || exit 126\nunset OLDPWD\n")
	run := "exec"
	for _, entry := range o.env {
		if slices.Contains(base, entry) {
			continue
		}
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case variable.MatchString(name):
			out.WriteString("export " + name + "=" + quote(value) + "\n")
		case run == "exec":
			run = "exec /usr/bin/env " + quote(entry)
		default:
			run += " " + quote(entry)
		}
	}
	out.WriteString(run)
	for _, word := range o.args {
		out.WriteString(" " + quote(word))
	}
	out.WriteString("\n")
	return runOrder{[]byte(out.String())}
}
