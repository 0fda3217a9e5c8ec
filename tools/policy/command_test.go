package policy

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pillion/internal/testrig/machine"
)

// allowing is a command with the rules that allow.
func allowing(line string, rules ...string) Request {
	r := command(line, "")
	for _, text := range rules {
		rule, err := ParseRule(text)
		if err != nil {
			panic(err)
		}
		r.Rules.Allow = append(r.Rules.Allow, rule)
	}
	return r
}

var everyday = []string{
	"run_command(ls *)", "run_command(cat *)", "run_command(echo *)", "run_command(git status *)", "run_command(git log *)",
	"run_command(go test *)", "run_command(npm run lint *)", "run_command(npm audit *)", "run_command(go doc *)", "run_command(git show *)", "run_command(git diff *)", "run_command(find *)", "run_command(rg *)", "run_command(true *)", "run_command(sort *)",
	"run_command(./tools/check.sh *)",
}

func TestPatternsAllowPlainLines(t *testing.T) {
	for _, line := range []string{
		"ls", "ls -la src", " ls  -l ", "ls;", "'ls' \"-l\"", "ls ''", `l's'`, "ls && cat README.md | sort; git status -s || true",
		"go test ./... -run TestX -count=1 -race", "go test ./... 2>&1 | sort", "ls >/dev/null 2>&1", "ls 2>/dev/null", "cat <README.md", "cat < 'a b'",
		"git log --oneline -5 HEAD~3..HEAD^ -- src/a.go", "git log 'HEAD@{1}' --format='%h $x `y`'", "git log HEAD -- a:b", "git show HEAD:src/a.go", "git diff HEAD", "npm audit --json", "npm run lint -- --fix", "npm run lint",
		"find . -name '*.go' -newer go.mod", "rg -n 'func \\w+' src", `echo "a;b|c&d" 'e>f'`, "./tools/check.sh --all", "echo a,b:c@d+e",
		"ls " + strings.Repeat("x ", 300), strings.Repeat("true; ", 49) + "true",
	} {
		check(t, allowing(line, everyday...), Run)
		if !strings.ContainsAny(line, "&|;") {
			check(t, allowing(line, "run_command(make *)"), Ask)
		}
	}
}

func TestEveryPartNeedsARule(t *testing.T) {
	d := check(t, allowing("ls -l && make test | sort && env", everyday...), Ask)
	want := []CommandPart{
		{[]string{"ls", "-l"}, ""},
		{[]string{"make", "test"}, "no rule allows it"},
		{[]string{"sort"}, ""},
		{[]string{"env"}, "env can run other programs or code"},
	}
	if fmt.Sprint(d.Parts) != fmt.Sprint(want) {
		t.Errorf("parts %v, want %v", d.Parts, want)
	}
}

func TestPatternsHoldForTheirToolAndFolder(t *testing.T) {
	r := allowing("go test ./...", "run_command(go test *)")
	r.Command.Cwd = "sub"
	check(t, r, Ask)
	r.Rules.Allow = []Rule{mustParse(t, "run_command(go test *) in sub")}
	check(t, r, Run)
	r.Tool = "run_persistent"
	check(t, r, Ask)
	for change, alter := range map[string]func(*Command){
		"env":   func(c *Command) { c.Env = map[string]string{"GOFLAGS": "-exec=x"} },
		"stdin": func(c *Command) { c.Stdin = "x" },
		"cmd":   func(c *Command) { c.POSIX = false },
	} {
		r := allowing("go test ./...", "run_command(go test *)")
		alter(r.Command)
		if d := Decide(r); d.Verdict != Ask || d.Parts[0].Why == "" {
			t.Errorf("%s: %+v", change, d)
		}
	}
}

