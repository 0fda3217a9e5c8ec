//go:build unix && !linux

package process

import "os"

func self() (string, error) { return os.Executable() }
