package tools

import (
	"strings"
	"testing"

	"pillion/workspace/change"
)

// TestALargeFileIsDisplayedByItsDiff: its texts would be sent with every edit.
func TestALargeFileIsDisplayedByItsDiff(t *testing.T) {
	for name, c := range map[string]struct {
		size int
		want bool
	}{"small": {100, true}, "at the bound": {displayedWhole / 2, true}, "large": {displayedWhole/2 + 1, false}} {
		text := strings.Repeat("a", c.size)
		data := string(mustMarshal(DisplayDiff(change.FilePreview{Before: text, After: text, Diff: "the diff"})))
		if strings.Contains(data, `"before":"a`) != c.want || strings.Contains(data, `"after":"a`) != c.want || !strings.Contains(data, "the diff") {
			t.Errorf("%s: %.300s", name, data)
		}
	}
}
