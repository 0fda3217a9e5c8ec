package tools

import "strings"

// index is strings.Index for a text of which it is known that it is long: it goes by the
// byte of what is sought that is rarest where the text begins. The first one, by which
// strings.Index goes, is often in every word.
func index(text, sought string) int {
	if len(text) < minIndex || len(sought) < 2 {
		return strings.Index(text, sought)
	}
	at := rarest(text[:sampled], sought)
	rare := sought[at]
	for from, missed := 0, 0; len(text)-from >= len(sought); {
		i := strings.IndexByte(text[from+at:len(text)-len(sought)+at+1], rare)
		if i < 0 {
			return -1
		}
		from += i
		if text[from:from+len(sought)] == sought {
			return from
		}
		from++
		if missed++; missed > from/64+64 { // it is not that rare further on
			if i = strings.Index(text[from:], sought); i < 0 {
				return -1
			}
			return from + i
		}
	}
	return -1
}

// minIndex is from where on it pays to look first, and sampled is at how much.
const (
	minIndex = 4096
	sampled  = 1024
)

// rarest is the place in sought of the byte that the sample has the fewest of.
func rarest(sample, sought string) int {
	var counts [256]uint16
	for i := range len(sample) {
		counts[sample[i]]++
	}
	best := 0
	for i := range min(len(sought), sampled) {
		if counts[sought[i]] < counts[sought[best]] {
			best = i
		}
	}
	return best
}