func TestRulesThatAreTooWideNeverAllow(t *testing.T) {
	for _, c := range []struct{ rule, line string }{
		{"run_command(*)", "ls"},
		{"run_command(**)", "ls"},
		{"run_command(ls*)", "ls"},
		{"run_command(git * status)", "git x status"},
		{"run_command(* status)", "git status"},
		{"run_command(sh *)", "sh x"},
		{"run_command(/bin/sh *)", "/bin/sh x"},
		{"run_command(python3.12 *)", "python3.12 x"},
		{"run_command(python3 -m pytest *)", "python3 -m pytest"},
		{"run_command(env *)", "env ls"},
		{"run_command(xargs *)", "xargs ls"},
		{"run_command(sudo *)", "sudo ls"},
		{"run_command(sudo apt *)", "sudo apt x"},
		{"run_command(git *)", "git status"},
		{"run_command(git config *)", "git config x"},
		{"run_command(npm *)", "npm test"},
		{"run_command(npm run *)", "npm run lint"},
		{"run_command(cd *)", "cd x"},
		{"run_command(eval *)", "eval x"},
		{"run_command(. *)", ". x"},
		{"run_command(find . -exec rm *)", "find . -exec rm x"},
		{"run_command(X=1 make *)", "X=1 make x"},
		{"run_command(ls; cat *)", "ls; cat x"},
		{"run_command(ls > *)", "ls > x"},
		{"run_command(echo $X *)", "echo $X"},
	} {
		rule := mustParse(t, c.rule)
		if rule.NeverAllows() == "" {
			t.Errorf("nobody is told that %s allows nothing", c.rule)
		}
		check(t, allowing(c.line, c.rule), Ask)
	}
	for _, text := range append(slices.Clone(everyday), "run_command", "run_command(sh x)", `run_command("ls *")`, "edit_file(**)", "edit_file(*)") {
		if why := mustParse(t, text).NeverAllows(); why != "" {
			t.Errorf("%s: %s", text, why)
		}
	}
}

