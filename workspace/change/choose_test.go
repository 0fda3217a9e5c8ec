package change

import (
	"context"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/workspace/journal"
)

// TestChoose: of a set with everything that there is, some parts are made, by the ids of
// its preview, and the rest stays as it is.
func TestChoose(t *testing.T) {
	between := strings.Repeat("-\n", 9)
	short := strings.NewReplacer("\n", "", "-", "")
	before, after := "one\n"+between+"two\n"+between+"three", "ONE\n"+between+"TWO\n"+between+"THREE\n"
	for _, c := range []struct{ ids, want string }{
		{"1 2 3 4 5 6 7 8", "a.txt=ONETWOTHREE made/ moved.txt=old new.txt=new none.txt="},
		{"1", "a.txt=ONEtwothree goes.txt=goes old.txt=old"},
		{"3 2", "a.txt=oneTWOTHREE goes.txt=goes old.txt=old"},
		{"4 6", "a.txt=onetwothree new.txt=new old.txt=old"},
		{"5 7 8", "a.txt=onetwothree goes.txt=goes made/ moved.txt=old none.txt="},
	} {
		b := newTrees(t)
		b.write("a.txt", before)
		b.write("goes.txt", "goes\n")
		b.write("old.txt", "old\n")
		set := Set{
			Files: []File{b.plan("a.txt", after), b.plan("new.txt", "new\n"), b.plan("none.txt", "")},
			Tree:  []TreeChange{b.remove("goes.txt"), b.mkdir("made"), b.move("old.txt", "moved.txt")},
		}
		var offered []string
		for _, f := range set.Preview() {
			for _, h := range f.Hunks {
				offered = append(offered, h.ID+" "+h.Header)
			}
		}
		if got := strings.Join(offered, "; "); got != "1 @@ -1,4 +1,4 @@; 2 @@ -8,7 +8,7 @@ one; 3 @@ -18,4 +18,4 @@ two; 4 @@ -0,0 +1 @@; 5 new file, empty; 6 deleted; 7 new folder; 8 moved to moved.txt" {
			t.Fatalf("on offer: %s", got)
		}
		chosen, taken, of, err := set.Choose(strings.Fields(c.ids))
		if err != nil || taken != len(strings.Fields(c.ids)) || of != 8 {
			t.Fatalf("%s: %d of %d, %v", c.ids, taken, of, err)
		}
		if _, err := b.Commit(context.Background(), chosen, journal.Origin{}); err != nil {
			t.Fatalf("%s: %v", c.ids, err)
		}
		if got := short.Replace(b.all()); got != c.want {
			t.Errorf("%s: %s, want %s", c.ids, got, c.want)
		}
		if set.Files[0].After.Text != after || set.Tree[0].LeftOut {
			t.Errorf("%s: the set that was chosen from is another now", c.ids)
		}
	}
}

func TestChooseKnowsItsIDs(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\n")
	set := Only(b.plan("a.txt", "two\n"), "")
	for _, ids := range [][]string{{"2"}, {"0"}, {"1", "x"}, {"01"}, {" 1"}, {"-1"}} {
		if _, _, _, err := set.Choose(ids); fault.CodeOf(err) != fault.InvalidArguments {
			t.Errorf("%q: %v", ids, err)
		}
	}
	if chosen, taken, of, err := set.Choose([]string{"1", "1"}); err != nil || taken != 1 || of != 1 || !chosen.Changes() {
		t.Errorf("twice the same: %d of %d, %v", taken, of, err)
	}
	if chosen, _, _, err := set.Choose(nil); err != nil || chosen.Changes() || len(chosen.Preview()) != 0 {
		t.Errorf("none: %v, %+v", err, chosen.Preview())
	}
}
