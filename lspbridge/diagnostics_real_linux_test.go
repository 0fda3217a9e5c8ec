package lspbridge

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pillion/workspace"
	"pillion/workspace/language"
)

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
		got := r.diagnose(p, 20*time.Second)
		want := says(round*5 + 4)
		if got.Freshness != language.Fresh || len(got.Diagnostics) != 1 || !strings.Contains(got.Diagnostics[0].Message, want) {
			r.Errorf("round %d: %s %+v, want %s", round, got.Freshness, got.Diagnostics, want)
		}
	}
	for n := range 2 {
		change(clean + strings.Repeat("\n", n))
		if got := r.diagnose(p, 20*time.Second); got.Freshness != language.Fresh || len(got.Diagnostics) != 0 {
			r.Errorf("clean: %s %+v", got.Freshness, got.Diagnostics)
		}
	}
}

func TestRealShellDiagnostics(t *testing.T) {
	t.Parallel()
	const clean = "#!/bin/sh\necho hello\n"
	r := newRealRig(t, map[string]string{"run": clean})
	faulty(r, r.path("run"), clean,
		func(n int) string { return fmt.Sprintf("#!/bin/sh\necho '🎉' \"$x%d\"\n", n) },
		func(n int) string { return fmt.Sprintf("x%d", n) })
}

func TestRealShellWithoutItsLinter(t *testing.T) {
	t.Parallel()
	r := newRealRig(t, map[string]string{"run": "#!/bin/sh\necho $x\n"}, "shellcheck")
	got := r.diagnose(r.path("run"), 20*time.Second)
	if got.Freshness != language.LinterMissing || !strings.Contains(got.Hint, "install shellcheck") {
		t.Errorf("%+v", got)
	}
}

func TestRealTypeScriptDiagnostics(t *testing.T) {
	t.Parallel()
	const clean = "export const n: number = 1;\n"
	r := newRealRig(t, map[string]string{"tsconfig.json": `{"compilerOptions": {"strict": true}}`, "a.ts": clean})
	faulty(r, r.path("a.ts"), clean,
		func(n int) string {
			return fmt.Sprintf("export const s = '🎉'; export const n: number = nobody%d;\n", n)
		},
		func(n int) string { return fmt.Sprintf("nobody%d", n) })
}

func TestRealGoDiagnostics(t *testing.T) {
	t.Parallel()
	const clean = "package a\n\nfunc F() int { return 1 }\n"
	r := newRealRig(t, map[string]string{"go.mod": "module a\n\ngo 1.24\n", "a.go": clean})
	faulty(r, r.path("a.go"), clean,
		func(n int) string { return fmt.Sprintf("package a\n\nfunc F() int { return nobody%d }\n", n) },
		func(n int) string { return fmt.Sprintf("nobody%d", n) })
}
