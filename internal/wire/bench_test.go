package wire

import (
	"context"
	"strings"
	"testing"
)

// A call of so many bytes and its answer, both ends included.
func BenchmarkCall100(b *testing.B) { benchCall(b, 100) }

func BenchmarkCall1M(b *testing.B) { benchCall(b, 1<<20) }

func benchCall(b *testing.B, size int) {
	client, _ := connect(b, Options{}, Options{Handler: echo})
	params := map[string]string{"text": strings.Repeat("func main() {\n\tprintln(\"x\")\n}\n", size/30+1)[:size]}
	var result Raw
	b.ReportAllocs()
	for b.Loop() {
		must(b, client.Call(context.Background(), "echo", params, &result))
	}
}

// BenchmarkResult1M is a small call with a large answer: a file that an agent reads.
func BenchmarkResult1M(b *testing.B) {
	text := Raw(AppendString(nil, strings.Repeat("func main() {\n\tprintln(\"x\")\n}\n", 1<<20/30)))
	client, _ := connect(b, Options{}, Options{Handler: func(context.Context, *Conn, *Request) (any, error) { return text, nil }})
	var result Raw
	b.ReportAllocs()
	for b.Loop() {
		must(b, client.Call(context.Background(), "read", nil, &result))
	}
}

// BenchmarkNotify1M is a document that an editor or a language server gets.
func BenchmarkNotify1M(b *testing.B) {
	came := make(chan bool)
	client, _ := connect(b, Options{}, Options{Handler: func(context.Context, *Conn, *Request) (any, error) { came <- true; return nil, nil }})
	params := map[string]string{"text": strings.Repeat("func main() {\n\tprintln(\"x\")\n}\n", 1<<20/30)}
	b.ReportAllocs()
	for b.Loop() {
		must(b, client.Notify("didOpen", params))
		<-came
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
