package cli

import (
	"strings"
	"testing"

	"pillion/audit"
)

// TestACallIsOneLine, whatever an agent calls itself and runs.
func TestACallIsOneLine(t *testing.T) {
	t.Parallel()
	line := auditLine(audit.Entry{Record: audit.Record{Agent: "a\nb", Tool: "run_command", Command: "true\n2026-01-01  b\x1b[1A", Outcome: "done\r"}})
	if !strings.HasSuffix(line, `  a\nb  run_command  done\r  -  true\n2026-01-01  b\x1b[1A`) || strings.ContainsAny(line, "\n\r\x1b") {
		t.Errorf("%q", line)
	}
	line = auditLine(audit.Entry{Record: audit.Record{Agent: "a", Tool: "write_file  done  human", Outcome: "TOOL_NOT_FOUND"}})
	if !strings.HasSuffix(line, `  a  "write_file  done  human"  TOOL_NOT_FOUND  -  `) {
		t.Errorf("%q", line)
	}
}
