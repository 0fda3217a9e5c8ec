package policy

import "testing"

// lookingLines are lines that agents begin with, as they write them.
var lookingLines = []string{
	"ls -la", "pwd", "cat x.py", "git status", "git diff", "git log --oneline -5", "git show HEAD", "head -50 x.py", "tail -n 20 x.py", "find . -name '*.py'", "grep -n print x.py",
	"grep -rn print .", "rg print", "cd . && git status", "sed -n 1,2p x.py", "awk '{print $1}' x.py", "wc -l *.py", "git branch -a", "jq . package.json",
	"for f in *.py; do cat $f; done", "env | grep PATH", "go version", "node --version", "echo hello",
}

func looking(line string) Request {
	r := command(line, "")
	r.Box = true
	r.Command.Matches = map[Pattern][]string{{"", "*.py"}: {"x.py", "y.py"}, {"src", "*.go"}: {"a.go"}, {"", "*.none"}: nil, {"", "*.bad"}: {"--pre=x.bad"}, {"", ".e*"}: {".env"}, {"", "* *"}: {"a b"}, {"", "x[^a]"}: {"xb"}}
	r.Command.Words = map[string]WordFact{"d1": {IsFolder: true}, "src": {IsFolder: true}, ".": {IsFolder: true}, "src/../x.py": {}, "src/..": {IsFolder: true}}
	return r
}

func TestWhatOnlyLooksRunsInTheBox(t *testing.T) {
	for _, line := range append(lookingLines,
		"cd src && ls *.go", "cd src; cat a.go 2>&1 | head -20", "cd src && ls; cat a.go", "ls && cd src && ls", "(ls && cd src); cat x.py", "[ -d .git ] && git status", "cat .git/HEAD", "git log --oneline | grep -i HEAD; grep -n x x.py", "git status -s; rg x x.py", "git log | rg x", "git ls-files | head", "git diff | grep x", "git log --oneline; grep -rn x x.py", "cat x.py 2>/dev/null", "ls >/dev/null 2>&1", "if [ -f x.py ]; then cat x.py; fi", "(cd src && ls)", "cat <x.py", "ls *.none", "cat 'a['\"]\"",
		`for f in a.py b.py; do echo "== $f"; grep -c def "$f"; done`, `for d in src test; do for f in $d/a.go; do wc -l $f; done; done`, "echo '---'; ls", `grep -rn "def \"x\"" src`,
		"sed -n '/^def/,/^$/p' x.py", "sed 's/a/b/g; s|x|y|' x.py", "sed -e 1d -e '$p' x.py", "sed -n '10,$p;20q' x.py", "awk -F: '$3 > 5 {print $1, $3}' x.py", `awk '/^def/ {n++} END {print n}' x.py`,
		`awk '/a/ {print "b/c"; n += 1} !/x/ && $2 ~ /[[:alpha:]]+$/ || $1 > 2' x.py`, "awk '{print $1 / 1024, \"MB\"}' x.py", `awk '/^a/,/^b/ {print; next} END {printf "%d\n", NR/2}' x.py`, "sed 's/[^x]*$//; s|[[:space:]]*[^/]x$||' x.py", "sed -n '/[0-9]/p' x.py", `jq -r '.[] | "\(.a) \(.b)"' x.json`,
		"grep -A3 -B2 -rn x src", "grep -rnC2 x .", "head -c100 x.py", "find . -type f -not -path './node_modules/*' -size +10k -mtime -1", "find src \\( -name a -o -name b \\) -print",
		"sort -k2 -t: x.py | uniq -c | sort -rn | head", "cut -d: -f1 x.py", "tr a-z A-Z <x.py", "diff -u x.py y.py", "stat -c %s x.py", "date +%F", "du -sh .", "which go", "command -v go", "go list ./...", "go doc fmt",
		"python3 --version 2>&1; node --version && echo done", "grep -n /etc/passwd x.py", "grep -rn '\\.env' src", "ls -l --color=never", "tree -L 2", "jq -r '.a[] | select(.b == \"x\") | .c' package.json",
		"test -d src && echo yes", "git log --oneline | head -3", "cat x.py\nls", "ls # here", `grep -n "def$" x.py`, `grep -nE "a$|b$" x.py`, `echo "\$HOME"`,
	) {
		d := Decide(looking(line))
		if d.Verdict != Run || !d.Box {
			t.Errorf("%s: %s, box %v, %v", line, d.Verdict, d.Box, d.Reasons)
		}
		plan := looking(line)
		if plan.Mode = Plan; Decide(plan).Verdict != Run {
			t.Errorf("%s in plan mode: %v", line, Decide(plan).Reasons)
		}
		for name, change := range map[string]func(*Request){
			"without the box": func(r *Request) { r.Box = false }, "with a variable": func(r *Request) { r.Command.Env = map[string]string{"A": "b"} }, "with an input": func(r *Request) { r.Command.Stdin = "x" },
			"with the network": func(r *Request) { r.Command.Hosts = []string{"example.org"} }, "always": func(r *Request) { r.AlwaysAsk = true },
		} {
			r := looking(line)
			if change(&r); Decide(r).Verdict != Ask {
				t.Errorf("%s %s: %v", line, name, Decide(r))
			}
		}
		full := looking(line)
		if full.Mode = FullAccess; Decide(full).Box {
			t.Errorf("%s in full_access runs in the box", line)
		}
		ruled := looking(line)
		if ruled.Rules.Allow = []Rule{mustParse(t, "run_command")}; Decide(ruled).Box {
			t.Errorf("%s runs in the box although a rule allows it", line)
		}
	}
}

