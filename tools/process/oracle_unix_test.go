//go:build unix

package process

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pillion/internal/testrig/machine"
	"pillion/tools/policy"
)

// The real shell is the oracle of the policy's reading of lines: what a rule for ls
// allows is run here by the very argv that commands are run by, with a PATH of
// canaries that log how they were called. Nothing but ls may have been called, with
// the words that the dialog would have shown.

// oracle is a folder of canaries and a place to run in.
type oracle struct {
	t        testing.TB
	bin, log string
	home     string
	work     string
	program  string // the shell; bash is sh on some systems
	noise    string // what the system's profile complains of
}

// canaries are programs that a line could come to by a mistake of the reading.
var canaries = []string{
	"ls", "evil", "rm", "cat", "echo", "env", "sh", "l", "s", "a", "b", "x", "timeout", "xargs", "sudo", "git", "ls-l", "-l", "1", "2", "0", "then", "time", "[", "test", "true", "false",
}

func newOracle(t testing.TB, program string) *oracle {
	base := t.TempDir()
	o := &oracle{t: t, program: program, bin: filepath.Join(base, "bin"), log: filepath.Join(base, "log"), home: filepath.Join(base, "home"), work: filepath.Join(base, "work")}
	for _, dir := range []string{o.bin, o.home, o.work} {
		must(t, os.Mkdir(dir, 0o755))
	}
	canary := "#!/bin/sh\nline=${0##*/}\nfor word do line=\"$line\x1f$word\"; done\nprintf '%s\\036' \"$line\" >>'" + o.log + "'\n"
	for _, name := range canaries {
		must(t, os.WriteFile(filepath.Join(o.bin, name), []byte(canary), 0o755))
	}
	// What the system's profile runs before any line is none of the line's.
	for {
		calls, noise := o.run(":")
		if len(calls) == 0 {
			o.noise = noise
			return o
		}
		must(t, os.Remove(filepath.Join(o.bin, calls[0][0])))
	}
}

// run gives each call of a canary, as its words, and what the shell complained of.
func (o *oracle) run(line string) (calls [][]string, complaint string) {
	os.Remove(o.log)
	env := []string{"PATH=" + o.bin, "HOME=" + o.home, "PWD=" + o.work, "LC_ALL=C.UTF-8"}
	argv := shell(line, env)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, o.program)
	cmd.Args, cmd.Dir, cmd.Env = argv, o.work, env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil && ctx.Err() != nil {
		o.t.Fatalf("%q did not end", line)
	}
	logged, err := os.ReadFile(o.log)
	if err != nil && !os.IsNotExist(err) {
		o.t.Fatal(err)
	}
	for call := range strings.SplitSeq(strings.TrimSuffix(string(logged), "\x1e"), "\x1e") {
		if call != "" {
			calls = append(calls, strings.Split(call, "\x1f"))
		}
	}
	return calls, strings.TrimPrefix(stderr.String(), o.noise)
}

var lsRules = func() []policy.Rule {
	rule, err := policy.ParseRule("run_command(ls *)")
	if err != nil {
		panic(err)
	}
	return []policy.Rule{rule}
}()

func decideLs(line string, rules []policy.Rule) policy.Decision {
	return policy.Decide(policy.Request{
		Tool: "run_command", Access: policy.Exec, Mode: policy.Default,
		Command: &policy.Command{Line: line, POSIX: true}, Rules: policy.Rules{Allow: rules},
	})
}

