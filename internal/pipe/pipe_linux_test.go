package pipe

import (
	"os"
	"testing"
	"time"
)

func TestWiden(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	Widen(w, 256<<10)
	if err := w.SetWriteDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := w.Write(make([]byte, 200<<10)); err != nil { // nobody reads
		t.Errorf("it took %d bytes: %v", n, err)
	}
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	Widen(file, 256<<10) // is no pipe: nothing happens
}
