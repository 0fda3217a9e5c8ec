package patch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pillion/internal/testrig/machine"
	"pillion/workspace/diff"
)

// TestManyHunksTakeLittleWork: the search for places grows with the patch and the text,
// not with one times the other, or it ends.
func TestManyHunksTakeLittleWork(t *testing.T) {
	const many = 10_000
	var alike, numbered strings.Builder
	for i := range many * 4 {
		alike.WriteString("same\n")
		fmt.Fprintf(&numbered, "line %d\n", i)
	}
	hunks := func(text func(i int) string, number func(i int) int) string {
		var out strings.Builder
		out.WriteString("--- a/x\n+++ b/x\n")
		for i := range many {
			fmt.Fprintf(&out, "@@ -%d,3 +%d,3 @@\n %s\n-%s\n+new\n %s\n", number(i), number(i), text(4*i), text(4*i+1), text(4*i+2))
		}
		return out.String()
	}
	same := func(int) string { return "same" }
	line := func(i int) string { return fmt.Sprintf("line %d", i) }
	const linear = 40 * many * 4
	for _, c := range []struct {
		name, text, patch string
		most              int
	}{
		{"alike and where they should be", alike.String(), hunks(same, func(i int) int { return 4*i + 2 }), linear},
		{"alike and all at one place", alike.String(), hunks(same, func(int) int { return 2 }), mostWork},
		{"alike and far off", alike.String(), hunks(same, func(int) int { return 4 * many }), linear},
		{"each another and far off", numbered.String(), hunks(line, func(int) int { return 3 * many }), linear},
		{"nearly alike", strings.Repeat(strings.Repeat("same\n", 400)+"other\n", 400), hunks(func(i int) string {
			if i%4 == 2 {
				return "other"
			}
			return "same"
		}, func(int) int { return 1 << 29 }), mostWork},
	} {
		files, err := Parse(c.patch)
		machine.Must(t, err)
		a := newApplier(c.text, files[0].Hunks)
		made := 0
		for i, h := range files[0].Hunks {
			at, p, why := a.find(h)
			if why != "" {
				if why != reasonWork && c.most == mostWork && a.work < 0 {
					t.Errorf("%s: %s", c.name, why)
				}
				spent := mostWork - a.work
				a.mismatch(i, h, why)
				a.work = mostWork - spent
				break
			}
			a.make(h, at, p.loose)
			made++
		}
		spent := mostWork - a.work
		t.Logf("%s: %d hunks, %d comparisons", c.name, made, spent)
		if spent > c.most+1000 || c.most == linear && made < 1 {
			t.Errorf("%s: %d comparisons for %d hunks", c.name, spent, made)
		}
	}
}

// TestOverlap: no line is given to two hunks, nor taken in another order.
func TestOverlap(t *testing.T) {
	head := "--- a/x\n+++ b/x\n"
	for _, c := range []struct{ patch, text, want string }{
		{"@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -3,3 +3,3 @@\n c\n-d\n+D\n e\n", "a\nb\nc\nd\ne\n", reasonAbove},
		{"@@ -5,3 +5,3 @@\n e\n-f\n+F\n g\n@@ -1,3 +1,3 @@\n b\n-c\n+C\n d\n", "a\nb\nc\nd\ne\nf\ng\nh\n", reasonOrder},
		{"@@ -6,3 +6,3 @@\n e\n-f\n+F\n g\n@@ -3,3 +3,3 @@\n b\n-c\n+C\n d\n", "a\nb\nc\nd\ne\nf\ng\nh\n", reasonOrder},
	} {
		files, err := Parse(head + c.patch)
		machine.Must(t, err)
		_, _, err = Apply(context.Background(), c.text, files[0].Hunks)
		var m *Mismatch
		if !errors.As(err, &m) || m.Reason != c.want || m.Hunk != 2 {
			t.Errorf("%q: %v", c.patch, err)
		}
	}
}

