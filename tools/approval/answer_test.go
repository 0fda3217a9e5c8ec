package approval

import (
	"encoding/json"
	"testing"
)

// TestAnswersAreReadStrictly: what is nearly an approval is none.
func TestAnswersAreReadStrictly(t *testing.T) {
	for text, want := range map[string]Decision{
		`{"decision": "approve", "decisionId": "approve", "more": {"decision": 1}}`: Approve,
		`{"decision": "reject", "feedback": "no"}`:                                  Reject,
		`{}`: "", `null`: "",
	} {
		var a Answer
		if err := json.Unmarshal([]byte(text), &a); err != nil || a.Decision != want {
			t.Errorf("%s: %q, %v", text, a.Decision, err)
		}
	}
	for _, text := range []string{
		`{"Decision": "approve"}`, `{"DECISION": "reject", "decision": "approve"}`, `{"decision": "reject", "decision": "approve"}`,
		`{"decision": "approve", "decisionID": "session"}`, `{"decision": "approve", "Selected": []}`,
		`{"decision": "approve", "digest": "a", "digest": "b"}`, `{"deci\u0073ion": "reject", "decision": "approve"}`,
	} {
		var a Answer
		if err := json.Unmarshal([]byte(text), &a); err == nil || a.Decision == Approve {
			t.Errorf("%s: %+v, %v", text, a, err)
		}
	}
}
