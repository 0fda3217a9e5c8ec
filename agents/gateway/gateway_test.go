package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/internal/testrig/check"
	"pillion/tools"
)

// TestErrors: the three forms, with either table of codes, to the byte.
func TestErrors(t *testing.T) {
	t.Parallel()
	missing := fault.New(fault.FileNotFound, "a.txt does not exist").WithHint("did you mean b.txt?").With("similar", []string{"b.txt"})
	nobody := fault.New(fault.ApprovalUnavailable, "nobody could be asked")
	timeout := fault.New(fault.Timeout, "it took too long")
	fields := json.RawMessage(`{"ok":false,"success":false,"error":{},"exit_code":124,"stdout":"so far"}`)
	for _, test := range []struct {
		settings Settings
		err      *fault.Error
		fields   json.RawMessage
		want     string
	}{
		{Settings{}, missing, nil, `"error":{"code":"FILE_NOT_FOUND","message":"a.txt does not exist","hint":"did you mean b.txt?","details":{"similar":["b.txt"]}},"error_code":"FILE_NOT_FOUND"`},
		{Settings{Errors: "text"}, missing, nil, `"error":"a.txt does not exist; did you mean b.txt?","error_code":"FILE_NOT_FOUND","details":{"similar":["b.txt"]}`},
		{Settings{Errors: "bare"}, missing, nil, `"error":"file_not_found","message":"a.txt does not exist; did you mean b.txt?","details":{"similar":["b.txt"]}`},
		{Settings{}, nobody, nil, `"error":{"code":"APPROVAL_UNAVAILABLE","message":"nobody could be asked"},"error_code":"APPROVAL_UNAVAILABLE","needs_confirmation":true`},
		{Settings{Codes: "codelab"}, nobody, nil, `"error":{"code":"USER_REJECTED","message":"nobody could be asked","details":{"code":"APPROVAL_UNAVAILABLE"}},"error_code":"USER_REJECTED","needs_confirmation":true`},
		{Settings{Codes: "codelab", Errors: "bare"}, nobody, nil, `"error":"user_rejected","message":"nobody could be asked","details":{"code":"APPROVAL_UNAVAILABLE"},"needs_confirmation":true`},
		{Settings{Codes: "codelab"}, missing, nil, `"error":{"code":"FILE_NOT_FOUND","message":"a.txt does not exist","hint":"did you mean b.txt?","details":{"similar":["b.txt"]}},"error_code":"FILE_NOT_FOUND"`},
		{Settings{Errors: "text"}, timeout, fields, `"error":"it took too long","error_code":"TIMEOUT","details":{"result":{"exit_code":124,"stdout":"so far"}}`},
	} {
		if got, want := string(test.settings.failed("1", test.err, test.fields)), `{"type":"tool_result","call_id":"1",`+test.want+"}"; got != want {
			t.Errorf("%+v:\n%s\nwant\n%s", test.settings, got, want)
		}
	}
	if got := string(Settings{Errors: "bare", Codes: "codelab"}.failure(fault.New(fault.PolicyDenied, "no"), map[string]any{"type": "x"})); got != `{"type":"error","error_code":"permission_denied","message":"no","details":{"code":"POLICY_DENIED","type":"x"}}` {
		t.Errorf("an error frame: %s", got)
	}
}

