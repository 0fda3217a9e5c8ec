package patch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pillion/workspace/diff"
)

// Placed says where a hunk was made.
type Placed struct {
	At       int    // how many lines of the text before stand above it
	Line     int    // its first line in the text before, from 1
	Offset   int    // how far that is from where its header says
	Leniency string // in what its lines were not quite those of the text; empty: in nothing

	loose bool // its lines end otherwise than those of the text
}

// What a hunk may differ in from its place.
const (
	upToBlanks = "line ends and trailing white space"
	notAtEnd   = "its position: it has no context after its change, as at the end of a file, but is elsewhere"
	notAtStart = "its position: its header names the first line, but it is elsewhere"
	noContext  = "its position: it has no context"
)

// Apply makes hunks in a text, all or none. They must come in the order of their
// places. The error is a *Mismatch, or the context's.
func Apply(ctx context.Context, text string, hunks []Hunk) (string, []Placed, error) {
	a := newApplier(text, hunks)
	placed := make([]Placed, 0, len(hunks))
	for i, h := range hunks {
		if err := ctx.Err(); err != nil {
			return "", nil, err
		}
		at, p, why := a.find(h)
		if why != "" {
			return "", nil, a.mismatch(i, h, why)
		}
		a.make(h, at, p.loose)
		placed = append(placed, p)
	}
	a.take(len(a.lines))
	return a.out.String(), placed, nil
}

// applier is a text in which hunks are being made.
type applier struct {
	lines []string // of the text before
	exact matching
	loose matching // without blanks at the ends of lines
	out   strings.Builder
	end   int       // lines of the text before that are taken already
	delta int       // how many lines there are more by now
	made  []segment // in order
	work  int       // comparisons that may still be made
}

// segment is where a hunk was made: lines of the text before.
type segment struct {
	start, end int
	delta      int // of all hunks up to this one
}

// mostWork bounds the search for places: more is needed only where all lines are alike
// and all line numbers wrong.
const mostWork = 50_000_000

// workOfPlace is what it takes to come by a place, as many comparisons of lines.
const workOfPlace = 16

// matching has the lines of a text and of the hunks as numbers.
type matching struct {
	ids   map[string]int32
	lines []int32
	at    [][]int32 // by number: which lines of the text
	key   func(string) string
}

func newApplier(text string, hunks []Hunk) *applier {
	a := &applier{lines: diff.SplitLines(text), work: mostWork}
	a.out.Grow(len(text))
	a.exact = newMatching(a.lines, hunks, func(s string) string { return s })
	a.loose = newMatching(a.lines, hunks, trimmed)
	return a
}

const blanks = " \t\r\n"

func trimmed(line string) string { return strings.TrimRight(line, blanks) }

// newMatching numbers the lines of hunks; those of the text that are in none are -1.
func newMatching(lines []string, hunks []Hunk, key func(string) string) matching {
	m := matching{ids: map[string]int32{}, lines: make([]int32, len(lines)), key: key}
	for _, h := range hunks {
		for _, line := range h.Lines {
			k := key(line.Text)
			if _, known := m.ids[k]; !known {
				m.ids[k] = int32(len(m.ids))
			}
		}
	}
	m.at = make([][]int32, len(m.ids))
	for i, line := range lines {
		id, known := m.ids[key(line)]
		if !known {
			id = -1
		} else {
			m.at[id] = append(m.at[id], int32(i))
		}
		m.lines[i] = id
	}
	return m
}

func (m *matching) pattern(lines []string) []int32 {
	out := make([]int32, len(lines))
	for i, line := range lines {
		out[i] = m.ids[m.key(line)]
	}
	return out
}

// find is the line at which a hunk is to be made, or why there is none.
func (a *applier) find(h Hunk) (int, Placed, string) {
	old := h.Old()
	if h.Unnumbered {
		return a.findUnnumbered(h, old)
	}
	leading, trailing := h.context()
	if leading+trailing == 0 {
		return a.findBare(h, old)
	}
	start, end := h.OldStart <= 1, trailing == 0
	searches := []search{{&a.exact, start, end, ""}, {&a.loose, start, end, upToBlanks}}
	if start || end {
		note := notAtEnd
		if start {
			note = notAtStart
		}
		searches = append(searches, search{&a.exact, false, false, note}, search{&a.loose, false, false, upToBlanks + "; " + note})
	}
	for i, s := range searches {
		if s.m == &a.loose && allBlank(old) {
			continue
		}
		at, why := a.nearest(s, h, old)
		if i > 1 && at >= 0 && a.imageOf(at) != named(h) {
			at, why = a.only(s.m, old)
		}
		if why != "" {
			return -1, Placed{}, why
		}
		if i > 1 && at >= 0 && a.isMade(h, at, old) {
			return -1, Placed{}, reasonApplied
		}
		if at >= 0 {
			return at, a.placed(h, at, s), ""
		}
	}
	if !allBlank(old) && len(a.all(&a.loose, old, 0, 1)) > 0 {
		return -1, Placed{}, reasonAbove
	}
	return -1, Placed{}, reasonAbsent
}

