package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"

	"pillion/internal/fault"
	"pillion/tools"
)

// readResult is what read_file says, as far as these tests look.
type readResult struct {
	OK         bool   `json:"ok"`
	Content    string `json:"content"`
	Encoding   string `json:"encoding"`
	BOM        bool   `json:"bom"`
	StartLine  int    `json:"start_line"`
	EndLine    int    `json:"end_line"`
	TotalLines int    `json:"total_lines"`
	HasMore    bool   `json:"has_more"`
	Version    string `json:"version"`
	Error      *fault.Error
}

// read calls read_file and gives the chunks too, if there is a place for them.
func (w *world) read(arguments map[string]any, chunks *[]tools.Chunk) readResult {
	w.t.Helper()
	w.start()
	call := tools.Call{Name: "read_file", Arguments: w.json(arguments), Session: w.session("main")}
	if chunks != nil {
		call.Stream = func(_ context.Context, c tools.Chunk) error {
			*chunks = append(*chunks, c)
			return nil
		}
	}
	var r readResult
	w.must(json.Unmarshal(w.registry.Execute(context.Background(), call).Structured, &r))
	return r
}

// Parts of files over the limit in any encoding, as they would be read of a small one.
func TestPartsOfLargeFilesInAnyEncoding(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	var want []string
	for i := range 30_000 {
		line := fmt.Sprintf("%d Grüße\r\n", i)
		want = append(want, line)
		text.WriteString(line)
	}
	for name, test := range map[string]struct {
		codec encoding.Encoding
		ask   string
		is    string
		bom   bool
	}{
		"utf-8":                      {encoding.Nop, "", "utf-8", false},
		"utf-8 with a mark":          {unicode.UTF8BOM, "", "utf-8", true},
		"utf-16le with a mark":       {unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "", "utf-16le", true},
		"utf-16be with a mark":       {unicode.UTF16(unicode.BigEndian, unicode.UseBOM), "", "utf-16be", true},
		"utf-16be, named":            {unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "utf-16be", "utf-16be", false},
		"windows-1252, named":        {charmap.Windows1252, "windows-1252", "windows-1252", false},
		"utf-16le marked, le named":  {unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "utf-16le", "utf-16le", true},
		"iso-8859-15, named loosely": {charmap.ISO8859_15, "iso885915", "iso-8859-15", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.limits.ReadBytes = 100_000
			data, err := test.codec.NewEncoder().String(text.String())
			w.must(err)
			w.write("big.txt", data)
			for _, part := range [][2]int{{1, 2}, {2, 3}, {12_345, 12_347}, {29_999, 30_000}, {30_000, 40_000}, {30_001, 30_002}} {
				arguments := map[string]any{"path": "big.txt", "start_line": part[0], "end_line": part[1]}
				if test.ask != "" {
					arguments["encoding"] = test.ask
				}
				r := w.read(arguments, nil)
				expected := strings.Join(want[min(part[0]-1, 30_000):min(part[1], 30_000)], "")
				if !r.OK || r.Content != expected || r.TotalLines != 30_000 || r.Encoding != test.is || r.BOM != test.bom || r.HasMore != (part[1] < 30_000) {
					t.Fatalf("lines %v: %+v", part, r)
				}
			}
		})
	}
}

func TestAWrongEncodingOfALargeFile(t *testing.T) {
	w := newWorld(t)
	w.limits.ReadBytes = 1000
	w.write("latin.txt", strings.Repeat("plain\n", 1000)+"caf\xe9\n")
	if r := w.read(map[string]any{"path": "latin.txt", "start_line": 1, "end_line": 5}, nil); !r.OK {
		t.Errorf("lines that are UTF-8: %v", r.Error)
	}
	if r := w.read(map[string]any{"path": "latin.txt", "start_line": 1000, "end_line": 1001}, nil); r.Error == nil || r.Error.Code != fault.EncodingError {
		t.Errorf("a line that is not: %+v", r)
	}
}

// What comes in chunks is what comes in one piece; each chunk says which lines it
// has, and ends between two characters.
func TestStreamedChunksMakeTheContent(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("日本語😀é", 60_000)
	text := "first\r\n" + long + "\n" + strings.Repeat("short\n", 50_000) + long
	utf16 := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	for name, test := range map[string]struct {
		codec encoding.Encoding
		text  string
		args  map[string]any
	}{
		"utf-8":           {encoding.Nop, text, map[string]any{}},
		"utf-16":          {utf16, text, map[string]any{}},
		"shift_jis":       {japanese.ShiftJIS, strings.Repeat("日本語", 100_000) + "\n日本\n", map[string]any{"encoding": "shift_jis"}},
		"a part of utf-8": {encoding.Nop, text, map[string]any{"start_line": 2, "end_line": 10_000}},
		"nothing":         {encoding.Nop, text, map[string]any{"start_line": 1_000_000}},
	} {
		for _, limit := range []int64{1 << 20, 100 << 20} { // held whole, or not
			t.Run(fmt.Sprint(name, " ", limit), func(t *testing.T) {
				w := newWorld(t)
				w.limits.ReadBytes = 100 << 20
				data, err := test.codec.NewEncoder().String(test.text)
				w.must(err)
				w.write("f.txt", data)
				test.args["path"] = "f.txt"
				want := w.read(test.args, nil)
				w.limits.ReadBytes = limit
				var chunks []tools.Chunk
				test.args["stream"] = true
				got := w.read(test.args, &chunks)
				if !got.OK || got.Content != "" || got.StartLine != want.StartLine || got.EndLine != want.EndLine || got.TotalLines != want.TotalLines {
					t.Fatalf("%+v", got)
				}
				sameChunks(t, chunks, want)
			})
		}
	}
}

