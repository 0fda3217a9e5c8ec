// Package machine gives tests what only a system has: a terminal, another user, a
// part of the tool chain. It knows nothing of Pillion beyond where its scripts are,
// so that a package of any floor can use it.
package machine
