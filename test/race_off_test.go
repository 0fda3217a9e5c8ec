//go:build !race

package test

// raced says that this program has the race detector in it, which takes memory and keeps it.
const raced = false
