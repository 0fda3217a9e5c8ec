package test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pillion/internal/testrig"
)

// hostile is a repository that has something run wherever a language server, or what
// it starts, would take it for its own. Each leaves a mark.
func hostile(t *testing.T, mark string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	python := func(who string) string { return fmt.Sprintf("open(%q, 'w')\n", mark+who) }
	node := func(who string) string { return fmt.Sprintf("require('fs').writeFileSync(%q, '');\n", mark+who) }
	shell := func(who string) string { return "#!/bin/sh\n: > '" + mark + who + "'\n" }
	files := map[string]string{
		"shop.py":                "import till\nfrom helping import assist\nprint(till.total([assist]))\n",
		"till.py":                "def total(prices):\n    return sum(prices)\n",
		".ropeproject/config.py": python("rope"),
		"setup.cfg":              "[flake8]\n[flake8:local-plugins]\nextension =\n    X = evil:Evil\npaths = .\n[mypy]\nplugins = evil.py\n",
		"evil.py":                python("plugin"),
		".pylintrc":              "[MAIN]\ninit-hook=" + python("pylint"),
		".venv/pyvenv.cfg":       "home = /usr/bin\n",
		".venv/bin/python":       shell("python"),
		".venv/bin/python3":      shell("python3"),
		".venv/lib/python3.11/site-packages/helping/__init__.py": python("import") + "def assist(): pass\n",
		".venv/lib/python3.11/site-packages/evil.pth":            "import sys; " + python("pth"),

		"run.sh":       "#!/bin/sh\ngreet() {\n  echo $1\n}\ngreet you\n",
		"bin/fetch.sh": "#!/bin/sh\n",

		"shop.ts":                              "import { total } from './till';\nexport const all = total([1]);\n",
		"till.ts":                              "export function total(prices: number[]): number {\n  return prices.length;\n}\n",
		"tsconfig.json":                        `{"compilerOptions": {"plugins": [{"name": "evil"}, {"name": "./evil"}]}}`,
		"package.json":                         `{"name": "shop", "private": true}`,
		"node_modules/evil/index.js":           node("ts-plugin"),
		"evil/index.js":                        node("ts-local-plugin"),
		"node_modules/typescript/package.json": `{"name": "typescript", "version": "5.0.0"}`,
		"node_modules/typescript/lib/tsserver.js":   node("tsserver"),
		"node_modules/typescript/lib/typescript.js": node("typescript"),
		".yarn/sdks/typescript/lib/tsserver.js":     node("sdk"),
		".pnp.cjs":                                  node("pnp"),
		"go.mod":                                    "module shop\n\ngo 1.21\n",
		"main.go":                                   "package main\n\nfunc main() { println(total()) }\n\nfunc total() int { return 1 }\n",
		"go.env":                                    "GOFLAGS=-toolexec=" + mark + "toolexec.sh\n",
		".git/HEAD":                                 "ref: refs/heads/main\n",
		".git/config":                               "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = \"" + mark + "fsmonitor.sh\"\n\tsshCommand = false\n",
		".git/objects/info/packs":                   "",
		".git/refs/heads/x":                         "",
		"main.rs":                                   "fn main() {}\n",
		"Cargo.toml":                                "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n",
	}
	for _, program := range []string{"shellcheck", "shfmt", "node", "git", "go", "python3", "python", "pylsp", "gopls", "tsserver", "bash-language-server", "rust-analyzer", "cargo"} {
		files["bin/"+program] = shell(program)
		files["node_modules/.bin/"+program] = shell(program)
	}
	for name, text := range files {
		put(t, filepath.Join(dir, name), text)
	}
	put(t, mark+"fsmonitor.sh", shell("fsmonitor"))
	put(t, mark+"toolexec.sh", shell("toolexec")+"exec \"$@\"\n")
	return dir
}

// TestServersRunNothingOfARepository: pylsp, to whose plugins most of it is addressed, and
// one that is not there. The others are asked in languages_hostile_rides_test.go.
func TestServersRunNothingOfARepository(t *testing.T) {
	e, ended := amongHostile(t)
	askAll(t, e, object{"path": "shop.py", "line": 2, "character": 12})
	if r := e.Call("lsp_definition", object{"path": "shop.py", "line": 2, "character": 19}); r.Code() != "" { // into the environment
		t.Errorf("in the environment: %+v", r)
	}
	done := e.Start("lsp_rename", object{"path": "till.py", "line": 0, "character": 5, "new_name": "sum_up"})
	a := testrig.Wait(t, e.Approvals, "the dialog") // the files may be run
	if r := answered(t, a, done, object{"decision": "approve", "decisionId": "approve"}); r.IsError || !strings.Contains(e.Read("shop.py"), "till.sum_up(") {
		t.Errorf("rename: %+v", r.StructuredContent)
	}
	e.Call("lsp_definition", object{"path": "main.rs", "line": 0, "character": 3}).Want(t, "LSP_UNAVAILABLE") // rust-analyzer
	ended()
}

// amongHostile starts the program in such a repository, for somebody whose PATH leads into
// it and then to parts. ended fails the test if anything of the repository has run.
func amongHostile(t *testing.T, parts ...string) (e *testrig.Editor, ended func()) {
	t.Helper()
	marks := t.TempDir()
	dir := hostile(t, marks+"/ran-")
	path := append([]string{filepath.Join(dir, "bin"), filepath.Join(dir, "node_modules/.bin"), ".", ""}, parts...)
	t.Setenv("PATH", strings.Join(path, ":")+":"+os.Getenv("PATH"))
	t.Setenv("VIRTUAL_ENV", filepath.Join(dir, ".venv"))
	t.Setenv("CONDA_PREFIX", filepath.Join(dir, ".venv"))
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOENV", filepath.Join(dir, "go.env"))
	e = spawn(t, testrig.Options{Dirs: []string{dir}, Settings: object{"mode": "auto_edit"}})
	return e, func() {
		t.Helper()
		e.Stop()
		left, err := filepath.Glob(marks + "/ran-*")
		must(t, err)
		for _, mark := range left {
			if !strings.HasSuffix(mark, ".sh") {
				t.Errorf("the repository has run something: %s", filepath.Base(mark))
			}
		}
	}
}

// askAll has a server do all that it can be asked to do at a place, once it runs.
func askAll(t *testing.T, e *testrig.Editor, at object) {
	t.Helper()
	eventually(t, fmt.Sprint("the server runs for ", at), func() bool {
		r := e.Call("lsp_definition", at)
		return strings.Contains(fmt.Sprint(r.StructuredContent["server_status"]), "running")
	})
	for _, tool := range []string{"lsp_hover", "lsp_references", "lsp_diagnostics", "lsp_symbols", "lsp_code_actions"} {
		args := object{"path": at["path"]}
		if tool != "lsp_diagnostics" && tool != "lsp_symbols" {
			args["line"] = at["line"]
		}
		if tool == "lsp_hover" || tool == "lsp_references" {
			args["character"] = at["character"]
		}
		e.Call(tool, args)
	}
}

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
