package search

import "testing"

// TestRoomIsGivenBack: what one pass takes another does not give back, in whatever order they end.
func TestRoomIsGivenBack(t *testing.T) {
	own := ownPlaces()
	check := func(when string) {
		t.Helper()
		if got := ownPlaces(); got != own {
			t.Errorf("%s others have %d places, and had %d", when, got, own)
		}
	}
	one := makeRoom(2)
	two := makeRoom(3)
	check("while both work")
	one()
	check("while the other works")
	two()
	check("at the end")
}
