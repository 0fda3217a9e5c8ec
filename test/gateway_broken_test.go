package test

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
	"pillion/internal/testrig/gateway"
	"pillion/internal/testrig/machine"
)

// cutter is between the sidecar and a gateway, and breaks each connection off after so many
// bytes in a direction.
type cutter struct {
	URL string
	mu  sync.Mutex // guards all below
	// up and down are how many bytes more may pass, to the gateway and from it; below 0: any
	// number.
	up, down int
}

func cutting(t *testing.T, to string) *cutter {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	host, path, _ := strings.Cut(strings.TrimPrefix(to, "ws://"), "/")
	c := &cutter{URL: "ws://" + listener.Addr().String() + "/" + path, up: -1, down: -1}
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", host)
			if err != nil {
				near.Close()
				continue
			}
			go c.pass(near, far, &c.up)
			go c.pass(far, near, &c.down)
		}
	}()
	return c
}

func (c *cutter) pass(from, to net.Conn, left *int) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		c.mu.Lock()
		cut := *left >= 0 && n >= *left
		if cut {
			n, *left = *left, -1 // once; the next connection is whole
		} else if *left >= 0 {
			*left -= n
		}
		c.mu.Unlock()
		if _, failed := to.Write(buffer[:n]); failed != nil || err != nil || cut {
			return
		}
	}
}

func (c *cutter) allow(up, down int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.up, c.down = up, down
}

// TestConnectionsThatBreak: wherever a connection breaks off, between two frames or within
// one, in either direction, each call is made once and its answer arrives.
func TestConnectionsThatBreak(t *testing.T) {
	t.Parallel()
	g := gateway.New(t)
	middle := cutting(t, g.URL)
	e := spawn(t, testrig.Options{Settings: object{"limits": object{"changesPerMinute": 100_000}}})
	e.Must("gateway/connect", object{"url": middle.URL, "sessionId": "one"}, nil)
	e.Must("session/setMode", object{"sessionId": "one", "mode": "full_access"}, nil)
	conn := g.Accept()
	answers := map[string]int{}
	// note reads what has come over connections that may be over.
	note := func(c *gateway.Conn) {
		for _, f := range c.Rest() {
			if f.Text("type") == "tool_result" && f.Object("result")["exit_code"] != nil {
				answers[f.Text("call_id")]++
			}
		}
	}
	command := func(id string) object {
		return object{"type": "tool_call", "call_id": id, "tool_name": "run_command", "arguments": object{"command": "echo " + id + " >> made.txt; echo done"}}
	}
	var ids []string
	for cut := 0; cut < 30; cut += machine.Cases(4, 1) {
		// Of a frame down of some 150 bytes, and of frames up of some 500.
		for _, way := range []string{"up", "down"} {
			if way == "up" {
				middle.allow(cut*25, -1)
			} else {
				middle.allow(-1, cut*8)
			}
			id := fmt.Sprintf("%s-%d", way, cut)
			ids = append(ids, id)
			_ = conn.Try(command(id)) // where it breaks off at once, it is sent again
			eventually(t, "it", func() bool {
				over := conn.Over()
				note(conn)
				if over {
					conn = g.Accept()
					_ = conn.Try(command(id)) // a gateway without an answer sends its call again
				}
				return answers[id] > 0
			})
			middle.allow(-1, -1)
		}
	}
	made := strings.Fields(e.Read("made.txt"))
	check.Same(t, "what was made", strings.Join(made, " "), strings.Join(ids, " "))
}