// isMade: what stands at a place is what the hunk has made of it before.
func (a *applier) isMade(h Hunk, at int, old []string) bool {
	made := h.New()
	want := a.loose.pattern(made)
	for from := at + len(old) - len(made); from <= at; from++ {
		if a.isAtAnywhere(&a.loose, from, want) {
			return true
		}
	}
	return false
}

func (a *applier) placed(h Hunk, at int, s search) Placed {
	p := Placed{At: at, Line: min(at+1, len(a.lines)), Leniency: s.leniency, loose: s.m == &a.loose}
	if !h.Unnumbered {
		p.Offset = a.imageOf(at) - named(h)
	}
	return p
}

// named is the line that a hunk's header names, from 0, in the text as it is when the
// hunks above are made.
func named(h Hunk) int {
	if h.NewLines == 0 { // the line before
		return h.NewStart
	}
	return max(0, h.NewStart-1)
}

func allBlank(lines []string) bool {
	return !slices.ContainsFunc(lines, func(line string) bool { return trimmed(line) != "" })
}

// search is one way to look for a place.
type search struct {
	m          *matching
	start, end bool // it must be the first, or the last, of the text
	leniency   string
}

// nearest looks first where the hunk's header says, then further and further away, at
// each distance below before above: as git does.
func (a *applier) nearest(s search, h Hunk, old []string) (int, string) {
	want := s.m.pattern(old)
	switch last := len(a.lines) - len(old); {
	case last < 0:
		return -1, ""
	case s.start:
		if s.end && last != 0 || !a.isAt(s.m, 0, want) {
			return -1, ""
		}
		return 0, ""
	case s.end:
		if !a.isAt(s.m, last, want) {
			return -1, ""
		}
		return last, ""
	}
	rare := rarest(s.m, want)
	places := s.m.at[want[rare]]
	target := named(h)
	up, _ := slices.BinarySearchFunc(places, target, func(at int32, target int) int { return a.imageOf(int(at)-rare) - target })
	for down := up - 1; down >= 0 || up < len(places); {
		if a.work -= workOfPlace; a.work < 0 {
			return -1, reasonWork
		}
		below, above := int(^uint(0)>>1), int(^uint(0)>>1)
		if up < len(places) {
			below = a.imageOf(int(places[up])-rare) - target
		}
		if down >= 0 {
			above = target - a.imageOf(int(places[down])-rare)
		}
		at := 0
		if below <= above {
			at = int(places[up]) - rare
			up++
		} else {
			at = int(places[down]) - rare
			down--
		}
		if a.isFree(at, len(want)) && a.isAtAnywhere(s.m, at, want) {
			if at < a.end {
				return -1, reasonOrder
			}
			return at, ""
		}
	}
	return -1, ""
}

// rarest is which line of a pattern is in the text least often.
func rarest(m *matching, want []int32) int {
	best := 0
	for i, id := range want {
		if len(m.at[id]) < len(m.at[want[best]]) {
			best = i
		}
	}
	return best
}

// only is the one place of lines below the hunks made so far.
func (a *applier) only(m *matching, old []string) (int, string) {
	all := a.all(m, old, a.end, 2)
	switch {
	case a.work < 0:
		return -1, reasonWork
	case len(all) == 1:
		return all[0], ""
	case len(all) > 1:
		return -1, reasonAmbiguous
	}
	return -1, ""
}

// all are the first places of lines from a line on.
func (a *applier) all(m *matching, old []string, from, most int) (out []int) {
	want := m.pattern(old)
	if len(want) == 0 {
		return nil
	}
	rare := rarest(m, want)
	for _, at := range m.at[want[rare]] {
		if at := int(at) - rare; at >= from && a.isAtAnywhere(m, at, want) {
			if out = append(out, at); len(out) == most {
				return out
			}
		}
		if a.work < 0 {
			return out
		}
	}
	return out
}

