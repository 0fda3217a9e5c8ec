package gitfile

import (
	"errors"
	"runtime/debug"
)

// What is looked at here and there in a large file is mapped into memory, where that
// can be: reading it takes longer. Should somebody cut the file off meanwhile, what lay
// behind its new end cannot be seen any more, which must not end the program. So who
// looks at such memory defers
//
//	guard(debug.SetPanicOnFault(true), &err)

var ErrCut = errors.New("a file was cut off")

// Guard makes a place that is not there any more an error.
func Guard(before bool, err *error) {
	debug.SetPanicOnFault(before)
	switch r := recover().(type) {
	case nil:
	case interface{ Addr() uintptr }: // what the runtime panics with for such a place
		*err = ErrCut
	default:
		panic(r)
	}
}
