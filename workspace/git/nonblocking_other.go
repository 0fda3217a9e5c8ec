//go:build !unix

package git

// nonBlocking is nothing where opening a file cannot wait.
const nonBlocking = 0

func isNotDir(error) bool { return false }