func (a *applier) isAt(m *matching, at int, want []int32) bool {
	return at >= a.end && a.isAtAnywhere(m, at, want)
}

func (a *applier) isAtAnywhere(m *matching, at int, want []int32) bool {
	a.work--
	if at < 0 || at+len(want) > len(m.lines) {
		return false
	}
	for i, id := range want {
		if m.lines[at+i] != id {
			a.work -= i
			return false
		}
	}
	a.work -= len(want)
	return true
}

// isFree: no hunk was made in these lines.
func (a *applier) isFree(at, lines int) bool {
	if at >= a.end {
		return true
	}
	i, _ := slices.BinarySearchFunc(a.made, at, func(s segment, at int) int { return s.end - at - 1 })
	return i == len(a.made) || at+lines <= a.made[i].start
}

// imageOf is where a line of the text before stands now.
func (a *applier) imageOf(at int) int {
	switch {
	case at >= a.end:
		return at + a.delta
	case len(a.made) == 0:
		return at
	}
	i, _ := slices.BinarySearchFunc(a.made, at, func(s segment, at int) int { return s.end - at - 1 })
	at = min(at, a.made[i].start) // within a hunk that was made, where that begins
	if i == 0 {
		return at
	}
	return at + a.made[i-1].delta
}

// findBare finds the place of a hunk without context: the whole of a text, else only
// where its header says, or where its lines are once.
func (a *applier) findBare(h Hunk, old []string) (int, Placed, string) {
	last := len(a.lines) - len(old)
	at := named(h) - a.delta
	if len(old) == 0 {
		if at != len(a.lines) || at < a.end || at > 0 && !isEnded(a.lines[at-1]) {
			return -1, Placed{}, reasonBare
		}
		if at == 0 {
			return 0, a.placed(h, 0, search{m: &a.exact}), ""
		}
		return at, a.placed(h, at, search{m: &a.exact, leniency: noContext}), ""
	}
	whole := []search{{m: &a.exact}, {m: &a.loose, leniency: upToBlanks}}
	within := []search{{m: &a.exact, leniency: noContext}, {m: &a.loose, leniency: upToBlanks + "; " + noContext}}
	for i, s := range within {
		want := s.m.pattern(old)
		if last == 0 && a.isAt(s.m, 0, want) {
			return 0, a.placed(h, 0, whole[i]), ""
		}
		if s.m == &a.loose && allBlank(old) {
			continue
		}
		if a.isAt(s.m, at, want) {
			return at, a.placed(h, at, s), ""
		}
		one, why := a.only(s.m, old)
		if why != "" {
			return -1, Placed{}, why
		}
		if one >= 0 {
			return one, a.placed(h, one, s), ""
		}
	}
	return -1, Placed{}, reasonAbsent
}

// findUnnumbered finds a hunk below the ones before it and below its anchors. Without
// an anchor its lines must be there once; an anchor that is there more than once must lead
// to one place.
func (a *applier) findUnnumbered(h Hunk, old []string) (int, Placed, string) {
	at, s, why := a.below(h, old, a.end)
	n := len(h.Anchors)
	switch {
	case why == reasonAbsent && n > 0 && strings.TrimSpace(old[0]) == h.Anchors[n-1]: // it may itself be the first line of the hunk
		h.Anchors = h.Anchors[:n-1]
		return a.findUnnumbered(h, old)
	case why == "" && n > 0 && a.isElsewhere(h, old, at, s):
		why = reasonAmbiguous
	case why == "" && n == 0 && a.overlaps(s.m, old):
		why = reasonAbove
	case why == reasonAbsent && len(a.all(&a.loose, old, 0, 1)) > 0:
		switch why = reasonAbove; {
		case h.AtEnd:
			why = reasonNotLast
		case n > 0:
			why = reasonNotBelow
		}
	}
	if why != "" {
		return -1, Placed{}, why
	}
	return at, a.placed(h, at, s), ""
}

