package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pillion/tools/approval"
)

// speaking starts a server that speaks this revision.
func speaking(t *testing.T, revision string, o Options) *wirePeer {
	t.Helper()
	peer := newWirePeer(t, o)
	peer.sendf(hello, revision)
	peer.wantResult("0", fmt.Sprintf(`"protocolVersion":%q`, revision))
	peer.sendf(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return peer
}

// answers reads an array of answers: which ids got what.
func (p *wirePeer) answers() map[string]string {
	p.t.Helper()
	var lines []json.RawMessage
	if err := json.Unmarshal(p.raw(), &lines); err != nil {
		p.t.Fatalf("%v in %.200s", err, p.out.Bytes())
	}
	got := map[string]string{}
	for _, text := range lines {
		var l line
		must(p.t, json.Unmarshal(text, &l))
		id := string(l.ID)
		for got[id] != "" {
			id += "'"
		}
		if got[id] = string(l.Result); l.Error != nil {
			got[id] = fmt.Sprint(l.Error.Code)
		}
	}
	return got
}

func TestBatches(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "hello\n"})
	editor(t, p)
	peer := speaking(t, "2025-03-26", Options{Cwd: p.Dir})
	const read = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"a.txt"}}}`
	const ask = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"n.txt","content":"n"}}}`
	peer.sendf("["+read+","+ask+`,{"jsonrpc":"2.0","method":"notifications/progress","params":{}},7,{"jsonrpc":"2.0","id":9,"result":{}},`+
		`{"jsonrpc":"2.0","id":3,"method":"ping"},`+read+`,[],{"jsonrpc":"2.0","id":4,"method":"initialize","params":{}},{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{}}]`, `"one"`, "2", "2")
	d := p.Human.Next(t)
	peer.sendf(`{"jsonrpc":"2.0","id":10,"method":"ping"}`) // what comes later is not held up
	peer.wantResult("10", "{}")
	d.Answer(approval.Answer{Decision: approval.Approve})
	got := peer.answers()
	if len(got) != 8 || !strings.Contains(got[`"one"`], "hello") || got["3"] != "{}" || got["null"] != "-32600" || got["null'"] != "-32600" {
		t.Errorf("got %d: %v", len(got), got)
	}
	if got["2"] != "-32600" || !strings.Contains(got["2'"], "n.txt") { // the complaint about its id comes while the call waits
		t.Errorf("2 got %s, then %s", got["2"], got["2'"])
	}
	if got["4"] == "" || strings.HasPrefix(got["4"], "{") || got["5"] != "-32602" {
		t.Errorf("initialize and a call without a name got %v", got)
	}
	// A cancelled call is not among the answers; with no answer there is no array.
	peer.sendf("["+strings.Replace(ask, "n.txt", "m.txt", 1)+","+`{"jsonrpc":"2.0","id":12,"method":"ping"}]`, "11")
	d = p.Human.Next(t)
	peer.sendf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":11}}`)
	if got := peer.answers(); len(got) != 1 || got["12"] != "{}" {
		t.Errorf("got %v", got)
	}
	p.Human.WantOutcome(t, d, approval.Withdrawn)
	peer.sendf(`[{"jsonrpc":"2.0","method":"notifications/progress","params":{}}]`)
	peer.sendf("[" + strings.Repeat("7,", maxBatch) + "7]")
	peer.wantError("null", -32600)
	peer.sendf("[]")
	peer.wantError("null", -32600)
	peer.sendf("[7")
	peer.wantError("null", -32700)
}

func TestBatchesOfOtherRevisions(t *testing.T) {
	home(t)
	for _, revision := range []string{"2024-11-05", "2025-06-18", "2025-11-25"} {
		peer := speaking(t, revision, Options{Cwd: t.TempDir()})
		peer.sendf(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`)
		peer.wantError("null", -32600)
	}
	peer := newWirePeer(t, Options{Cwd: t.TempDir()})
	peer.sendf("["+hello+"]", "2025-03-26")
	peer.wantError("null", -32600)
}

// Nothing of a newer revision is in the answers to a client of an older one.
func TestRevisions(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "hello\n"})
	editor(t, p)
	since := map[string]string{ // what an answer may have, and from when on
		`"structuredContent":`: "2025-06-18", `"outputSchema":`: "2025-06-18", `"title":"Pillion"`: "2025-06-18", `"name":"read_file","title":`: "2025-06-18",
		`"annotations":`: "2025-03-26", `"message":"waiting`: "2025-03-26", `"ttlMs"`: newProtocol, `"resultType"`: newProtocol, `"_meta"`: newProtocol,
	}
	seen := map[string]bool{}
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		peer := newWirePeer(t, Options{Cwd: p.Dir, Structured: true})
		peer.sendf(hello, revision)
		peer.sendf(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		text := string(peer.raw())
		peer.sendf(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		text += string(peer.raw())
		peer.sendf(`{"jsonrpc":"2.0","id":3,"method":"prompts/list"}`)
		text += string(peer.raw())
		peer.sendf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_command","arguments":{"command":"echo hi"},"_meta":{"progressToken":"t"}}}`)
		d := p.Human.Next(t)
		text += string(peer.raw())                                                         // a sign of life
		for revision >= revisionBatches && !strings.Contains(text, `"message":"waiting`) { // one that says so
			text += string(peer.raw())
		}
		d.Answer(approval.Answer{Decision: approval.Approve})
		for !strings.Contains(text, `"id":2`) {
			text += string(peer.raw())
		}
		for part, from := range since {
			has := strings.Contains(text, part)
			seen[part] = seen[part] || has
			if has && revision < from {
				t.Errorf("%s has %s, which is of %s", revision, part, from)
			}
		}
	}
	for part, from := range since {
		if from < newProtocol && !seen[part] {
			t.Errorf("no answer has %s, so this test shows nothing", part)
		}
	}
}

func TestAudioInTheOldestRevision(t *testing.T) {
	r := fitResult("2024-11-05", [][]byte{[]byte(`{"content":[{"type":"audio","data":"x","mimeType":"audio/wav"},{"type":"text","text":"\"type\":\"audio\""}],"structuredContent":{},"isError":true}`)})
	if got := string(r.Bytes()); strings.Contains(got, `"data"`) || strings.Contains(got, "structured") || !strings.Contains(got, `"text":"\"type\":\"audio\""`) || !strings.Contains(got, `"isError":true`) {
		t.Errorf("got %s", got)
	}
}

func TestRequestKeys(t *testing.T) {
	for _, same := range [][]string{{`"a/b"`, `"a\u002fb"`}, {"1", "1.0", "1e0"}, {`"<"`, `"\u003c"`}} {
		for _, id := range same {
			if requestKey([]byte(id)) != requestKey([]byte(same[0])) {
				t.Errorf("%s is not %s", id, same[0])
			}
		}
	}
	different := []string{"1", `"1"`, "2", `"a"`, `"A"`}
	keys := map[string]bool{}
	for _, id := range different {
		keys[requestKey([]byte(id))] = true
	}
	if len(keys) != len(different) {
		t.Errorf("%v have %d keys", different, len(keys))
	}
}
