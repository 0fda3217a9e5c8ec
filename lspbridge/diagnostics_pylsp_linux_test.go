package lspbridge

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pillion/workspace/language"
)

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
	rounds := 3
	if n, err := strconv.Atoi(os.Getenv("PILLION_ROUNDS")); err == nil {
		rounds = n
	}
	r := newRig(t, map[string]string{"a.py": "x0\n"}, pylsp(t))
	p := r.path("a.py")
	r.store.Open(p, p.URI(), 1, "x0\n")
	version, edits := int32(1), 0
	var took time.Duration
	for round := range rounds {
		for i := range 5 {
			edits++
			version++
			r.store.Change(p, version, fmt.Sprintf("x%d\n%s", edits, strings.Repeat("def f(): pass\n", round%7*100)))
			if i < 4 {
				warm(r, p)
				<-time.After(time.Duration(round*37%4*i*60) * time.Millisecond) // people type at a pace
			}
		}
		start := time.Now()
		report, err := r.bridge.Diagnostics(t.Context(), r.snapshot(), p)
		r.must(err)
		took += time.Since(start)
		names := undefinedNames(report.Diagnostics)
		if report.Freshness != language.Fresh || len(names) != 1 || names[0] != fmt.Sprintf("'x%d'", edits) {
			t.Errorf("round %d: %s %q, want x%d", round, report.Freshness, names, edits)
		}
	}
	t.Logf("%v for each round", took/time.Duration(rounds))
}

// TestPylspWithoutALinter finds nothing wrong in any file, which proves nothing.
func TestPylspWithoutALinter(t *testing.T) {
	t.Parallel()
	without := t.TempDir()
	for _, name := range []string{"pyflakes", "pycodestyle", "pylint", "flake8"} {
		if err := os.WriteFile(filepath.Join(without, name+".py"), []byte("raise ImportError('not installed')\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := pylsp(t)
	s.Env = withEnv(s.Env, "PYTHONPATH", without)
	r := newRig(t, map[string]string{"a.py": "x0\n"}, s)
	report, err := r.bridge.Diagnostics(t.Context(), r.snapshot(), r.path("a.py"))
	r.must(err)
	if report.Freshness != language.LinterMissing || !strings.Contains(report.Hint, "python3-pyflakes") {
		t.Errorf("%+v", report)
	}
}
