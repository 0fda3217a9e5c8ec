// Command gateway is the reference gateway as a program, on loopback, for `make try-gateway`
// and the end-to-end tests. Its first line of output is its address. Then, with --frames, it
// prints each connection and each frame that it gets, and sends each line of its input as one; without, a
// scripted agent behind it mends the sample project as soon as you say something.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"pillion/try/sample"
)

type frame map[string]any

func main() {
	frames := flag.Bool("frames", false, "")
	token := flag.String("token", "", "")
	flag.Parse()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
	fmt.Printf("ws://%s/ws\n", listener.Addr())
	s := &server{token: *token, frames: *frames}
	if s.frames {
		go s.relay()
	}
	fmt.Fprintln(os.Stderr, "gateway:", http.Serve(listener, http.HandlerFunc(s.serve)))
	os.Exit(1)
}

// server is the gateway; it speaks with the connection that came last.
type server struct {
	token  string
	frames bool

	mu   sync.Mutex // guards conn
	conn *websocket.Conn
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	if s.token != "" && r.Header.Get("Authorization") != "Bearer "+s.token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow() //nolint:errcheck // it has ended
	conn.SetReadLimit(16 << 20)
	s.mu.Lock()
	s.conn = conn
	s.mu.Unlock()
	if s.frames {
		fmt.Println(`{"type":"connected"}`)
	}
	a := &agent{conn: conn, results: make(chan frame, 16), said: make(chan string, 16)}
	if !s.frames {
		go a.work(r.Context())
	}
	for {
		_, data, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		var f frame
		if json.Unmarshal(data, &f) != nil {
			continue
		}
		if s.frames {
			fmt.Println(string(data))
			continue
		}
		a.take(f)
	}
}

// relay sends what comes in as lines.
func (s *server) relay() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		s.mu.Lock()
		conn := s.conn
		s.mu.Unlock()
		switch {
		case conn == nil:
		case lines.Text() == "close":
			_ = conn.CloseNow() // as a connection does that breaks
		default:
			_ = conn.Write(context.Background(), websocket.MessageText, lines.Bytes())
		}
	}
	os.Exit(0)
}

// agent is the scripted agent of one connection.
type agent struct {
	conn    *websocket.Conn
	results chan frame
	said    chan string
}

func (a *agent) take(f frame) {
	switch f["type"] {
	case "user_message":
		text, _ := f["content"].(string)
		a.said <- text
	case "tool_result":
		if result, is := f["result"].(map[string]any); is {
			if code, streams := result["exit_code"]; streams && code == nil {
				return // more of it comes
			}
		}
		a.results <- f
	}
}

func (a *agent) send(f frame) {
	data, _ := json.Marshal(f) // a map of texts
	_ = a.conn.Write(context.Background(), websocket.MessageText, data)
}

// say streams a sentence, as models do.
func (a *agent) say(text string) {
	for word := range strings.SplitAfterSeq(text, " ") {
		a.send(frame{"type": "assistant_message", "token": word, "is_final": false})
		time.Sleep(30 * time.Millisecond)
	}
	a.send(frame{"type": "assistant_message", "token": "", "is_final": true})
}

// work answers the first message with the script, and later ones with what it can do.
func (a *agent) work(ctx context.Context) {
	a.say("Hello. There is a bug in this project: the kettle's clock shows **4:5** for four minutes and five seconds. Say something, and I mend it.")
	for turn := 0; ; turn++ {
		select {
		case <-a.said:
		case <-ctx.Done():
			return
		}
		if turn > 0 {
			a.say("I only know how to mend the clock, and that is done.")
			continue
		}
		a.ride(ctx)
		a.send(frame{"type": "agent_status", "status": "idle", "message": ""})
	}
}

func (a *agent) ride(ctx context.Context) {
	refused := false
	for i, step := range sample.Ride() {
		a.send(frame{"type": "agent_status", "status": "thinking", "message": ""})
		if step.Tool == "" && refused {
			step.Say = "You refused a part of it, so I leave it at that."
		}
		a.say(step.Say)
		if step.Tool == "" {
			return
		}
		a.send(frame{"type": "tool_call", "call_id": fmt.Sprintf("%s-%d", time.Now().Format("150405"), i), "tool_name": step.Tool, "arguments": step.Arguments})
		select {
		case f := <-a.results:
			refused = refused || f["error"] != nil
			if failed, is := f["error"].(map[string]any); is && failed["code"] == "CANCELLED" {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
