//go:build unix

package process

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"pillion/internal/fault"
	"pillion/tools/policy"
	"pillion/workspace/git/program"
)

// withGit has the shell take this program for git, if ReadsGit says so. As a function: were it
// a file in PATH that is not there, or cannot be run in a sandbox, the shell would go on to git
// itself. An alias goes before a function, so it is undone, on a line of its own: a shell reads
// all of a line before it runs any of it.
func (s Spec) withGit() (Spec, error) {
	if !s.ReadsGit {
		return s, nil
	}
	own, err := Own()
	var within strings.Builder
	for _, folder := range s.GitWithin {
		within.WriteString(" " + quote("--within="+folder))
	}
	s.Command = "unalias git 2>/dev/null\ngit() { " + quote(own) + " git" + within.String() + ` "$@"; }; ` + s.Command
	s.Confine.Named = append(slices.Clone(s.Confine.Named), own)
	return s, err
}

// Git is the body of the hidden subcommand `git`: it becomes the git program that PATH has,
// which reads and runs nothing that the repository's configuration names. Nobody was asked, so it
// prints no secret, nor a file outside of the folders that each --within= in front names. What does
// more than read was allowed by another rule, and is git's own.
func Git(args []string) int {
	var within []string
	for len(args) > 0 && strings.HasPrefix(args[0], "--within=") {
		within, args = append(within, strings.TrimPrefix(args[0], "--within=")), args[1:]
	}
	file := lookPath("git", os.Environ())
	if file == "" {
		fmt.Fprintln(os.Stderr, "git is not installed")
		return notFound
	}
	if len(args) == 0 || !program.Reads(args[0]) {
		err := syscall.Exec(file, append([]string{file}, args...), os.Environ())
		fmt.Fprintln(os.Stderr, "git did not run:", err)
		return gitDied
	}
	ctx := context.Background()
	cmd, err := program.Reading(ctx, file, "", os.Environ(), args...)
	if err == nil {
		outside := false
		shown, problem := program.Shows(ctx, cmd, within, func(path string) bool {
			isOutside := len(within) > 0 && !slices.ContainsFunc(within, func(folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") })
			outside = outside || isOutside
			return isOutside || policy.Secret(path)
		})
		if err = problem; err == nil {
			err = refuseToShow(shown, args[0], outside)
		}
	}
	if err == nil && args[0] != "shortlog" {
		var null int
		if null, err = unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
			err = unix.Dup2(null, 0)
		}
	}
	if err == nil {
		err = os.NewSyscallError("exec "+file, syscall.Exec(cmd.Path, cmd.Args, cmd.Environ()))
	}
	fmt.Fprintln(os.Stderr, "git did not run:", err)
	return gitDied
}

// refuseToShow says what of the content that the command would print nobody has allowed.
func refuseToShow(shown program.Shown, command string, outside bool) error {
	switch {
	case outside:
		return fmt.Errorf("it would show %s, and not all of that is in the workspace; nobody was asked. Name the workspace's folder: git %s … -- ./", fault.Quote(shown.Files[0]), command)
	case len(shown.Files) > 0:
		return fmt.Errorf("it would show %s, which looks like a file with secrets; nobody was asked. Leave it out: git %s … -- . %s",
			fault.Quote(shown.Files[0]), command, quote(":(exclude,top)"+shown.Files[0]))
	case len(shown.Unnamed) > 0:
		return fmt.Errorf("%s may be the content of a file with secrets; nobody was asked. Name the file, or compare two commits: git %s COMMIT:FILE", fault.Quote(shown.Unnamed[0]), command)
	}
	return nil
}

// What shells and git exit with.
const (
	notFound = 127
	gitDied  = 128
)
