package test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pillion/agents/relay"
	"pillion/internal/testrig"
	"pillion/internal/testrig/machine"
	"pillion/internal/wire"
)

// spawnPlain is spawn for what is measured: without the race detector.
func spawnPlain(t *testing.T) *testrig.Editor {
	t.Helper()
	if !raced {
		return spawn(t, testrig.Options{})
	}
	program := filepath.Join(t.TempDir(), "pillion")
	if out, err := exec.Command("go", "build", "-o", program, "pillion").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return testrig.Spawn(t, []string{program, "serve"}, testrig.Options{})
}

// retryable says that a call was refused so that it may be made again.
func retryable(body string, err error) bool {
	var refused *wire.Error
	return errors.As(err, &refused) && refused.Code == wire.CodeBusy || strings.Contains(body, `"RATE_LIMITED"`)
}

func textOf(r relay.Result) string { return string(bytes.Join(r, nil)) }

// TestSixteenFloods: as many agents send large writes that nobody answers, all at once. The
// sidecar stays small, says that they may try again, and serves everybody else.
func TestSixteenFloods(t *testing.T) {
	t.Parallel()
	const agents, most = 16, 150
	writes := machine.Cases(5, 14) // already more than it may take
	e := spawnPlain(t)
	e.Write("app.py", app)
	at := ask[struct{ Socket, Token string }](e, "relay/info", object{})
	dial := func(name string) *relay.Client {
		c, err := relay.Dial(t.Context(), relay.Entry{Socket: at.Socket, Token: at.Token}, relay.Hello{Agent: relay.Agent{Name: name}, Cwd: e.Dir})
		must(t, err)
		t.Cleanup(func() { c.Close() })
		return c
	}
	text, _ := json.Marshal(strings.Repeat("some line of a text\n", 100_000))
	refused := make(chan string, agents*writes) // each with what is wrong about it
	for i := range agents {
		c := dial(fmt.Sprint("agent", i))
		for j := range writes {
			arguments := json.RawMessage(fmt.Sprintf(`{"path": "new%d-%d.txt", "content": %s}`, i, j, text))
			go func() {
				body, err := c.Call(t.Context(), relay.Call{Name: "write_file", Arguments: arguments}, nil)
				wrong := ""
				if !retryable(textOf(body), err) {
					wrong = fmt.Sprintf("%.200s, %v", textOf(body), err)
				}
				refused <- wrong
			}()
		}
	}
	other := dial("another")
	small := func() {
		body, err := other.Call(t.Context(), relay.Call{Name: "read_file", Arguments: json.RawMessage(`{"path": "app.py"}`)}, nil)
		if err != nil || !strings.Contains(textOf(body), `"ok":true`) {
			t.Errorf("another agent's read: %.200s, %v", textOf(body), err)
		}
	}
	small()
	dialogs := 0
	for range agents * writes {
		select {
		case <-e.Approvals:
			dialogs++
		case wrong := <-refused:
			if wrong != "" {
				t.Error(wrong)
			}
		}
	}
	small()
	now, peak := memoryOf(t, e.Command.Process.Pid)
	t.Logf("%d dialogs; %d MB now, %d MB at most", dialogs, now, peak)
	if peak > most || dialogs == 0 {
		t.Errorf("%d MB at most with %d dialogs, want fewer than %d MB", peak, dialogs, most)
	}
}

// TestMemoryIsGivenBack after large reads, when nothing is called for a while.
func TestMemoryIsGivenBack(t *testing.T) {
	t.Parallel()
	const most = 100
	e := spawnPlain(t)
	e.Write("large.txt", strings.Repeat("some line of a text\n", 450_000))
	var peak int
	eventually(t, "reads that take much at once", func() bool {
		var reads sync.WaitGroup
		for range 6 {
			reads.Go(func() {
				<-begin(t.Context(), e, "read_file", object{"path": "large.txt"}) // the memory is what counts
			})
		}
		reads.Wait()
		_, peak = memoryOf(t, e.Command.Process.Pid)
		return peak >= most
	})
	eventually(t, fmt.Sprintf("to hold less than %d of %d MB", most, peak), func() bool {
		now, _ := memoryOf(t, e.Command.Process.Pid)
		return now < most
	})
}
