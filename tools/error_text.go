package tools

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pillion/internal/fault"
)

// ErrorText is what a model reads of a failure: the code, what went wrong, what to do
// next, and those details that neither says.
func ErrorText(e *fault.Error) string {
	text := string(e.Code) + ": " + e.Message
	if e.Hint != "" {
		text += "\n" + e.Hint
	}
	if nearest, ok := e.Details["nearest"].([]string); ok && !strings.Contains(e.Hint, strings.Join(nearest, "\n")) {
		text += "\n" + strings.Join(nearest, "\n")
	}
	if since, ok := e.Details["changes_since"].(string); ok {
		text += "\nwhat changed since you read it:\n" + since
	}
	if version, ok := e.Details["current_version"].(string); ok {
		text += "\n(version now: " + version + ")"
	}
	if own, ok := e.Details["human_text"].(string); ok {
		text += "\nthe user's version of your proposal:\n" + own
	}
	own, _ := e.Details["human_texts"].(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		text += fmt.Sprintf("\nthe user's version of your proposal for %s:\n%s", fault.Quote(name), own[name])
	}
	return text
}