// below is the place of an unnumbered hunk whose anchors are looked for from a line on.
func (a *applier) below(h Hunk, old []string, from int) (int, search, string) {
	for _, anchor := range h.Anchors {
		at := a.anchor(anchor, from)
		if at < 0 {
			return -1, search{}, reasonAnchor
		}
		from = at + 1
	}
	if len(old) == 0 {
		if len(h.Anchors) > 0 {
			return -1, search{}, reasonBare
		}
		return len(a.lines), search{m: &a.exact}, "" // to add at the end
	}
	for _, s := range []search{{m: &a.exact}, {m: &a.loose, leniency: upToBlanks}} {
		if s.m == &a.loose && allBlank(old) {
			continue
		}
		var found []int
		if h.AtEnd {
			if at := len(a.lines) - len(old); at >= from && a.isAt(s.m, at, s.m.pattern(old)) {
				found = []int{at}
			}
		} else {
			found = a.all(s.m, old, from, 2)
		}
		switch {
		case a.work < 0:
			return -1, s, reasonWork
		case len(found) > 1 && len(h.Anchors) == 0:
			return -1, s, reasonAmbiguous
		case len(found) > 0:
			return found[0], s, ""
		}
	}
	return -1, search{}, reasonAbsent
}

// overlaps: the lines of a hunk are there already from within the hunk before it on, which
// shares some of them. Those further down are hardly meant.
func (a *applier) overlaps(m *matching, old []string) bool {
	if len(a.made) == 0 {
		return false
	}
	want := m.pattern(old)
	for at := max(a.made[len(a.made)-1].start, a.end-len(old)+1); at < a.end; at++ {
		if a.isAtAnywhere(m, at, want) {
			return true
		}
	}
	return false
}

// isElsewhere: the first anchor is there again, and leads to another place as good.
func (a *applier) isElsewhere(h Hunk, old []string, at int, s search) bool {
	for from := a.end; ; {
		first := a.anchor(h.Anchors[0], from)
		if from = first + 1; first < 0 {
			return false
		}
		other, by, why := a.below(h, old, from)
		if why != "" || by.leniency != s.leniency {
			return false
		}
		if other != at {
			return true
		}
	}
}

// anchor is the first line from one on that is a text but for indentation.
func (a *applier) anchor(text string, from int) int {
	for i := from; i < len(a.lines); i++ {
		if a.work--; a.work < 0 {
			return -1
		}
		if strings.TrimSpace(a.lines[i]) == text {
			return i
		}
	}
	return -1
}

// make writes a hunk at its place.
func (a *applier) make(h Hunk, at int, lenient bool) {
	a.take(at)
	old := len(h.Old())
	a.out.WriteString(fitted(h, a.lines, at, at+old, lenient))
	a.end = at + old
	a.delta += len(h.New()) - old
	a.made = append(a.made, segment{at, a.end, a.delta})
}

// take copies the lines before one that are not yet taken.
func (a *applier) take(until int) {
	for _, line := range a.lines[a.end:until] {
		a.out.WriteString(line)
	}
	a.end = until
}

