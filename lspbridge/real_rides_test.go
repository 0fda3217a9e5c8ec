//go:build linux && rides

package lspbridge

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pillion/internal/testrig/machine"
	"pillion/workspace"
	"pillion/workspace/language"
	"pillion/workspace/watch"
)

// servers of TypeScript, with what hides the other.
var typeScripts = map[string]string{"typescript": "typescript-language-server", "typescript-language-server": "tsc"}

// withServers runs a test of a file with each server of its language.
func withServers(t *testing.T, name, file string, test func(t *testing.T, hidden string)) {
	if !strings.HasSuffix(file, ".ts") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, "")
		})
		return
	}
	for server, other := range typeScripts {
		t.Run(name+" "+server, func(t *testing.T) {
			t.Parallel()
			test(t, other)
		})
	}
}

func TestRealTypeScript(t *testing.T) { withServers(t, "shop", "shop.ts", asksTypeScript) }

func asksTypeScript(t *testing.T, hidden string) {
	const shop = "import { total } from './till';\n\nexport const s = '🛒' + total([1, 2]);\n"
	const till = "/** All prices together. */\nexport function total(prices: number[]): number {\n  return prices.reduce((a, b) => a + b, 0);\n}\n"
	r := newRealRig(t, map[string]string{
		"tsconfig.json": `{"compilerOptions": {"strict": true, "module": "es2020", "moduleResolution": "node"}}`, "shop.ts": shop, "till.ts": till,
	}, hidden)
	p := r.path("shop.ts")
	call := find(t, shop, "total", 1)
	r.leadsTo(p, call, "till.ts", find(t, till, "total", 0))
	r.tells(p, call, "All prices together.")
	if got := r.usedAt(p, call); !slices.Equal(got, []string{"shop.ts:0:9", fmt.Sprintf("shop.ts:2:%d", call.Character), "till.ts:1:16"}) {
		t.Errorf("used at %q", got)
	}
	r.wantRenamed(p, call, "total", "sumUp", map[string]string{"shop.ts": shop, "till.ts": till})
	r.wantClean(p)
}

// TestRealGo asks gopls about this repository.
func TestRealGo(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("..")
	machine.Must(t, err)
	r := newRigAt(machine.Folder{TB: t, Dir: root}, Known()...)
	r.bridge.o.LookPath = realPrograms(t)
	const name = "workspace/language/identify_test.go"
	test, err := os.ReadFile(filepath.Join(root, name))
	r.Must(err)
	of, err := os.ReadFile("../workspace/language/identify.go")
	r.Must(err)
	call := find(t, string(test), "Of(c.editor", 0)
	to := find(t, string(of), "func Of(", 0)
	to.Character += 5
	p := r.path(name)
	r.leadsTo(p, call, "workspace/language/identify.go", to)
	r.tells(p, call, "Of is the language of a file")
	if got := r.usedAt(p, call); !slices.Contains(got, fmt.Sprintf("workspace/language/identify.go:%d:5", to.Line)) || !slices.ContainsFunc(got, func(s string) bool {
		return strings.HasPrefix(s, "lspbridge/bridge.go:")
	}) {
		t.Errorf("used at %q", got)
	}
	got := r.renamed(p, call, "Named")
	if !strings.Contains(got["workspace/language/identify.go"], "\nfunc Named(editor, name, text string)") || !strings.Contains(got["lspbridge/bridge.go"], "language.Named(") {
		t.Errorf("renamed in %q", slices.Sorted(maps.Keys(got)))
	}
	r.wantClean(p)
	text := string(test) + "\nvar _ = \"🎉\" + six\n"
	r.store.Open(p, p.URI(), 1, text)
	r.wantFault(p, find(t, text, "six", 0), "undefined: six")
}

// faulty has a file of one language be told five quick edits, and asks what is wrong
// after the last: text makes one with the fault that says names the n-th. Then it asks
// of the text without any, twice: there are servers that say nothing of what stays clean.
func faulty(r *rig, p workspace.Path, clean string, text func(n int) string, says func(n int) string) {
	r.Helper()
	version := int32(1)
	r.store.Open(p, p.URI(), version, clean)
	change := func(text string) {
		version++
		r.store.Change(p, version, text)
	}
	for round := range 3 {
		for i := range 5 {
			change(text(round*5 + i))
			if i < 4 {
				warm(r, p)
			}
		}
		got, want := r.proven(p), says(round*5+4)
		if len(got.Diagnostics) != 1 || !strings.Contains(got.Diagnostics[0].Message, want) {
			r.Errorf("round %d: %s %+v, want %s", round, got.Freshness, got.Diagnostics, want)
		}
	}
	for n := range 2 {
		change(clean + strings.Repeat("\n", n))
		if got := r.proven(p); len(got.Diagnostics) != 0 {
			r.Errorf("clean: %s %+v", got.Freshness, got.Diagnostics)
		}
	}
}

