package sidecar

import "runtime/debug"

const (
	// garbage is what the heap may hold of it between collections while there is an index,
	// about.
	garbage = 48 << 20
	// GCPercent lets the small heap of a sidecar grow to 16 MB between collections: one
	// read of a megabyte makes a few of them in garbage.
	GCPercent = 400
)

// collectMore keeps the heap from growing by a multiple of an index that is held for
// long: with the percentage of a small heap it would be five times as large.
func collectMore(held int64) {
	debug.SetGCPercent(int(min(GCPercent, GCPercent*garbage/(garbage+4*held))))
}
