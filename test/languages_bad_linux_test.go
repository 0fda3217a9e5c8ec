package test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pillion/internal/testrig"
)

// badServer is a language server that answers initialize and nothing else, ignores what
// it can, and leaves processes in every way. It writes their numbers to a file.
const badServer = `#!/bin/sh
trap '' TERM HUP INT
read -r header
body='{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"hoverProvider":true,"textDocumentSync":1}}}'
printf 'Content-Length: %d\r\n\r\n%s' ${#body} "$body"
echo $$ >>"$1"
sleep 1001 & echo $! >>"$1"
setsid sh -c 'echo $$ >>"$0"; trap "" TERM; sleep 1002; sleep 1003' "$1" &
(setsid sh -c 'exec 0<&- 1>&- 2>&-; echo $$ >>"$0"; kill -STOP $$' "$1" &)
while :; do sleep 1004; done
`

// withServer is an editor with a.py, for which the settings name a server that is this
// script. Its argument is pids, a file.
func withServer(t *testing.T, script string) (e *testrig.Editor, pids string) {
	t.Helper()
	away := t.TempDir()
	program, pids := filepath.Join(away, "server"), filepath.Join(away, "pids")
	put(t, program, script)
	e = spawn(t, testrig.Options{Settings: object{
		"mode": "auto_edit",
		"languageServers": object{"editWaitSeconds": 0.2, "servers": object{
			"pylsp": object{"enabled": false}, "pyright": object{"enabled": false}, "basedpyright": object{"enabled": false},
			"bad": object{"command": []string{program, pids}, "languages": []string{"python"}},
		}},
	}})
	e.Write("a.py", "x = 1\n")
	return e, pids
}

// numbers waits until so many are in a file.
func numbers(t *testing.T, file string, n int) (out []int) {
	t.Helper()
	eventually(t, "the server's processes", func() bool {
		text, _ := os.ReadFile(file) //nolint:errcheck // it is about to come
		out = nil
		for field := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				out = append(out, pid)
			}
		}
		return len(out) == n && strings.HasSuffix(string(text), "\n")
	})
	return out
}

func TestNothingOfALanguageServerSurvivesTheEditor(t *testing.T) {
	t.Parallel()
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, file := withServer(t, badServer)
			begin(t.Context(), e, "lsp_hover", object{"path": "a.py", "line": 0, "character": 0}) // it is cut off
			pids := numbers(t, file, 4)
			if allGone(pids)() {
				t.Fatal("the server had ended before the test began")
			}
			end(e)
			eventually(t, "the end of every process", allGone(pids))
		})
	}
}

func TestALanguageServerThatHangsHoldsNothingUp(t *testing.T) {
	t.Parallel()
	e, file := withServer(t, badServer)
	e.Open("a.py")
	numbers(t, file, 4)
	begin(t.Context(), e, "lsp_hover", object{"path": "a.py", "line": 0, "character": 0}) // nobody ever answers it
	e.Call("read_file", object{"path": "a.py"}).Want(t, "")
	r := e.Call("edit_file", object{"path": "a.py", "old_string": "1", "new_string": "2"})
	found, _ := r.StructuredContent["diagnostics"].(object)
	if r.IsError || found["status"] != "timeout" || e.Buffer("a.py").Text != "x = 2\n" {
		t.Errorf("edit_file: %+v", r.StructuredContent)
	}
}

func TestALanguageServerThatCannotStart(t *testing.T) {
	t.Parallel()
	e, _ := withServer(t, "#!/bin/sh\necho 'no module named so' >&2\nexit 3\n")
	r := e.Call("lsp_hover", object{"path": "a.py", "line": 0, "character": 0})
	if r.Code() != "LSP_UNAVAILABLE" || r.StructuredContent["server_status"] != "failed" ||
		!strings.Contains(r.Text(), "it ended with exit code 3; it printed: no module named so") {
		t.Errorf("lsp_hover: %+v", r.StructuredContent)
	}
}