// fitted is what a hunk leaves of the lines from at to behind. Those that it does not change
// stay as they stand there. New ones come as the patch has them, where its lines are the
// place's to the character; else they end as the lines around them do.
func fitted(h Hunk, lines []string, at, behind int, lenient bool) string {
	around := []int{at - 1, at - 2, 0}
	if behind > at {
		around = []int{at, at - 1, at - 2}
	}
	end := ""
	for _, i := range around {
		if end == "" && i >= 0 && i < len(lines) {
			end = lineEnd(lines[i])
		}
	}
	if end == "" {
		end = "\n"
	}
	var out []string
	isAdded := behind == at && at > 0 && !isEnded(lines[at-1])
	if isAdded { // the line above gets an end
		out = []string{""}
	}
	for _, line := range h.Lines {
		text := line.Text
		if line.Op != diff.Insert {
			text = lines[at]
			at++
			if e := lineEnd(text); e != "" {
				end = e
			}
		} else if e := lineEnd(text); lenient && e != "" {
			text = strings.TrimSuffix(text, e) + end
		}
		if line.Op == diff.Delete {
			continue
		}
		if n := len(out); n > 0 && !isEnded(out[n-1]) {
			out[n-1] += end
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		return ""
	}
	text, old, now := strings.Join(out, ""), h.Old(), h.New()
	ended := false // where the file has no final newline and lines are added, it stays so
	switch {
	case behind < len(lines): // more follows
		ended = true
	case isAdded:
	case len(old) == 0 || len(now) == 0:
		return text
	default:
		if ended = isEnded(now[len(now)-1]); ended == isEnded(old[len(old)-1]) { // the patch does not change how the file ends
			ended = isEnded(lines[behind-1])
		}
	}
	switch {
	case !ended:
		return strings.TrimSuffix(text, lineEnd(text))
	case !isEnded(out[len(out)-1]):
		return text + end
	}
	return text
}

func isEnded(line string) bool { return strings.HasSuffix(line, "\n") }

func lineEnd(line string) string {
	if strings.HasSuffix(line, "\r\n") {
		return "\r\n"
	}
	if isEnded(line) {
		return "\n"
	}
	return ""
}

// Mismatch is why a hunk cannot be made.
type Mismatch struct {
	Hunk     int      // which, from 1
	Line     int      // of the patch, where it begins
	Reason   string   // a sentence
	Expected []string // the lines that it wants, as they are in the patch
	At       int      // line of the text, from 1, at which its lines are most like those; 0: nowhere
	Found    []string // as many lines from there on
	Differs  int      // which of them is the first that is another, from 0
	Places   []int    // of an ambiguous hunk, the lines at which it could be made
	Applied  bool     // the text has what the hunk would make already
}

func (m *Mismatch) Error() string { return fmt.Sprintf("hunk %d: %s", m.Hunk, m.Reason) }

// The reasons.
const (
	reasonAbsent    = "its lines are not in the file"
	reasonAmbiguous = "its lines are in the file more than once, and it is unclear which are meant"
	reasonOrder     = "its nearest lines are above the previous hunk; hunks must be in file order"
	reasonBare      = "it only adds lines and has no context, so it is unclear where"
	reasonWork      = "its position cannot be found: too many lines of the file are alike, and its line numbers are wrong"
	reasonAnchor    = "the line after its @@ is not in the file"
	reasonAbove     = "its lines are in the file, but only above or within an earlier hunk; hunks must be in file order and must not overlap"
	reasonNotBelow  = "its lines are in the file, but not after the line of its @@ and the earlier hunks"
	reasonApplied   = "it is already applied: the file has its result"
	reasonNotLast   = "its lines are in the file, but not at its end, as \"*** End of File\" says"
)

func (a *applier) mismatch(i int, h Hunk, reason string) *Mismatch {
	m := &Mismatch{Hunk: i + 1, Line: h.Line, Reason: reason, Expected: h.Old()}
	a.work = max(a.work, mostWork/10)
	if reason == reasonAmbiguous {
		if places := a.all(&a.exact, m.Expected, a.end, mostTold); len(places) > 1 {
			m.Places = places
		} else {
			m.Places = a.all(&a.loose, m.Expected, a.end, mostTold)
		}
		for i := range m.Places {
			m.Places[i]++
		}
		return m
	}
	if reason == reasonAnchor {
		m.Expected = nil
		for _, anchor := range h.Anchors {
			m.Expected = append(m.Expected, anchor+"\n")
		}
	}
	m.Applied = reason == reasonApplied || reason == reasonAbsent && !allBlank(h.New()) && len(a.all(&a.loose, h.New(), a.end, 1)) == 1
	at := -1
	switch reason {
	case reasonAbsent:
		at = a.mostLike(h, m.Expected)
	case reasonOrder, reasonAbove, reasonNotBelow, reasonNotLast:
		if there := a.all(&a.loose, m.Expected, 0, 1); len(there) > 0 {
			at = there[0]
		}
	}
	if at < 0 || at >= len(a.lines) {
		return m
	}
	m.At, m.Found = at+1, a.lines[at:min(len(a.lines), at+len(m.Expected))]
	for m.Differs < len(m.Found) && trimmed(m.Found[m.Differs]) == trimmed(m.Expected[m.Differs]) {
		m.Differs++
	}
	if m.Differs == len(m.Expected) { // they are all there, at a place where they may not be
		m.Differs = 0
	}
	return m
}

// Of an ambiguous hunk so many places are told; of a line that is in the text more often
// than mostVotes it is not counted what stands around it.
const (
	mostTold  = 10
	mostVotes = 100
)

// mostLike is the line from which on most lines of a hunk stand where they should; of
// several the nearest to where the hunk's header says.
func (a *applier) mostLike(h Hunk, old []string) int {
	votes := map[int]int{}
	want := a.loose.pattern(old)
	for i, id := range want {
		if trimmed(old[i]) == "" || len(a.loose.at[id]) > mostVotes {
			continue
		}
		for _, at := range a.loose.at[id] {
			votes[max(0, int(at)-i)]++
		}
	}
	target := -1
	if !h.Unnumbered {
		target = max(0, min(named(h)-a.delta, len(a.lines)-1))
	}
	best, most := target, 0
	for _, at := range slices.Sorted(maps.Keys(votes)) {
		if n := votes[at]; n > most || n == most && distance(at, target) < distance(best, target) {
			best, most = at, n
		}
	}
	return best
}

func distance(a, b int) int { return max(a-b, b-a) }
