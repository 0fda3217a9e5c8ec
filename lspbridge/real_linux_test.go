package lspbridge

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// The tests of this file ask the real servers, which scripts/setup installs. They are
// for what a scripted server cannot show: that these programs are understood.

// newRealRig is a rig whose servers are those of the table, without the hidden programs.
func newRealRig(t *testing.T, files map[string]string, hidden ...string) *rig {
	t.Helper()
	r := newRig(t, files, Known()...)
	r.bridge.o.LookPath = realPrograms(t, hidden...)
	return r
}

// newRealRigAt is one over a folder that is there.
func newRealRigAt(t *testing.T, dir string) *rig {
	t.Helper()
	r := newRigAt(t, dir, Known()...)
	r.bridge.o.LookPath = realPrograms(t)
	return r
}

// realPrograms finds programs as PATH does, and before that in the parts that are set up.
func realPrograms(t *testing.T, hidden ...string) func(string) (string, error) {
	t.Helper()
	parts := []string{filepath.Join(machine.Part(t, "language-servers"), "node_modules/.bin"), machine.Part(t, "gopls")}
	return func(name string) (string, error) {
		if slices.Contains(hidden, name) {
			return "", exec.ErrNotFound
		}
		for _, dir := range parts {
			if program := filepath.Join(dir, name); exists(program) {
				return program, nil
			}
		}
		return exec.LookPath(name)
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// find is the place of the n-th (from 0) mark in a text, in UTF-16 code units.
func find(t *testing.T, text, mark string, n int) document.Position {
	t.Helper()
	offset := 0
	for ; n >= 0; n-- {
		i := strings.Index(text[offset:], mark)
		if i < 0 {
			t.Fatalf("%q is not in the text", mark)
		}
		offset += i + len(mark)
	}
	before := text[:offset-len(mark)]
	line := strings.Count(before, "\n")
	last := before[strings.LastIndexByte(before, '\n')+1:]
	units := uint32(0)
	for _, c := range last {
		units++
		if c > 0xffff {
			units++
		}
	}
	return document.Position{Line: uint32(line), Character: units}
}

// leadsTo asks where the thing at a place is defined.
func (r *rig) leadsTo(in workspace.Path, at document.Position, to string, want document.Position) {
	r.Helper()
	places, by, err := r.bridge.Definition(r.Context(), r.snapshot(), in, at)
	for end := time.Now().Add(time.Minute); fault.CodeOf(err) == fault.Timeout && time.Now().Before(end); {
		places, by, err = r.bridge.Definition(r.Context(), r.snapshot(), in, at) // it still reads the project
	}
	r.must(err)
	if by.Status != language.Running {
		r.Errorf("answered by %+v", by)
	}
	if len(places) != 1 || !strings.HasSuffix(places[0].URI, to) || places[0].Range.Start != want {
		r.Errorf("%s %v is defined at %+v, want %s %v", in, at, places, to, want)
	}
}

func (r *rig) tells(in workspace.Path, at document.Position, want string) {
	r.Helper()
	text, _, err := r.bridge.Hover(r.Context(), r.snapshot(), in, at)
	r.must(err)
	if !strings.Contains(text, want) {
		r.Errorf("%s %v: hover %q, want %q in it", in, at, text, want)
	}
}

// TestRealPython: a project with a virtual environment, whose packages are read.
func TestRealPython(t *testing.T) {
	t.Parallel()
	const shop = "from helping import assist\r\nfrom till import total\r\n\r\n\r\ndef sell(name):\r\n    print('🛒', '𝒳', total([1, 2]), assist(name))\r\n"
	const till = "def total(prices):\n    \"\"\"All prices together.\"\"\"\n    return sum(prices)\n"
	r := newRealRig(t, map[string]string{"shop.py": shop, "till.py": till, "script": "#!/usr/bin/env python3\nimport till\nprint(till.total([]))\n"})
	packages := environment(r, ".venv")
	p := r.path("shop.py")
	r.leadsTo(p, find(t, shop, "total", 1), "till.py", find(t, till, "total", 0)) // after CRLF, and after two that UTF-16 counts twice
	r.tells(p, find(t, shop, "total", 1), "All prices together.")
	r.leadsTo(p, find(t, shop, "assist", 1), filepath.ToSlash(packages)+"/helping/__init__.py", at(0, 4))
	r.leadsTo(r.path("script"), at(2, 12), "till.py", find(t, till, "total", 0)) // Python by its first line alone
	if exists(filepath.Join(r.dir, "ran")) {
		t.Error("the environment's Python has run")
	}
}

func TestRealShell(t *testing.T) {
	t.Parallel()
	const script = "#!/bin/sh\n# Greets somebody.\ngreet() {\n  echo \"hello $1\"\n}\n: '🎉'\ngreet you\n"
	r := newRealRig(t, map[string]string{"run": script})
	r.leadsTo(r.path("run"), find(t, script, "greet", 1), "run", at(2, 0))
	r.tells(r.path("run"), find(t, script, "greet", 1), "Greets somebody.")
}

func TestRealTypeScript(t *testing.T) {
	t.Parallel()
	const shop = "import { total } from './till';\n\nconst s = '🛒' + total([1, 2]);\nconsole.log(s);\n"
	const till = "/** All prices together. */\nexport function total(prices: number[]): number {\n  return prices.reduce((a, b) => a + b, 0);\n}\n"
	r := newRealRig(t, map[string]string{
		"tsconfig.json": `{"compilerOptions": {"strict": true, "module": "es2020", "moduleResolution": "node"}}`, "shop.ts": shop, "till.ts": till,
	})
	r.leadsTo(r.path("shop.ts"), find(t, shop, "total", 1), "till.ts", find(t, till, "total", 0))
	r.tells(r.path("shop.ts"), find(t, shop, "total", 1), "All prices together.")
}

// TestRealGo asks gopls about this repository.
func TestRealGo(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	r := newRealRigAt(t, root)
	const name = "workspace/change/preview.go"
	preview, err := os.ReadFile(filepath.Join("..", name))
	r.must(err)
	of, err := os.ReadFile("../workspace/language/identify.go")
	r.must(err)
	at := find(t, string(preview), "language.Of(", 0)
	at.Character += 9
	to := find(t, string(of), "func Of(", 0)
	to.Character += 5
	r.leadsTo(r.path(name), at, "workspace/language/identify.go", to)
	r.tells(r.path(name), at, "Of is the language of a file")
}
