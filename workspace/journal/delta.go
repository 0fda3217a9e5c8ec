package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/zstd"
)

// An agent's edit leaves most of a file as it was. What the file holds after it is then
// kept as a delta: which chunk it was made from, how much of that one's beginning and
// end it has, and what is between. The base is always in the same segment and before the
// delta, so that a segment is still whole by itself and no chain can lead in a circle.
// A base that is damaged takes what rests on it along; hence the bound.
const (
	deltaLeast  = 4 << 10 // what is shorter is kept whole
	deltaDeeper = 16      // of so many deltas on one another the next content is kept whole
)

const deltaHead = chunkHead + 40 // hash of the base, length of the beginning and of the end

// delta is a content as it differs from its base.
type delta struct {
	base           hash
	prefix, suffix int
	depth          int // how many deltas there are down to a whole chunk, this one among them
	middle         []byte
}

// delta makes one of a content on what stood there before, if that is in the segment and
// most of it is still there.
func (b *batch) delta(data []byte, before *State) (d delta, ok bool) {
	if before == nil || len(before.Data) == 0 || len(data) < deltaLeast || len(before.Chunks) != 1 {
		return d, false
	}
	name, err := hex.DecodeString(before.Chunks[0])
	if err != nil || len(name) != len(d.base) {
		return d, false
	}
	d.base = hash(name)
	base, ok := b.held(d.base)
	// What a delta is made on is certainly what the segment has: the name alone may be
	// one that somebody else found.
	if !ok || base.depth >= deltaDeeper || crc32.Checksum(before.Data, castagnoli) != base.crc {
		return d, false
	}
	d.depth = base.depth + 1
	d.prefix = samePrefix(before.Data, data)
	d.suffix = sameSuffix(before.Data[d.prefix:], data[d.prefix:])
	d.middle = data[d.prefix : len(data)-d.suffix]
	return d, len(d.middle) <= len(data)/2
}

// held is a chunk that the segment has, or will have before anything that is added now.
func (b *batch) held(sum hash) (held, bool) {
	if is, ok := b.fresh[sum]; ok {
		return is, true
	}
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	is, ok := b.segment.chunks[half(sum[:16])]
	return is, ok && is.sum == sum
}

// append puts the delta's frame at the end of dst.
func (d *delta) append(dst, head, packed []byte) []byte {
	var rest [deltaHead - chunkHead]byte
	copy(rest[:], d.base[:])
	binary.LittleEndian.PutUint32(rest[32:], uint32(d.prefix))
	binary.LittleEndian.PutUint32(rest[36:], uint32(d.suffix))
	return appendFrame(dst, kindDelta, head, rest[:], packed)
}

// stride is how much is compared at once.
const stride = 512

func samePrefix(a, b []byte) int {
	n, at := min(len(a), len(b)), 0
	for at+stride <= n && bytes.Equal(a[at:at+stride], b[at:at+stride]) {
		at += stride
	}
	for at < n && a[at] == b[at] {
		at++
	}
	return at
}

func sameSuffix(a, b []byte) int {
	n, at := min(len(a), len(b)), 0
	a, b = a[len(a)-n:], b[len(b)-n:]
	for at+stride <= n && bytes.Equal(a[n-at-stride:n-at], b[n-at-stride:n-at]) {
		at += stride
	}
	for at < n && a[n-at-1] == b[n-at-1] {
		at++
	}
	return at
}

var errDamaged = errors.New("the journal is damaged here")

// chunk reads one, and checks that it is what its name says.
func (c *Content) chunk(name string) ([]byte, error) {
	raw, err := hex.DecodeString(name)
	if err != nil || len(raw) != len(hash{}) {
		return nil, fmt.Errorf("%w: %q is no name of a chunk", ErrGone, name)
	}
	data, err := c.built(hash(raw), c.size)
	if err == nil && sha256.Sum256(data) != hash(raw) {
		err = fmt.Errorf("%w: a chunk is not what its name says", errDamaged)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// built is a chunk that stands before a place in the segment, with what it rests on.
func (c *Content) built(sum hash, before int64) ([]byte, error) {
	is, ok := c.at[sum]
	if !ok {
		return nil, ErrGone
	}
	if is.at >= before {
		return nil, fmt.Errorf("%w: a chunk rests on a later one", errDamaged)
	}
	payload, err := readFrame(c.file, is.at, is.length)
	switch {
	case err != nil:
		return nil, err
	case is.kind == kindChunk:
		return c.unpacker.DecodeAll(payload[chunkHead:], nil)
	case len(payload) < deltaHead:
		return nil, fmt.Errorf("%w: a delta is cut short", errDamaged)
	}
	base, err := c.built(hash(payload[chunkHead:chunkHead+32]), is.at)
	if err != nil {
		return nil, err
	}
	return splice(c.unpacker, payload, base)
}

// splice puts the middle of a delta between the ends of its base.
func splice(unpacker *zstd.Decoder, payload, base []byte) ([]byte, error) {
	length := int64(binary.LittleEndian.Uint32(payload[32:]))
	prefix := int64(binary.LittleEndian.Uint32(payload[chunkHead+32:]))
	suffix := int64(binary.LittleEndian.Uint32(payload[chunkHead+36:]))
	if length > chunkSize || prefix+suffix > min(length, int64(len(base))) {
		return nil, fmt.Errorf("%w: a delta does not fit its base", errDamaged)
	}
	out := append(make([]byte, 0, length), base[:prefix]...)
	out, err := unpacker.DecodeAll(payload[deltaHead:], out)
	if err != nil {
		return nil, err
	}
	return append(out, base[int64(len(base))-suffix:]...), nil
}
