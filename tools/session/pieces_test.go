package session

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pillion/internal/fault"
	"pillion/tools/policy"
)

func TestPiecesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New("s", claude, policy.Default)
		for i := range MaxArrivals {
			if err := s.KeepPiece(Piece{ID: fmt.Sprint(i), Path: "a", Text: "x"}, 10); err != nil {
				t.Fatal(err)
			}
		}
		more := Piece{ID: "more", Path: "a", Text: "x"}
		if err := s.KeepPiece(more, 10); fault.CodeOf(err) != fault.RateLimited {
			t.Errorf("file %d: %v", MaxArrivals+1, err)
		}
		if err := s.KeepPiece(Piece{ID: "0", Path: "a", Index: 1, Text: "0123456789"}, 10); fault.CodeOf(err) != fault.FileTooLarge {
			t.Errorf("over the limit: %v", err)
		}
		time.Sleep(arrivalIsLeft + time.Second) // the bubble's clock
		if err := s.KeepPiece(more, 10); err != nil {
			t.Errorf("after the others were left: %v", err)
		}
		if len(s.arrivals) != 1 || s.pieces.Load() != 1 {
			t.Errorf("%d files, %d bytes", len(s.arrivals), s.pieces.Load())
		}
	})
}

func TestPiecesOfAllSessionsAreBoundedAndGoWithTheirs(t *testing.T) {
	set := NewSet(policy.Default)
	text := strings.Repeat("x", maxAllPieces/2)
	one, two := opened(t, set, "one"), opened(t, set, "two")
	for i, s := range []*Session{one, two} {
		if err := s.KeepPiece(Piece{ID: "big", Path: "a", Text: text}, maxAllPieces); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	last := Piece{ID: "big", Path: "a", Index: 1, Text: "x"}
	if err := two.KeepPiece(last, maxAllPieces); fault.CodeOf(err) != fault.RateLimited {
		t.Errorf("over the bound: %v", err)
	}
	set.Close("one")
	if err := two.KeepPiece(last, maxAllPieces); err != nil {
		t.Errorf("after the other session was closed: %v", err)
	}
	two.DropPieces("big")
	if held := set.pieces.Load(); held != 0 {
		t.Errorf("%d bytes are held by nobody", held)
	}
}
