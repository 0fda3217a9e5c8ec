// Package layer reads what commands left in a layer over a folder: in the folder that overlayfs writes to, with its
// marks for what was taken away and for folders that hide what is below. See process.Layer.
package layer

import (
	"errors"
	"io/fs"
)

// Change is an entry of a folder that differs from what is below.
type Change struct {
	Rel  string      // slash separated
	Is   fs.FileInfo // nil: it is gone
	Was  fs.FileInfo // nil: there was none
	Link string      // where a symbolic link leads
	// Built: it lies in a folder that builds make.
	Built bool
}

// ErrTooMany is why a layer is not looked at.
var ErrTooMany = errors.New("too many changes")
