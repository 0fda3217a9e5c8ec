//go:build !unix

package git

// nonBlocking is nothing where opening a file cannot wait.
const nonBlocking = 0

func isNotDir(error) bool { return false }

// readAtOnce is for other systems.
func readAtOnce(string, int64) (data []byte, known bool, err error) { return nil, false, nil }
