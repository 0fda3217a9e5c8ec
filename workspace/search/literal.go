package search

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// commonness is how often a byte occurs in source text, roughly: the rarer the byte
// that is looked for, the fewer places are looked at closely. The figures are counts in
// 10,000 bytes of C, Go, JavaScript and prose; what is not named is rare.
var commonness = func() (of [256]int) {
	for b, n := range map[string]int{
		" ": 1500, "\t": 700, "\n": 350, "e": 620, "t": 480, "r": 420, "i": 400, "s": 390, "a": 370, "n": 370, "o": 330, "c": 250, "d": 250, "l": 230,
		"_": 240, "u": 180, "p": 190, "f": 170, "m": 150, "0": 130, "g": 120, "h": 120, "b": 110, ",": 110, "(": 100, ")": 100, ";": 100, "-": 80, "*": 80,
		"v": 75, "x": 75, "k": 65, "y": 65, "w": 60, "E": 55, "=": 90, "/": 70, "1": 65, ".": 70, ">": 60, "2": 45, "S": 45, "T": 45, "R": 40, "I": 40, "C": 40,
		"A": 45, "D": 40, "N": 40, "O": 35, "L": 35, "P": 35, "M": 30, "F": 25, "B": 20, "U": 20, "G": 18, "\"": 55, "&": 35, "{": 35, "}": 35, ":": 30, "3": 30,
		"4": 25, "q": 20, "j": 12, "z": 15, "H": 15, "V": 15, "W": 10, "X": 12, "Y": 8, "K": 8, "Q": 6, "J": 4, "Z": 4, "[": 20, "]": 20, "<": 25, "8": 22,
		"5": 18, "6": 20, "7": 15, "9": 15, "#": 20, "!": 10, "|": 10, "+": 12, "\\": 15, "'": 15, "%": 10,
	} {
		of[b[0]] = n
	}
	for b := 0x80; b < 0x100; b++ {
		of[b] = 5
	}
	return of
}()

// rarest is the place of the rarest byte.
func rarest(want string) int {
	best := 0
	for i := range len(want) {
		if commonness[want[i]] < commonness[want[best]] {
			best = i
		}
	}
	return best
}

// findExact finds want as it is, by its rarest byte.
func findExact(want string) finder {
	at := rarest(want)
	return func(_ context.Context, text string) func(int) (int, int) {
		return func(from int) (int, int) {
			if i := indexRare(text, want, at, from); i >= 0 {
				return i, i + len(want)
			}
			return -1, -1
		}
	}
}

// indexRare is where want comes next at or after from, -1 if it does not. The byte at its
// place rare is looked for. Where that turns out not to be rare, want itself is.
func indexRare(text, want string, rare, from int) int {
	last := len(text) - len(want) // where it could begin
	misses := 0
	for begin := from; begin <= last; begin++ {
		i := strings.IndexByte(text[begin+rare:last+rare+1], want[rare])
		if i < 0 {
			return -1
		}
		begin += i
		if text[begin:begin+len(want)] == want {
			return begin
		}
		if misses++; misses > 8 && misses > (begin-from)/16 {
			if i = strings.Index(text[begin+1:], want); i >= 0 {
				return begin + 1 + i
			}
			return -1
		}
	}
	return -1
}

// findFolded finds want whatever the letters' case, by the bytes that one of its
// characters can be spelled with: the one whose are the rarest.
func findFolded(want string) finder {
	runes := []rune(want)
	anchor, cost := 0, -1
	for i, r := range runes {
		sum := 0
		for _, b := range firstBytes(r) {
			sum += commonness[b] + 5
		}
		if cost < 0 || sum < cost {
			anchor, cost = i, sum
		}
	}
	bytes := firstBytes(runes[anchor])
	before, after := runes[:anchor], runes[anchor:]
	return func(ctx context.Context, text string) func(int) (int, int) {
		ahead := make([]int, len(bytes)) // where each comes next
		for i := range ahead {
			ahead[i] = -1
		}
		return func(from int) (int, int) {
			at := from
			for n := 1; n%(1<<16) != 0 || ctx.Err() == nil; n++ {
				at = nextOf(text, bytes, ahead, at)
				if at == len(text) {
					break
				}
				if end, ok := foldedAfter(text, at, after); ok {
					if start, ok := foldedBefore(text, at, before); ok && start >= from {
						return start, end
					}
				}
				at++
			}
			return -1, -1
		}
	}
}

// nextOf is where the first of the bytes comes at or after from, len(text) if none does.
func nextOf(text string, bytes []byte, ahead []int, from int) int {
	first := len(text)
	for i, b := range bytes {
		if ahead[i] < from {
			ahead[i] = len(text)
			if next := strings.IndexByte(text[from:], b); next >= 0 {
				ahead[i] = from + next
			}
		}
		first = min(first, ahead[i])
	}
	return first
}

// firstBytes are the bytes that the forms of a character begin with.
func firstBytes(r rune) (out []byte) {
	for form := r; ; {
		if b := utf8.AppendRune(nil, form)[0]; !slices.Contains(out, b) {
			out = append(out, b)
		}
		if form = unicode.SimpleFold(form); form == r {
			return out
		}
	}
}

// foldedAfter gives where the form of want ends that begins at text[at:].
func foldedAfter(text string, at int, want []rune) (end int, ok bool) {
	for _, w := range want {
		if at < len(text) && text[at] < utf8.RuneSelf && w < utf8.RuneSelf {
			if !sameFolded(rune(text[at]), w) {
				return 0, false
			}
			at++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		if size == 0 || !sameFolded(r, w) {
			return 0, false
		}
		at += size
	}
	return at, true
}

// foldedBefore gives where the form of want begins that ends before text[at:].
func foldedBefore(text string, at int, want []rune) (start int, ok bool) {
	for _, w := range slices.Backward(want) {
		r, size := utf8.DecodeLastRuneInString(text[:at])
		if size == 0 || !sameFolded(r, w) {
			return 0, false
		}
		at -= size
	}
	return at, true
}

func sameFolded(a, b rune) bool {
	if a == b {
		return true
	}
	if a < utf8.RuneSelf && b < utf8.RuneSelf {
		return a|0x20 == b|0x20 && 'a' <= a|0x20 && a|0x20 <= 'z'
	}
	for r := unicode.SimpleFold(a); r != a; r = unicode.SimpleFold(r) {
		if r == b {
			return true
		}
	}
	return false
}

// findAny finds the first of several: a candidate of each is kept until it is passed.
func findAny(finders []finder) finder {
	if len(finders) == 1 {
		return finders[0]
	}
	return func(ctx context.Context, text string) func(int) (int, int) {
		next := make([]func(int) (int, int), len(finders))
		ahead := make([][2]int, len(finders))
		for i, find := range finders {
			next[i], ahead[i] = find(ctx, text), [2]int{-1, -1}
		}
		return func(from int) (int, int) {
			best := [2]int{-1, -1}
			for i := range next {
				if ahead[i][0] < from && next[i] != nil {
					start, end := next[i](from)
					ahead[i] = [2]int{start, end}
					if start < 0 {
						next[i] = nil // it comes no more
					}
				}
				if next[i] != nil && (best[0] < 0 || ahead[i][0] < best[0]) {
					best = ahead[i]
				}
			}
			return best[0], best[1]
		}
	}
}
