package sidecar

import "runtime/debug"

const (
	// garbage is what the heap may hold of it between collections, about.
	garbage = 48 << 20
	// startPercent is what `pillion serve` begins with (cli/serve.go), for a heap of a few
	// megabytes.
	startPercent = 400
)

// collectMore keeps the heap from growing by a multiple of an index that is held for
// long: with the percentage of a small heap it would be five times as large.
func collectMore(held int64) {
	debug.SetGCPercent(int(min(startPercent, startPercent*garbage/(garbage+4*held))))
}
