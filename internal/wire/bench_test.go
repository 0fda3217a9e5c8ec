package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
)

// BenchmarkEcho100 is a request and its answer as the peer of a server sees it
// that spends nothing on its own side.
func BenchmarkEcho100(b *testing.B) { benchEcho(b, 100) }

func BenchmarkEcho1M(b *testing.B) { benchEcho(b, 1<<20) }

func benchEcho(b *testing.B, size int) {
	near, far := pipes(b)
	server := NewConn(far, Options{Handler: echo})
	exchange(b, near, size)
	near.Close()
	<-server.Done()
}

// exchange sends requests, each when the one before is answered.
func exchange(b *testing.B, near io.ReadWriter, size int) {
	msg := requestBytes(size)
	answers := newFrames(near, 1<<10, 32<<20)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if size > 32<<10 {
			go func() { _, _ = near.Write(msg) }()
		} else {
			_, _ = near.Write(msg)
		}
		if body, err := answers.next(); err != nil || len(body) < size {
			b.Fatal(len(body), err)
		}
	}
}

func requestBytes(size int) []byte {
	text := strings.Repeat("func main() {\n\tprintln(\"x\")\n}\n", size/30+1)[:size]
	params, _ := json.Marshal(map[string]string{"text": text})
	body := bytes.Join(requestFrame(&jsonrpc2.Request{ID: jsonrpc2.ID{Num: 1}, Method: "echo", Params: (*json.RawMessage)(&params)}).parts, nil)
	return append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...)
}

func BenchmarkCall100(b *testing.B) {
	client, _ := connect(b, Options{}, Options{Handler: echo})
	params := map[string]string{"text": strings.Repeat("x", 100)}
	b.ReportAllocs()
	for b.Loop() {
		must(b, client.Call(context.Background(), "echo", params, nil))
	}
}

func BenchmarkAppendString(b *testing.B) {
	text := strings.Repeat("func main() {\n\tprintln(\"x\", 'é')\n}\n", 30000)
	b.SetBytes(int64(len(text)))
	var out []byte
	for b.Loop() {
		out = AppendString(out[:0], text)
	}
}

func BenchmarkAppendStringASCII(b *testing.B) {
	text := strings.Repeat("a line of a hundred characters or so, which is the most usual thing there is in a source file....\n", 10000)
	b.SetBytes(int64(len(text)))
	var out []byte
	for b.Loop() {
		out = AppendString(out[:0], text)
	}
}

func BenchmarkParse(b *testing.B) {
	msg := requestBytes(1 << 20)
	msg = msg[bytes.IndexByte(msg, '{'):]
	b.SetBytes(int64(len(msg)))
	for b.Loop() {
		if _, bad := parse(msg, 512); bad != nil {
			b.Fatal(bad.reason)
		}
	}
}
