package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// flush drops what was typed into a console and not read yet.
func flush(tty *os.File) {
	windows.FlushConsoleInputBuffer(windows.Handle(tty.Fd())) //nolint:errcheck // what was typed stays, then
}
