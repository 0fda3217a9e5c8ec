package test

import (
	"fmt"
	"os"
	"path/filepath"
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