// holds runs the line if the rule for ls allows it, and reports whether it did.
func (o *oracle) holds(line string) bool {
	o.t.Helper()
	if decideLs(line, lsRules).Verdict != policy.Run {
		return false
	}
	var shown [][]string
	for _, part := range decideLs(line, nil).Parts {
		shown = append(shown, part.Argv)
	}
	calls, complaint := o.run(line)
	// A part that reads what is not there does not run; where it complains, is its own affair.
	missing := strings.Contains(line, "<") && (complaint == "" || strings.Contains(complaint, "No such file"))
	if !missing && (len(calls) == 0 || len(calls) > len(shown) || complaint != "") {
		o.t.Errorf("%q was taken for %d calls of ls; the shell made %q and said %q", line, len(shown), calls, complaint)
	}
	for _, call := range calls {
		if call[0] != "ls" {
			o.t.Errorf("%q was taken for ls and ran %q", line, call)
		}
		if !slices.ContainsFunc(shown, func(argv []string) bool { return slices.EqualFunc(argv, call, sameWord) }) {
			o.t.Errorf("%q ran %q, which the dialog does not show: %q", line, call, shown)
		}
	}
	left, err := os.ReadDir(o.work)
	if err != nil || len(left) > 0 {
		o.t.Errorf("%q was taken for ls and left files: %v, %v", line, left, err)
	}
	return true
}

// sameWord compares a word as it is shown, with its quotes, with what it is.
func sameWord(shown, word string) bool {
	if !strings.ContainsAny(shown, `'"`) {
		return shown == word
	}
	var out strings.Builder
	for rest := shown; rest != ""; {
		if q := rest[0]; q == '\'' || q == '"' {
			text, after, _ := strings.Cut(rest[1:], string(q))
			out.WriteString(text)
			rest = after
		} else {
			out.WriteByte(q)
			rest = rest[1:]
		}
	}
	return out.String() == word
}

// shellTokens are what lines are made of: enough that is plain for some lines to
// be allowed, and all that a shell does something about.
var shellTokens = []string{
	"ls", "ls", "ls", "ls", "ls", " ", " ", " ", " ", " ", " ", "-l", "a", "b", "x", "evil", "rm", "l", "s", "1", "2", "0", "10", "=", "-", "--", ".", "/", ":", ",", "+", "@", "%", "^", "_", "~",
	";", "&&", "||", "|", ";", "&&", "&", "|&", ";;", "(", ")", "{", "}", "{a,b}", "!", "#", "\\", "\\\n", "\n", "\r", "\r\n", "\t", "\v", "\f", "\x00", "\x01", "\x7f", "\x80", "\xff", "\u00a0", "\u2028", "\u200b", "é", "；",
	"'", "'", "\"", "\"", "''", "\"\"", "'a b'", "\"a b\"", "'$x'", "\"$x\"", "$'a'", "$\"a\"", "$", "$x", "${x}", "${x@P}", "${x:-evil}", "$(evil)", "$((1))", "$@", "$*", "$0", "$#", "`", "`evil`", "$(", "<(evil)",
	">", ">>", ">|", "<>", "<", "<<", "<<<", ">&", "<&", "&>", "2>", "2>&1", ">&2", ">/dev/null", "2>/dev/null", "1>/dev/null", "</dev/null", "> /dev/null", ">out", "10>/dev/null", "<<EOF\n", "EOF",
	"*", "?", "[a]", "[", "]", "[[", "]]", "if", "then", "fi", "do", "done", "for", "in", "while", "case", "esac", "function", "time", "X=1", "X=1 ", "PATH=.", "env", "exec", "eval", "command", "alias", "sh", "-c", "xargs", "evil;", ";evil", "|evil", "&evil", "&&evil",
}

func randomLine(r *rand.Rand) string {
	var out strings.Builder
	if r.IntN(2) == 0 {
		out.WriteString("ls ")
	}
	for range 1 + r.IntN(8) {
		out.WriteString(shellTokens[r.IntN(len(shellTokens))])
		if r.IntN(3) == 0 {
			out.WriteByte(' ')
		}
	}
	return out.String()
}

