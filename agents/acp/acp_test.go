package acp

import (
	"encoding/json"
	"log"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"pillion/internal/testrig/check"
)

func TestTheLineOfATerminal(t *testing.T) {
	for want, p := range map[string]sdk.CreateTerminalRequest{
		"npm test && echo done": {Command: "npm test && echo done"},
		"npm test '&&' 'a b'":   {Command: "npm", Args: []string{"test", "&&", "a b"}},
		`echo 'it'\''s' ''`:     {Command: "echo", Args: []string{"it's", ""}},
		"A='x y' make":          {Command: "make", Env: []sdk.EnvVariable{{Name: "A", Value: "x y"}}},
	} {
		if got := lineOf(p); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestTheClockStandsStillWhileTheUserIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var over atomic.Bool
		c := newClock(10*time.Second, func() { over.Store(true) })
		time.Sleep(4 * time.Second) // the bubble's clock
		one, two := c.pause(), c.pause()
		time.Sleep(time.Hour)
		one()
		time.Sleep(time.Hour)
		two()
		time.Sleep(5 * time.Second)
		if synctest.Wait(); over.Load() {
			t.Error("it was over too early")
		}
		time.Sleep(2 * time.Second)
		if synctest.Wait(); !over.Load() {
			t.Error("it never was over")
		}
		c.stop()
	})
}

func TestTheLastMessageIsWhatFollowsTheLastAct(t *testing.T) {
	s := newSaid(nil)
	chunk := func(text string) {
		s.update(sdk.SessionUpdate{AgentMessageChunk: &sdk.SessionUpdateAgentMessageChunk{Content: sdk.TextBlock(text)}})
	}
	chunk("I ")
	chunk("look")
	s.update(sdk.SessionUpdate{ToolCall: &sdk.SessionUpdateToolCall{Title: "Look"}})
	s.update(sdk.SessionUpdate{Plan: &sdk.SessionUpdatePlan{}})
	check.Same(t, "before it says more", s.last(), "I look")
	chunk("do")
	chunk("ne")
	check.Same(t, "last", s.last(), "done")
}

// TestUpdatesThatAreNotKnown say nothing and take nothing away, and the log has each kind once.
func TestUpdatesThatAreNotKnown(t *testing.T) {
	var logged strings.Builder
	log.SetOutput(&logged)
	defer log.SetOutput(os.Stderr)
	a := &agent{said: newSaid(nil)}
	for _, update := range []string{
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hello"}}`,
		`{"sessionUpdate":"notice","text":"look"}`, `{"sessionUpdate":"notice"}`, `{"sessionUpdate":"compaction_update"}`, `{"sessionUpdate":"session_info_update","title":"x"}`,
	} {
		a.update(json.RawMessage(`{"sessionId":"s","update":` + update + `}`))
	}
	check.Same(t, "it said", a.said.last(), "hello")
	if got := logged.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "notice") || !strings.Contains(got, "compaction_update") {
		t.Errorf("the log has %q", got)
	}
}
