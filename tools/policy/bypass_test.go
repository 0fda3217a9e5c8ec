package policy

import (
	"slices"
	"strings"
	"testing"
)

// bypasses are lines that run more than ls, cat, echo and their like, or that some
// shell could read so.
var bypasses = []string{
	// chaining
	"ls; rm -rf x", "ls && rm x", "ls || rm x", "ls | sh", "ls & rm x", "ls &", "ls |& cat", "ls\nrm x", "ls\n", "\nls", "ls\r\nrm x", "ls\rrm x", "ls\vrm", "ls\frm",
	"ls\trm", "rm x; ls", "ls;; ls", "ls &&& rm", "; ls", "ls &&", "| ls", "ls ; ; ls", "(ls)", "{ ls; }", "! ls", "ls && ! cat x", "!ls", "if ls; then cat x; fi",
	"for f in a; do ls; done", "while ls; do cat x; done", "case x in x) ls;; esac", "f() { ls; }; f", "ls() { rm x; }; ls", "function ls { rm x; }", "time ls", "coproc ls", "[[ a ]]",
	"[ a ]", "until ls; do cat; done", "select x in a; do ls; done",
	// substitution and expansion
	"ls $(rm x)", "ls `rm x`", `ls "$(rm x)"`, "ls \"`rm x`\"", "ls <(rm x)", "ls >(rm x)", "ls ${x@P}", "ls ${x:-$(rm x)}", "ls $x", `ls "$x"`, "$x", "$0", "$SHELL", "l$@s", "ls$IFS-l",
	"ls $((1+1))", "ls $[1]", "ls $'a'", `ls $"a"`, "ls *", "ls ?", "ls [a]", "ls a*b", "ls {a,b}", "{ls,-l}", "ls ~", "ls ~root", "ls a=~", "ls a:~/b", "ls @(a)", "ls !(a)", "ls +(a)",
	"cat '$x'$x", "ls \\$x", "ls \\", "ls a\\ b", "l\\s", "\\ls", "ls -l\\\nrm", "ls \\\n; rm x", "ls 'a' \\'; rm x'", "ls =cat", "echo a{1..3}",
	// assignments and environment
	"X=1 ls", "X=1", "PATH=. ls", "LD_PRELOAD=./x.so ls", "X=1 Y=2 ls", "'X'=1 ls", "env ls", "env X=1 ls", "/usr/bin/env ls", "export PATH=.; ls", "ls; PATH=.", "a[0]=1 ls", "X+=1 ls",
	// redirection
	"ls > out", "ls >out", "ls >> out", "ls >| out", "ls <> out", "ls 2> out", "ls &> out", "ls >& out", "> out", "ls > /dev/null > out", "ls 10>/dev/null", "ls >/dev/null1", "ls > $x",
	"ls {fd}>/dev/null", "ls 1>&2-", "ls >&-", "cat <<EOF\nx\nEOF", "cat <<< x", "cat << EOF", "cat < /etc/passwd", "cat < ../x", "cat < .env", "cat <&x", "ls >1>x", "ls > '/dev/null'x",
	// other programs that run programs
	"./ls", "/bin/ls", "../ls", "bin/ls", "ls/../rm", "LS", "lS", "timeout 1 ls", "nohup ls", "nice ls", "sudo ls", "doas ls", "xargs ls", "ls | xargs rm", "command ls", "builtin echo a", "exec ls",
	"eval ls", ". ls", "source ls", "sh -c ls", "bash -c ls", "sh", "python3 -c x", "python3 x.py", "node -e x", "perl -e x", "awk x", "sed -n 1p x", "busybox ls", "setsid ls", "strace ls",
	"alias ls=rm; ls", "unalias ls", "hash -p /tmp/x ls", "trap rm EXIT", "cd .. && ls", "cd src && git status", "pushd src; git status", "set -x; ls", "echo x | sh", "ls | tee x", "type ls",
	"find . -exec rm {} +", "find . -exec rm x ';'", "find . -delete", "find . -fprint x", "find . -ok rm ';'", "find . -execdir rm ';'", "find . -fls x", "find . -fprintf x y", "find . -fprint0 x",
	"git -c a=b status", "git -C .. status", "git --git-dir=x status", "git --exec-path=x status", "git -p status", "git --no-pager push", "git status -c; git push", "git push", "git st",
	"git log --output=x", "git log --outp=x", "git log --ext-diff", "git log --textconv", "git statusx", "git 'status -s'", "git ''", "git", "git log -Ox", "git log --show-signature",
	"rg --pre x y", "rg --pre=x y", "rg --hostname-bin=x", "sort -o x y", "sort -nox y", "sort --output=x y", "sort --outp x", "sort --compress-program=x", "sort -T x y", "sort -ox y", "sort -ro.x y", "sort -nro./long y",
	"go test -exec x", "go test --exec=x", "go test -toolexec x", "go test -o x", "go test -ldflags=x", "go test -C ..", "go run x", "go generate", "go test -coverprofile=x",
	"npm run other", "npm exec x", "npm run lint --prefix ..", "npm --prefix .. run lint", "npm run lint --script-shell=x", "npm run lint -script-shell=x", "npm run", "npx x",
	"npm audit fix", "npm audit --omit dev fix", "go test -test.cpuprofile=x", "go test --test.fuzzcachedir=x", "go doc -http", "git show HEAD:AGENTS.md", "git show main:.env", "echo @.env",
	"./tools/check.sh2", "tools/check.sh", "././tools/check.sh", "./tools//check.sh",
	// places
	"cat /etc/passwd", "cat ../x", "cat a/../../x", "cat src/..", "ls --x=/etc", "ls -I/etc", "cat .env", "cat id_rsa", "cat src/.env.local", "cat 'x.pem'", "git log -- :/etc/x", "git log HEAD:.env", "git log --x=a:/etc", "ls -I.env",
	// characters
	"ls\x00rm", "ls \x1b[2J", "ls \x7f", "ls\u00a0rm", "ls \u202ex", "ls\u2028rm", "ls ；rm x", "ls ｜ sh", "ls \u037e rm", "ⅼs", "ls\u200b", "\ufeffls", "lѕ", "ls é", "ls \xff", "ls ‐l", "ls “a”",
	"ls \u3000 x", "ls ＄(rm)", "ls \x85rm", "ls \xc2", "ls \xe2\x80", "cаt x",
	// quotes, comments, and what does not end
	"ls 'a", `ls "a`, "ls `a", "ls $(a", "ls # rm", "ls #", "#ls", "ls a#b", "ls 'a'#b", "'ls -l'", "\"ls -l\"", "ls' '-l", "''ls''x", "''", "\"\"", "' ls'", "'ls '", "ls ''\\''", "ls \"\\$x\"", "ls \"a\\\"; rm x\"",
	"ls \"!x\" !x", "ls (x)", "ls )", "ls }", "ls {", "do ls", "then ls", "ls; fi", "-ls", "%ls", "%1", "+ls", "=ls", "^ls", "@ls", ":ls",
	"(){", "() { ls; }", "ls () { rm; }",
	// size
	strings.Repeat("ls; ", 200) + "ls", strings.Repeat("ls; ", 50) + "ls", "ls " + strings.Repeat("x", 9000), "ls " + strings.Repeat("(", 4000), "ls " + strings.Repeat("$(", 1000),
	"echo " + strings.Repeat("\"$(", 500),
	// what some shells run in words of harmless builtins
	"printf -v 'a[$(rm x)]' b", "test -v 'a[$(rm x)]'", "true $(rm x)", "read x", "unset 'a[$(rm x)]'", "wait -p x", "let x", "declare x", "test 'x[1]' -eq 1",
}

func TestBypassesAsk(t *testing.T) {
	rules := append(slices.Clone(everyday), "run_command(printf *)", "run_command(test *)")
	for _, line := range bypasses {
		for _, mode := range []Mode{Default, AutoEdit} {
			if d := Decide(allowing(line, rules...).in(mode)); d.Verdict != Ask {
				t.Errorf("%q: %s", line, d.Verdict)
			}
		}
		if d := Decide(allowing(line, rules...).in(Plan)); d.Verdict != Refuse {
			t.Errorf("%q in plan mode: %s", line, d.Verdict)
		}
	}
}

// What was allowed by its exact line stays allowed by that line alone.
func TestBypassesOfAnExactRule(t *testing.T) {
	for _, line := range bypasses {
		for _, other := range []string{line + " ", " " + line, line + "; true", line + "\n", "true; " + line} {
			if d := Decide(command(other, "").granted(Rule{Tool: "run_command", Specifier: line})); d.Verdict != Ask {
				t.Errorf("%q by the rule for %q: %s", other, line, d.Verdict)
			}
		}
	}
}
