package policy

import (
	"slices"
	"strings"
)

// listed are the commands for which a dialog offers a pattern, with the options that such
// a pattern lets through: those that are known to write no file, run no program and read
// no settings from elsewhere. Whatever else begins with a dash asks. An entry that ends in
// = takes a value, after the = or as the next word; one that ends in # takes digits, in
// the same word or the next; -[abc] is any of these letters, together or alone; of any other
// the whole word has to be the same. A name of one word is of a program that only reads.
//
// An option is added with a look at the program's own manual. TestListedOptionsWriteNothing
// tries what git and go really do with each. Of git none goes into submodules, where
// program.Reading holds nothing: so there is no describe --dirty.
var listed = map[string][]string{
	"ls":   words("-[1ACFGHLRSUXacdfghiklnopqrstuvx] --all --almost-all --classify --color --color= --directory --full-time --group-directories-first --human-readable --inode --recursive --reverse --size --sort= --time= --time-style="),
	"cat":  words("-[AETbnsv] --number --number-nonblank --show-all --squeeze-blank"),
	"head": words("-[qv] -# -c# -n# --bytes= --lines= --quiet --verbose"),
	"tail": words("-[qv] -# -c# -n# --bytes= --lines= --quiet --verbose"),
	"wc":   words("-[Lclmw] --bytes --chars --lines --max-line-length --words"),
	"stat": words("-[Lft] -c= --dereference --file-system --format= --printf= --terse"),
	"du":   words("-[abchkmsx] -d# --all --apparent-size --max-depth= --human-readable --summarize --total"),
	"df":   words("-[Tahikm] --human-readable --print-type"),
	"find": words("-P -# -name= -iname= -path= -ipath= -regex= -iregex= -type= -maxdepth# -mindepth# -size= -mtime= -mmin= -newer= -perm= -empty -print -print0 -not -a -o -and -or -prune"),
	"grep": words("-[EFGHLbchilnoqsvwxz] -A# -B# -C# -m# -e= --after-context= --before-context= --context= --color --color= --count --extended-regexp --fixed-strings --ignore-case --invert-match --line-number --max-count= --only-matching --word-regexp --"),
	"sort": words("-[MRVbdfghinrsuz] -k= -t= --key= --numeric-sort --reverse --unique"),
	"uniq": words("-[Dcdiu] -f# -s# -w# --count --repeated --unique"),
	"tree": words("-[CDFadfghpqrstu] -I= -L# -P= --dirsfirst --gitignore --noreport"),
	"file": words("-[Lbi] --brief --dereference --mime --mime-encoding --mime-type"),

	"basename": words("-[az] -s= --multiple --suffix="), "dirname": words("-z"), "realpath": words("-[LPemqsz] --relative-to= --relative-base="), "readlink": words("-[efmnqsvz]"),
	"cmp": words("-[bls]"), "comm": words("-[123]"), "nl": nil, "tac": nil, "md5sum": nil, "sha1sum": nil, "sha256sum": nil, "cksum": nil,
	"echo": words("-[Een]"), "pwd": words("-[LP]"), "true": nil, "false": nil, "which": words("-a"), "whoami": nil, "id": words("-[Ggnru]"), "uname": words("-[aimnoprsv]"),

	"git status": words("-s -b -sb --short --branch --long --show-stash --porcelain= --porcelain -v -z -uno -unormal -uall --untracked-files= --ignored -- " +
		"--renames --no-renames --ahead-behind --no-ahead-behind"),
	"git diff":  words("--cached --staged --merge-base " + gitDiff),
	"git log":   words(gitRevisions + gitDiff + gitPretty),
	"git show":  words("--no-notes " + gitDiff + gitPretty),
	"git blame": words("-L -w -e -s -l -t -M --porcelain --line-porcelain --incremental --show-email --show-name --show-number --date= --since= --abbrev= --reverse --first-parent --"),
	"git add":   words("-A -u -n -v -N --all --update --dry-run --verbose --intent-to-add --ignore-removal --no-all --refresh --"),

	"git shortlog":   words("-s -n -e -sn -sne --summary --numbered --email --no-merges --since= --until= --after= --before= --author= --all --group= --"),
	"git describe":   words("--all --tags --long --always --abbrev= --match= --exclude= --candidates= --first-parent --exact-match --contains"),
	"git rev-parse":  words("--abbrev-ref --short --short= --verify -q --quiet --symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup --is-inside-work-tree --is-bare-repository --is-shallow-repository --all --branches --tags --remotes --"),
	"git rev-list":   words("--count --objects --parents --children --timestamp " + gitRevisions + gitPretty),
	"git ls-files":   words("-d -m -o -i -s -u -t -z --cached --deleted --modified --others --ignored --stage --unmerged --exclude-standard --exclude= --full-name --eol --deduplicate --error-unmatch --"),
	"git ls-tree":    words("-r -d -t -l -z --name-only --name-status --full-name --full-tree --long --object-only --abbrev= --"),
	"git cat-file":   words("-t -s -p -e"),
	"git merge-base": words("-a --all --octopus --independent --is-ancestor --fork-point"),
	"git branch":     words("-[arvl] --all --remotes --list --verbose --show-current --no-color --no-column"),
	"git name-rev":   words("--tags --name-only --always --refs= --exclude= --all"),

	"go build":   words("-v -x -n -a -race -trimpath -json -tags= -p= -buildvcs="),
	"go test":    words("-v -x -n -a -race -trimpath -json -tags= -p= -run= -skip= -count= -short -failfast -cover -covermode= -coverpkg= -timeout= -bench= -benchmem -benchtime= -cpu= -parallel= -shuffle= -list= -vet= -fullpath"),
	"go vet":     words("-v -x -n -json -c= -tags="),
	"go fmt":     words("-n -x"),
	"go list":    words("-f= -json -json= -m -deps -test -e -find -compiled -tags="),
	"go doc":     words("-all -c -cmd -short -src -u"),
	"go version": words("-m -v"),

	"cargo build":    words(cargo),
	"cargo check":    words(cargo),
	"cargo test":     words("--no-run --no-fail-fast --doc " + cargo),
	"cargo clippy":   words("--no-deps " + cargo),
	"cargo doc":      words("--no-deps --document-private-items " + cargo),
	"cargo fmt":      words("--check --all -q --quiet -v --verbose -p= --package="),
	"cargo tree":     words("-d --duplicates -i= --invert= -e= --edges= --depth= --prefix= --no-dedupe --charset= -f= --format= " + cargo),
	"cargo metadata": words("--no-deps --format-version= --filter-platform= " + cargo),

	"npm test":       words(npm),
	"npm run":        words(npm),
	"npm run-script": words(npm),
	"npm ls":         words("--all -a --depth= --json --long -l --parseable -p --omit= --include= " + npm),
	"pnpm ls":        words("--depth= --json --long --parseable -P -D --prod --dev"),

	// What follows is the script's.
	"pnpm test": nil, "pnpm run": nil, "yarn test": nil, "yarn run": nil,
}

