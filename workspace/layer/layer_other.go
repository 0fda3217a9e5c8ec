//go:build !linux

package layer

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// Changes has none: there are no layers here.
func Changes(context.Context, string, string, int, func(string) bool) ([]Change, error) {
	return nil, errors.ErrUnsupported
}

// Open opens nothing.
func Open(string, string) (*os.File, error) { return nil, errors.ErrUnsupported }

// Made knows nothing.
func Made(string) int64 { return 0 }

func inodeOf(fs.FileInfo, error) uint64 { return 0 }

// ChangedAt knows nothing.
func ChangedAt(fs.FileInfo) int64 { return 0 }

// Drop drops nothing.
func (l Layer) Drop([]string) error { return errors.ErrUnsupported }

// Hides hides nothing.
func (l Layer) Hides(string) bool { return false }

// Prune prunes nothing.
func (l Layer) Prune(string) error { return errors.ErrUnsupported }
