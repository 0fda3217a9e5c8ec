package sidecar

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

const (
	// garbage is what the heap may hold of it between collections while there is an index,
	// about.
	garbage = 48 << 20
	// gcPercent lets the small heap of a sidecar grow to 16 MB between collections: one
	// read of a megabyte makes a few of them in garbage.
	gcPercent = 400
	// softLimit is where the collector begins to work harder, as long as less than two thirds of
	// it is held.
	softLimit = 48 << 20
	// peak is how much memory that nothing uses is given back to the system, when the
	// sidecar has been idle for idleTime.
	peak     = 32 << 20
	idleTime = 2 * time.Second
	// mostLooks is after how many, in a minute, that which is left counts as needed.
	mostLooks = 5
)

// LimitMemory has the program hold little more than it needs. A limit of the user's own,
// in GOMEMLIMIT, stays as it is.
func LimitMemory() {
	debug.SetGCPercent(gcPercent)
	if os.Getenv("GOMEMLIMIT") == "" {
		adjustLimit()
		afterEachCollection(adjustLimit)
	}
}

// adjustLimit follows what is held: a limit that is always reached would have the collector
// run all the time.
func adjustLimit() {
	live := metric("/gc/heap/live:bytes")
	debug.SetMemoryLimit(max(softLimit, live+live/2))
}

// afterEachCollection calls do when what nothing holds has been collected.
func afterEachCollection(do func()) {
	sentinel := new([16]byte)
	runtime.AddCleanup(sentinel, func(struct{}) {
		do()
		afterEachCollection(do)
	}, struct{}{})
}

func metric(name string) int64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(sample[0].Value.Uint64()) //nolint:gosec // bytes of memory
}

// collectMore keeps the heap from growing by a multiple of an index that is held for
// long: with the percentage of a small heap it would be five times as large.
func collectMore(held int64) {
	debug.SetGCPercent(int(min(gcPercent, gcPercent*garbage/(garbage+4*held))))
}

// thrift gives memory back that a large read, or a repository that is a bomb, has taken,
// when nothing was called for a while.
type thrift struct {
	timer atomic.Pointer[time.Timer]
	looks atomic.Int32 // since something was called
}

// called puts it off.
func (t *thrift) called() {
	t.looks.Store(0)
	if timer := t.timer.Load(); timer != nil {
		timer.Reset(idleTime)
		return
	}
	timer := time.AfterFunc(idleTime, t.giveBack)
	if !t.timer.CompareAndSwap(nil, timer) {
		timer.Stop()
	}
}

// giveBack gives back what is not needed. As long as much is left it looks again, ever later: it
// may be the result of a call that is still on its way.
func (t *thrift) giveBack() {
	if used() <= needed.Load()+peak {
		return
	}
	debug.FreeOSMemory()
	left := used()
	if look := t.looks.Add(1); left > needed.Load()+peak && look < mostLooks {
		if timer := t.timer.Load(); timer != nil {
			timer.Reset(idleTime << look)
			return
		}
	}
	needed.Store(left)
}

// needed is what was left when memory was given back last.
var needed atomic.Int64

func used() int64 {
	return metric("/memory/classes/total:bytes") - metric("/memory/classes/heap/released:bytes")
}
