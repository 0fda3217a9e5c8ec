//go:build !linux

package test

import "github.com/rogpeppe/go-internal/testscript"

// person needs Linux's pseudo-terminals.
func person(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("this script needs Linux")
}
