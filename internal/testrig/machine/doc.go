// Package machine gives tests what only a system has: a terminal, another user. It
// knows nothing of Pillion, so that a package of any floor can use it.
package machine
