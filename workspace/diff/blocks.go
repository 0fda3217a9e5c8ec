package diff

// Block is one run of changed lines, as editors show it, and how many unchanged lines of its
// hunk stand directly above and below it.
type Block struct {
	Hunk       // without context
	Head, Tail int
}

// Blocks are the runs of changed lines of hunks, in order.
func Blocks(hunks []Hunk) []Block {
	var out []Block
	for _, h := range hunks {
		out = append(out, h.blocks()...)
	}
	return out
}

func (h Hunk) blocks() []Block {
	var out []Block
	old, _ := h.OldSpan()
	changed, _ := h.NewSpan()
	gap := 0
	for at := 0; at < len(h.Lines); {
		if h.Lines[at].Op == Context {
			gap, old, changed, at = gap+1, old+1, changed+1, at+1
			continue
		}
		if len(out) > 0 {
			out[len(out)-1].Tail = gap
		}
		b := Block{Hunk: Hunk{OldStart: old, NewStart: changed, Section: h.Section}, Head: gap}
		from := at
		for gap = 0; at < len(h.Lines) && h.Lines[at].Op != Context; at++ {
			b.countLine(h.Lines[at])
		}
		b.Lines = h.Lines[from:at:at]
		old, changed = old+b.OldLines, changed+b.NewLines
		b.count()
		out = append(out, b)
	}
	if len(out) > 0 {
		out[len(out)-1].Tail = gap
	}
	return out
}

func (h *Hunk) countLine(line Line) {
	if line.Op == Delete {
		h.OldLines++
	} else {
		h.NewLines++
	}
}

// count has the starts count from 1, as a header does.
func (h *Hunk) count() {
	if h.OldLines > 0 {
		h.OldStart++
	}
	if h.NewLines > 0 {
		h.NewStart++
	}
}
