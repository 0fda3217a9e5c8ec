package search

import (
	"context"
	"testing"
)

// asking is a context that tells when somebody waits for its end.
type asking struct {
	context.Context
	asked chan bool
}

func (a asking) Done() <-chan struct{} {
	a.asked <- true
	return a.Context.Done()
}

func TestWhoGivesWayWaitsForTheLastList(t *testing.T) {
	f := NewFiles(nil, nil)
	f.GiveWay(t.Context()) // nothing is made
	first, second := f.making.begin(), f.making.begin()
	first()
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	f.GiveWay(impatient)
	ctx, gone := asking{t.Context(), make(chan bool)}, make(chan bool)
	go func() {
		f.GiveWay(ctx)
		close(gone)
	}()
	select {
	case <-ctx.asked:
	case <-gone:
		t.Fatal("it did not wait for the second list")
	}
	second()
	<-gone
	f.making.begin()()
	f.GiveWay(t.Context())
}
