//go:build !unix

package tools_test

import "errors"

func makeFIFO(string) error { return errors.New("this system has no named pipes in folders") }
