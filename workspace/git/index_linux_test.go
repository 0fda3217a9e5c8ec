package git

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pillion/workspace/git/gitfile"
)

// So does an index, whose halves are read at the same time.
func TestAnIndexIsCutOffMeanwhile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "index")
	var text []byte
	const count = 12_000
	text = append(text, "DIRC\x00\x00\x00\x02"...)
	text = binary.BigEndian.AppendUint32(text, count)
	for i := range count {
		entry := make([]byte, 72)
		entry[61] = byte(copy(entry[entryFixed:], fmt.Sprintf("file%05d", i)))
		text = append(text, entry...)
	}
	text = append(text, make([]byte, indexTrailer)...)
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	data, done, err := gitfile.Map(name, maxIndex)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if entries, err := (&indexReader{text: data}).read(); err != nil || len(entries) != count || entries[count-1].path != "file11999" {
		t.Fatalf("as it is: %v, %d entries", err, len(entries))
	}
	for _, size := range []int64{0, int64(len(text) / 4), int64(len(text) * 3 / 4)} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, size); err != nil {
			t.Fatal(err)
		}
		if _, err := (&indexReader{text: data}).read(); err == nil {
			t.Errorf("cut off after %d bytes, and all is read", size)
		}
	}
}
