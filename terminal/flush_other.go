//go:build !linux && !darwin && !windows

package terminal

import "os"

// flush has no portable form; what was typed ahead stays.
func flush(*os.File) {}
