//go:build !unix

package wire

import "os"

func pollable(f *os.File) *os.File { return f }
