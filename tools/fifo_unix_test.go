//go:build unix

package tools_test

import "syscall"

func makeFIFO(name string) error { return syscall.Mkfifo(name, 0o600) }