// TestCodeLabsCodes: after the table no code is left that CodeLab's descriptions do not have.
func TestCodeLabsCodes(t *testing.T) {
	t.Parallel()
	known := strings.Fields(`FILE_NOT_FOUND FILE_TOO_LARGE PERMISSION_DENIED ENCODING_ERROR CONCURRENT_MODIFICATION PATCH_APPLY_FAILED
		INVALID_PATH PATH_OUTSIDE_WORKSPACE GIT_NOT_INITIALIZED GIT_ERROR TOOL_NOT_FOUND INVALID_ARGUMENTS EXECUTION_FAILED TIMEOUT USER_REJECTED AGENT_ERROR LLM_ERROR`)
	for _, code := range []fault.Code{
		fault.FileNotFound, fault.FileExists, fault.FileTooLarge, fault.NotAFile, fault.BinaryFile, fault.PermissionDenied, fault.InvalidPath, fault.PathOutsideWorkspace,
		fault.EncodingError, fault.ConcurrentModification, fault.EditNoMatch, fault.EditAmbiguous, fault.PatchApplyFailed, fault.WorkTreeDirty, fault.GitNotInitialized, fault.GitError,
		fault.ToolNotFound, fault.InvalidArguments, fault.ExecutionFailed, fault.Timeout, fault.Cancelled, fault.UserRejected, fault.ApprovalUnavailable, fault.PolicyDenied,
		fault.RateLimited, fault.LSPUnavailable, fault.ProcessNotFound,
	} {
		got, details := Settings{Codes: "codelab"}.coded(fault.New(code, "x"))
		if !slices.Contains(known, string(got)) || (got != code) != (details["code"] == code) {
			t.Errorf("%s becomes %s, %v", code, got, details)
		}
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	text := func(s string) tools.Part { return tools.Part{Type: "text", Text: s} }
	for _, test := range []struct {
		result tools.Result
		want   string
	}{
		{tools.Result{Structured: json.RawMessage(`{"ok":true,"matches":[]}`), Content: []tools.Part{text("No files <a&b>."), text("more")}}, `{"ok":true,"matches":[],"success":true,"content":"No files <a&b>."}`},
		{tools.Result{Structured: json.RawMessage(`{"ok":true,"success":true,"content":"text"}`), Content: []tools.Part{text("text, shown")}}, `{"ok":true,"success":true,"content":"text"}`},
		{tools.Result{Structured: json.RawMessage(`{"ok":true,"files":[{"content":"inner"}]}`), Content: []tools.Part{text("outer")}}, `{"ok":true,"files":[{"content":"inner"}],"success":true,"content":"outer"}`},
		{tools.Result{Structured: json.RawMessage(`{"ok":true}`), Content: []tools.Part{{Type: "image", MIMEType: "image/png", Data: "AAAA"}}}, `{"ok":true,"success":true,"content_parts":[{"type":"image","mimeType":"image/png","data":"AAAA"}]}`},
	} {
		if got, want := string(Settings{}.result(`a"b`, test.result)), `{"type":"tool_result","call_id":"a\"b","result":`+test.want+"}"; got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
	check.Same(t, "a partial result", string(partial("1", "out", "")), `{"type":"tool_result","call_id":"1","result":{"exit_code":null,"stdout":"out","stderr":""}}`)
}

// TestWhatDoesNotFitIsShortened: what was done is told as done, whatever room there is.
func TestWhatDoesNotFitIsShortened(t *testing.T) {
	t.Parallel()
	const most = maxFrame / 10
	long := strings.Repeat("{\"k\": \"v\"}\n", 40_000)
	object := func(fields map[string]any) json.RawMessage { return encode(fields) }
	text := []tools.Part{{Type: "text", Text: long}}
	refused := tools.Result{Structured: object(map[string]any{"ok": false, "exit_code": 3, "stdout": long, "stderr": long}), Err: fault.New(fault.ExecutionFailed, "it failed"), Deed: true}
	for name, test := range map[string]struct {
		result tools.Result
		want   []string
	}{
		"the text alone":  {tools.Result{Structured: object(map[string]any{"ok": true, "diff": long}), Content: text}, []string{`"diff":"{\"k\"`, `bytes are left out here]`, `"success":true`}},
		"a large read":    {tools.Result{Structured: object(map[string]any{"ok": true, "diff": long + long})}, []string{`"error_code":"FILE_TOO_LARGE"`}},
		"a large diff":    {tools.Result{Structured: object(map[string]any{"ok": true, "success": true, "diff": long + long, "path": "a"}), Content: text, Deed: true}, []string{`"result":{"ok":true,"success":true,"diff":"","diff_omitted":true,"path":"a"`}},
		"a command's":     {tools.Result{Structured: object(map[string]any{"ok": true, "exit_code": 3, "stdout": long, "stderr": long}), Deed: true}, []string{`"exit_code":3`, `"stdout":"{\"k\"`, `"truncated":true`, `"stderr":"{\"k\"`}},
		"a list":          {tools.Result{Structured: object(map[string]any{"ok": true, "files": slices.Repeat([]string{strings.Repeat("x", 1000)}, 2_000)}), Deed: true}, []string{`"files":["xxx`, `"truncated":true`}},
		"of what failed":  {refused, []string{`"error_code":"EXECUTION_FAILED"`, `"exit_code":3`, `bytes are left out here]`}},
		"what fits stays": {tools.Result{Structured: object(map[string]any{"ok": true, "n": 1}), Deed: true}, []string{`"result":{"n":1,"ok":true`}},
	} {
		frame := Settings{}.fitted("1", test.result, most)
		if len(frame) > most || !json.Valid(frame) {
			t.Errorf("%s: %d bytes, valid: %t", name, len(frame), json.Valid(frame))
		}
		check.Has(t, name, string(frame), test.want...)
	}
}

// TestRootedPaths: a leading / is the workspace's root, unless the path is in it as it stands.
func TestRootedPaths(t *testing.T) {
	t.Parallel()
	h := Host{Resolve: func(path string) (string, error) {
		if strings.HasPrefix(path, "/home/ada/kettle/") {
			return path, nil
		}
		return "", fault.New(fault.PathOutsideWorkspace, "no")
	}}
	for given, want := range map[string]string{
		`{"path":"/a.txt"}`:                          `{"path":"a.txt"}`,
		`{"path":"//a.txt"}`:                         `{"path":"a.txt"}`,
		`{"path":"/"}`:                               `{"path":""}`,
		`{"path":"/home/ada/kettle/a.txt"}`:          `{"path":"/home/ada/kettle/a.txt"}`,
		`{"path":"/../x","content":"/keeps"}`:        `{"content":"/keeps","path":"../x"}`,
		`{"from":"/a","to":"/b","cwd":"/c"}`:         `{"cwd":"c","from":"a","to":"b"}`,
		`{"files":["/a","b"],"paths":["/c"]}`:        `{"files":["a","b"],"paths":["c"]}`,
		`{"path": "a.txt",  "content": "untouched"}`: `{"path": "a.txt",  "content": "untouched"}`,
		`[1]`: `[1]`,
	} {
		check.Same(t, given, string(h.rooted(json.RawMessage(given))), want)
	}
	got := restored(json.RawMessage(`{"path":"a.txt","content":"own"}`), json.RawMessage(`{"path":"/a.txt","content":"x"}`), json.RawMessage(`{"path":"a.txt","content":"x"}`))
	check.Same(t, "modified arguments", string(got), `{"content":"own","path":"/a.txt"}`)
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		url      string
		named    bool
		insecure bool
		want     string
	}{
		{"wss://a.example/ws", true, false, "wss://a.example/ws/ID wss://a.example/ws/ID ID a.example false"},
		{"wss://a.example/ws/", true, false, "wss://a.example/ws/ID wss://a.example/ws/ID ID a.example false"},
		{"wss://a.example", true, false, "wss://a.example/ws/ID wss://a.example/ws/ID ID a.example false"},
		{"wss://a.example/api?key=1", true, false, "wss://a.example/api/ID?key=1 wss://a.example/api/ID ID a.example false"},
		{"wss://a.example/x/{session_id}/y", true, false, "wss://a.example/x/ID/y wss://a.example/x/ID/y ID a.example false"},
		{"wss://a.example/ws/s7", false, false, "wss://a.example/ws/s7 wss://a.example/ws/s7 s7 a.example false"},
		{"wss://a.example/v1/ws/s7", true, false, "wss://a.example/v1/ws/ID wss://a.example/v1/ws/ID ID a.example false"},
		{"ws://127.0.0.1:80/ws", true, false, "ws://127.0.0.1:80/ws/ID ws://127.0.0.1:80/ws/ID ID 127.0.0.1 true"},
		{"ws://[::1]/ws", true, false, "ws://[::1]/ws/ID ws://[::1]/ws/ID ID ::1 true"},
		{"ws://localhost/ws", true, false, "ws://localhost/ws/ID ws://localhost/ws/ID ID localhost true"},
		{"ws://a.example/ws", true, true, "ws://a.example/ws/ID ws://a.example/ws/ID ID a.example false"},
		{"ws://a.example/ws", true, false, ""},
		{"ws://127.0.0.1.example.org/ws", true, false, ""},
		{"wss://ada:pw@a.example/ws", true, false, ""},
		{"https://a.example/ws", true, false, ""},
		{"wss:///ws", true, false, ""},
		{"", true, false, ""},
	} {
		a, err := parseAddress(test.url, "ID", test.named, test.insecure)
		got := fmt.Sprint(a.dial, " ", a.shown, " ", a.sessionID, " ", a.host, " ", a.loopback)
		if err != nil {
			got = ""
		}
		if got != test.want {
			t.Errorf("%s: %s, %v; want %s", test.url, got, err, test.want)
		}
	}
	for address, fine := range map[string]bool{"127.0.0.1:80": true, "[::1]:80": true, "[::ffff:127.0.0.1]:80": true, "192.0.2.1:80": false, "x": false} {
		check.Same(t, address, onlyLoopback("tcp", address, nil) == nil, fine)
	}
}

// TestTheOutbox: what may not have arrived goes out again, what has arrived does not.
func TestTheOutbox(t *testing.T) {
	t.Parallel()
	send := func(o *outbox, n int) (sent string) {
		for range n {
			f, ok := o.next()
			if !ok {
				return sent + "."
			}
			o.done()
			sent += string(f.data)
		}
		return sent
	}
	filled := func() *outbox {
		o := newOutbox()
		o.open()
		for _, text := range []string{"a", "b", "-", "c", "d"} {
			o.push([]byte(text), text != "-")
		}
		check.Same(t, "it sends", send(o, 4), "ab-c")
		o.confirm(1)
		return o
	}
	for inOrder, want := range map[bool]string{true: "de.", false: "bcde."} {
		o := filled()
		o.close(inOrder)
		o.push([]byte("x"), false) // nobody is there
		o.push([]byte("e"), true)
		o.open()
		if got := send(o, 9); got != want {
			t.Errorf("after an end in order %t it sends %s, want %s", inOrder, got, want)
		}
		o.confirm(o.unconfirmed())
		if o.bytes != 0 {
			t.Errorf("%d bytes are counted that are gone", o.bytes)
		}
	}
	o := filled() // one is being written
	o.next()
	if n := o.unconfirmed(); n != 2 {
		t.Errorf("%d were written", n)
	}
	o.close(true)
	if o.open(); send(o, 9) != "d." {
		t.Error("what was only half written is not sent again")
	}
	o.push(make([]byte, maxOutgoing+1), true)
	if o.room == nil {
		t.Error("there is always room")
	}
}

// TestBackOff: longer each time, to an end, and never the same for all.
func TestBackOff(t *testing.T) {
	t.Parallel()
	for attempt := 1; attempt < 40; attempt++ {
		most := longWait
		if attempt < 8 {
			most = min(longWait, firstWait<<(attempt-1))
		}
		if wait := backOff(attempt); wait < most/2 || wait >= most {
			t.Errorf("attempt %d waits %s", attempt, wait)
		}
	}
}

// TestMaskedFramesEndTheConnection, wherever the reads end, and no byte of another frame counts as
// the head of one.
func TestMaskedFramesEndTheConnection(t *testing.T) {
	t.Parallel()
	frame := func(mask byte, size int) []byte {
		head := []byte{0x81, mask | byte(min(size, 126))}
		if size >= 126 {
			head = []byte{0x81, mask | 126, byte(size >> 8), byte(size)}
		}
		if size > 0xffff {
			head = []byte{0x81, mask | 127, 0, 0, 0, 0, 0, byte(size >> 16), byte(size >> 8), byte(size)}
		}
		return append(head, bytes.Repeat([]byte{0xff}, size)...)
	}
	var good []byte
	for _, size := range []int{0, 1, 125, 126, 0xffff, 0x10000} {
		good = append(good, frame(0, size)...)
	}
	for _, step := range []int{1, 2, 3, 7, 1000, 1 << 20} {
		for _, size := range []int{0, 5, 200, 0x10000} {
			stream := append(bytes.Clone(good), frame(0x80, size)...)
			u := &unmasked{ReadWriteCloser: steps{bytes.NewReader(stream), step}}
			if got, err := io.ReadAll(u); !errors.Is(err, errMasked) || len(got) > len(good)+1 {
				t.Errorf("in steps of %d, a masked frame of %d bytes: %d of %d bytes, %v", step, size, len(got), len(good), err)
			}
		}
		if got, err := io.ReadAll(&unmasked{ReadWriteCloser: steps{bytes.NewReader(good), step}}); err != nil || !bytes.Equal(got, good) {
			t.Errorf("in steps of %d: %d of %d bytes, %v", step, len(got), len(good), err)
		}
	}
}

// steps gives at most so many bytes at a time.
type steps struct {
	from *bytes.Reader
	most int
}

func (s steps) Read(p []byte) (int, error)  { return s.from.Read(p[:min(len(p), s.most)]) }
func (s steps) Write(p []byte) (int, error) { return len(p), nil }
func (s steps) Close() error                { return nil }
