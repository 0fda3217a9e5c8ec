package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// progress is what a text chunk looks like on the wire.
type progress struct {
	Token json.RawMessage
	Value struct {
		Kind, Stream, Text string
		Dropped            int
		Percentage         int
	}
}

func (a answer) progress(t *testing.T) progress {
	t.Helper()
	if a.Method != "$/progress" {
		t.Fatalf("got %s, want progress", a)
	}
	var p progress
	must(t, json.Unmarshal(a.Params, &p))
	return p
}

func gapOf(dropped int) string {
	return fmt.Sprintf("\n[… %d bytes left out, they came faster than they were read …]\n", dropped)
}

// stuff queues so much that the writer is busy and everything after it waits.
func stuff(t *testing.T, c *Conn) {
	t.Helper()
	must(t, c.Notify("stuffing", Raw(`"`+strings.Repeat("x", 1<<20)+`"`)))
}

func TestTextIsJoinedWhileItWaits(t *testing.T) {
	p := newPeer(t, Options{})
	stuff(t, p.conn)
	var out, errs strings.Builder
	for i := range 1000 {
		line := fmt.Sprintf("line %d é\n", i)
		out.WriteString(line)
		must(t, p.conn.Progress("tok", TextChunk{"stdout", line}, ""))
		if i%100 == 99 {
			errs.WriteString("warning\n")
			must(t, p.conn.Progress("tok", TextChunk{"stderr", "warning\n"}, ""))
		}
	}
	must(t, p.conn.Notify("end", nil))
	p.next() // the stuffing
	got, streams := map[string]string{}, []string{}
	for {
		a := p.next()
		if a.Method == "end" {
			break
		}
		chunk := a.progress(t)
		if string(chunk.Token) != `"tok"` || chunk.Value.Kind != "report" || chunk.Value.Dropped != 0 {
			t.Fatalf("got %s", a)
		}
		got[chunk.Value.Stream] += chunk.Value.Text
		streams = append(streams, chunk.Value.Stream)
	}
	if got["stdout"] != out.String() || got["stderr"] != errs.String() {
		t.Errorf("text was lost or changed: %d and %d bytes, want %d and %d",
			len(got["stdout"]), len(got["stderr"]), out.Len(), errs.Len())
	}
	if len(streams) != 20 {
		t.Errorf("%d chunks came, want 20: joined, and in order with the other stream's: %v", len(streams), streams)
	}
}

func TestALargeChunkIsNotCutWhileThereIsRoom(t *testing.T) {
	p := newPeer(t, Options{})
	stuff(t, p.conn)
	text := strings.Repeat("äöü1234567", maxChunk/10)
	must(t, p.conn.Progress(1, TextChunk{"stdout", text}, ""))
	p.next()
	if got := p.next().progress(t); got.Value.Text != text || got.Value.Dropped > 0 {
		t.Errorf("%d bytes of %d came, and %d are said to be missing", len(got.Value.Text), len(text), got.Value.Dropped)
	}
}

func TestTheGapOfATextIsBetweenCharacters(t *testing.T) {
	const half = maxChunk / 2
	for _, sizes := range [][]int{{half, half, 10}, {half - 1, half + 3}, {10, 3 * half}, {5 * half}, {half + 1, half, half, 7}} {
		c := chunk{}
		var all strings.Builder
		for _, size := range sizes {
			piece := strings.Repeat("a€😀é", size/10+1)
			all.WriteString(piece)
			c.add(piece, true)
		}
		text, dropped := c.whole()
		before, after, ok := strings.Cut(string(text), gapOf(dropped))
		if !ok || !strings.HasPrefix(all.String(), before) || !strings.HasSuffix(all.String(), after) ||
			len(before)+len(after)+dropped != all.Len() || !utf8.ValidString(before) || !utf8.ValidString(after) {
			t.Errorf("%v: kept %d and %d bytes of %d, dropped %d", sizes, len(before), len(after), all.Len(), dropped)
		}
	}
}

