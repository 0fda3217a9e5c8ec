//go:build unix

package process

import (
	"context"
	"fmt"
	"os"
	"slices"
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
	s.Command = "unalias git 2>/dev/null\ngit() { " + quote(own) + ` git "$@"; }; ` + s.Command
	s.Confine.Named = append(slices.Clone(s.Confine.Named), own)
	return s, err
}

// Git is the body of the hidden subcommand `git`: it becomes the git program that PATH has,
// which reads and runs nothing that the repository's configuration names. It prints no secret:
// nobody was asked.
func Git(args []string) int {
	file := look("git", os.Environ())
	if file == "" {
		fmt.Fprintln(os.Stderr, "git is not installed")
		return notFound
	}
	ctx := context.Background()
	cmd, err := program.Reading(ctx, file, "", os.Environ(), args...)
	if err == nil {
		shown, problem := program.Shows(ctx, cmd, policy.Secret)
		switch {
		case problem != nil:
			fmt.Fprintln(os.Stderr, problem)
			return gitDied
		case len(shown.Files) > 0:
			fmt.Fprintf(os.Stderr, "git did not run: it would show %s, which looks like a file with secrets, and nobody was asked. Leave it out: git %s … -- . %s\n",
				fault.Quote(shown.Files[0]), args[0], quote(":(exclude,top)"+shown.Files[0]))
			return gitDied
		case len(shown.Unnamed) > 0:
			fmt.Fprintf(os.Stderr, "git did not run: %s is the content of a file that may have secrets, and nobody was asked. Name the file: git %s COMMIT:FILE\n", shown.Unnamed[0], args[0])
			return gitDied
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
	fmt.Fprintln(os.Stderr, "git did not run, so that it runs nothing of the repository:", err)
	return gitDied
}

// What shells and git exit with.
const (
	notFound = 127
	gitDied  = 128
)
