package policy

import (
	"slices"
	"strings"
	"testing"
)

// readsOtherwise are lines in which bash runs what a reader of POSIX lines takes for text.
var readsOtherwise = []string{
	"echo $'\\'' ; touch m #'",
	"(( 1<<EOF ))\ntouch m\nEOF",
	"echo $[1<<EOF]\ntouch m\nEOF]",
	"echo \"`echo $'\\''; touch m #'`\"",
	"X+=1 touch m",
	"coproc touch m",
	"coproc X { touch m; }",
	"function f { touch m; }; f",
	"cat <(touch m)",
	"cat <<< $(touch m)",
	"ls |& touch m",
	"select x in a; do touch m; done",
	"[[ a && b ]] || touch m",
	"x=(a b); touch m",
	"for ((;;)); do touch m; done",
	"case x in x) ls;& y) touch m;; esac",
	"time touch m",
	"export X=$(touch m)",
}

// TestALineIsReadAsBashReadsItToo: /bin/sh is bash in many places.
func TestALineIsReadAsBashReadsItToo(t *testing.T) {
	for _, line := range readsOtherwise {
		r := command(line, "")
		r.Mode = FullAccess
		r.Rules.Deny = []Rule{mustParse(t, "run_command(touch *)")}
		if d := Decide(r); d.Verdict != Refuse && line != "time touch m" || d.Verdict == Run {
			t.Errorf("%q: %s", line, d.Verdict)
		}
		r.Rules = Rules{Deny: []Rule{mustParse(t, "run_command(curl *)")}, Allow: []Rule{mustParse(t, "run_command")}}
		if d := Decide(r); d.Verdict == Run && !strings.HasPrefix(line, "time") && !strings.HasPrefix(line, "export") {
			t.Errorf("%q with a rule for something else: %s", line, d.Verdict)
		}
	}
	for line, want := range map[string]Verdict{
		"echo $'\\'' > .envrc #'":                     Ask,
		"echo $'\\'' > .vscode/tasks.json #'":         Ask,
		"echo $'\\'' > /home/u/.claude/x #'":          Ask,
		"make &> .envrc":                              Ask,
		"make &>> .envrc":                             Ask,
		"make >& .envrc":                              Ask,
		"cp a {.envrc,b}":                             Ask,
		"x=(1); echo > .envrc":                        Ask,
		"function f { frob --to=.envrc; }; f":         Ask,
		"echo ${x/a/b} > .envrc":                      Ask,
		"echo ${!x*} .envrc ' ":                       Ask,
		"[[ -f .envrc ]] && cat .envrc | head -5":     Run,
		"grep -q x <<< \"$(cat AGENTS.md)\"":          Run,
		"mkdir -p src/{a,b} && make &> build/log":     Run,
		"go test ./... |& head -5":                    Run,
		"for ((i = 0; i < 3; i++)); do echo $i; done": Run,
		"diff <(sort a) <(sort b)":                    Run,
	} {
		r := command(line, "")
		r.Mode = FullAccess
		if d := Decide(r); d.Verdict != want {
			t.Errorf("%q: %s %q", line, d.Verdict, d.Reasons)
		}
	}
}

// TestOrdinaryLinesAreReadable: what says the same to every shell is not in doubt.
func TestOrdinaryLinesAreReadable(t *testing.T) {
	for _, line := range []string{
		"git status", "find . -name '*.go' -exec grep -l x {} ';'", "find . -exec ls {} +", "git show stash@{0} HEAD@{1}", "grep '[[:alpha:]]$' x", "ls [[:alpha:]]*",
		"awk '{print $1, $2}' x", "echo 'a{b,c}' \"{1..3}\" \\{a,b}", "curl -d '{\"a\": 1, \"b\": 2}' x", "cat <<'E' > x\n{a,b} $'x' (( 1 )) [[ a ]]\nE", "git commit -m \"$(cat <<'E'\na {b,c}\nE\n)\"",
		"time make", "time -p make -j4 | tail", "X=1 time -p make", "export X=1 Y=\"$Z\" PATH=$HOME/bin:$PATH; make", "export -p", "export X", "local x=~/a", "readonly x=$(ls)", "declare -r x=1",
		"if [ -f x ]; then echo $((1 + 2)); fi", "f() { ls \"$@\"; }; f a", "for f in *.go; do echo ${f%.go} ${#f}; done", "while read -r x; do echo \"$x\"; done < y", "case x in a|b) ls;; *) cat;; esac",
		"(cd x && make) 2>&1 | tee log", "! ls", "make & wait", "ls >&2 2>/dev/null", "sed 's/$/x/' y", "printf '%s\\n' \"$'a'\"", "echo a#b # c {d,e}", "x=$(ls); echo \"${x:-$y}\"", "echo `ls \\`pwd\\``",
	} {
		if r := ReadCommand(line); r.unreadable || len(r.parts) == 0 || slices.ContainsFunc(r.parts, func(p part) bool { return p.why == onlyBash }) {
			t.Errorf("%q: %+v", line, r)
		}
	}
}

// TestTheDialogHasWhatBashReads: whoever approves sees both.
func TestTheDialogHasWhatBashReads(t *testing.T) {
	d := Decide(command("echo $'\\'' ; rm a #'", ""))
	last := d.Parts[len(d.Parts)-1]
	if strings.Join(last.Argv, " ") != "rm a" || last.Why != onlyBash {
		t.Errorf("%+v", d.Parts)
	}
}