func TestWhatIsMoreThanALookAsks(t *testing.T) {
	for _, line := range []string{
		"python3 x.py", "make a", "npm test", "python3 -c 'print(1)'", "sh x.sh", "./x", "cat .env", "cat .e*", "cat src/../.env", "cd src && cat ../.env", "cat /etc/passwd", "cat ../x", "cd .. && ls", "cd / && ls", "cd && ls", "cd - && ls",
		"ls ~", "cat $HOME/x", "cat $(ls)", "cat `ls`", "echo $((1))", "ls > out", "ls >> out", "ls >|out", "cat <<E\nx\nE", "ls &", "A=b ls", "f() { ls; }; f", "while true; do ls; done", "case x in x) ls;; esac",
		"cat *.bad", "cat x[!a]", "rg --pre ./x y", "rg --pre=./x y", "rg -z x", "rg -L x", "rg --follow x", "rg --hostname-bin x", "fd -x rm", "fd -L x", "find . -exec ls {} +", "find . -delete", "find -L .", "find . -fprint x", "find . -ok ls",
		"grep -R x .", "grep -f .env x", "sort -o x y", "sort -ox y", "sort --compress-program=x y", "uniq a b", "sed -i s/a/b/ x.py", "sed -n 'w x' x.py", "sed 's/a/b/w x' x.py", "sed 's/a/b/e' x.py", "sed '1e ls' x.py", "sed -f x.sed y", "sed 'r /etc/passwd' x.py", "sed --in-place 1d x.py", "sed -ni 1d x.py",
		"awk 'BEGIN {system(\"ls\")}'", "awk '{print > \"x\"}' x.py", "awk '{print | \"sh\"}' x.py", "awk 'BEGIN {\"ls\" | getline x}'", "awk 'BEGIN {while ((getline l < \".env\") > 0) print l}'", "awk -f x.awk y", "awk '@load \"x\"'", "awk 'BEGIN {ARGV[1] = \".env\"}' x", "awk '{ print ENVIRON[\"A\"] }' x",
		"awk '/\"/ || 1 { system(\"ls\") } /\"/' x", "awk '{ x = 1 /system($1)/ 2 }' x", "awk -v 'c=ls' '{ print $1 /1 | c/ 1 }' x", "awk '/[]/\"]/ || system(\"ls\") || /\"/' x",
		"sed 's/[/]/g;/w x/p' y", "sed 's/[/]/g;/e;s/x;/y/p' z", "sed 's|[|]|g;/w x|/p' y", "jq '\"\\(1)\" + input_filename + \"\"' x", "jq '. # \"\n | input_filename # \"' x",
		"gawk -l x y", "gawk -i inplace 1 x", "jq -f x y", "jq --slurpfile a .env . x", "jq 'import \"x\" as y; .' z", "jq '$ENV' x", "jq 'env' x", "yq -i .a x", "yq 'load(\".env\")' x", "date -s 0", "date 0101", "env ls", "env -i ls", "env A=b ls", "command ls", "xargs ls", "ls | xargs cat", "tree -o x", "file -m x y", "file -C", "xxd -r a b", "xxd a b",
		"git branch x", "git branch -d x", "git branch -D x", "git branch -m x", "git branch --edit-description", "git -C /x status", "git -c a=b status", "git add .", "git commit -m x", "git log -p .env", "git show HEAD:.env", "git log -Sx", "git diff --ext-diff", "git diff --output=x", "git diff --no-index /etc/passwd x",
		"go run .", "go build ./...", "go test ./...", "go env -w A=b", "go version -x=.env", "go list -toolexec ./x", "cd x && cd y; node --version", "node --version && cat x.py", "node --version x", "./node --version", "node -e 1", "sudo ls", "eval ls", "exec ls", ". x", "source x", "alias ls=x", "printenv && ls *.unknown",
		"echo $'\\'' ; touch m #'", "(( 1<<E ))\ntouch m\nE", "echo $[1<<E]\ntouch m\nE]", "echo \"$[1]\"", "echo $\"x\"", "ls *.unknown", "cat {x.py,.env}", "cat x.py; rm x.py", "ls || rm x", "for f in *.py; do rm $f; done", "for f in *.py; do $f; done", "for f in rm; do $f x; done", "for f in $x; do cat $f; done", "cat $f", `for f in "* *"; do cat $f; done`, "for f in * *; do cat $f; done", "for f in a 'b .env'; do cat $f; done", "for f; do ls; done",
		"for PATH in tools; do ls; done", "for PATH in a:b; do node --version; done", "for IFS in q; do ls; done", "for LD_PRELOAD in ./x; do ls; done", "for http_proxy in x; do ls; done", "for f in a; do for IFS in q; do cat b$f; done; done",
		"for f in a; do for f in ../x; do ls; done; cat $f; done", "for f in '\\x.py'; do cat $f; done", "for f in ''; do cat $f; done", "for f in 'a[$(ls)]'; do test f -eq 1; done",
		"grep ../x -e y", "rg ../x -e y --hidden", "rg ../x --files", "sed p -e p", "cd nope; cat src/a.go", "cd nope && ls", "ls x && cd src; cat ../x.py", "! { ls x && cd src; } && cat ../x.py", "cd src </dev/null; cat ../x.py", "cd src && cd ..; ls",
		"{ cat; } </etc/passwd", "(cat) <.env", "for f in a; do cat; done <../x", "if cat; then ls; fi </etc/passwd", "diff d1 src", "diff x.py d1",
		"git ls-files -s; xxd -p .git/objects/ab/cd", "git ls-files -s && grep -raz '' .", "git log; rg -uuu x", "git log; rg x", "git log; rg -a --json '' -g '*'", "git log; rg x src", "git log; rg --files", "git log | grep -r x", "git log | rg x </dev/null", "git log; rg x x.py src", "git log; rg -e x", "git log; grep -rn x src",
		"echo ls | sh -V", "echo ls | zsh -V", "echo ls | (tclsh -V)", "echo ls | { sh -V; }", "echo ls | for f in a; do sh --version; done", "sh -V <x.py", "cat x.py | node --version",
		"git log; cat src/.git/lfs/x", "git log; cat <.git/x",
		"l\\s", "'ls'", "l''s", "n\\ode --version", "\"node\" --version", "printf -v 'a[$(ls)]' x", "printf '%d' 'a[$(ls)]'", "for f in -v; do printf $f x; done",
		"test 'a[$(ls)]' -eq 1", "ls | tee x", "tail -f x.py", "less x.py", "vi x.py", "dd if=x", "cat x\x01", "ls \u202e", "if ls; then rm x; fi", "{ rm x; }", "(rm x)", "! rm x", "diff -r a b", "ls -L x", "cat < .env", "cat </etc/passwd", "cat <>x", "exec <x", "cat --x", "head --pid=1", "hostname x",
	} {
		if d := Decide(looking(line)); d.Verdict == Run {
			t.Errorf("%s: %s", line, d.Verdict)
		}
	}
}