func TestRulesThatRestrictSeeEveryPart(t *testing.T) {
	const deny = "run_command(git push *)"
	for line, want := range map[string]Verdict{
		"git push":                        Refuse,
		"git push origin main":            Refuse,
		"ls && git push":                  Refuse,
		"ls\ngit push":                    Refuse,
		"GIT PUSH":                        Refuse,
		"/usr/bin/git push":               Refuse,
		"X=1 git push":                    Refuse,
		"'git' \"push\"":                  Refuse,
		"if true; then git push; fi":      Refuse,
		"echo $(git push)":                Refuse,
		"echo \"`git push`\"":             Refuse,
		"f() { git push; }; f":            Refuse,
		"(cd x; git push) &":              Refuse,
		"git push > log":                  Refuse,
		"git push $X":                     Refuse,
		"ls; git push $X":                 Ask,
		"git -c a=b push":                 Ask,
		"git --no-pager push":             Ask,
		"git $X":                          Ask,
		"g\\it push":                      Ask,
		"$X push":                         Ask,
		"env git push":                    Ask,
		"timeout 5 git push":              Ask,
		"sh -c 'git push'":                Ask,
		"sh -c 'g\"\"it push'":            Ask,
		"echo git push | sh":              Ask,
		"echo git push | bash /dev/stdin": Ask,
		"echo git push | sh //dev/fd/0":   Ask,
		"eval git push":                   Ask,
		"xargs git":                       Ask,
		"alias x=git; x push":             Ask,
		"find . -exec git push ';'":       Ask,
		"git push '":                      Refuse,
		"ls; git push '":                  Ask,
		"git\u200b push":                  Ask,
		"/lib64/ld-linux-x86-64.so.2 /usr/bin/git push": Ask,
		"some-wrapper git push":                         Ask,
		"GIT_SSH_COMMAND='x' hg pull":                   Ask,
		"CMD='git push' ./run":                          Ask,
		"LD_PRELOAD=./x.so ls":                          Ask,
		"PATH=. ls":                                     Ask,
		"DEBUG=1 ls":                                    Run,
		"grep git push":                                 Run,
		"git status":                                    Run,
		"git status && ls":                              Run,
		"echo $X":                                       Run,
		"for f in *; do echo $f; done":                  Run,
		"python3 tools/check.py":                        Run,
		"echo git push":                                 Run,
		"git commit -m \"nothing to shove\"":            Run,
		"git -c alias.p='!git push origin main' p":      Ask,
		"git -c alias.p=push p":                         Ask,
		"git -c 'alias.p=push origin' p":                Ask,
		"git -calias.p=pu''sh p":                        Ask,
		"git -c alias.p='!git p$(echo ush)' p":          Ask,
		"git --config-env=alias.p=X p":                  Ask,
		"git -c include.path=x p":                       Ask,
		"git bisect run sh -c 'git push'":               Ask,
		"git bisect run ./x":                            Ask,
		"git rebase -x 'git push' HEAD~1":               Ask,
		"git rebase -xgit-push HEAD~1":                  Ask,
		"git rebase --exec=./x main":                    Ask,
		"git submodule foreach 'git push'":              Ask,
		"git filter-branch --msg-filter cat":            Ask,
		"git difftool -y -xtool HEAD":                   Ask,
		"git fetch --upload-pack=./x origin":            Ask,
		"git -c core.fsmonitor='git push;:' status":     Ask,
		"git config alias.p push":                       Ask,
		"git config --global core.sshCommand ./x":       Ask,
		"env -Sgit push":                                Ask,
		"git send-pack x main":                          Ask,
		"env /usr/lib/git-core/git-push":                Ask,
		"A='git push' some-wrapper":                     Ask,
		"GIT_PAGER='git push' git log":                  Ask,
		"/usr/lib/git-core/git-push origin":             Refuse,
		"git -c core.pager=cat log":                     Run,
		"git -c user.name=x commit -m y":                Run,
		"git commit -m \"git push is fixed\"":           Run,
		"git log --grep push":                           Run,
		"git -C sub status":                             Run,
		"git rebase main":                               Run,
		"git rebase --continue":                         Run,
		"git submodule update --init":                   Run,
		"git bisect start":                              Run,
		"git config user.name \"A B\"":                  Run,
		"git config --get remote.origin.url":            Run,
		"git clean -fdx":                                Run,
		"git cherry-pick -x abc":                        Run,
		"git switch -c x":                               Run,
		"git clone https://example.org/x":               Run,
		"git fetch --all --prune":                       Run,
		"git pull":                                      Run,
	} {
		r := command(line, "")
		r.Mode = FullAccess
		r.Rules.Deny = []Rule{mustParse(t, deny)}
		check(t, r, want)
		if want == Refuse {
			want = Ask
		}
		r.Rules = Rules{Ask: r.Rules.Deny}
		check(t, r, want)
	}
	for _, line := range []string{"echo $X", "for f in *; do $f; done", "ls '", "x=1", "> out", "\x01"} {
		check(t, command(line, "").in(FullAccess).denied(mustParse(t, "run_command(*)")), Refuse)
	}
	for rule, line := range map[string]string{
		"run_command(make deploy)":   "make test && make deploy",
		"run_command(*)":             "ls",
		"run_command(* --force *)":   "git push --force origin",
		"run_command(rm -rf *)":      "cd x; rm -rf y",
		"run_command(make deploy) ":  "make deploy",
		"run_command(./deploy.sh *)": "sub/deploy.sh now",
	} {
		check(t, command(line, "").in(FullAccess).denied(mustParse(t, strings.TrimSpace(rule))), Refuse)
	}
	check(t, command("make test", "").in(FullAccess).denied(mustParse(t, "run_command(make deploy)")), Run)
}

