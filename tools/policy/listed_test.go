package policy

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pillion/internal/testrig/machine"
	"pillion/workspace/git/program"
)

// TestPatternsOnOfferAllowNoMore: of the options of a program, a pattern that a dialog offers
// lets through those alone that are known to be harmless.
func TestPatternsOnOfferAllowNoMore(t *testing.T) {
	for offer, lines := range map[string][]string{
		"go list .": {
			"go list -debug-trace=a.txt .", "go list -debug-trace a.txt .", "go list --debug-trace=a.txt .", "go list -debug-actiongraph=a.txt .", "go list -export .",
			"go list -toolexec ./x .", "go list -overlay=x .", "go list -modfile=x .", "go list -C x .", "go list -x=y .", "go list - .", "go list -jsonx .", "go list -pgo=x .",
		},
		"go build ./...":    {"go build -debug-actiongraph=a.txt", "go build -o x", "go build -debug-trace=x", "go build -work", "go build -cover", "go build -pkgdir=x", "go build -pgo=a.txt"},
		"go test ./...":     {"go test -c", "go test -o x", "go test -exec ./x", "go test -coverprofile=x", "go test -test.v", "go test -fuzz=F", "go test -args -x", "go test -artifacts", "go test ./... -custom"},
		"cargo test":        {"cargo test -- --logfile=F", "cargo test -- --logfile F", "cargo test --target=x.json", "cargo test --config x", "cargo test --manifest-path x", "cargo test -Zx", "cargo test --"},
		"git diff":          {"git diff --output=x", "git diff --outp=x", "git diff --ext-diff", "git diff -O x", "git diff --textconv", "git diff --no-index a b"},
		"git log":           {"git log --output=x", "git log --show-signature", "git log --ext-diff", "git log --format=%G?", "git log '--pretty=format:%h %GK'"},
		"git add a":         {"git add -p", "git add -e", "git add -f x", "git add --pathspec-from-file=x", "git add --chmod=+x a"},
		"npm run lint":      {"npm run lint -- --fix", "npm run lint -- -o x", "npm run lint --", "npm run lint --output=x", "npm run lint --script-shell=x", "npm run lint --loglevel=x"},
		"npm test":          {"npm test -- --logfile=F", "npm test --node-options=x"},
		"yarn test":         {"yarn test --silent", "yarn test -u"},
		"pnpm test":         {"pnpm test -r", "pnpm test --dir x"},
		"git cat-file -p x": {"git cat-file --batch", "git cat-file --textconv x", "git cat-file --filters x"},
		"ls -la":            {"ls -l >x", "ls -lZ", "ls --hyperlink"},
		"sort a":            {"sort -o a a", "sort -uo a a", "sort --output=a a", "sort -T x a"},
		"go vet ./...":      {"go vet -vettool=x", "go vet -fix", "go vet -cfgfile=x"},
	} {
		offers := Decide(command(offer, "")).Offers
		at := slices.IndexFunc(offers, func(o Offer) bool { return o.ID == "pattern" })
		if at < 0 {
			t.Errorf("%s: no pattern is on offer", offer)
			continue
		}
		rule := mustParse(t, offers[at].Rule.String()) // as it comes back after a restart
		for _, line := range append(lines, offer+" -9z", offer+" --nobody-knows-this", offer+" --nobody-knows-this=x", offer+" ../x", offer+" .env") {
			if d := Decide(command(line, "").granted(rule)); d.Verdict != Ask {
				t.Errorf("with %s, %s: %s", rule, line, d.Verdict)
			}
		}
	}
}

// TestTheListIsInOrder: each entry of the table can hold, stands once, and belongs to a
// pattern that can be on offer.
func TestTheListIsInOrder(t *testing.T) {
	for name, options := range listed {
		prefix := words(name)
		if why := tooWide(append(slices.Clone(prefix), "x")); why != "" || len(prefix) > 2 || (len(prefix) == 2) != subcommands[prefix[0]] {
			t.Errorf("%s: no pattern is on offer for it: %s", name, why)
		}
		if slices.Sort(options); len(slices.Compact(slices.Clone(options))) != len(options) {
			t.Errorf("%s: an option stands twice in %q", name, options)
		}
		for _, option := range options {
			for _, word := range spelled(option) {
				if why := hazard(append(slices.Clone(prefix), word)); why != "" {
					t.Errorf("%s %s: %s", name, option, why)
				}
			}
		}
	}
}