func seeds(f *testing.F) {
	for _, patch := range []string{
		"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@ f\n a\n-b\n+c\n d\n\\ No newline at end of file\n",
		"diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n",
		"diff --git \"a/\\303\\251\" \"b/x\"\nold mode 100644\nnew mode 100755\nGIT binary patch\nliteral 3\nKcmZ\n\n",
		"--- a/x\r\n+++ b/x\r\n@@ -0,0 +1 @@\r\n+a\r\n",
		"*** Begin Patch\n*** Update File: x\n*** Move to: y\n@@ a\n b\n-c\n+d\n*** End of File\n*** Add File: z\n+z\n*** Delete File: q\n*** End Patch\n",
		"@@ -1,1099511627776 +1 @@\n",
	} {
		f.Add(patch, "a\nb\nd\n")
	}
}

// limit is how many bytes a binary patch may make.
const limit = 1 << 20

// FuzzParse: whatever comes, what is read is in itself whole, and makes no more than it may.
func FuzzParse(f *testing.F) {
	seeds(f)
	for _, data := range []string{"literal 7\nOcmZQzWXek|{|^8J>jF&x\n", "delta 13\nUcmcb^@{nai3==CuZhlcJ03yN!i~s-t\n", "delta 19\nacmcc1@|b0V4kO$De++r4<(qXF4H*GXl?Md?\n"} {
		f.Add("diff --git a/x b/x\nindex 1..2\nGIT binary patch\n"+data+"\nliteral 0\nHcmV?d00001\n\n", strings.Repeat("\x00old", 151))
	}
	f.Fuzz(func(t *testing.T, patch, bytes string) {
		files, err := Parse(patch)
		if err != nil {
			return
		}
		for _, one := range files {
			if one.Old == "" || one.New == "" || one.Line < 1 || (one.Old != one.New) != (one.Operation == Rename || one.Operation == Copy) && one.Old != one.New {
				t.Errorf("%+v", one)
			}
			if one.Binary != nil && one.Binary.fragment != nil {
				if out, _ := one.Binary.made([]byte(bytes), limit); len(out) > limit {
					t.Errorf("%d bytes are made", len(out))
				}
			}
			for _, h := range one.Hunks {
				if len(h.Old()) != h.OldLines || len(h.New()) != h.NewLines || h.OldStart < 0 || h.NewStart < 0 {
					t.Errorf("a hunk has other lines than it says: %+v", h)
				}
			}
		}
	})
}

// FuzzApply: what was found fits. Without the lines of its hunks a text is the same
// before and after, and what is put back is what was.
func FuzzApply(f *testing.F) {
	seeds(f)
	f.Add("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n@@ -3,2 +3,1 @@\n-a\n b\n", "a\nb\na\nb\n")
	f.Fuzz(func(t *testing.T, patch, text string) {
		files, err := Parse(patch)
		if err != nil || !utf8.ValidString(text) {
			return
		}
		out, placed, err := Apply(t.Context(), text, files[0].Hunks)
		if err != nil {
			return
		}
		var back []Hunk
		for i, h := range files[0].Hunks {
			if placed[i].Leniency != "" || h.Unnumbered {
				return
			}
			back = append(back, reversed(h, placed[i], back, files[0].Hunks))
		}
		again, _, err := Apply(t.Context(), out, back)
		if err != nil || again != text {
			t.Errorf("put back: %v\nwas  %q\nmade %q\nback %q", err, text, out, again)
		}
	})
}

// reversed is the hunk that takes another back where it was made.
func reversed(h Hunk, at Placed, before []Hunk, all []Hunk) Hunk {
	delta := 0
	for i := range before {
		delta += len(all[i].New()) - len(all[i].Old())
	}
	r := Hunk{Hunk: diff.Hunk{OldStart: at.Line + delta, OldLines: h.NewLines, NewStart: at.Line, NewLines: h.OldLines}}
	// Each hunk is made whole, so that it needs no context to be found by.
	for _, line := range h.Lines {
		op := line.Op
		switch op {
		case diff.Insert:
			op = diff.Delete
		case diff.Delete:
			op = diff.Insert
		}
		r.Lines = append(r.Lines, diff.Line{Op: op, Text: line.Text})
	}
	return r
}
