//go:build !unix

package workspace

const (
	openFlags = 0
	dirFlags  = 0
)

func isNameTooLong(error) bool { return false }

func isNotDir(error) bool { return false }
