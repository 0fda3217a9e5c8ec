package lspbridge

import (
	"fmt"
	"maps"
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

// The tests of this file ask real servers, for what a scripted one cannot show: that these
// programs are understood. Those of TypeScript and Go, and
// many edits in a row, stand in real_rides_test.go.

// newRealRig is a rig whose servers are those of the table, without the hidden programs.
func newRealRig(t *testing.T, files map[string]string, hidden ...string) *rig {
	t.Helper()
	r := newRig(t, files, Known()...)
	r.bridge.o.LookPath = realPrograms(t, hidden...)
	return r
}

// realPrograms finds programs as PATH does, and before that in the part that has them.
func realPrograms(t *testing.T, hidden ...string) func(string) (string, error) {
	return func(name string) (string, error) {
		switch {
		case slices.Contains(hidden, name):
			return "", exec.ErrNotFound
		case name == "bash-language-server", name == "typescript-language-server":
			return filepath.Join(machine.Part(t, "language-servers"), "node_modules/.bin", name), nil
		case name == "tsc":
			return filepath.Join(machine.Part(t, "language-servers"), "native/node_modules/.bin/tsc"), nil
		case name == "gopls":
			return filepath.Join(machine.Part(t, name), name), nil
		}
		return exec.LookPath(name)
	}
}

// find is the place of the n-th (from 0) mark in a text, in UTF-16 code units.
func find(t testing.TB, text, mark string, n int) document.Position {
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

// patiently asks again as long as the server takes its time: it may still start, or read
// the project.
func (r *rig) patiently(ask func() error) {
	r.Helper()
	late := func(err error) bool {
		return fault.CodeOf(err) == fault.Timeout || err != nil && (strings.Contains(err.Error(), "has not said anything for") || strings.Contains(err.Error(), "is not ready yet"))
	}
	err := ask()
	for end := time.Now().Add(3 * time.Minute); late(err) && time.Now().Before(end); {
		err = ask()
	}
	r.Must(err)
}

// leadsTo asks where the thing at a place is defined.
func (r *rig) leadsTo(in workspace.Path, at document.Position, to string, want document.Position) {
	r.Helper()
	var places []language.Location
	var by language.Server
	r.patiently(func() (err error) {
		places, by, err = r.bridge.Definition(r.Context(), r.snapshot(), in, at)
		return err
	})
	if by.Status != language.Running {
		r.Errorf("answered by %+v", by)
	}
	if len(places) != 1 || !strings.HasSuffix(places[0].URI, to) || places[0].Range.Start != want {
		r.Errorf("%s %v is defined at %+v, want %s %v", in, at, places, to, want)
	}
}

func (r *rig) tells(in workspace.Path, at document.Position, want string) {
	r.Helper()
	var text string
	r.patiently(func() (err error) {
		text, _, err = r.bridge.Hover(r.Context(), r.snapshot(), in, at)
		return err
	})
	if !strings.Contains(text, want) {
		r.Errorf("%s %v: hover %q, want %q in it", in, at, text, want)
	}
}

// usedAt asks where the thing at a place is used, and answers path:line:character.
func (r *rig) usedAt(in workspace.Path, at document.Position) []string {
	r.Helper()
	var places []language.Location
	r.patiently(func() (err error) {
		places, _, err = r.bridge.References(r.Context(), r.snapshot(), in, at, true)
		return err
	})
	var out []string
	for _, l := range places {
		out = append(out, fmt.Sprintf("%s:%d:%d", l.Path, l.Range.Start.Line, l.Range.Start.Character))
	}
	slices.Sort(out)
	return out
}

// renamed is what the files that a rename changes become.
func (r *rig) renamed(in workspace.Path, at document.Position, to string) map[string]string {
	r.Helper()
	s := r.snapshot()
	var files []language.FileEdits
	r.patiently(func() (err error) {
		files, _, err = r.bridge.Rename(r.Context(), s, in, at, to)
		return err
	})
	out := map[string]string{}
	for _, f := range files {
		text, err := s.Read(f.Path, "")
		r.Must(err)
		out[f.Path.String()] = apply(text.Text, f.Edits)
	}
	return out
}

func (r *rig) wantRenamed(in workspace.Path, at document.Position, old, to string, want map[string]string) {
	r.Helper()
	for name, text := range want {
		want[name] = strings.ReplaceAll(text, old, to)
	}
	if got := r.renamed(in, at, to); !maps.Equal(got, want) {
		r.Errorf("renamed:\n%q\nwant\n%q", got, want)
	}
}

// proven asks what is wrong in a file, until it is certain.
func (r *rig) proven(p workspace.Path) (report language.Report) {
	r.Helper()
	r.patiently(func() (err error) {
		report, err = r.bridge.Diagnostics(r.Context(), r.snapshot(), p)
		if err == nil && (report.Freshness == language.TimedOut || report.Freshness == language.Stale) {
			return fault.New(fault.Timeout, "no diagnostics")
		}
		return err
	})
	if report.Freshness != language.Fresh {
		r.Errorf("%s: the diagnostics are %s (%s)", p, report.Freshness, report.Hint)
	}
	return report
}

// fresh are the faults of a file, which must be proven to be about its text: the
// messages, each with its place.
func (r *rig) fresh(p workspace.Path) []string {
	r.Helper()
	report := r.proven(p)
	var out []string
	for _, d := range report.Diagnostics {
		out = append(out, fmt.Sprintf("%d:%d %s", d.Range.Start.Line, d.Range.Start.Character, d.Message))
	}
	return out
}

// wantFault looks for one fault among the fresh ones.
func (r *rig) wantFault(p workspace.Path, at document.Position, message string) {
	r.Helper()
	faults := r.fresh(p)
	want := fmt.Sprintf("%d:%d ", at.Line, at.Character)
	if !slices.ContainsFunc(faults, func(f string) bool { return strings.HasPrefix(f, want) && strings.Contains(f, message) }) {
		r.Errorf("%s: no %q at %sin %q", p, message, want, faults)
	}
}

// wantClean is that nothing is wrong, with proof.
func (r *rig) wantClean(p workspace.Path) {
	r.Helper()
	if faults := r.fresh(p); len(faults) > 0 {
		r.Errorf("%s: %q, want none", p, faults)
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
	call := find(t, shop, "total", 1) // after CRLF, and after two characters that UTF-16 counts twice
	r.leadsTo(p, call, "till.py", find(t, till, "total", 0))
	r.tells(p, call, "All prices together.")
	r.leadsTo(p, find(t, shop, "assist", 1), filepath.ToSlash(packages)+"/helping/__init__.py", at(0, 4))
	r.leadsTo(r.path("script"), at(2, 12), "till.py", find(t, till, "total", 0)) // Python by its first line alone
	if got := r.usedAt(p, call); !slices.Contains(got, "till.py:0:4") || !slices.Contains(got, fmt.Sprintf("shop.py:5:%d", call.Character)) {
		t.Errorf("used at %q", got)
	}
	got := r.renamed(p, call, "sum_up")
	if got["shop.py"] != strings.ReplaceAll(shop, "total", "sum_up") || got["till.py"] != strings.ReplaceAll(till, "total", "sum_up") {
		t.Errorf("renamed: %q", got)
	}
	if _, err := os.Stat(r.Abs("ran")); err == nil {
		t.Error("the environment's Python has run")
	}

	r.wantClean(p)
	unsaved := strings.Replace(shop, "name))", "nobody))", 1)
	r.store.Open(p, p.URI(), 1, unsaved)
	r.wantFault(p, find(t, unsaved, "nobody", 0), "undefined name 'nobody'")
	r.store.Change(p, 2, "\r\n"+unsaved)
	r.wantFault(p, find(t, "\r\n"+unsaved, "nobody", 0), "undefined name 'nobody'")
	r.store.Close(p)
	r.wantClean(p)
}

func TestRealShell(t *testing.T) {
	t.Parallel()
	const script = "#!/bin/sh\n# Greets somebody.\ngreet() {\n  echo \"hello $1\"\n}\n: '🎉'\ngreet you\n"
	r := newRealRig(t, map[string]string{"run": script, "b.sh": "#!/bin/sh\necho ok\n"})
	p := r.path("run")
	r.leadsTo(p, find(t, script, "greet", 1), "run", at(2, 0))
	r.tells(p, find(t, script, "greet", 1), "Greets somebody.")
	if got := r.usedAt(p, at(2, 1)); !slices.Equal(got, []string{"run:2:0", "run:6:0"}) {
		t.Errorf("used at %q", got)
	}
	r.wantRenamed(p, at(6, 1), "greet", "welcome", map[string]string{"run": script})
	r.wantClean(p)
	b := r.path("b.sh")
	r.wantClean(b)
	const unsaved = "#!/bin/sh\r\n: '🎉'\necho $six\n"
	r.store.Open(b, b.URI(), 1, unsaved)
	r.wantFault(b, find(t, unsaved, "$six", 0), "six is referenced but not assigned")
}

// TestRealShellWithoutLinter: a server that cannot find faults does not say "clean".
func TestRealShellWithoutLinter(t *testing.T) {
	t.Parallel()
	r := newRealRig(t, map[string]string{"a.sh": "#!/bin/sh\necho $1\n"}, "shellcheck")
	report, err := r.bridge.Diagnostics(t.Context(), r.snapshot(), r.path("a.sh"))
	r.Must(err)
	if report.Freshness != language.LinterMissing || !strings.Contains(report.Hint, "apt install shellcheck") {
		t.Errorf("%+v", report)
	}
}
