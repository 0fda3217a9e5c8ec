package terminal

import (
	"os"
	"runtime"

	"golang.org/x/term"
)

// Open finds the person's terminal: standard input and standard error where these
// are it, else the one that the program was started in, so that a question is
// neither answered by what is piped in nor lost in what is piped out. It reports
// false where there is none.
func Open() (in, out *os.File, ok bool) {
	input, output := "/dev/tty", "/dev/tty"
	if runtime.GOOS == "windows" {
		input, output = "CONIN$", "CONOUT$"
	}
	in, inOK := terminalOr(os.Stdin, input, os.O_RDONLY)
	out, outOK := terminalOr(os.Stderr, output, os.O_WRONLY)
	return in, out, inOK && outOK
}

func terminalOr(f *os.File, name string, mode int) (*os.File, bool) {
	if term.IsTerminal(int(f.Fd())) {
		return f, true
	}
	f, err := os.OpenFile(name, mode, 0)
	return f, err == nil
}
