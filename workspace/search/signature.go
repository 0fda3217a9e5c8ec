package search

import (
	"slices"
	"strings"
)

// signature says of a text what it does not hold. For each block of some 64 KB, which
// ends with a line, it has some words, and in these a bit for each run of four bytes in
// the block, ASCII letters taken as small ones: a Bloom filter with one hash function.
// Where the bit of a run is not set, the run is not in the block. The place of a run is a
// part of its hash, so that any number of words will do.
type signature struct {
	bits   []uint64
	blocks []uint32 // where in bits each block after the first begins
}

// words is how much memory it takes.
func (s *signature) words() int { return len(s.bits) + len(s.blocks)/2 }

const (
	gramBytes = 4
	// blockBytes is how long a block is. The shorter, the less other text is in it that
	// has the runs of a query by chance; the longer, the more runs come twice.
	blockBytes = 64 << 10
	// bitsForGram is how many bits there are for each run: with three, one in four is
	// set, and a name of 16 letters is taken to be where it is not once in millions.
	bitsForGram = 3
	// seenBits is for the table in which runs are noted that have been met.
	seenBits = 16
)

// foldedByte is a byte as a signature has it.
var foldedByte = func() (of [256]byte) {
	for b := range of {
		of[b] = byte(b)
		if 'A' <= b && b <= 'Z' {
			of[b] += 'a' - 'A'
		}
	}
	return of
}()

// hashGram gives each run its own hash.
func hashGram(gram uint32) uint32 { return gram * 0x9E3779B1 }

// placeOf is the bit of a hash in so many words.
func placeOf(hash uint32, words int) uint64 { return uint64(hash) * (uint64(words) * 64) >> 32 } //nolint:gosec // words is positive

// signer makes signatures. It is for one goroutine.
type signer struct {
	seen   *[1 << seenBits]uint32 // hashes, each at the place that its first bits say
	hashes []uint32
	out    signature
}

func (s *signer) sign(text string) signature {
	s.out = signature{s.out.bits[:0], s.out.blocks[:0]}
	for begun := false; len(text) > 0; begun = true {
		if begun {
			s.out.blocks = append(s.out.blocks, uint32(len(s.out.bits))) //nolint:gosec // a part of the file's length
		}
		end := endOfBlock(text)
		s.block(text[:end])
		text = text[end:]
	}
	return signature{slices.Clone(s.out.bits), slices.Clip(slices.Clone(s.out.blocks))}
}

// endOfBlock is where the first block of a text ends.
func endOfBlock(text string) int {
	if len(text) < blockBytes+blockBytes/2 {
		return len(text)
	}
	if end := strings.LastIndexByte(text[:blockBytes], '\n'); end >= 0 {
		return end + 1
	}
	if end := strings.IndexByte(text[blockBytes:], '\n'); end >= 0 {
		return blockBytes + end + 1
	}
	return len(text)
}

func (s *signer) block(text string) {
	if cap(s.hashes) < len(text)+1 {
		s.hashes = make([]uint32, len(text)+1)
	}
	hashes, seen, count := s.hashes[:len(text)+1], s.seen, 0
	gram := uint32(0)
	for i := range len(text) {
		gram = gram<<8 | uint32(foldedByte[text[i]])
		if i < gramBytes-1 {
			continue
		}
		hash := hashGram(gram)
		at := &seen[hash>>(32-seenBits)]
		isNew := 0
		if *at != hash { // one that was driven out by another is noted twice, and takes a little more room
			isNew = 1
		}
		*at, hashes[count] = hash, hash
		count += isNew // without a branch: no processor foresees what is new
	}
	words := count*bitsForGram/64 + 1
	begin := len(s.out.bits)
	s.out.bits = append(s.out.bits, make([]uint64, words)...)
	block := s.out.bits[begin:]
	for _, hash := range hashes[:count] {
		at := placeOf(hash, words)
		block[at/64] |= 1 << (at % 64)
		seen[hash>>(32-seenBits)] = 0
	}
}

// isOdd says that a text has letters that ASCII letters are folded to and that are none
// themselves: the long s and the sign for kelvin.
func isOdd(text string) bool {
	return strings.Contains(text, "\u017f") || strings.Contains(text, "\u212a")
}

// sieve is what a query wants of signatures: of each of its clauses a text is to hold one
// of the literals, in one block.
type sieve struct {
	clauses [][]needle
	// four are runs that each text must hold that is not odd; nil: there are none.
	four *[4]uint32
}

// needle is what of a literal can be looked for in a signature.
type needle struct {
	hashes []uint32
	folded bool
}

// newSieve is nil for a query of which signatures say nothing.
func newSieve(must []clause) *sieve {
	out := &sieve{}
	for _, c := range must {
		needles := make([]needle, len(c))
		for i, l := range c {
			needles[i] = needle{l.grams(), l.folded}
		}
		if slices.ContainsFunc(needles, func(n needle) bool { return len(n.hashes) == 0 }) {
			continue
		}
		out.clauses = append(out.clauses, needles)
		if hashes := needles[0].hashes; len(needles) == 1 && out.four == nil {
			last := len(hashes) - 1
			out.four = &[4]uint32{hashes[0], hashes[last/3], hashes[last*2/3], hashes[last]}
		}
	}
	if len(out.clauses) == 0 {
		return nil
	}
	return out
}

// grams are the hashes of the runs that every spelling of the literal has in it.
func (l literal) grams() (out []uint32) {
	gram, length := uint32(0), 0
	for i := range len(l.text) {
		if length++; l.folded && l.text[i] >= 0x80 {
			length = 0 // what it is spelled like is not known
		}
		gram = gram<<8 | uint32(foldedByte[l.text[i]])
		if length >= gramBytes && gram != 0 { // that one a signer cannot tell from none
			out = append(out, hashGram(gram))
		}
	}
	return out
}

// admits says that the text of the signature may hold what is wanted.
func (s *sieve) admits(of *signature, odd bool) bool {
	if s.four != nil && !odd && len(of.blocks) == 0 && len(of.bits) > 0 && !hasAll(of.bits, s.four) {
		return false // most often: what follows would keep the processor from looking at many files at once
	}
	begin := 0
	for _, end := range of.blocks {
		if s.admitsBlock(of.bits[begin:end], odd) {
			return true
		}
		begin = int(end)
	}
	return begin < len(of.bits) && s.admitsBlock(of.bits[begin:], odd)
}

func (s *sieve) admitsBlock(block []uint64, odd bool) bool {
	for _, c := range s.clauses {
		if !anyIn(c, block, odd) {
			return false
		}
	}
	return true
}

func anyIn(needles []needle, block []uint64, odd bool) bool {
	for i := range needles {
		if n := &needles[i]; n.folded && odd || n.in(block) {
			return true
		}
	}
	return false
}

func (n *needle) in(block []uint64) bool {
	for _, hash := range n.hashes {
		if bitOf(block, hash) == 0 {
			return false
		}
	}
	return true
}

// hasAll looks at four places without asking between them: they are far from one another
// in memory, and fetched at once.
func hasAll(block []uint64, four *[4]uint32) bool {
	return bitOf(block, four[0])&bitOf(block, four[1])&bitOf(block, four[2])&bitOf(block, four[3]) != 0
}

func bitOf(block []uint64, hash uint32) uint64 {
	at := placeOf(hash, len(block))
	return block[at/64] >> (at % 64) & 1
}
