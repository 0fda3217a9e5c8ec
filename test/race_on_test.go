//go:build race

package test

// raced is how many times the memory a program takes with the race detector in it.
const raced = 8
