package relay

import "io/fs"

// isOurs trusts the folder's place, below the user's own profile.
func isOurs(fs.FileInfo) bool { return true }
