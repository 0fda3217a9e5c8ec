// Package state says where Pillion keeps what lasts on this machine and belongs to
// one user: the agents' registry, the journal, the audit log, the locks, what was
// trusted and remembered for folders, and what install wrote elsewhere.
//
// The folder is $XDG_STATE_HOME/pillion where that variable is an absolute path, else
// ~/Library/Application Support/pillion on macOS, %USERPROFILE%\AppData\Local\pillion
// on Windows and ~/.local/state/pillion elsewhere. An editor and its agents find each
// other there, so both must have the same variable, or none. Making folders is the
// caller's business. In it:
//
//	relay     one entry and one socket a sidecar, until it ends; the next sweeps leftovers
//	journal   segments, each written by one sidecar and read by all: 30 days, 500 MB;
//	          readable copies in its folder backups
//	audit     one log for all sidecars: ten files of 10 MB
//	locks     256 empty files, by the hash of a path; a lock ends with its program
//	sessions  one file a session, for the agent that comes back: 30 days, 200 sessions; in
//	          its folder keys what agents prove themselves by
//	folders   one file a folder: trust in its settings, remembered rules
//	install   what `mcp install` added to agents' own files
package state

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Folder is a folder of ours by its name, or the one that holds them all: "".
func Folder(name string) (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("there is no folder for Pillion's state: %w", err)
	}
	return filepath.Join(In(runtime.GOOS, home, os.Getenv), name), nil
}

// In is the folder on a system, for a home and an environment.
func In(goos, home string, getenv func(string) string) string {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "pillion")
	}
	switch goos {
	case "darwin":
		return filepath.Join(home, "Library", "Application Support", "pillion")
	case "windows":
		return filepath.Join(home, "AppData", "Local", "pillion")
	}
	return filepath.Join(home, ".local", "state", "pillion")
}
