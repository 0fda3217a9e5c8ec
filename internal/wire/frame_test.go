package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

func TestBadMessagesAreAnsweredAndTheConnectionLives(t *testing.T) {
	deep := strings.Repeat("[", 600) + strings.Repeat("]", 600)
	for _, test := range []struct {
		name, text, id string
		code           int64
	}{
		{"empty", ``, "null", CodeParse},
		{"blank", ` `, "null", CodeParse},
		{"not JSON", `hello`, "null", CodeParse},
		{"cut off", `{"jsonrpc":"2.0","id":1,"method":"m"`, "null", CodeParse},
		{"something behind", `{"jsonrpc":"2.0","id":1,"method":"m"} {}`, "null", CodeParse},
		{"comma at the end", `{"jsonrpc":"2.0","id":1,"method":"m",}`, "null", CodeParse},
		{"no colon", `{"jsonrpc" "2.0"}`, "null", CodeParse},
		{"bad number", `{"jsonrpc":"2.0","id":01,"method":"m"}`, "null", CodeParse},
		{"control character", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\n\"}", "null", CodeParse},
		{"bad escape", `{"jsonrpc":"2.0","id":1,"method":"\x"}`, "null", CodeParse},
		{"bad JSON inside params", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1,]}}`, "null", CodeParse},
		{"brackets crossed", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[}]}`, "null", CodeParse},
		{"a number", `7`, "null", CodeInvalidRequest},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"m"}]`, "null", CodeInvalidRequest},
		{"empty object", `{}`, "null", CodeInvalidRequest},
		{"no version", `{"id":1,"method":"m"}`, "1", CodeInvalidRequest},
		{"other version", `{"jsonrpc":"1.0","id":"x","method":"m"}`, `"x"`, CodeInvalidRequest},
		{"method not a string", `{"jsonrpc":"2.0","id":1,"method":5}`, "1", CodeInvalidRequest},
		{"no method", `{"jsonrpc":"2.0","id":1}`, "1", CodeInvalidRequest},
		{"method and result", `{"jsonrpc":"2.0","id":1,"method":"m","result":1}`, "1", CodeInvalidRequest},
		{"params a string", `{"jsonrpc":"2.0","id":1,"method":"m","params":"p"}`, "1", CodeInvalidRequest},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"m"}`, "null", CodeInvalidRequest},
		{"id an object", `{"jsonrpc":"2.0","id":{},"method":"m"}`, "null", CodeInvalidRequest},
		{"id too long", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", maxID) + `","method":"m"}`, "null", CodeInvalidRequest},
		{"two methods", `{"jsonrpc":"2.0","id":1,"method":"m","method":"n"}`, "null", CodeInvalidRequest},
		{"an id in the wrong letter case", `{"jsonrpc":"2.0","id":1,"method":"m","ID":5}`, "1", CodeInvalidRequest},
		{"a method in the wrong letter case", `{"jsonrpc":"2.0","id":1,"Method":"n","method":"m"}`, "1", CodeInvalidRequest},
		{"too deep", `{"jsonrpc":"2.0","id":1,"method":"m","params":` + deep + `}`, "1", CodeInvalidRequest},
		{"too deep, id behind", `{"jsonrpc":"2.0","method":"m","params":` + deep + `,"id":1}`, "null", CodeInvalidRequest},
		{"hostile depth", strings.Repeat(`{"a":`, 1<<20), "null", CodeInvalidRequest},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPeer(t, Options{Handler: echo})
			go p.send(test.text)
			p.wantError(test.id, test.code)
			p.send(`{"jsonrpc":"2.0","id":2,"method":"echo","params":["still here"]}`)
			p.wantResult("2", `["still here"]`)
		})
	}
}

func TestGoodMessages(t *testing.T) {
	for _, test := range []struct{ name, text, id, result string }{
		{"blanks", " {\t\"jsonrpc\" : \"2.0\" ,\r\n\"id\" : 1 , \"method\":\"m\", \"params\" : [ 1 ] } \n", "1", "[ 1 ]"},
		{"no params", `{"jsonrpc":"2.0","id":1,"method":"m"}`, "1", "null"},
		{"null params", `{"jsonrpc":"2.0","id":1,"method":"m","params":null}`, "1", "null"},
		{"null result and error beside", `{"jsonrpc":"2.0","id":1,"method":"m","error":null}`, "1", "null"},
		{"negative id", `{"jsonrpc":"2.0","id":-7,"method":"m"}`, "-7", "null"},
		{"large id", `{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"m"}`, "123456789012345678901234567890", "null"},
		{"empty id", `{"jsonrpc":"2.0","id":"","method":"m"}`, `""`, "null"},
		{"escaped member names", `{"\u006asonrpc":"2.0","i\u0064":1,"method":"m"}`, "1", "null"},
		{"unknown members", `{"jsonrpc":"2.0","id":1,"method":"m","meta":{"a":[1,{"b":true}],"ID":5}}`, "1", "null"},
		{
			"depth at the limit", `{"jsonrpc":"2.0","id":1,"method":"m","params":` + strings.Repeat("[", 511) + strings.Repeat("]", 511) + `}`,
			"1", strings.Repeat("[", 511) + strings.Repeat("]", 511),
		},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[\"a\xffb\"]}", "1", "[\"a\ufffdb\"]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPeer(t, Options{Handler: echo})
			p.send(test.text)
			p.wantResult(test.id, test.result)
		})
	}
}

func TestHeaders(t *testing.T) {
	const text = `{"jsonrpc":"2.0","id":1,"method":"m"}`
	good := func(format string) string { return fmt.Sprintf(format, len(text)) + text }
	for name, frame := range map[string]string{
		"usual":             good("Content-Length: %d\r\n\r\n"),
		"content type":      good("Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n"),
		"content type utf8": good("Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=\"UTF8\"\r\n\r\n"),
		"letter case":       good("content-LENGTH:%d\r\n\r\n"),
		"line feeds alone":  good("Content-Length: %d\n\n"),
		"unknown field":     good("X-Whatever: yes: really\r\nContent-Length:   %d  \r\n\r\n"),
		"long but allowed":  good("X-Long: " + strings.Repeat("x", 60<<10) + "\r\nContent-Length: %d\r\n\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t, Options{Handler: echo})
			go p.sendBytes(frame)
			p.wantResult("1", "null")
		})
	}
}

func TestBrokenHeadersEndTheConnection(t *testing.T) {
	for name, frame := range map[string]string{
		"no length":      "Content-Type: x\r\n\r\n{}",
		"empty block":    "\r\n\r\n{}",
		"two gigabytes":  "Content-Length: 2147483648\r\n\r\n{}",
		"two lengths":    "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
		"negative":       "Content-Length: -2\r\n\r\n{}",
		"signed":         "Content-Length: +2\r\n\r\n{}",
		"not a number":   "Content-Length: two\r\n\r\n{}",
		"a fraction":     "Content-Length: 2.0\r\n\r\n{}",
		"empty length":   "Content-Length:\r\n\r\n{}",
		"over int64":     "Content-Length: 99999999999999999999\r\n\r\n{}",
		"no colon":       "hello\r\n\r\n",
		"JSON by itself": `{"jsonrpc":"2.0","id":1,"method":"m"}` + "\n",
		"endless line":   "X: " + strings.Repeat("x", 70<<10),
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t, Options{Handler: echo})
			go func() { _, _ = io.WriteString(p.end, frame) }() // the connection may end before it has read all
			p.wantError("null", CodeParse)
			p.wantEnd()
			wait(t, p.conn.Done(), "the end of the connection")
			if p.conn.Err() == nil {
				t.Error("Err gives no reason")
			}
		})
	}
}

// TestALargeHeaderBlock is answered at once; what comes after its message is read.
func TestALargeHeaderBlock(t *testing.T) {
	const text = `{"jsonrpc":"2.0","id":1,"method":"lost"}`
	lines, length := strings.Repeat("X: y\r\n", 64_000), fmt.Sprintf("Content-Length: %d\r\n", len(text))
	for name, head := range map[string]string{"length first": length + lines, "length last": lines + length} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t, Options{Handler: echo})
			go func() {
				p.sendBytes(head[:100<<10])
				p.sendBytes(head[100<<10:] + "\r\n" + text)
				p.send(`{"jsonrpc":"2.0","id":2,"method":"m"}`)
			}()
			p.wantError("null", CodeParse)
			p.wantResult("2", "null")
		})
	}
	t.Run("endless", func(t *testing.T) {
		p := newPeer(t, Options{Handler: echo})
		go func() { _, _ = io.WriteString(p.end, strings.Repeat(lines, 30)) }() // the connection may end before it has read all
		p.wantError("null", CodeParse)
		p.wantError("null", CodeParse)
		p.wantEnd()
	})
}

func TestAForeignCharacterSetIsRefused(t *testing.T) {
	p := newPeer(t, Options{Handler: echo})
	p.sendBytes("Content-Type: application/vscode-jsonrpc; charset=utf-16\r\nContent-Length: 4\r\n\r\n{\x00}\x00")
	p.wantError("null", CodeInvalidRequest)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	p.wantResult("1", "null")
}

// allocated is how many bytes f allocates, in all goroutines.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestAnOversizedFrameIsSkipped(t *testing.T) {
	const size = 64 << 20
	p := newPeer(t, Options{Handler: echo, MaxFrame: 1 << 20})
	piece := bytes.Repeat([]byte("x"), 1<<20)
	took := allocated(func() {
		sent := make(chan error, 1)
		go func() {
			p.sendBytes(fmt.Sprintf("Content-Length: %d\r\n\r\n", size))
			var err error
			for range size / len(piece) {
				_, err = p.end.Write(piece)
			}
			sent <- err
		}()
		a := p.wantError("null", CodeInvalidRequest)
		if want := "message of 67108864 bytes is larger than the limit of 1048576 bytes"; !strings.HasPrefix(a.Error.Message, want) {
			t.Errorf("got %q, want %q", a.Error.Message, want)
		}
		if err := wait(t, sent, "the frame to be sent"); err != nil {
			t.Error(err)
		}
	})
	if took > 1<<20 {
		t.Errorf("skipping a frame took %d bytes", took)
	}
	p.send(`{"jsonrpc":"2.0","id":1,"method":"echo","params":["next"]}`)
	p.wantResult("1", `["next"]`)
}

func TestALengthIsNotBelievedBeforeItsBytesCome(t *testing.T) {
	f := newFrames(strings.NewReader("Content-Length: 30000000\r\n\r\nshort"), 32<<20)
	took := allocated(func() {
		if _, _, err := f.next(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("got %v", err)
		}
	})
	if took > 2*trusted {
		t.Errorf("a frame that was announced and not sent took %d bytes", took)
	}
}

func TestAStreamThatEndsInsideAFrameIsAnError(t *testing.T) {
	for _, text := range []string{"Content-Le", "Content-Length: 5\r\n", "Content-Length: 5\r\n\r\n{", "Content-Length: 50000000\r\n\r\n{"} {
		p := newPeer(t, Options{Handler: echo})
		p.sendBytes(text)
		p.end.Close()
		wait(t, p.conn.Done(), "the end of the connection")
		if err := p.conn.Err(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestParamsAreTheHandlersOwn(t *testing.T) {
	kept := make(chan *Request, 100)
	p := newPeer(t, Options{Handler: func(_ context.Context, _ *Conn, req *Request) (any, error) {
		kept <- req
		return nil, nil
	}})
	for i := range 100 {
		p.sendf(`{"jsonrpc":"2.0","method":"m","params":["%03d"]}`, i)
	}
	for i := range 100 {
		req := wait(t, kept, "a notification")
		if want := fmt.Sprintf(`["%03d"]`, i); string(req.Params) != want {
			t.Fatalf("got %s, want %s", req.Params, want)
		}
		if grown := append(req.Params, '}'); !bytes.HasPrefix(grown, req.Params) {
			t.Fatal("params cannot be appended to")
		}
	}
}
