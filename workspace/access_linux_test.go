package workspace_test

import (
	"strings"
	"testing"

	"pillion/internal/fault"
)

func TestAFileThatGrowsWhileItIsRead(t *testing.T) {
	// Files of /proc say that they have no bytes; a growing file says too few.
	root := open(t, "/proc/self").Roots()[0]
	data, _, err := root.Join("status").ReadFile(1 << 20)
	if err != nil || !strings.Contains(string(data), "Name:") {
		t.Errorf("%q, %v", data, err)
	}
	if _, _, err = root.Join("status").ReadFile(10); fault.CodeOf(err) != fault.FileTooLarge {
		t.Errorf("over the limit: %v", err)
	}
}
