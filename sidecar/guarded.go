package sidecar

import (
	"os"
	"path/filepath"

	"pillion/config"
	"pillion/internal/state"
	"pillion/tools/policy"
)

// makeSettingsFolder makes the folder of the user's settings: one that is there can be closed to
// commands.
func makeSettingsFolder() {
	if settings, err := config.UserFile(); err == nil {
		_ = os.MkdirAll(filepath.Dir(settings), 0o700) // without a home that can be written there are no settings
	}
}

// guarded lists what on this machine decides what agents may do and what the user's programs run:
// Pillion's own files, and what others read from the home.
func guarded() []policy.Home {
	var out []policy.Home
	own := func(path string, err error) {
		if err == nil {
			out = append(out, policy.Home{Path: path, Effect: policy.LoosensPillion})
		}
	}
	settings, err := config.UserFile()
	own(settings, err)
	own(filepath.Dir(settings), err)
	own(state.Folder(""))
	own(os.Executable())
	if home, err := os.UserHomeDir(); err == nil {
		out = append(out, policy.Homes(home, os.Getenv)...)
	}
	return out
}