// TestRulesThatRestrictSeeWhatIsHandedOver: who may not run a program does not get it run by a
// shell that reads its name either.
func TestRulesThatRestrictSeeWhatIsHandedOver(t *testing.T) {
	judge := func(line string, c Command, tool string, want Verdict) {
		t.Helper()
		r := command(line, "")
		r.Mode, r.Tool = FullAccess, tool
		r.Command.Env, r.Command.Stdin = c.Env, c.Stdin
		r.Rules.Deny = []Rule{mustParse(t, tool+"(touch *)")}
		if got := Decide(r); got.Verdict != want {
			t.Errorf("%s %q %v: %s", tool, line, c, got.Verdict)
		}
	}
	for line, want := range map[string]Verdict{
		"echo touch m | sh -s x":                             Ask,
		"echo touch m | sh -o errexit":                       Ask,
		"echo touch m | timeout 5 sh":                        Ask,
		"echo touch m | env sh":                              Ask,
		"echo touch m | xargs env":                           Ask,
		"echo touch m | xargs -I wc wc":                      Ask,
		"echo touch m | command sh -s x":                     Ask,
		"echo touch m | cat | nice dash -s x":                Ask,
		"echo touch m | (cd x; sh -s x)":                     Ask,
		"echo touch m | { cat; echo $(sh -s x); }":           Ask,
		"echo touch m | if true; then sh -s x; fi":           Ask,
		"f() { sh -s x; }; echo touch m | f":                 Ask,
		"while true; do sh -s x; done < cmds":                Ask,
		"sh -s x < cmds":                                     Ask,
		"sh -s x <<E\ntouch m\nE":                            Ask,
		"exec < cmds; sh -s x":                               Ask,
		"sh -s x <&3":                                        Ask,
		"python3 - x < cmds":                                 Ask,
		"echo touch m | sed e":                               Ask,
		"echo x | sed s/x/touch/e":                           Ask,
		"cat mk | make -f -":                                 Ask,
		"echo x | . /dev/stdin x":                            Ask,
		"export PATH=x; ls":                                  Ask,
		"env GIT_EDITOR=x git commit":                        Ask,
		"echo x | read PATH":                                 Ask,
		"HOME=x git diff":                                    Ask,
		"sh -s x < /dev/null":                                Run,
		"python3 tools/check.py x | head -5":                 Run,
		"sh build.sh; ls | sort -u":                          Run,
		"go test ./... 2>&1 | tail -5":                       Run,
		"go test ./... | sed -n 1,50p":                       Run,
		"ls | sed s/a/b/g | sort":                            Run,
		"git ls-files | xargs -n 1 wc -l":                    Run,
		"git ls-files | xargs cat | head":                    Run,
		"cat a | while read x; do echo $x; done":             Run,
		"git diff | git apply":                               Run,
		"export DEBUG=1; ls":                                 Run,
		"python3 tools/check.py <&- x":                       Run,
		"env -Stouch m":                                      Ask,
		"env -iStouch m":                                     Ask,
		"nice -n1 env -Stouch m":                             Ask,
		"timeout 5 env -Stouch m":                            Ask,
		"nohup env -Stouch m":                                Ask,
		"xargs -a x env -Stouch m":                           Ask,
		"xargs -a x -Itou touch m":                           Ask,
		"xargs -a x -I@ @ouch":                               Ask,
		"tar -Itouch -cf m x":                                Ask,
		"script -qctouch /dev/null":                          Ask,
		"git grep -Otouch x":                                 Ask,
		"git grep -nOtouch x":                                Ask,
		"git difftool -y -xtouch HEAD":                       Ask,
		"fd -Hxtouch x":                                      Ask,
		"perl -e exec+q,touch,,q,m,":                         Ask,
		"perl -e s==exec-q-to-.q-uch-=e":                     Ask,
		"sed s/x/touch/e x":                                  Ask,
		"sed 's/^x/touch/e' x":                               Ask,
		"sed 1etouch x":                                      Ask,
		"sed -n -e p -e e x":                                 Ask,
		"sed e x":                                            Ask,
		"sed -fx y":                                          Ask,
		"gcc -wrapper touch,m foo.c":                         Ask,
		"CC=to''uch make foo":                                Ask,
		"CC=to\"u\"ch make -e foo":                           Ask,
		"CC=/usr/bin/tou?h make foo":                         Ask,
		"CC=to$Z\"uch\" make foo":                            Ask,
		"/lib64/ld-linux-x86-64.so.2 /usr/bin/tou?h m":       Ask,
		"/lib64/ld-linux-x86-64.so.2 /usr/bin/to$Z\"uch\" m": Ask,
		"/lib64/ld-linux-x86-64.so.2 /usr/bin/*ch m":         Ask,
		"X=touch; some-wrapper $X":                           Ask,
		"echo touch m > x.sh; sh x.sh":                       Ask,
		"cat > x.sh <<E\ntouch m\nE\nsh x.sh":                Ask,
		"echo x > y; sudo -u z sh y":                         Ask, "echo x > y; wrap sh ./y": Ask, "echo x > y; nice -n 5 ./y": Ask, "python3 gen.py > d.json && timeout 5 python3 -u use.py --in d.json": Run,
		"echo touch m | tee x.sh; sh -x ./x.sh":                  Ask,
		"printf 'x:' > Makefile; make x":                         Ask,
		"printf x > mk; make -f mk":                              Ask,
		"printf x > mk; make -fmk":                               Ask,
		"cat /usr/bin/t* > x; chmod +x x; ./x m":                 Ask,
		"cp a x.py; python3 -u x.py":                             Ask,
		"sed -n 'w x.sh' a; sh x.sh":                             Ask,
		"echo x > y; timeout 5 sh y":                             Ask,
		"sed -i s/a/b/ x.sh && ./x.sh":                           Ask,
		"sed -i 's/a b/c/' touch/x.py":                           Run,
		"sed -n 1,20p x > y; sed -n 1p y":                        Run,
		"sed -e s/a/b/ -e '$p' example.txt":                      Run,
		"find . -name '*.touch'":                                 Run,
		"rg -n 'touch .*' src":                                   Run,
		"git commit -m \"touch it (all)\"":                       Run,
		"go test ./... > out.txt; tail out.txt | sort":           Run,
		"python3 gen.py > data.json && python3 use.py data.json": Run,
		"echo x > a.txt; git add a.txt":                          Run,
		"chmod +x x.sh && ./x.sh":                                Run,
		"cp *.py dst":                                            Run,
		"make CC=gcc":                                            Run,
		"npm run retouch":                                        Run,
		"docker run --rm x":                                      Run,
		"gcc -Wall -o x x.c && ./x":                              Run,
		"FLAGS=\"-O2 -g\" make":                                  Run,
		"black *":                                                Run,
	} {
		judge(line, Command{}, "run_command", want)
	}
	input := Command{Stdin: "touch m\n"}
	judge("sh -s x", input, "run_command", Ask)
	judge("python3 - x", input, "run_command", Ask)
	judge("cat", input, "run_command", Run)
	judge("sh -s x", Command{}, "run_command", Run)
	judge("sh -s x", Command{}, "run_persistent", Ask)
	judge("npm start", Command{}, "run_persistent", Run)
	for name, want := range map[string]Verdict{"GIT_EXTERNAL_DIFF": Ask, "GIT_EDITOR": Ask, "GIT_CONFIG_COUNT": Ask, "PATH": Ask, "HOME": Ask, "MANPAGER": Ask, "DEBUG": Run} {
		judge("git diff", Command{Env: map[string]string{name: "1"}}, "run_command", want)
	}
	judge("git x", Command{Env: map[string]string{"CMD": "touch m"}}, "run_command", Ask)
}