func TestTextLosesItsMiddleAndSaysHowMuch(t *testing.T) {
	p := newPeer(t, Options{WriteBudget: 1 << 20})
	stuff(t, p.conn)
	const lines, line = 200_000, "0123456789 äöü\n"
	for range lines {
		must(t, p.conn.Progress(7, TextChunk{"stdout", line}, ""))
	}
	if load := p.conn.out.load(); load > 4<<20 {
		t.Errorf("%d bytes wait", load)
	}
	p.next()
	chunk := p.next().progress(t)
	text, dropped := chunk.Value.Text, chunk.Value.Dropped
	before, after, ok := strings.Cut(text, gapOf(dropped))
	if !ok {
		t.Fatalf("no gap in %d bytes that lack %d", len(text), dropped)
	}
	if got, want := len(before)+len(after)+dropped, lines*len(line); got != want {
		t.Errorf("kept and dropped are %d bytes together, want %d", got, want)
	}
	all := strings.Repeat(line, lines)
	if !strings.HasPrefix(all, before) || !strings.HasSuffix(all, after) || strings.ContainsRune(text, '\ufffd') {
		t.Error("what is left is not the start and the end of the text")
	}
	if len(text) > maxChunk+200 {
		t.Errorf("%d bytes were kept", len(text))
	}
}

func TestAFloodOfTextLosesItsMiddleAndEndsWithItsEnd(t *testing.T) {
	p := newPeer(t, Options{})
	var sent strings.Builder
	go func() {
		for i := range 200 {
			piece := strings.Repeat(fmt.Sprintf("a line of text, äöü, %d\n", i), 3000)
			sent.WriteString(piece)
			if err := p.conn.Progress(1, TextChunk{"stdout", piece}, ""); err != nil {
				t.Error(err)
			}
		}
		if err := p.conn.Notify("end", nil); err != nil {
			t.Error(err)
		}
	}()
	var came strings.Builder
	missing, before := 0, -1
	var last string
	for {
		a := p.next()
		if a.Method == "end" {
			break
		}
		chunk := a.progress(t)
		last = chunk.Value.Text
		if chunk.Value.Dropped == 0 {
			came.WriteString(last)
			continue
		}
		if before < 0 {
			before = came.Len()
		}
		came.WriteString(strings.Replace(last, gapOf(chunk.Value.Dropped), "", 1))
		missing += chunk.Value.Dropped
	}
	if came.Len()+missing != sent.Len() {
		t.Errorf("%d bytes came and %d are said to be missing, of %d", came.Len(), missing, sent.Len())
	}
	if before >= 0 && before < flowBurst/2 {
		t.Errorf("something is missing after %d bytes", before)
	}
	if !strings.HasPrefix(sent.String(), came.String()[:flowBurst/2]) || !strings.HasSuffix(sent.String(), last[len(last)/2+200:]) {
		t.Error("its start or its end is not what was sent")
	}
}