// TestARuleThatRestrictsAsksInDoubt: but not about what is known to read.
func TestARuleThatRestrictsAsksInDoubt(t *testing.T) {
	for _, line := range lookingLines {
		r := looking(line)
		r.Mode, r.Rules.Deny, r.Rules.Ask = FullAccess, []Rule{mustParse(t, "run_command(sudo *)")}, []Rule{mustParse(t, "run_command(curl *)")}
		d := Decide(r)
		if d.Verdict != Run {
			t.Errorf("%s: %s, %v", line, d.Verdict, d.Reasons)
		}
		if r.Box = false; !d.Box && Decide(r).Verdict != Run {
			t.Errorf("%s is excused, and does not run in the box", line)
		}
		r.Box, r.Rules.Deny = true, []Rule{mustParse(t, "run_command(*x.py*)")}
		if d := Decide(r); d.Verdict == Run && line == "for f in *.py; do cat $f; done" {
			t.Errorf("%s: a rule about its text is not judged", line)
		}
	}
	for _, line := range []string{
		"env sudo ls", "find . -exec sudo ls {} +", "awk 'BEGIN {system(\"sudo ls\")}'", "for f in sudo; do $f ls; done", "s\"\"udo ls", "\\sudo ls", "$(echo sudo) ls", "sh -c 'sudo ls'", "xargs sudo", "command sudo ls", "eval sudo ls",
		"rg --pre=sudo x", "sed '1e sudo ls' x", "A=sudo; $A ls", "timeout 1 sudo ls", "s?do ls", "git -c alias.x='!sudo ls' x", "PATH=. ls", "ls; sudo ls", "echo $(sudo ls)",
		"PATH=tools; ls", "HOME=$PWD/h; git x", "LD_PRELOAD=./x.so\nls", "for PATH in tools; do ls; done", "for PAGER in sudo; do git -p log; done", "if true; then PATH=tools; fi; ls", "printf -v PATH tools; ls", "getopts x PATH; ls",
	} {
		r := looking(line)
		r.Mode, r.Rules.Deny = FullAccess, []Rule{mustParse(t, "run_command(sudo *)")}
		if d := Decide(r); d.Verdict == Run {
			t.Errorf("%s runs", line)
		}
	}
	for _, line := range []string{"awk '/\\.envrc/ {print \"system\"}' x.py", "awk '{print \"sudo\"}' x.py"} {
		r := looking(line)
		r.Mode, r.Rules.Deny = FullAccess, []Rule{mustParse(t, "run_command(sudo *)")}
		if d := Decide(r); d.Verdict != Run || !d.Box {
			t.Errorf("%s: %s, box %v, %v", line, d.Verdict, d.Box, d.Reasons)
		}
		if r.Box = false; Decide(r).Verdict != Ask {
			t.Errorf("%s runs without a box", line)
		}
	}
	r := looking("for f in *.py; do cat $f; done")
	r.Mode, r.Rules.Deny = FullAccess, []Rule{mustParse(t, "run_command(cat x.py)")}
	if d := Decide(r); d.Verdict == Run {
		t.Error("a rule about a program's words is not judged for what a loop makes of them")
	}
}