func TestWritesThatAlwaysAsk(t *testing.T) {
	exactly := func(line string, mode Mode) Request {
		r := command(line, "")
		r.Mode = mode
		r.Grants = []Rule{{Tool: "run_command", Specifier: line}, {Tool: "run_command"}}
		return r
	}
	for line, full := range map[string]Verdict{
		"make > ../log":                       Run,
		"make > /tmp/log":                     Run,
		"make 2>> /tmp/log":                   Run,
		"make > .vscode/tasks.json":           Ask,
		"if x; then make > .git/config; fi":   Ask,
		"echo x > .GIT/hooks/post-commit":     Ask,
		"echo x >| AGENTS.md":                 Ask,
		"echo x <> .envrc":                    Ask,
		"echo x > .env":                       Ask,
		"echo x > /home/u/.claude/x":          Ask,
		"rm -rf .git":                         Ask,
		"cp x .vscode/tasks.json":             Ask,
		"echo $(touch .github/workflows/x)":   Ask,
		"sed -i s/a/b/ AGENTS.md":             Ask,
		"dd if=x of=.git/config":              Ask,
		"install --target-directory=.husky x": Ask,

		"cd .git/hooks && cp ../../x pre-commit":                    Ask,
		"(cd .vscode; echo x > tasks.json)":                         Ask,
		"pushd .github/workflows && python3 gen.py":                 Ask,
		"echo x > /home/u/.local/state/pillion/folders/a.json":      Ask,
		"cp x /home/u/.config/pillion/settings.json":                Ask,
		"echo x > '/Users/u/Library/Application Support/Pillion/x'": Ask,
	} {
		d := check(t, exactly(line, Default), Ask)
		if d.Rememberable || !strings.Contains(strings.Join(Texts(d.Reasons), " "), "writes to") {
			t.Errorf("%s: %+v", line, d)
		}
		check(t, exactly(line, AutoEdit), Ask)
		check(t, exactly(line, FullAccess), full)
	}
	inside := exactly("tar xf ../../x.tar", FullAccess)
	inside.Command.Cwd = ".git/hooks"
	check(t, inside, Ask)
	for _, line := range []string{
		"make > log", "make >/dev/null 2>&1", "cat AGENTS.md", "make > build/log 2>&1", "echo x >&2", "rm -rf build", "git add AGENTS.md", "sed -n 1p AGENTS.md",
		"cd .github/workflows && cat ci.yml | head -5", "cd src && make > log", "cp x state/pillions/y",
	} {
		check(t, exactly(line, Default), Run)
		check(t, exactly(line, FullAccess), Run)
	}
}