func TestRealFaults(t *testing.T) {
	for _, c := range []struct {
		file, clean, text string // %d in text is a number, which the fault names
	}{
		{file: "run", clean: "#!/bin/sh\necho hello\n", text: "#!/bin/sh\necho '🎉' \"$nobody%d\"\n"},
		{
			file:  "a.ts",
			clean: "export const n: number = 1;\n", text: "export const s = '🎉'; export const n: number = nobody%d;\n",
		},
		{file: "a.go", clean: "package a\n\nfunc F() int { return 1 }\n", text: "package a\n\nfunc F() int { return nobody%d }\n"},
	} {
		withServers(t, c.file, c.file, func(t *testing.T, hidden string) {
			r := newRealRig(t, map[string]string{"tsconfig.json": `{"compilerOptions": {"strict": true}}`, "go.mod": "module a\n\ngo 1.24\n", c.file: c.clean}, hidden)
			faulty(r, r.path(c.file), c.clean,
				func(n int) string { return fmt.Sprintf(c.text, n) },
				func(n int) string { return fmt.Sprintf("nobody%d", n) })
		})
	}
}

// undefinedNames is what pylsp must find in a text: the name that is not there.
func undefinedNames(list []language.Diagnostic) (out []string) {
	for _, d := range list {
		if _, name, ok := strings.Cut(d.Message, "undefined name "); ok {
			out = append(out, name)
		}
	}
	return out
}

// TestPylspAfterQuickEdits: pylsp names no versions and debounces, so that a report of
// an earlier text comes after a later one was sent.
func TestPylspAfterQuickEdits(t *testing.T) {
	t.Parallel()
	r := newRealRig(t, map[string]string{"a.py": "x0\n"})
	p := r.path("a.py")
	r.store.Open(p, p.URI(), 1, "x0\n")
	version, edits := int32(1), 0
	for round := range 10 {
		for i := range 5 {
			edits++
			version++
			r.store.Change(p, version, fmt.Sprintf("x%d\n%s", edits, strings.Repeat("def f(): pass\n", round%7*100)))
			if i < 4 {
				warm(r, p)
				<-time.After(time.Duration(round*37%4*i*60) * time.Millisecond) // people type at a pace
			}
		}
		names := undefinedNames(r.proven(p).Diagnostics)
		if len(names) != 1 || names[0] != fmt.Sprintf("'x%d'", edits) {
			t.Errorf("round %d: %q, want x%d", round, names, edits)
		}
	}
}

// TestPylspWithoutALinter finds nothing wrong in any file, which proves nothing.
func TestPylspWithoutALinter(t *testing.T) {
	t.Parallel()
	without := t.TempDir()
	for _, name := range []string{"pyflakes", "pycodestyle", "pylint", "flake8"} {
		machine.Must(t, os.WriteFile(filepath.Join(without, name+".py"), []byte("raise ImportError('not installed')\n"), 0o600))
	}
	s := Known()[0]
	s.Env = withEnv(s.Env, "PYTHONPATH", without)
	r := newRig(t, map[string]string{"a.py": "x0\n"}, s)
	var report language.Report
	r.patiently(func() (err error) {
		report, err = r.bridge.Diagnostics(t.Context(), r.snapshot(), r.path("a.py"))
		return err
	})
	if report.Freshness != language.LinterMissing || !strings.Contains(report.Hint, "python3-pyflakes") {
		t.Errorf("%+v", report)
	}
}

// TestRealCausedElsewhere: what a change breaks in a file that nobody has opened.
func TestRealCausedElsewhere(t *testing.T) {
	for _, c := range []struct{ changed, from, to, user, uses, says string }{
		{"a.ts", "export function f(n: number) {\n  return n;\n}\n", "export function f(s: string) {\n  return s;\n}\n", "b.ts", "import { f } from './a';\nexport const one = f(1);\n", "number"},
		{"a/a.go", "package a\n\nfunc F(n int) int { return n }\n", "package a\n\nfunc F(s string) string { return s }\n", "b.go", "package b\n\nimport \"x/a\"\n\nvar One = a.F(1)\n", "cannot use 1"},
		{"a.ts", "export const f = 1;\n", "", "b.ts", "import { f } from './a';\nexport const one = f;\n", "'./a'"},
		{"a/a.go", "package a\n\nconst F = 1\n", "", "b.go", "package b\n\nimport \"x/a\"\n\nvar One = a.F\n", "x/a"},
	} {
		withServers(t, c.changed+" "+c.says, c.changed, func(t *testing.T, hidden string) {
			r := newRealRig(t, map[string]string{"tsconfig.json": `{"compilerOptions": {"strict": true}}`, "go.mod": "module x\n\ngo 1.24\n", c.changed: c.from, c.user: c.uses}, hidden)
			r.settings.EditWait = time.Minute
			p, user := r.path(c.changed), r.path(c.user)
			r.proven(p) // it runs
			before := r.having(p)
			r.Write(c.changed, c.to)
			if c.to == "" {
				r.Must(os.Remove(p.Abs()))
				r.bridge.Changed([]watch.Event{{Dir: filepath.Dir(p.Abs()), Name: p.Base(), Op: watch.Deleted}})
			}
			got := r.bridge.Caused(t.Context(), before, []workspace.Path{p}, nil)[p]
			if got.Freshness != language.Fresh || !got.Compared || len(got.New) > 0 || len(got.Elsewhere) != 1 || got.Elsewhere[0].Path != user ||
				!strings.Contains(got.Elsewhere[0].New[0].Message, c.says) {
				t.Errorf("%+v", got)
			}
		})
	}
}
