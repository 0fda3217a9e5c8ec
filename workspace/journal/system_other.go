//go:build !linux

package journal

import "os"

const nonBlocking = 0

func dataSync(f *os.File) error { return f.Sync() }
