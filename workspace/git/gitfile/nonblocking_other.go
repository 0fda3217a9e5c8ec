//go:build !unix

package gitfile

// NonBlocking is nothing where opening a file cannot wait.
const NonBlocking = 0

func IsNotDir(error) bool { return false }
