package diff

import (
	"strings"
	"testing"
)

// TestMarksAreBounded: of many pairs the first ones are compared.
func TestMarksAreBounded(t *testing.T) {
	marked := 0
	for _, row := range Rows("@@ -1 +1 @@\n" + strings.Repeat("-value 1\n+value 2\n \n", 1000)) {
		if row.Marks != nil {
			marked++
		}
	}
	if marked != 2*mostPairs {
		t.Errorf("%d lines are marked, want %d", marked, 2*mostPairs)
	}
}

func TestHunkRowsNameNoFile(t *testing.T) {
	rows := HunkRows("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")
	if len(rows) != 3 || rows[0].Kind != HunkHead {
		t.Errorf("%+v", rows)
	}
	if rows := HunkRows("diff --git a/x b/x\nold mode 100644\n"); len(rows) != 0 {
		t.Errorf("%+v", rows)
	}
}