// TestProgramsOutsideAsk: a file outside is only text where nothing runs it.
func TestProgramsOutsideAsk(t *testing.T) {
	for line, want := range map[string]Verdict{
		"echo x > /etc/profile.d/zz.sh":                Ask,
		"echo x > /etc/cron.d/zz":                      Ask,
		"echo x >> /usr/local/bin/new":                 Ask,
		"make > /opt/x/run":                            Ask,
		"echo x | tee /lib64/x.so":                     Ask,
		"cp x /var/spool/cron/root":                    Ask,
		"echo x > /h/bin/old":                          Ask,
		"echo x > /h/bin/git":                          Ask,
		"echo x > way":                                 Ask,
		"echo x > hidden":                              Ask,
		"echo x > /h/notes/run; chmod +x /h/notes/run": Ask,
		"chmod 755 /h/notes/run":                       Ask,
		"chmod u=rwx /h/notes/run":                     Ask,
		"chmod --reference=a /h/notes/run":             Ask,
		"chmod $MODE /h/notes/run":                     Ask,
		"chmod 644 /h/notes/run":                       Run,
		"chmod go-rwx /h/notes/run":                    Run,
		"chmod +x run.sh":                              Run,
		"chmod +x /tmp/x.sh":                           Run,
		"echo x > /h/notes/data":                       Run,
		"echo x > /tmp/x.sh":                           Run,
		"cat /etc/hosts; ls /usr/bin; /usr/bin/make":   Run,
		"echo x > /dev/null 2>/dev/tty":                Run,
		"cd /usr/share/doc && make":                    Run,
	} {
		r := command(line, "")
		r.Mode, r.Grants = FullAccess, []Rule{{Tool: "run_command"}}
		outside := func(at string) WordFact { return WordFact{Outside: true, PathFact: PathFact{Path: at}} }
		old, found, temporary, link := outside("/h/bin/old"), outside("/h/bin/git"), outside("/tmp/x.sh"), outside("/h/x/.envrc")
		old.Executable, found.Guarded, temporary.Temporary = true, RunsByName, true
		r.Command.Words = map[string]WordFact{"/h/bin/old": old, "/h/bin/git": found, "way": outside("/etc/profile"), "/tmp/x.sh": temporary, "hidden": link}
		if d := Decide(r); d.Verdict != want {
			t.Errorf("%s: %s %q", line, d.Verdict, d.Reasons)
		}
	}
}

func TestFactsOfTheWorkspace(t *testing.T) {
	rules := []string{"run_command(cat *)", "run_command(ls *)", "run_command(frob *)"}
	with := func(line, name string, fact WordFact) Request {
		r := allowing(line, rules...)
		r.Command.Words = map[string]WordFact{name: fact}
		return r
	}
	check(t, with("cat link", "link", WordFact{Outside: true}), Ask)
	check(t, with("cat /w/a", "/w/a", WordFact{PathFact: PathFact{Path: "a"}}), Run)
	check(t, with("cat link", "link", WordFact{PathFact: PathFact{Path: "sub/.env"}}), Ask)
	check(t, with("cat x", "x", WordFact{PathFact: PathFact{Path: "AGENTS.md"}}), Run)
	check(t, with("frob x", "x", WordFact{PathFact: PathFact{Path: "AGENTS.md"}}), Ask)
	check(t, with("frob x", "x", WordFact{PathFact: PathFact{Path: "x", BareRepository: true}}), Ask)
	check(t, with("ls", "ls", WordFact{PathFact: PathFact{Path: "ls"}, Planted: true}), Ask)
	check(t, with("cat < link", "link", WordFact{Outside: true}), Ask)

	r := with("make > out", "out", WordFact{PathFact: PathFact{Path: "run.sh", Executable: true}})
	r.Grants = []Rule{{Tool: "run_command", Specifier: "make > out"}}
	check(t, r, Ask)
	r.Mode = FullAccess
	check(t, r, Ask)
}

