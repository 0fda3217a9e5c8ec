package policy

import (
	"strings"
	"testing"
)

// TestWhatALineMayChangeAsks: by whatever program, as far as the line spells the path out.
func TestWhatALineMayChangeAsks(t *testing.T) {
	for line, want := range map[string]Verdict{
		"cp a .envrc": Ask, "nice cp a .envrc": Ask, "env cp a .envrc": Ask, "env -i X=1 cp a .envrc": Ask, "timeout -k 1 5 cp a .envrc": Ask, "command cp a .envrc": Ask, "exec cp a .envrc": Ask,
		"time cp a .envrc": Ask, "busybox cp a .envrc": Ask, "xargs cp a .envrc </dev/null": Ask, "echo .envrc | xargs cp a": Ask, "ls .envrc | xargs -I{} cp a {}": Ask, "nice env timeout 5 mkdir .vscode": Ask, "nice cp a .env": Ask,
		"env -S 'cp a .envrc'": Ask, "time -o .envrc ls": Ask, "strace -o .envrc ls": Ask, "echo 'touch .envrc' | sh": Ask,
		"sort -o .envrc a": Ask, "sort -o.envrc a": Ask, "sort -ro.envrc a": Ask, "uniq a .envrc": Ask, "awk '{print > \".envrc\"}' a": Ask, "gawk -i inplace 1 .envrc": Ask,
		"git mv a .envrc": Ask, "git show HEAD:a --output=.envrc": Ask, "git -C . diff --output=.envrc": Ask, "git checkout-index --prefix=.envrc/ a": Ask, "git worktree add .vscode": Ask, "git checkout x -- .envrc": Ask, "git archive -o .envrc HEAD": Ask,
		"find a -fprintf .envrc x": Ask, "find a -exec cp {} .envrc ';'": Ask, "find .vscode -delete": Ask, "fd x -x cp {} .envrc": Ask,
		"curl -so .envrc file:///x": Ask, "curl -so.envrc file:///x": Ask, "curl -sO https://h/.envrc": Ask, "wget https://h/.envrc": Ask, "sed 'w .envrc' a": Ask, "sed w.envrc a": Ask, "sed 's/a/b/gw .envrc' a": Ask, "sed '1e cp a .envrc' a": Ask,
		"nice mkdir .vscode && nice cp a .vscode/tasks.json": Ask, "sh -c 'cp a .envrc'": Ask, "python3 -c \"open('.envrc', 'w')\"": Ask, "python3 gen.py .vscode/tasks.json": Ask, "perl -pi -e 1 .envrc": Ask,
		"frob --to=.envrc": Ask, "trap 'cp a .envrc' EXIT": Ask, "alias x='cp a .envrc'": Ask, "$CP a .envrc": Ask, "tar xf a.tar .vscode": Ask, "eval cp a .envrc": Ask, "f() { frob .envrc; }; f": Ask, "echo $(frob .envrc)": Ask,
		"split -l1 a .envrc": Ask, "history -w .envrc": Ask, "git clone x .vscode": Ask, "cd .vscode && find . -delete": Ask, "tree -o .envrc": Ask,

		"cat .envrc": Run, "time cat .envrc | head -5": Run, "nice grep x .envrc": Run, "git diff .envrc": Run, "git log -- .vscode": Run, "git -C sub log -p -- .vscode": Run, "git --no-pager diff AGENTS.md": Run, "git add .envrc && git commit -m 'Mend .envrc, AGENTS.md'": Run,
		"git rebase origin/HEAD": Run, "git checkout HEAD~1": Run, "git reset --hard HEAD": Run, "frob HEAD": Run, "make": Run, "make test": Run, "npm test": Run, ". .envrc && make": Run, "source .envrc": Run, "sh .husky/pre-commit": Run, "sh -eux .husky/pre-commit": Run,
		"bash .husky/pre-commit a": Run, "[ -f .envrc ] && test -d .vscode": Run, "echo 'see .envrc'": Run, "printf '%s' .envrc | wc": Run, "sort AGENTS.md | uniq -c": Run, "sed -n 1p AGENTS.md": Run, "sed '/CLAUDE.md/p' a": Run, "awk '{print $1}' AGENTS.md": Run, "awk '/x/ {print}' .envrc": Run,
		"find .github -name '*.yml' -exec grep -l x {} +": Run, "find . -name .envrc": Run, "git ls-files .github | xargs cat": Run, "git ls-files .github | xargs -n 1 wc -l": Run, "rg x .github": Run, "jq . .vscode/settings.json": Run, "curl -s https://h/.github/workflows/x.yml": Run,
		"gh pr create --body 'about AGENTS.md'": Run, "docker run --env-file .env x": Run, "node --env-file=.env app.js": Run, "export X=.envrc": Run, "shellcheck .envrc": Run, "diff .envrc a": Run, "cd .github/workflows && cat ci.yml": Run, "ls -la .vscode": Run, "env X=.envrc ls": Run,
		"cat AGENTS.md | python3 tools/check.py": Run, "go test ./... && rm -rf build": Run, "python3 tools/check.py a/b.md": Run, "while read -r x; do echo $x; done < .envrc": Run,
	} {
		r := command(line, "")
		r.Mode, r.Grants = FullAccess, []Rule{{Tool: "run_command"}}
		if d := Decide(r); d.Verdict != want {
			t.Errorf("%s: %s %q", line, d.Verdict, d.Reasons)
		}
	}
}

// TestNothingIsNoName: of code only the pieces that are left count.
func TestNothingIsNoName(t *testing.T) {
	for _, line := range []string{`awk '{print 1 > "g"}' a`, `awk '{print "" > x}' a`, "sed 's/a/b/w x' a", `sh -c '""'`} {
		for _, name := range ReadCommand(line).mayChange() {
			if strings.Trim(name, `"'`) == "" {
				t.Errorf("%s names %q", line, name)
			}
		}
	}
}
