package diff

import "strings"

// slide moves pure insertions and deletions to where a reader expects them.
// Text inserted next to its like can be shown in several places that mean the
// same: a new function with its closing brace, or with the one of the function
// before it. Edits that can be made to touch become one.
func (v *view) slide(edits []Edit) (slid []Edit, inside bool) {
	inside = true
	out := make([]Edit, 0, len(edits))
	for i, e := range edits {
		room := space{up: e.OldStart, down: len(v.before) - e.OldEnd}
		if len(out) > 0 {
			room.up -= out[len(out)-1].OldEnd
			room.above = true
		}
		if i+1 < len(edits) {
			room.down = edits[i+1].OldStart - e.OldEnd
			room.below = true
		}
		shift, holds := v.bestShift(e, room)
		inside = inside && holds
		e = e.moved(shift)
		switch {
		case room.below && e.OldEnd == edits[i+1].OldStart:
			edits[i+1].OldStart, edits[i+1].NewStart = e.OldStart, e.NewStart
		case room.above && out[len(out)-1].OldEnd == e.OldStart:
			out[len(out)-1].OldEnd, out[len(out)-1].NewEnd = e.OldEnd, e.NewEnd
		default:
			out = append(out, e)
		}
	}
	return out, inside
}

// space is how far an edit may move, and whether another edit ends it there.
type space struct {
	up, down     int
	above, below bool
}

func (e Edit) moved(by int) Edit {
	return Edit{e.OldStart + by, e.OldEnd + by, e.NewStart + by, e.NewEnd + by}
}

// bestShift says by how many lines to move e within room, upwards if negative,
// and whether the view holds all that this rests on.
func (v *view) bestShift(e Edit, room space) (by int, inside bool) {
	lines, start, end := v.after, e.NewStart, e.NewEnd
	switch {
	case e.OldStart == e.OldEnd:
	case e.NewStart == e.NewEnd:
		lines, start, end = v.before, e.OldStart, e.OldEnd
	default:
		return 0, v.holds(lines, start, end)
	}
	lowest, highest := 0, 0
	for -lowest < room.up && lines[start+lowest-1] == lines[end+lowest-1] {
		lowest--
	}
	for highest < room.down && lines[start+highest] == lines[end+highest] {
		highest++
	}
	inside = v.holds(lines, start+lowest, end+highest)
	switch {
	case lowest == highest:
		return 0, inside
	case room.above && -lowest == room.up:
		return lowest, inside // it touches another edit: one change, not two
	case room.below && highest == room.down:
		return highest, inside
	}
	return bestCut(lines, start, end, lowest, highest), inside
}

// bestCut tries the shifts and takes the one whose two ends cut the text best,
// the lowest place of equals. Beyond 100 lines it looks no further up.
func bestCut(lines []string, start, end, lowest, highest int) int {
	const most = 100
	lowest = max(lowest, highest-most, highest-(end-start)-1)
	best, bestScore := highest, cut{}
	for shift := highest; shift >= lowest; shift-- {
		score := cutBefore(lines, start+shift).plus(cutBefore(lines, end+shift))
		if shift == highest || score.better(bestScore) {
			best, bestScore = shift, score
		}
	}
	return best
}

// cut rates a place between two lines for the edge of a change: little
// indentation first, then a penalty. The weights are those that Michael
// Haggerty measured over many projects' histories for git's indent heuristic.
type cut struct{ indent, penalty int }

func (c cut) plus(d cut) cut { return cut{c.indent + d.indent, c.penalty + d.penalty} }

func (c cut) better(than cut) bool {
	const indentWeight = 60
	sign := 0
	switch {
	case c.indent > than.indent:
		sign = 1
	case c.indent < than.indent:
		sign = -1
	}
	return indentWeight*sign+c.penalty-than.penalty < 0
}

// surroundings are what cutBefore looks at.
type surroundings struct {
	indent                   int // of the line after the cut, -1: blank or none
	above, below             int // of the nearest lines that are not blank, -1: none
	blanksAbove, blanksBelow int // blank lines between the cut, or its line, and those
}

func cutBefore(lines []string, at int) cut {
	var c cut
	near := look(lines, at)
	if at == len(lines) {
		c.penalty += 21
	}
	if near.above == -1 && near.blanksAbove == 0 {
		c.penalty++
	}
	below := 0 // blank lines after the cut, the line itself included
	if near.indent == -1 {
		below = 1 + near.blanksBelow
	}
	blanks := near.blanksAbove + below
	c.penalty += -30*blanks + 6*below

	indent := near.indent
	if indent == -1 {
		indent = near.below
	}
	c.indent = indent
	if indent == -1 || near.above == -1 || indent == near.above {
		return c
	}
	switch {
	case indent > near.above:
		c.penalty += choose(blanks > 0, 10, -4)
	case near.below != -1 && near.below > indent: // a new block's head, such as else
		c.penalty += choose(blanks > 0, 17, 24)
	default:
		c.penalty += choose(blanks > 0, 17, 23)
	}
	return c
}

func choose(condition bool, yes, no int) int {
	if condition {
		return yes
	}
	return no
}

func look(lines []string, at int) surroundings {
	const most = 20 // blank lines: more make no difference
	near := surroundings{indent: -1, above: -1, below: -1}
	if at < len(lines) {
		near.indent = indentation(lines[at])
	}
	for i := at - 1; i >= 0; i-- {
		if near.above = indentation(lines[i]); near.above != -1 {
			break
		}
		if near.blanksAbove++; near.blanksAbove == most {
			near.above = 0
			break
		}
	}
	for i := at + 1; i < len(lines); i++ {
		if near.below = indentation(lines[i]); near.below != -1 {
			break
		}
		if near.blanksBelow++; near.blanksBelow == most {
			near.below = 0
			break
		}
	}
	return near
}

// indentation is the column of the first visible character, -1 on a blank
// line. Tabs stop every 8 columns; beyond 200 it makes no difference.
func indentation(line string) int {
	column := 0
	for i := range len(line) {
		switch line[i] {
		case ' ':
			column++
		case '\t':
			column += 8 - column%8
		default:
			if strings.IndexByte("\r\n\v\f", line[i]) < 0 {
				return column
			}
		}
		if column >= 200 {
			return 200
		}
	}
	return -1
}