func TestOffersOfCommands(t *testing.T) {
	for line, pattern := range map[string]string{
		"go test ./...":                 "run_command(go test *) with listed options",
		"git diff --stat":               "run_command(git diff *) with listed options",
		"npm run lint":                  "run_command(npm run lint *) with listed options",
		"npm run lint -- --fix":         "",
		"go test -coverprofile x":       "",
		"npm test":                      "run_command(npm test *) with listed options",
		"go test ./... 2>&1":            "run_command(go test *) with listed options",
		"ls":                            "run_command(ls *) with listed options",
		"ls -l":                         "run_command(ls *) with listed options",
		"git":                           "",
		"git push":                      "",
		"git -c a=b diff":               "",
		"git diff --output=x":           "",
		"go test -exec x":               "",
		"go run x":                      "",
		"rm -rf x":                      "",
		"python3 x.py":                  "",
		"./go test":                     "",
		"go test && go vet":             "",
		"go test > out":                 "",
		"go test $X":                    "",
		"go test /etc":                  "",
		"npm run":                       "",
		"npm run 'a b'":                 "",
		"true && go test ./... && true": "run_command(go test *) with listed options",
	} {
		r := allowing(line, "run_command(true *)")
		offered(t, r)
		got := ""
		for _, o := range Decide(r).Offers {
			if o.ID == "pattern" {
				got = o.Rule.String()
				if back := mustParse(t, got); back != o.Rule || back.NeverAllows() != "" {
					t.Errorf("%s is read as %#v", got, back)
				}
			}
		}
		if got != pattern {
			t.Errorf("%s: offers %q, want %q", line, got, pattern)
		}
	}
	r := command("go test ./...", "sub")
	if d := Decide(r); len(d.Offers) != 4 || d.Offers[1].Rule.String() != "run_command(go test *) with listed options in sub" || d.Offers[2].Scope != "turn" || d.Offers[2].Rule != d.Offers[1].Rule || d.Offers[3].Scope != "workspace" {
		t.Errorf("offers %v", d.Offers)
	}
	r.Tool = "run_persistent"
	wantOffered(t, r, "run_persistent(go test ./...) in sub")
}

// TestOffersAreKept: with any rule that a dialog offers the same call runs, whatever
// the line; a rule that would not hold is not offered.
func TestOffersAreKept(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	pieces := []string{"go test", "git diff", "npm run lint", "ls", "true", " ", " -v", " ./...", " $X", " > out", " > /dev/null", " > ../out", " < in", " .env", " /etc", " 'a b'", " *", "; ", " && ", " | ", " & ", "\n", " -exec x", "env ", "X=1 ", "("}
	lines := slices.Clone(bypasses)
	lineCount := machine.Cases(600, 5_000)
	for range lineCount {
		var line strings.Builder
		for range 1 + random.IntN(6) {
			line.WriteString(pieces[random.IntN(len(pieces))])
		}
		lines = append(lines, line.String())
	}
	offered := 0
	for _, line := range lines {
		for _, cwd := range []string{"", "sub"} {
			r := allowing(line, "run_command(true *)", "run_command(true *) in sub")
			r.Command.Cwd = cwd
			d := Decide(r)
			if d.Rememberable != (len(d.Offers) > 0) {
				t.Errorf("%q: %+v", line, d)
			}
			for _, o := range d.Offers {
				again := r
				again.Grants = []Rule{mustParse(t, o.Rule.String())}
				if got := Decide(again); got.Verdict != Run {
					t.Errorf("%q: with %s it still has to %s: %q", line, o.Rule, got.Verdict, got.Reasons)
				}
				if o.ID == "pattern" {
					offered++
				}
			}
		}
	}
	if offered < lineCount/50 {
		t.Errorf("only %d patterns were offered: the lines are no test", offered)
	}
}

