package journal

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// A segment is a file of frames, written by one program and only ever appended to:
//
//	magic   "pillion journal 1\n", once
//	frame   length uint32 | crc uint32 | kind byte | payload
//
// length counts kind and payload, crc is CRC-32C of both; numbers are little endian.
// Kinds:
//
//	'c'  a chunk of content: SHA-256 (32 bytes), its length uint32, zstd
//	'e'  the same as a delta (delta.go): SHA-256, length, SHA-256 of its base, which is a
//	     'c' or 'e' further up, uint32 how much it has of the base's beginning, uint32 how
//	     much of its end, zstd of what is between. Who wrote segments before there were
//	     deltas passes over these, and finds such content to be gone
//	'b'  the begin of an entry: Entry as JSON. Its chunks are in the same segment, so that
//	     a segment can be removed without looking into others; they may come later for 'd'
//	'd'  its end: ending as JSON
//	'm'  a mark on an entry, perhaps of another segment: mark as JSON
//
// What follows a frame that is cut short or does not fit its crc was never finished.
const magic = "pillion journal 1\n"

const (
	kindChunk = 'c'
	kindDelta = 'e'
	kindBegin = 'b'
	kindEnd   = 'd'
	kindMark  = 'm'
)

const (
	frameHead = 9  // length, crc and kind
	chunkHead = 36 // hash and length
	chunkSize = 1 << 20
	// maxFrame bounds what is believed of a length.
	maxFrame = 256 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ending is how an entry ended.
type ending struct {
	ID    string     `json:"id"`
	State EntryState `json:"state"`
	Why   string     `json:"why,omitempty"`
	// Records are what is there now, when it is not what was to be.
	Records []Record `json:"records,omitempty"`
	Unswept bool     `json:"unswept,omitempty"`
}

// mark says of an entry what happened to it later.
type mark struct {
	ID    string     `json:"id"`
	State EntryState `json:"state"`
	Why   string     `json:"why,omitempty"`
	// Reverted are the paths that were put back; Restored those of which that was
	// itself reverted.
	Reverted []string `json:"reverted,omitempty"`
	Restored []string `json:"restored,omitempty"`
	// Swept: somebody looked after it, and Unswept is how it is now.
	Swept   bool `json:"swept,omitempty"`
	Unswept bool `json:"unswept,omitempty"`
}

// hash is the name of a chunk, and half of it is enough to tell it from others.
type (
	hash [32]byte
	half [16]byte
)

// held is a chunk that a segment has.
type held struct {
	sum   hash
	crc   uint32 // of the content
	depth int    // how many deltas it rests on; 0: it is whole
}

// appendFrame puts one frame at the end of dst.
func appendFrame(dst []byte, kind byte, payload ...[]byte) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, frameHead-1)...)
	dst = append(dst, kind)
	for _, p := range payload {
		dst = append(dst, p...)
	}
	body := dst[start+frameHead-1:]
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(body)))
	binary.LittleEndian.PutUint32(dst[start+4:], crc32.Checksum(body, castagnoli))
	return dst
}

func appendJSON(dst []byte, kind byte, v any) ([]byte, error) {
	payload, err := json.Marshal(v)
	if err != nil {
		return dst, err
	}
	return appendFrame(dst, kind, payload), nil
}

// frame is one frame as a scan shows it. Of a chunk only the hash and the length
// are read.
type frame struct {
	kind    byte
	at      int64 // where its payload begins
	length  int   // of the payload
	payload []byte
}

func (f frame) isChunk() bool { return f.kind == kindChunk || f.kind == kindDelta }

// scan shows all frames from a place on that are whole, and returns where they end. Chunks are
// passed over unread; whoever reads one checks it.
func scan(f io.ReaderAt, from, size int64, show func(frame)) (int64, error) {
	r := &window{from: f, size: size}
	head, err := r.peek(0, len(magic))
	if err != nil || string(head) != magic {
		return 0, err
	}
	at := max(from, int64(len(magic)))
	for {
		head, err := r.peek(at, frameHead)
		if err != nil || head == nil {
			return at, err
		}
		length, sum, kind := binary.LittleEndian.Uint32(head), binary.LittleEndian.Uint32(head[4:]), head[8]
		if length < 1 || length > maxFrame || at+frameHead-1+int64(length) > size {
			return at, nil
		}
		fr := frame{kind: kind, at: at + frameHead, length: int(length) - 1}
		want := fr.length
		if fr.isChunk() {
			want = min(want, chunkHead)
		}
		if fr.payload, err = r.peek(fr.at, want); err != nil {
			return at, err
		}
		if !fr.isChunk() {
			if crc32.Update(crc32.Checksum([]byte{kind}, castagnoli), castagnoli, fr.payload) != sum {
				return at, nil
			}
		}
		show(fr)
		at += frameHead - 1 + int64(length)
	}
}

// window reads ahead, so that small frames cost no call each.
type window struct {
	from io.ReaderAt
	size int64
	buf  []byte
	at   int64
}

// peek gives n bytes at a place, nil where the file ends before.
func (w *window) peek(at int64, n int) ([]byte, error) {
	if at+int64(n) > w.size {
		return nil, nil
	}
	if at < w.at || at+int64(n) > w.at+int64(len(w.buf)) {
		buf := make([]byte, min(int64(max(n, 16<<10)), w.size-at))
		read, err := w.from.ReadAt(buf, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		w.buf, w.at = buf[:read], at
		if read < n {
			return nil, nil
		}
	}
	return w.buf[at-w.at:][:n], nil
}

// readFrame reads one payload and checks it.
func readFrame(f io.ReaderAt, at int64, length int) ([]byte, error) {
	buf := make([]byte, frameHead+length)
	if _, err := f.ReadAt(buf, at-frameHead); err != nil {
		return nil, err
	}
	if crc32.Checksum(buf[frameHead-1:], castagnoli) != binary.LittleEndian.Uint32(buf[4:]) {
		return nil, fmt.Errorf("%w: a chunk does not fit its checksum", errDamaged)
	}
	return buf[frameHead:], nil
}

// segment is a file that this program appends to.
type segment struct {
	name   string // in the store's folder
	file   *os.File
	size   int64
	chunks map[half]held
	users  int  // pending entries whose end belongs here
	full   bool // no new entries
}

// write appends whole frames, or leaves the file as it was.
func (g *segment) write(frames []byte) error {
	n, err := g.file.WriteAt(frames, g.size)
	if err != nil {
		if n > 0 {
			if cut := g.file.Truncate(g.size); cut != nil {
				g.full = true // nothing that is written after the torn frame would be read
			}
		}
		return err
	}
	g.size += int64(n)
	return nil
}

// hold notes chunks that were written, unless another batch wrote them first.
func (g *segment) hold(fresh map[hash]held) {
	for sum, is := range fresh {
		if key := half(sum[:16]); g.chunks[key].sum != sum {
			g.chunks[key] = is
		}
	}
}

// readFull fills buf from a reader, or less of it if there is not more.
func readFull(r io.Reader, buf []byte) (int, error) {
	n, err := io.ReadFull(r, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}
