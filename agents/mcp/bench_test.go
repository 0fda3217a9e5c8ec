package mcp

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"pillion/agents/internal/agenttest"
	"pillion/tools/policy"
	"pillion/tools/session"
)

// benchRead reads a file of this size through the server and an editor's sidecar,
// over the system's pipes as an agent does. Here all three are one process.
func benchRead(b *testing.B, size int) {
	home(b)
	text := strings.Repeat(strings.Repeat("x", 79)+"\n", size/80+1)[:size]
	p := agenttest.NewProject(b, map[string]string{"a.txt": text})
	p.Sessions.SetDefaults(policy.Default, session.Limits{}) // as often as it likes
	editor(b, p)
	fromAgent, toServer, err := os.Pipe()
	must(b, err)
	fromServer, toAgent, err := os.Pipe()
	must(b, err)
	ended := make(chan error, 1)
	go func() { ended <- Serve(b.Context(), Options{In: fromAgent, Out: toAgent, Cwd: p.Dir, Logf: b.Logf}) }()
	defer func() { <-ended }()
	defer toServer.Close()
	out := bufio.NewReaderSize(fromServer, 1<<20)
	exchange := func(request string) {
		if _, err := io.WriteString(toServer, request+"\n"); err != nil {
			b.Fatal(err)
		}
		for {
			if _, err := out.ReadSlice('\n'); err == nil {
				return
			} else if err != bufio.ErrBufferFull {
				b.Fatal(err)
			}
		}
	}
	exchange(fmt.Sprintf(hello, "2025-06-18"))
	b.SetBytes(int64(size))
	for i := 0; b.Loop(); i++ {
		exchange(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"a.txt"}}}`, i+1))
	}
}

func BenchmarkRead100(b *testing.B) { benchRead(b, 100) }
func BenchmarkRead1M(b *testing.B)  { benchRead(b, 1<<20) }