func sameChunks(t *testing.T, chunks []tools.Chunk, want readResult) {
	t.Helper()
	var content strings.Builder
	line := want.StartLine
	for i, c := range chunks {
		if c.StartLine != line || len(c.Content) > 600_000 || strings.Contains(c.Content, "\ufffd") {
			t.Errorf("chunk %d of %d bytes is said to begin in line %d, not %d", i, len(c.Content), c.StartLine, line)
		}
		if line = c.EndLine; strings.HasSuffix(c.Content, "\n") {
			line++
		}
		content.WriteString(c.Content)
	}
	if content.String() != want.Content {
		t.Errorf("the chunks have %d bytes, and not the content's %d", content.Len(), len(want.Content))
	}
}

// A log that is written while it is read: what is read are its lines.
func TestALogThatGrows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.limits.ReadBytes = 10_000
	w.write("app.log", strings.Repeat("line\n", 10_000))
	f, err := os.OpenFile(w.path("app.log"), os.O_APPEND|os.O_WRONLY, 0)
	w.must(err)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		defer f.Close()
		for {
			select {
			case <-stop:
				return
			default:
				f.WriteString("li") //nolint:errcheck // read_file will notice
				f.WriteString("ne\n")
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	total := 10_000
	for range 50 {
		r := w.read(map[string]any{"path": "app.log", "start_line": total - 2}, nil)
		if r.Error != nil && r.Error.Code == fault.FileTooLarge { // it wrote faster than we read
			r = w.read(map[string]any{"path": "app.log", "start_line": total - 2, "end_line": total}, nil)
		}
		whole := strings.Repeat("line\n", r.EndLine-r.StartLine)
		if !r.OK || !strings.HasPrefix(r.Content, whole) || !strings.HasPrefix("line\n", r.Content[len(whole):]) || r.TotalLines < total {
			t.Fatalf("after %d lines: %+v", total, r)
		}
		total = r.TotalLines
	}
}

// Ten gigabytes that are not there cost neither memory nor time.
func TestSparseFiles(t *testing.T) {
	w := newWorld(t)
	w.write("hollow.log", "first\n")
	w.write("empty.bin", "")
	w.must(os.Truncate(w.path("empty.bin"), 10<<30))
	w.must(os.Truncate(w.path("hollow.log"), 10<<30))
	f, err := os.OpenFile(w.path("hollow.log"), os.O_APPEND|os.O_WRONLY, 0)
	w.must(err)
	_, err = f.WriteString("\nlast\n")
	w.must(err)
	w.must(f.Close())
	before := allocated()
	if r := w.read(map[string]any{"path": "empty.bin", "start_line": 1, "end_line": 2}, nil); r.Error == nil || r.Error.Code != fault.BinaryFile {
		t.Errorf("nothing but a hole: %+v", r)
	}
	if r := w.read(map[string]any{"path": "hollow.log", "start_line": 1, "end_line": 1}, nil); r.Error == nil || r.Error.Code != fault.BinaryFile {
		t.Errorf("a hole after a line: %+v", r)
	}
	var chunks []tools.Chunk
	if r := w.read(map[string]any{"path": "hollow.log", "start_line": 3, "end_line": 3, "stream": true}, &chunks); r.Error == nil {
		t.Errorf("a file that begins as a binary does: %+v", r)
	}
	if grown := allocated() - before; grown > 64<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
}

// allocated counts what all tests allocate: one that asks cannot run beside others.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// One line of many megabytes is refused as a whole, and comes in chunks.
func TestAnEnormousLine(t *testing.T) {
	w := newWorld(t)
	w.limits.ReadBytes = 1 << 20
	w.write("one.json", "{"+strings.Repeat("x", 30<<20)+"}")
	before := allocated()
	if r := w.read(map[string]any{"path": "one.json", "start_line": 1, "end_line": 1}, nil); r.Error == nil || r.Error.Code != fault.FileTooLarge {
		t.Errorf("%+v", r.Error)
	}
	if r := w.read(map[string]any{"path": "one.json", "start_line": 2}, nil); !r.OK || r.Content != "" || r.TotalLines != 1 {
		t.Errorf("after the only line: %+v", r)
	}
	if grown := allocated() - before; grown > 8<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
	var n int
	w.start()
	r := w.registry.Execute(context.Background(), tools.Call{
		Name: "read_file", Arguments: json.RawMessage(`{"path": "one.json", "stream": true}`), Session: w.session("main"),
		Stream: func(_ context.Context, c tools.Chunk) error {
			if n += len(c.Content); c.StartLine != 1 || c.EndLine != 1 {
				t.Errorf("a chunk of lines %d to %d", c.StartLine, c.EndLine)
			}
			return nil
		},
	})
	if n != 30<<20+2 || r.IsError {
		t.Errorf("%d bytes came: %s", n, r.Structured)
	}
}
