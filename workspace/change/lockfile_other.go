//go:build !linux && !darwin

package change

import "github.com/gofrs/flock"

// tryLock takes the lock that a file is, shared or alone, until free is called or the
// program ends.
func tryLock(name string, alone bool) (free func(), err error) {
	file := flock.New(name, flock.SetPermissions(0o600))
	try := file.TryRLock
	if alone {
		try = file.TryLock
	}
	switch taken, err := try(); {
	case err != nil:
		file.Close() //nolint:errcheck // it is not locked
		return nil, err
	case !taken:
		file.Close() //nolint:errcheck // see above
		return nil, errLocked
	}
	return func() { file.Unlock() }, nil //nolint:errcheck // closing it ends the lock too
}