// mutated is a line that is allowed, with something put into it somewhere.
func mutated(r *rand.Rand) string {
	line := plainLines[r.IntN(len(plainLines))]
	for range 1 + r.IntN(2) {
		at := r.IntN(len(line) + 1)
		cut := at
		if r.IntN(4) == 0 {
			cut = min(len(line), at+1+r.IntN(2))
		}
		token := shellTokens[r.IntN(len(shellTokens))]
		switch r.IntN(4) {
		case 0:
			token = string(metaBytes[r.IntN(len(metaBytes))]) + token
		case 1:
			token = string(metaBytes[r.IntN(len(metaBytes))])
		}
		line = line[:at] + token + line[cut:]
	}
	return line
}

// metaBytes mean something to some shell, somewhere in a word.
const metaBytes = "|&;<>()$`\\\"'*?[]#~=%!{}^+@:,.-/ \t\n"

var plainLines = []string{
	"ls", "ls -l a", "ls 'a b' \"c d\"", "ls -l | ls && ls a; ls", "ls >/dev/null 2>&1", "ls a'b'c \"\" ''", "ls a=b HEAD~1 x^", "ls 2>/dev/null || ls", "ls <a>/dev/null", "ls ';' \"|\" '&' \"#\" '*' '$x' '`'",
	"ls -- - -- a:b,c@d+e%f", "ls;ls&&ls||ls|ls", "ls ;", " ls  a ", "ls a#'b'",
}

// shells are those that sh is, on this system and on others.
func shells(t *testing.T) []string {
	out := []string{shell("", nil)[0]}
	for _, other := range []string{"/bin/bash", "/bin/dash", "/bin/busybox", "/bin/ksh", "/bin/zsh"} {
		if _, err := os.Stat(other); err == nil {
			out = append(out, other)
		}
	}
	t.Logf("the oracles are %v", out)
	return out
}

func TestWhatIsTakenForLsRunsOnlyLs(t *testing.T) {
	var oracles []*oracle
	for _, program := range shells(t) {
		oracles = append(oracles, newOracle(t, program))
	}
	for _, line := range plainLines[:4] {
		if !oracles[0].holds(line) {
			t.Errorf("%q is not allowed", line)
		}
	}
	const seed = 4
	random := rand.New(rand.NewPCG(seed, seed))
	wanted := machine.Cases(40, 600)
	generated, ran := 0, 0
	for ; ran < wanted && generated < 200*wanted && !t.Failed(); generated++ {
		line := randomLine(random)
		if generated%2 == 0 {
			line = mutated(random)
		}
		if oracles[generated%len(oracles)].holds(line) {
			ran++
		}
	}
	t.Logf("%d lines generated, %d of them allowed and run", generated, ran)
	if ran < wanted {
		t.Errorf("only %d lines were run: the generator is no test", ran)
	}
}

// TestTheOracleSees: the oracle notices what a wrong reading would let through.
func TestTheOracleSees(t *testing.T) {
	o := newOracle(t, shell("", nil)[0])
	for line, want := range map[string]string{
		"ls; evil": "evil", "ls $(evil)": "evil", "ls | evil": "evil", "ls & evil": "evil", "X=1 evil": "evil", "env ls": "env", "ls\nevil": "evil", "ls `evil`": "evil",
	} {
		calls, _ := o.run(line)
		if !slices.ContainsFunc(calls, func(call []string) bool { return call[0] == want }) {
			t.Errorf("%q: %q", line, calls)
		}
	}
	if calls, complaint := o.run("ls 'a  b' nothing-of-this-name; nothing-of-this-name"); len(calls) != 1 || calls[0][1] != "a  b" || complaint == "" {
		t.Errorf("%q, %q", calls, complaint)
	}
}

// FuzzWhatIsTakenForLs is the same with lines that the fuzzer finds. What it found
// stays in testdata/fuzz.
func FuzzWhatIsTakenForLs(f *testing.F) {
	for _, line := range plainLines {
		f.Add(line)
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range machine.Cases(10, 100) {
		f.Add(mutated(random))
	}
	f.Fuzz(func(t *testing.T, line string) {
		if decideLs(line, lsRules).Verdict == policy.Run {
			newOracle(t, shell("", nil)[0]).holds(line)
		}
	})
}