// TestOptionsThatAreKnownToBeBad: even a rule of the user's own with * does not let them through.
func TestOptionsThatAreKnownToBeBad(t *testing.T) {
	for line, rule := range map[string]string{
		"go list -debug-trace=a.txt .": "go list *", "go build -debug-actiongraph=a.txt": "go build *", "cargo test -- --logfile=F": "cargo test *", "pytest --debug=F": "pytest *",
		"split --filter=./x a": "split *", "mvn test exec:exec": "mvn test *", "mvn test org.codehaus.mojo:exec-maven-plugin:java": "mvn test *", "git log --format=%GK": "git log *",
	} {
		check(t, allowing(line, "run_command("+rule+")"), Ask)
		check(t, allowing(strings.TrimSuffix(rule, " *"), "run_command("+rule+")"), Run)
	}
}

// TestListedOptionsWriteNothing: the real git and go are the oracle of the table. Each
// option is given the name of the user's file as its value, glued to it and as a word of
// its own; no file is another one afterwards, and none came.
func TestListedOptionsWriteNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{"go.mod": "module m\n\ngo 1.26\n", "a.go": "// Package m is empty.\npackage m\n", "victim": "the user's\n"}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(argv ...string) {
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GOPROXY=off", "GOFLAGS=", "GOTOOLCHAIN=local")
		_ = cmd.Run() //nolint:errcheck // many values mean nothing to their option
	}
	run("git", "init", "-q")
	run("git", "add", ".")
	run("git", "-c", "user.name=u", "-c", "user.email=u@example.com", "commit", "-qm", "x")
	before := treeOf(t, dir)
	if len(before) != len(files) {
		t.Fatalf("the folder has %v", before)
	}
	tried, every := 0, machine.Cases(6, 1) // rides try all options
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		prefix := words(name)
		if len(prefix) == 2 && prefix[0] != "git" && prefix[0] != "go" || name == "go test" { // which runs what is in the tests
			continue
		}
		for _, option := range listed[name] {
			if option == "-a" && prefix[0] == "go" || option == "-race" { // they build everything again
				continue
			}
			for _, plain := range spelled(option) {
				if tried++; tried%every != 0 {
					continue
				}
				run(append(slices.Clone(prefix), plain, "victim")...)
				if len(prefix) == 1 && name != "uniq" { // of which no rule allows two operands
					run(append(slices.Clone(prefix), plain, "victim", "a.go")...)
				}
				if strings.HasPrefix(option, plain) && plain != option {
					run(append(slices.Clone(prefix), plain+strings.TrimPrefix(option[len(plain):], "#")+"victim")...)
				}
			}
			if after := treeOf(t, dir); !maps.Equal(before, after) {
				t.Fatalf("%s %s: the folder has %v, and had %v", name, option, after, before)
			}
		}
	}
	if tried < 200 {
		t.Errorf("only %d options were tried", tried)
	}
}