func TestFlow(t *testing.T) {
	now := time.Now()
	f := flow{room: flowBurst}
	for i, step := range []struct {
		after time.Duration
		n     int
		want  bool
	}{
		{0, flowBurst, true},
		{0, 1, false},
		{time.Second / 32, 1 << 20, true},
		{0, 1, false},
		{time.Hour, flowBurst, true},
		{time.Millisecond, flowRate/1000 + 1, false},
		{0, flowRate / 1000, true},
	} {
		now = now.Add(step.after)
		if got := f.allows(step.n, now); got != step.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
}

func TestValuesOfOneKeyReplaceEachOther(t *testing.T) {
	p := newPeer(t, Options{})
	stuff(t, p.conn)
	for i := range 100 {
		must(t, p.conn.Progress(1, map[string]int{"percentage": i}, "percentage"))
		must(t, p.conn.Progress(2, map[string]int{"percentage": -i}, "percentage"))
	}
	p.next()
	for token, want := range []int{1: 99, 2: -99} {
		if token == 0 {
			continue
		}
		got := p.next().progress(t)
		if string(got.Token) != fmt.Sprint(token) || got.Value.Percentage != want {
			t.Errorf("got %+v, want %d for token %d", got, want, token)
		}
	}
	must(t, p.conn.Progress(1, map[string]int{"percentage": 100}, "percentage"))
	if got := p.next().progress(t); got.Value.Percentage != 100 {
		t.Errorf("got %+v after the backlog was gone", got)
	}
}

func TestAPeerThatDoesNotRead(t *testing.T) {
	const budget = 4 << 20
	result := Raw(`"` + strings.Repeat("r", 1<<20) + `"`)
	seen := make(chan string, 100)
	p := newPeer(t, Options{WriteBudget: budget, Handler: func(_ context.Context, _ *Conn, req *Request) (any, error) {
		if req.Notification {
			seen <- req.Method
		}
		return result, nil
	}})
	id := 0
	for p.conn.out.load() <= budget {
		id++
		p.sendf(`{"jsonrpc":"2.0","id":%d,"method":"read"}`, id)
		p.send(`{"jsonrpc":"2.0","method":"sync"}`)
		wait(t, seen, "the reader to go on")
		p.waitForLoad(id * len(result))
	}
	for what, err := range map[string]error{
		"Notify": p.conn.Notify("n", nil), "Call": p.conn.Call(t.Context(), "c", nil, nil), "Progress": p.conn.Progress(1, map[string]int{}, ""),
	} {
		if !errors.Is(err, ErrBacklog) {
			t.Errorf("%s: got %v, want ErrBacklog", what, err)
		}
	}
	p.sendf(`{"jsonrpc":"2.0","id":"one more","method":"read"}`)
	p.send(`{"jsonrpc":"2.0","method":"edit"}`)
	if got := wait(t, seen, "the reader to go on"); got != "edit" {
		t.Errorf("got %s", got)
	}

	writable := make(chan error, 1)
	go func() { writable <- p.conn.Writable(t.Context()) }()
	for range id {
		if a := p.next(); len(a.Result) != len(result) {
			t.Fatalf("got %s", a)
		}
	}
	p.wantError(`"one more"`, CodeBusy)
	if err := wait(t, writable, "Writable"); err != nil {
		t.Error(err)
	}
	p.send(`{"jsonrpc":"2.0","id":"last","method":"read"}`)
	if a := p.next(); len(a.Result) != len(result) {
		t.Errorf("got %s", a)
	}
}

// waitForLoad waits until so many bytes wait to be written. A request is done a
// moment before its answer counts: who asked for more at once, moment after
// moment, would be cut off as one that never reads.
func (p *peer) waitForLoad(least int) {
	p.t.Helper()
	deadline := time.Now().Add(patience)
	for p.conn.out.load() < least {
		if time.Now().After(deadline) {
			p.t.Fatalf("%d bytes wait after %v, want %d", p.conn.out.load(), patience, least)
		}
		runtime.Gosched()
	}
}

func TestAPeerThatAsksAndNeverReadsIsCutOff(t *testing.T) {
	g := newGate()
	result := Raw(`"` + strings.Repeat("r", 1<<20) + `"`)
	p := newPeer(t, Options{WriteBudget: 4 << 20, Handler: func(_ context.Context, _ *Conn, req *Request) (any, error) {
		g.arrived <- req.ID
		<-g.open
		return result, nil
	}})
	for id := range 20 {
		p.sendf(`{"jsonrpc":"2.0","id":%d,"method":"read"}`, id)
		wait(t, g.arrived, "the request")
	}
	g.release()
	wait(t, p.conn.Done(), "the end of the connection")
	if !errors.Is(p.conn.Err(), ErrBacklog) {
		t.Errorf("got %v, want ErrBacklog", p.conn.Err())
	}
}

func TestAPeerThatSendsRubbishAndNeverReadsIsCutOff(t *testing.T) {
	p := newPeer(t, Options{WriteBudget: 4 << 10})
	_, _ = io.WriteString(p.end, strings.Repeat("Content-Length: 1\r\n\r\nx", 100_000)) // the connection ends before it has read all
	wait(t, p.conn.Done(), "the end of the connection")
	if !errors.Is(p.conn.Err(), ErrBacklog) {
		t.Errorf("got %v, want ErrBacklog", p.conn.Err())
	}
}

func TestWritableEndsWithItsContext(t *testing.T) {
	p := newPeer(t, Options{WriteBudget: 1 << 10})
	stuff(t, p.conn)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.conn.Writable(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
