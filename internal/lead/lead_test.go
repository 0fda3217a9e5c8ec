package lead

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestKeptByShortWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(func() { t.Error("the lead was passed on") })
		defer l.Stop()
		for range 100 {
			var turn Turn
			l.Begin(&turn)
			time.Sleep(moment / 2)
			if !l.End(&turn) {
				t.Fatal("a short turn lost the lead")
			}
		}
	})
}

func TestPassedByLongWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		taken := make(chan time.Time, 1)
		l := New(func() { taken <- time.Now() })
		defer l.Stop()
		var turn Turn
		began := time.Now()
		l.Begin(&turn)
		if waited := (<-taken).Sub(began); waited > 2*moment {
			t.Errorf("it took %v", waited)
		}
		if l.End(&turn) {
			t.Error("two goroutines lead")
		}
	})
}

func TestPassedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var taken atomic.Int32
		l := New(func() { taken.Add(1) })
		defer l.Stop()
		var turn Turn
		l.Pass(&turn) // not begun: it has nothing to pass
		l.Begin(&turn)
		l.Pass(&turn)
		l.Pass(&turn)
		time.Sleep(10 * moment)
		if n := taken.Load(); n != 1 {
			t.Errorf("it was taken over %d times", n)
		}
		if l.End(&turn) {
			t.Error("two goroutines lead")
		}
	})
}

// TestWhoLostTheLeadTakesItAgain passes the lead on many times, and counts the goroutines
// that it takes.
func TestWhoLostTheLeadTakesItAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := make(chan *Turn)
		var l *Lead
		l = New(func() {
			for turn := range turns {
				l.Begin(turn)
				l.Pass(turn) // as what waits for something does
				if !l.End(turn) {
					return
				}
			}
			l.Stop()
		})
		go l.Run()
		synctest.Wait()
		for range 100 {
			turns <- &Turn{}
			synctest.Wait()
		}
		if rest := l.rest.Load(); rest != 1 {
			t.Errorf("%d goroutines wait for the lead", rest)
		}
		close(turns)
		synctest.Wait() // the bubble ends only when all have
	})
}

// TestWatchedAfterRest has a turn go long after the watch had gone to sleep.
func TestWatchedAfterRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		taken := make(chan struct{}, 1)
		l := New(func() { taken <- struct{}{} })
		defer l.Stop()
		for range 3 {
			var short, long Turn
			l.Begin(&short)
			if !l.End(&short) {
				t.Fatal("a short turn lost the lead")
			}
			time.Sleep(10 * moment)
			if l.armed.Load() {
				t.Fatal("it watches while nothing happens")
			}
			l.Begin(&long)
			<-taken
			if l.End(&long) {
				t.Fatal("two goroutines lead")
			}
		}
	})
}

func BenchmarkTurn(b *testing.B) {
	l := New(func() {})
	defer l.Stop()
	b.ReportAllocs()
	for b.Loop() {
		var t Turn
		l.Begin(&t)
		l.End(&t)
	}
}