// TestListedOptionsRunNothingOfARepository: with each option of git's commands that only read,
// program.Reading runs nothing of a repository that names a program wherever it can, nor of
// one within it. Those that print a file with secrets are known to.
func TestListedOptionsRunNothingOfARepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mark, evil := filepath.Join(dir, "mark"), filepath.Join(dir, "evil")
	file, err := exec.LookPath("git")
	env := append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+dir)
	if err = errors.Join(err, os.WriteFile(evil, []byte("#!/bin/sh\n>"+mark+"\ncat\n"), 0o700)); err != nil {
		t.Fatal(err)
	}
	plainly := func(at string, args ...string) {
		cmd := exec.CommandContext(t.Context(), file, args...)
		cmd.Dir, cmd.Env = filepath.Join(dir, at), env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range []string{"top/0inner", "top"} {
		if err := os.MkdirAll(filepath.Join(dir, at), 0o700); err != nil {
			t.Fatal(err)
		}
		plainly(at, "init", "-q")
		for i, text := range []string{"one\n", "two\n"} {
			write(at+"/.gitattributes", "* filter="+filepath.Base(at)+" diff=e\n")
			write(at+"/a", text)
			write(at+"/z.env", "secret "+text)
			plainly(at, "add", ".")
			plainly(at, "-c", "user.name=u", "-c", "user.email=u@example.com", "commit", "-qm", "x")
			plainly(at, "tag", fmt.Sprintf("v%d", i))
		}
		write(at+"/a", "staged\n")
		write(at+"/z.env", "secret staged\n")
		plainly(at, "add", "a", "z.env")
		write(at+"/a", "dirty!\n") // of the same size, so that git looks into it
	}
	for _, at := range []string{"top/0inner", "top"} {
		for _, key := range []string{"core.fsmonitor", "core.pager", "diff.external", "diff.e.command", "diff.e.textconv", "filter." + filepath.Base(at) + ".clean", "gpg.program"} {
			plainly(at, "config", key, evil)
		}
		for _, key := range []string{"diff.submodule=diff", "diff.ignoreSubmodules=none", "status.submoduleSummary=true", "log.showSignature=true", "format.pretty=%G?"} {
			key, value, _ := strings.Cut(key, "=")
			plainly(at, "config", key, value)
		}
	}
	tried, secrets := 0, 0
	runs := func(args ...string) bool {
		cmd, err := program.Reading(t.Context(), file, filepath.Join(dir, "top"), env, args...)
		if err != nil {
			t.Fatal(err)
		}
		shown, err := program.Shows(t.Context(), cmd, nil, Secret)
		out, _ := cmd.Output() //nolint:errcheck // many values mean nothing to their option
		if strings.Contains(string(out), "secret ") {
			secrets++
			if err == nil && len(shown.Files)+len(shown.Unnamed) == 0 {
				t.Errorf("git %v shows a secret, and does not say so", args)
			}
		}
		return os.Remove(mark) == nil
	}
	every := machine.Cases(6, 1) // rides try all options
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		prefix, options := words(name), listed[name]
		if prefix[0] != "git" || name == "git add" {
			continue
		}
		about := "HEAD"
		if slices.Contains([]string{"status", "blame", "ls-files"}, prefix[1]) {
			about = "a" // they take no revision alone
		}
		for _, option := range append([]string{""}, options...) {
			for _, plain := range spelled(option) {
				if tried++; tried%every != 0 {
					continue
				}
				for _, args := range [][]string{{prefix[1], plain, about}, {"log", "-p", plain}} {
					if args[0] == prefix[1] && runs(slices.DeleteFunc(args, func(word string) bool { return word == "" })...) {
						t.Errorf("git %v runs what the repository names", args)
					}
				}
			}
		}
	}
	if tried < 200 || secrets < 100/every {
		t.Errorf("only %d options were tried, of which %d show a secret", tried, secrets)
	}
	if !runs("describe", "--all", "--dirty") {
		t.Error("an option that is known to go into submodules does not: this shows nothing")
	}
}

// TestWordsOfGitThatLookLikeOptions ask: by its words a line is taken for what prints no diff.
func TestWordsOfGitThatLookLikeOptions(t *testing.T) {
	for line, want := range map[string]Verdict{
		"git diff -- --stat .": Ask, "git show HEAD -- --stat .": Ask, "git diff -S --stat": Ask, "git log -G secret": Ask, "git log -S secret --oneline": Ask, "git diff -G -s": Ask, "git log --author -p": Ask, "git log -p -- -L .": Ask, "git log -L 1,2:a.txt": Ask,
		"git diff -- a.txt": Run, "git log --author ann -p": Run, "git diff --color --stat": Run, "git log -n 3 --oneline": Run, "grep -e --x a.txt": Ask,
	} {
		if d := Decide(allowing(line, "read_only_commands")); d.Verdict != want {
			t.Errorf("%s: %s, want %s", line, d.Verdict, want)
		}
	}
}