// FuzzDecideCommand: no line breaks the reading of it, and of whatever a rule for
// plain commands allows, each part begins as the rule says.
func FuzzDecideCommand(f *testing.F) {
	for _, line := range bypasses {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		r := allowing(line, "run_command(go test *)", "run_command(ls *)")
		r.Rules.Deny = []Rule{mustParse(t, "run_command(git push *)")}
		d := Decide(r)
		if d.Verdict == Ask && d.Parts == nil {
			t.Errorf("%q asks and shows nothing", line)
		}
		if d.Verdict != Run {
			return
		}
		parts, problem := readPlain(line)
		for _, p := range parts {
			if p.words[0] != "ls" && !slices.Equal(p.words[:min(2, len(p.words))], []string{"go", "test"}) {
				t.Errorf("%q runs %q", line, p.words)
			}
		}
		if problem != "" {
			t.Errorf("%q runs, and %s", line, problem)
		}
	})
}

func TestScriptsOfALine(t *testing.T) {
	for line, want := range map[string]string{
		"./build.sh --fast":        "./build.sh",
		"sh build.sh":              "build.sh sh",
		"cat x.sh | sh":            "cat sh x.sh",
		"sh < x.sh":                "sh x.sh",
		"X=1 python3 tools/a.py b": "b python3 tools/a.py",
		"make test":                "GNUmakefile Makefile makefile",
		"cat x":                    "",
		". ./env.sh && ls":         ". ./env.sh ls",
		"echo $(./x)":              "./x",
		"./build.sh |& tee -a log": "./build.sh log tee",
	} {
		if got := strings.Join(ReadCommand(line).Scripts(), " "); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestCovers(t *testing.T) {
	rules := []Rule{mustParse(t, "run_command(npm test *)"), mustParse(t, "run_command(npm ci)")}
	for line, want := range map[string]bool{"npm ci": true, "npm test -- x": true, "npm ci; curl x": false, "npm test $(curl x)": false, "curl x": false} {
		if got := Covers(rules, "run_command", Command{Line: line, POSIX: true}); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
}

// TestLongLinesTakeTheirLength: the line is the agent's, the time is ours. A line twice as
// long takes twice the work, of which what is allocated is a measure that no clock decides.
func TestLongLinesTakeTheirLength(t *testing.T) {
	work := func(line string, want ...Verdict) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d := Decide(allowing(line, everyday...))
		runtime.ReadMemStats(&after)
		if len(want) > 0 && d.Verdict != want[0] {
			t.Errorf("%.20q…: %s", line, d.Verdict)
		}
		return after.Mallocs - before.Mallocs
	}
	for _, unit := range []string{"(", "$(", "\"$(", "{ ", "`", "$((", "${x:-", "f()", "a\n", "ls;", "a&&", "<<a ", "((", "x ", "nice ", "xargs ", "{a,", "$'", "$["} {
		times := maxParsed / len(unit)
		for half, whole := range map[string]string{
			strings.Repeat(unit, times/4): strings.Repeat(unit, times/2),
			nested(unit, times/8):         nested(unit, times/4),
		} {
			if half, whole := work(half), work(whole, Ask); whole > 3*half+1000 {
				t.Errorf("%q, %d times: it takes %d allocations, and half of it %d", unit, times, whole, half)
			}
		}
		work(strings.Repeat(unit, 3*times), Ask) // which nobody parses
	}
}

// nested closes what a unit opens.
func nested(unit string, times int) string {
	closing := map[string]string{"(": ")", "$(": ")", "\"$(": ")\"", "{ ": "; }", "$((": "))", "${x:-": "}", "((": "))"}
	return "ls " + strings.Repeat(unit, times) + "ls" + strings.Repeat(closing[unit], times)
}

// TestRunsGit: a line that opens the repository to git opens it to nothing else.
func TestRunsGit(t *testing.T) {
	for line, want := range map[string]bool{
		"git commit -m x":                         true,
		"git add -A && git commit -m x | tail -3": true,
		"cd sub && git stash":                     true,
		"git log --oneline | head -5; git status": true,
		"if true; then git commit -m x; fi":       true,
		"make":                                    false,
		"go test ./... && git commit -am x":       false,
		"git status; python3 x.py":                false,
		"./git status":                            false,
		"git status | $X":                         false,
		"git commit -m \"$(./make-message)\"":     false,
		"$(git rev-parse HEAD)":                   false,
		"git status; X=1":                         false,
	} {
		if got := ReadCommand(line).RunsGit(); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