const (
	gitDiff = `-p -u --patch -s --no-patch -U# --unified= --stat --stat= --shortstat --numstat --summary --dirstat --raw --name-only --name-status --compact-summary
		-w -b --ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines --ignore-cr-at-eol --color --color= --no-color --word-diff --word-diff= --color-words
		-M --find-renames --find-copies --no-renames --diff-filter= --relative -R -a --binary --full-index --abbrev --abbrev= --minimal --patience --histogram --diff-algorithm=
		-S -G --pickaxe-regex --pickaxe-all -W --function-context --inter-hunk-context= --check --exit-code --quiet --no-ext-diff --no-textconv -z -m --cc -- `
	gitPretty    = `--oneline --pretty --pretty= --format= --abbrev-commit --no-abbrev-commit --date= --decorate --decorate= --no-decorate --graph --no-graph `
	gitRevisions = `-# -n# --max-count= --skip= --since= --after= --until= --before= --author= --committer= --grep= -i -E -F --all-match --invert-grep --all --branches --branches= --tags --tags=
		--remotes --remotes= --merges --no-merges --first-parent --reverse --follow --topo-order --date-order --author-date-order --left-right --cherry-pick --cherry-mark --left-only --right-only
		--ancestry-path --full-history --simplify-by-decoration --boundary -g --walk-reflogs --reflog --source --not `
	cargo = `-v -vv -q --verbose --quiet -r --release --dev -p= --package= --workspace --all --exclude= --lib --bins --bin= --examples --example= --tests --test= --benches --bench= --all-targets
		-F= --features= --all-features --no-default-features --profile= -j# --jobs= --keep-going --message-format= --color= --offline --locked --frozen`
	npm = `-s --silent --quiet -w= --workspace= -ws --workspaces --if-present --include-workspace-root`
)