// TestGitThatOnlyReads: what a rule lets run, and nobody was asked about, runs nothing of the
// repository.
func TestGitThatOnlyReads(t *testing.T) {
	for line, want := range map[string]bool{
		"git status": true, "git log -3 | head -5": true, "ls && git diff --cached; git show HEAD": true, "ls": false, "git add a": false, "git add a && git status": true,
		"git log --walk-all": false, // by a rule of the user's own
	} {
		r := allowing(line, "read_only_commands", "run_command(git add *)", "run_command(git log *)")
		if d := Decide(r); d.Verdict != Run || d.ReadsGit != want {
			t.Errorf("%s: %s, %v", line, d.Verdict, d.ReadsGit)
		}
		if d := Decide(r.in(FullAccess)); d.Verdict != Run || d.ReadsGit {
			t.Errorf("%s in full_access: %s, %v", line, d.Verdict, d.ReadsGit)
		}
	}
	exact := allowing("git status", "run_command(git status)")
	if !Decide(exact).ReadsGit {
		t.Error("an exact rule is no answer about this repository's programs either")
	}
	if d := Decide(allowing("git status")); d.Verdict != Ask || d.ReadsGit {
		t.Errorf("%+v", d)
	}
}

// spelled are the words, without values, that an entry of the table lets through.
func spelled(entry string) (out []string) {
	letters, ok := strings.CutPrefix(entry, "-[")
	if !ok {
		return []string{strings.TrimRight(entry, "=#")}
	}
	for _, letter := range strings.TrimSuffix(letters, "]") {
		out = append(out, "-"+string(letter))
	}
	return out
}

// TestCommandsThatOnlyRead: one rule lets all of them run, and nothing else.
func TestCommandsThatOnlyRead(t *testing.T) {
	rule := mustParse(t, "read_only_commands")
	for line, want := range map[string]Verdict{
		"ls": Run, "ls -la": Run, "ls -la src && git status -s": Run, "cat a.txt | head -20": Run, "head -n 5 a.txt": Run, "git log --oneline -5": Run, "find . -name a.go -type f": Run,
		"grep -n x a.go": Run, "echo a": Run, "cd sub && ls": Ask, "ls >a.txt": Ask, "ls | tee a": Ask, "cat .env": Ask, "ls /etc": Ask, "ls ../x": Ask, "cat $X": Ask, "cat *": Ask,
		"grep -rn x .": Ask, "find . -delete": Ask, "find . -exec rm a": Ask, "git add a": Ask, "git diff --output=x": Ask, "git -c a=b log": Ask, "ls; rm a": Ask, "sort -o a a": Ask, "uniq a b": Ask, "uniq - b": Ask,
		"./ls": Ask, "go test ./...": Ask, "ls --hyperlink": Ask, "A=b ls": Ask, "git show HEAD:.env": Ask, "git show HEAD:README.md": Run, "git cat-file -p HEAD:a.txt": Run, "tail -f a.txt": Ask, "ls -]": Ask, "tree -o a": Ask, "make": Ask,
	} {
		r := command(line, "")
		if d := Decide(r.granted(rule)); d.Verdict != want {
			t.Errorf("%s: %s %v", line, d.Verdict, d.Reasons)
		}
		offered := slices.ContainsFunc(Decide(r).Offers, func(o Offer) bool { return o.Rule == rule })
		if offered != (want == Run) {
			t.Errorf("%s: on offer %v", line, offered)
		}
	}
	r := command("ls", "")
	r.Rules.Ask, r.Grants = []Rule{mustParse(t, "run_command(ls *)")}, []Rule{rule}
	check(t, r, Ask)
	edit := Request{Tool: "edit_file", Access: Edit, Mode: Default, Paths: []PathFact{{Path: "a", Write: true}}, Grants: []Rule{rule}}
	check(t, edit, Ask)
}

// treeOf are the files in a folder, without a repository's own, by what they hold.
func treeOf(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		text, err := os.ReadFile(path)
		out[path] = fmt.Sprintf("%x", sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
