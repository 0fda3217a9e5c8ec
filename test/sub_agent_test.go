package test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// subAgent is an agent that speaks ACP, in raw JSON, and does what its objective says, a
// line each: see do. It may be as bad as it likes.
type subAgent struct {
	lines   *bufio.Scanner
	session string
	ids     int
	over    bool // it was told to stop
}

// subAgentVariable has the test binary be a sub-agent.
const subAgentVariable = "TEST_SUB_AGENT"

func runSubAgent() int {
	a := &subAgent{lines: bufio.NewScanner(os.Stdin), session: "own"}
	a.lines.Buffer(nil, 10<<20)
	for a.lines.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Prompt []struct{ Text string } }
		}
		if json.Unmarshal(a.lines.Bytes(), &m) != nil {
			return 1
		}
		switch m.Method {
		case "initialize":
			a.reply(m.ID, object{"protocolVersion": 1, "agentCapabilities": object{}, "authMethods": []any{}})
		case "session/new":
			if os.Getenv(subAgentVariable) == "locked" {
				a.send(object{"jsonrpc": "2.0", "id": m.ID, "error": object{"code": -32000, "message": "Authentication required"}})
				continue
			}
			a.reply(m.ID, object{"sessionId": "own"})
		case "session/prompt":
			for line := range strings.Lines(m.Params.Prompt[0].Text) {
				if verb, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); !a.over {
					a.do(verb, rest)
				}
			}
			reason := "end_turn"
			if a.over {
				reason = "cancelled"
			}
			a.reply(m.ID, object{"stopReason": reason})
		}
	}
	return 0
}

func (a *subAgent) do(verb, rest string) {
	first, second, _ := strings.Cut(rest, " ")
	switch verb {
	case "say": // a part of a message
		a.update(object{"sessionUpdate": "agent_message_chunk", "content": object{"type": "text", "text": rest}})
	case "act": // what it says that it does
		a.update(object{"sessionUpdate": "tool_call", "toolCallId": "t", "title": rest})
	case "read":
		a.told(a.ask("fs/read_text_file", object{"path": first}))
	case "write":
		a.told(a.ask("fs/write_text_file", object{"path": first, "content": second}))
	case "run":
		a.run(object{"command": rest})
	case "start": // a command that goes on
		a.told(a.ask("terminal/create", object{"command": rest}))
	case "permit": // KIND TITLE
		a.told(a.ask("session/request_permission", object{"toolCall": object{"toolCallId": "t", "title": second, "kind": first}, "options": []object{
			{"optionId": "always", "name": "Always", "kind": "allow_always"}, {"optionId": "yes", "name": "Yes", "kind": "allow_once"}, {"optionId": "no", "name": "No", "kind": "reject_once"},
		}}))
	case "as": // speaks of another session from now on
		a.session = rest
	case "itself": // writes a file without asking anybody
		a.told(object{"result": "written"}, os.WriteFile(first, []byte(second), 0o600))
	case "spawn": // leaves a process behind, with its number in a file
		a.told(object{"result": "left"}, exec.Command("setsid", "sh", "-c", "trap '' TERM HUP; echo $$ >"+rest+"; exec sleep 1000").Start())
	case "chatter":
		for range 20_000 {
			a.do("say", strings.Repeat("x", 1000))
		}
	case "flood":
		for range 20_000 {
			a.ids++
			a.send(object{"jsonrpc": "2.0", "id": a.ids, "method": "session/request_permission", "params": object{"sessionId": "own", "toolCall": object{"toolCallId": "t", "title": "again"}, "options": []object{{"optionId": "yes", "name": "Yes", "kind": "allow_once"}}}})
		}
	case "wait": // until it is told to stop
		for !a.over && a.lines.Scan() {
			a.hear()
		}
	case "hang":
		for { // without cgo an empty select is a deadlock
			time.Sleep(time.Hour)
		}
	case "crash":
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(7)
	case "garbage":
		fmt.Println("no JSON at all\n{\"jsonrpc\":")
	case "endless": // a line that never ends
		for {
			if _, err := io.WriteString(os.Stdout, strings.Repeat("x", 1<<20)); err != nil {
				os.Exit(1)
			}
		}
	case "late": // says that it is done, and asks for more
		a.reply(json.RawMessage("3"), object{"stopReason": "end_turn"})
		for range 60 { // fewer than may wait at once
			a.ids++
			a.send(object{"jsonrpc": "2.0", "id": a.ids, "method": "fs/write_text_file", "params": object{"sessionId": "own", "path": first, "content": "late"}})
		}
	}
}

// run is a command from its start to its release.
func (a *subAgent) run(params object) {
	got, err := a.ask("terminal/create", params)
	id, _ := got["terminalId"].(string)
	if err != nil {
		a.told(nil, err)
		return
	}
	exit, err := a.ask("terminal/wait_for_exit", object{"terminalId": id})
	if err != nil {
		a.told(nil, err)
		return
	}
	output, _ := a.ask("terminal/output", object{"terminalId": id})
	a.do("say", fmt.Sprintf("%v exit %v", output["output"], exit["exitCode"]))
	_, released := a.ask("terminal/release", object{"terminalId": id})
	if _, again := a.ask("terminal/output", object{"terminalId": id}); released != nil || again == nil {
		a.do("say", "it is still there")
	}
}

// told says what became of a request.
func (a *subAgent) told(got object, err error) {
	if err != nil {
		a.do("say", "["+err.Error()+"]")
		return
	}
	text, _ := json.Marshal(got)
	a.do("say", string(text))
}

// ask waits for the answer to a request.
func (a *subAgent) ask(method string, params object) (object, error) {
	a.ids++
	params["sessionId"] = a.session
	a.send(object{"jsonrpc": "2.0", "id": a.ids, "method": method, "params": params})
	for a.lines.Scan() {
		if got, is := a.hear(); is {
			if got.Error != nil {
				return nil, errors.New(got.Error.Message)
			}
			return got.Result, nil
		}
	}
	os.Exit(0)
	return nil, nil
}

type answer struct {
	ID     *int
	Method string
	Result object
	Error  *struct{ Message string }
}

// hear takes one message, and says whether it answers what was asked last.
func (a *subAgent) hear() (answer, bool) {
	var m answer
	if json.Unmarshal(a.lines.Bytes(), &m) != nil {
		os.Exit(1)
	}
	a.over = a.over || m.Method == "session/cancel"
	return m, m.Method == "" && m.ID != nil && *m.ID == a.ids
}

func (a *subAgent) update(u object) {
	a.send(object{"jsonrpc": "2.0", "method": "session/update", "params": object{"sessionId": a.session, "update": u}})
}

func (a *subAgent) reply(id json.RawMessage, result object) {
	a.send(object{"jsonrpc": "2.0", "id": id, "result": result})
}

func (a *subAgent) send(m object) {
	text, err := json.Marshal(m)
	if err != nil {
		os.Exit(1)
	}
	fmt.Println(string(text))
}