// listing is what the table has for a pattern that begins with these words, under the name
// of so many of them.
func listing(prefix []string) (options []string, name int, ok bool) {
	for name = 1; name <= min(len(prefix), 2); name++ {
		if options, ok = listed[strings.Join(prefix[:name], " ")]; ok {
			return options, name, true
		}
	}
	return nil, 0, false
}

// readsTool is the name of a rule for all commands that only read.
const readsTool = "read_only_commands"

// onlyReads says whether a part is of a listed program that only reads, with listed options.
func onlyReads(p part) bool {
	texts := p.texts()
	_, n, ok := listing(texts)
	return ok && (n == 1 || texts[0] == "git" && texts[1] != "add") && onlyListed(texts[:n], p.words[n:]) && !(texts[0] == "git" && guesses(texts))
}

// guesses says whether the answer of git tells what is in files that it does not name.
func guesses(texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(text, "-S") || strings.HasPrefix(text, "-G") })
}

// readsGit says whether a plain line has a git in it that only reads.
func (r *CommandReading) readsGit() bool {
	return slices.ContainsFunc(r.parts, func(p part) bool { return p.words[0].text == "git" && onlyReads(p) })
}

// readsAllowed says whether a rule lets commands run that only read.
func (r Request) readsAllowed() bool {
	return r.Command != nil && slices.ContainsFunc(slices.Concat(r.Rules.Allow, r.Grants), func(rule Rule) bool {
		return rule.Tool == readsTool && rule.Specifier == ""
	})
}

// onlyListed says whether of the words of a part, after those of the pattern, each option is
// in the table. A word that is none may be an operand or a value; where either leads is
// judged elsewhere.
//
// Of git, all commands that are listed here but add run as program.Reading has them. Of them, neither a value nor what stands behind -- may look like an option: program.Shows tells
// by the words which files a command prints.
func onlyListed(prefix []string, rest []word) bool {
	options, _, ok := listing(prefix)
	if !ok {
		return false
	}
	isGit, isValue, isBehind := prefix[0] == "git", false, false
	for _, w := range rest {
		text := w.text
		if oneDash[prefix[0]] && strings.HasPrefix(text, "--") {
			text = text[1:]
		}
		wasValue := isValue
		isValue = false
		switch {
		case !strings.HasPrefix(text, "-"):
			if isGit && prefix[1] == "branch" { // it would make one
				return false
			}
		case wasValue || isBehind || !slices.ContainsFunc(options, func(entry string) bool { return fitsListed(text, entry) }):
			return false
		case isGit:
			isValue, isBehind = takesNext(text, options), text == "--"
		}
	}
	return true
}

// takesNext says whether the option takes the next word for its value.
func takesNext(option string, options []string) bool {
	return option == "-S" || option == "-G" || !slices.Contains(options, option) &&
		(slices.Contains(options, option+"=") || slices.Contains(options, option+"#"))
}

func fitsListed(text, entry string) bool {
	if name, ok := strings.CutSuffix(entry, "="); ok {
		return text == name || strings.HasPrefix(text, entry)
	}
	if name, ok := strings.CutSuffix(entry, "#"); ok {
		digits, ok := strings.CutPrefix(text, name)
		return ok && (isNumber(digits) || digits == "" && name != "-")
	}
	if letters, ok := strings.CutPrefix(entry, "-["); ok {
		return len(text) > 1 && strings.Trim(text[1:], strings.TrimSuffix(letters, "]")) == ""
	}
	return text == entry
}
