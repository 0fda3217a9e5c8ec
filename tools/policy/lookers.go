package policy

import (
	"slices"
	"strings"

	"pillion/internal/pattern"
)

// looker is a program that is known to read: what it may be given, beyond files.
type looker struct {
	// options are written as in listed; one that ends in : takes a value that names no file.
	options []string
	// texts is how many of its first operands name no file, unless one of the options in instead
	// is given.
	texts   int
	instead []string
	// operands is how many it may have, below 0 any number.
	operands int
	// scripts says whether a text is one that only reads.
	scripts func(text string) bool
}

const many = -1

// everyText is for programs that print their operands.
const everyText = 1 << 20

// lookers are those beside git and go. They read files, and are not led by links to others. An option is
// added with a look at the program's own manual; the box is what holds where that is wrong.
var lookers = map[string]looker{
	"grep":  {options: words(grep), texts: 1, instead: words("-e --regexp"), operands: many},
	"egrep": {options: words(grep), texts: 1, instead: words("-e --regexp"), operands: many},
	"fgrep": {options: words(grep), texts: 1, instead: words("-e --regexp"), operands: many},
	"rg": {options: words(`-[FHINPSTUaceHhilnopqsuvwx0.] -e: -g: -t: -T: -r: -A# -B# -C# -m# -j# -M# -d# --hidden --no-ignore --no-ignore-vcs --unrestricted --files --glob: --iglob:
		--type: --type-not: --type-list --regexp: --after-context# --before-context# --context# --max-count# --max-depth# --max-columns# --max-filesize: --count --count-matches
		--files-with-matches --files-without-match --ignore-case --smart-case --case-sensitive --fixed-strings --word-regexp --line-regexp --line-number --no-line-number --no-heading
		--heading --color: --colors: --column --invert-match --only-matching --multiline --multiline-dotall --pcre2 --replace: --sort: --sortr: --stats --json --vimgrep --passthru
		--quiet --text --trim --with-filename --no-filename --no-messages --null --no-config --crlf --one-file-system --`), texts: 1, instead: words("-e --regexp --files --type-list"), operands: many},
	"fd":     {options: words(fd), texts: 1, operands: many},
	"fdfind": {options: words(fd), texts: 1, operands: many},
	"find": {options: words(`-P -# -name: -iname: -path: -ipath: -wholename: -iwholename: -regex: -iregex: -regextype: -type: -maxdepth# -mindepth# -size: -mtime: -mmin: -atime: -amin: -ctime:
		-cmin: -newer= -newermt: -samefile= -perm: -user: -group: -links: -empty -executable -readable -writable -print -print0 -printf: -ls -not -a -and -o -or -prune -quit -true -false -xdev -mount -depth
		-daystart -noleaf -nouser -nogroup`), operands: many},
	"ls":   {options: words("-[1ABCFGNQRSUXabcdfghiklmnopqrstuvwx] --all --almost-all --author --classify --color --color: --directory --format: --full-time --group-directories-first --human-readable --inode --ignore: --hide: --no-group --numeric-uid-gid --recursive --reverse --size --si --sort: --time: --time-style: --width# -I: -w# --"), operands: many},
	"tree": {options: words("-[CDFJQXadfghinpqrstuv] -I: -L# -P: --dirsfirst --du --filelimit# --gitignore --noreport --prune --sort: --charset: --"), operands: many},
	"cat":  {options: words("-[AETbenstuv] --number --number-nonblank --show-all --show-ends --show-tabs --show-nonprinting --squeeze-blank --"), operands: many},
	"head": {options: words("-[qvz] -# -c: -n: --bytes: --lines: --quiet --silent --verbose --"), operands: many},
	"tail": {options: words("-[qvz] -# -c: -n: --bytes: --lines: --quiet --silent --verbose --"), operands: many},
	"sed":  {options: words("-[nErsuz] -e: --expression: --quiet --silent --regexp-extended --separate --unbuffered --null-data --posix --"), texts: 1, instead: words("-e --expression"), operands: many, scripts: sedReads},
	"awk":  {options: words("-F: -v: --"), texts: 1, operands: many, scripts: awkReads},
	"gawk": {options: words("-F: -v: --"), texts: 1, operands: many, scripts: awkReads},
	"mawk": {options: words("-F: -v: --"), texts: 1, operands: many, scripts: awkReads},
	"sort": {options: words("-[CMRVbcdfghimnrsuz] -k: -t: --key: --field-separator: --sort: --numeric-sort --human-numeric-sort --general-numeric-sort --version-sort --month-sort --reverse --unique --ignore-case --ignore-leading-blanks --dictionary-order --stable --zero-terminated --check --"), operands: many},
	"uniq": {options: words("-[Dcdiuz] -f# -s# -w# --count --repeated --unique --ignore-case --skip-fields# --skip-chars# --check-chars# --"), operands: 1},
	"wc":   {options: words("-[Lclmw] --bytes --chars --lines --max-line-length --words --"), operands: many},
	"cut":  {options: words("-[nsz] -b: -c: -d: -f: --bytes: --characters: --delimiter: --fields: --complement --only-delimited --output-delimiter: --zero-terminated --"), operands: many},
	"tr":   {options: words("-[Ccdst] --complement --delete --squeeze-repeats --truncate-set1 --"), texts: everyText, operands: many},
	"diff": {options: words("-[BEHZabcdeilnpqstuwy] -U# -C# -W# -L: --unified --unified# --context --context# --brief --side-by-side --suppress-common-lines --ignore-all-space --ignore-blank-lines --ignore-case --ignore-space-change --ignore-trailing-space --strip-trailing-cr --color --color: --label: --text --minimal --report-identical-files --width# --"), operands: many},
	"cmp":  {options: words("-[bls] -n# --print-bytes --verbose --silent --quiet --bytes# --"), operands: 2},
	"comm": {options: words("-[123z] --total --output-delimiter: --"), operands: many},
	"stat": {options: words("-[Lft] -c: --dereference --file-system --format: --printf: --terse --"), operands: many},
	"file": {options: words("-[Lbhir0] --brief --dereference --mime --mime-encoding --mime-type --no-dereference --"), operands: many},
	"du":   {options: words("-[0Sabchklmsx] -d# -t: --all --apparent-size --bytes --exclude: --human-readable --max-depth# --si --summarize --threshold: --total --"), operands: many},
	"df":   {options: words("-[PTahiklm] -t: -x: --all --human-readable --inodes --local --portability --print-type --total --"), operands: many},
	"date": {options: words("-[Ru] -I -d: -r= --date: --utc --universal --iso-8601 --iso-8601: --rfc-3339: --rfc-email --reference="), texts: everyText, operands: many, scripts: func(text string) bool { return strings.HasPrefix(text, "+") }},
	"jq":   {options: words("-[CMSacejnrs] --raw-output --join-output --ascii-output --compact-output --slurp --sort-keys --exit-status --null-input --raw-input --tab --indent# --color-output --monochrome-output -R --"), texts: 1, operands: many, scripts: jqReads},
	"yq":   {options: words("-[CMNPcernsy] -o: -p: --output-format: --input-format: --prettyPrint --no-colors --no-doc --raw-output --exit-status --null-input"), texts: 1, operands: many, scripts: jqReads},

	"pwd": {options: words("-[LP]")}, "true": {operands: many, texts: everyText}, "false": {operands: many, texts: everyText}, ":": {operands: many, texts: everyText}, "cd": {operands: 1},
	"env": {}, "printenv": {operands: many, texts: everyText}, "nproc": {options: words("--all")}, "uptime": {options: words("-[ps]")}, "free": {options: words("-[bghkmt]")}, "arch": {},
	"whoami": {}, "id": {options: words("-[Ggnru]")}, "groups": {}, "uname": {options: words("-[aimnoprsv] --all")}, "hostname": {options: words("-[fs]")}, "locale": {},
	"which": {options: words("-a"), operands: many, texts: everyText}, "type": {options: words("-[afptP]"), operands: many, texts: everyText}, "command": {options: words("-[vV]"), operands: 1, texts: 1},
	"basename": {options: words("-[az] -s: --multiple --suffix: --"), operands: many, texts: everyText}, "dirname": {options: words("-z --zero --"), operands: many, texts: everyText},
	"realpath": {options: words("-[LPemqsz] --relative-to= --relative-base= --"), operands: many}, "readlink": {options: words("-[efmnqsvz] --"), operands: many},
	"nl": {options: words("-b: -n: -s: -v# -w# --"), operands: many}, "tac": {options: words("--"), operands: many}, "rev": {operands: many}, "seq": {options: words("-w -f: -s:"), operands: 3, texts: 3},
	"fold": {options: words("-[bs] -w# --width#"), operands: many}, "column": {options: words("-[tx] -s: -o: -c#"), operands: many}, "paste": {options: words("-[sz] -d:"), operands: many},
	"od": {options: words("-[bcdhiloxv] -A: -t: -N# -j# -w#"), operands: many}, "hexdump": {options: words("-[bCcdovx] -n# -s#"), operands: many}, "xxd": {options: words("-[bipu] -c# -g# -l# -s#"), operands: 1}, "strings": {options: words("-a -n# -t:"), operands: many},
	"md5sum": {operands: many}, "sha1sum": {operands: many}, "sha256sum": {operands: many}, "sha512sum": {operands: many}, "cksum": {operands: many}, "b2sum": {operands: many},
}

const (
	grep = `-[EFGHILPTUZabchilnoqrsvwxyz] -e: -# -A# -B# -C# -m# --regexp: --include: --exclude: --exclude-dir: --after-context# --before-context# --context# --max-count# --color --color: --colour --colour:
		--count --extended-regexp --basic-regexp --fixed-strings --perl-regexp --ignore-case --no-ignore-case --invert-match --line-number --line-regexp --word-regexp --only-matching --files-with-matches
		--files-without-match --with-filename --no-filename --no-messages --quiet --silent --recursive --null --text --binary-files: --byte-offset --initial-tab --line-buffered --directories: --devices: --`
	fd = `-[0HIagiFpsu1] -e: -E: -t: -d# -S: --hidden --no-ignore --no-ignore-vcs --unrestricted --extension: --type: --exclude: --max-depth# --min-depth# --max-results# --absolute-path --glob --regex
		--fixed-strings --ignore-case --case-sensitive --full-path --print0 --color: --changed-within: --changed-before: --size: --`
)

// LooksOnly says whether the whole line only looks: then it may run in the box, apart where it only asks
// programs for their versions, which some choose by the files of the folder that they start in. So apart no git
// reads a repository.
func (c Command) LooksOnly() (ok, apart bool) {
	l, ok := ReadLooks(c.Line)
	if !ok || !c.bare() || !c.POSIX || len(c.Hosts) > 0 || slices.ContainsFunc(l.folders, func(to string) bool { return !c.fact(to).IsFolder }) {
		return false, false
	}
	isGit := func(p look) bool { return p.words[0].text() == "git" }
	here, git := false, slices.ContainsFunc(l.parts, isGit)
	for _, p := range l.parts {
		p.besideGit = git && !isGit(p)
		switch version, at := c.asksVersion(p), p.at(); {
		case version:
			apart = true
		case !c.looksAt(p):
			return false, false
		default:
			here = here || at
		}
	}
	return !(apart && here), apart
}

// at says whether it matters in which folder a part runs.
func (l look) at() bool {
	name, _ := l.words[0].plain()
	return !slices.Contains(words("echo printf true false : which type command date uname"), name) && !(l.piped && slices.Contains(words("head tail grep cut tr sed awk wc sort cat"), name))
}

// versions are the words by which a program says what it is.
var versions = words("--version -V -version")

// asksVersion says whether a part only asks a program for its version. What does not know the word may take it for
// another option and run what it reads, so there is nothing to read.
func (c Command) asksVersion(l look) bool {
	if len(l.words) != 2 || len(l.inputs) > 0 || l.piped {
		return false
	}
	name, isPlain := l.words[0].plain()
	option, is := l.words[1].plain()
	return isPlain && is && slices.Contains(versions, option) && programWord().MatchString(name) && !changesShell[name] && !c.fact(name).Planted
}

// programWord is a name that the shell searches for.
var programWord = pattern.New(`^[A-Za-z0-9][\w.+-]*$`)

// looksAt says whether a part only looks, at files that nobody has to be asked about.
func (c Command) looksAt(l look) bool {
	args := make([]expanded, 0, len(l.words))
	for _, w := range l.words {
		e, known := l.expand(w, c.Matches)
		if !known {
			return false
		}
		args = append(args, e)
	}
	for _, in := range l.inputs {
		e, known := l.expand(in, c.Matches)
		if !known || e.made || !c.opens(l, e.texts[0]) {
			return false
		}
	}
	name, isPlain := args[0].plain()
	if !isPlain || !programWord().MatchString(name) && name != ":" && name != "[" || c.fact(name).Planted {
		return false
	}
	switch {
	case name == "git":
		return c.gitLooks(l, args)
	case name == "go":
		return len(args) > 1 && slices.Contains(words("version list doc"), args[1].texts[0]) && !args[1].made && c.listedLooks(l, args)
	case name == "test", name == "[":
		return c.testLooks(l, args)
	case name == "command" && (len(args) < 2 || args[1].texts[0] != "-v" && args[1].texts[0] != "-V"):
		return false
	case name == "printf": // a -v, and a number in some shells, is code where it has the index of an array
		return !slices.ContainsFunc(flat(args[1:]), func(text string) bool { return strings.HasPrefix(text, "-v") || strings.ContainsAny(text, "$`") })
	case name == "echo": // whatever it is given, it prints it
		return true
	}
	p, known := lookers[name]
	return known && c.fits(p, l, name, args[1:])
}

// recurses is an option by which grep searches folders.
var recurses = pattern.New(`^-([^-]*[rd]|-(recursive|directories))`)

// walks says whether a program may print of files that no word names, also of a repository's own, whatever it is said to leave out.
func (l look) walks(name string, args []expanded) bool {
	return name == "rg" || strings.HasSuffix(name, "grep") && slices.ContainsFunc(flat(args), recurses().MatchString)
}

// opens says whether a name may be opened without a question.
func (c Command) opens(l look, name string) bool {
	if name == "" || isNoFile(name) {
		return true
	}
	name = from(l.folder, name)
	return c.placeWhy(name, true) == "" && !(l.besideGit && c.fact(name).inRepository())
}

func (c Command) opensAll(l look, text string) bool {
	return !slices.ContainsFunc(pathsIn(text), func(name string) bool { return !c.opens(l, name) })
}

// fits says whether the arguments are such as a looker may have.
func (c Command) fits(p looker, l look, name string, args []expanded) bool {
	options, operands, texts := true, 0, p.texts
	walks := l.besideGit && l.walks(name, args)
	isText := func(text string) bool { return p.scripts == nil || p.scripts(text) }
	for i := 0; i < len(args); i++ {
		if options && strings.HasPrefix(args[i].texts[0], "-") && args[i].texts[0] != "-" {
			word, isPlain := args[i].plain()
			if options = word != "--"; !options {
				if !slices.Contains(p.options, "--") {
					return false
				}
				continue
			}
			kind, option, value, has := p.option(name, word)
			if !isPlain || kind == 0 {
				return false
			}
			if slices.Contains(p.instead, option) {
				if texts = 0; operands > 0 { // which were taken for texts
					return false
				}
			}
			if kind == flag {
				continue
			}
			if !has {
				if i++; i == len(args) {
					return false
				}
				if value, isPlain = args[i].plain(); !isPlain {
					return false
				}
			}
			switch {
			case kind == digits && !isNumber(value):
				return false
			case kind == file && !c.opensAll(l, value):
				return false
			case slices.Contains(p.instead, option) && !isText(value):
				return false
			}
			continue
		}
		for _, text := range args[i].texts {
			operands++
			switch {
			case args[i].made && strings.HasPrefix(text, "-"): // an option, as it turns out
				return false
			case operands <= texts:
				if !isText(text) {
					return false
				}
			case text != "-" && !c.opensAll(l, text), (walks || name == "diff") && c.fact(from(l.folder, text)).IsFolder: // of which diff opens links
				return false
			}
		}
	}
	if walks && operands <= texts && (name != "rg" || !l.piped || len(l.inputs) > 0) {
		return false // it walks through the folder that it runs in
	}
	return p.operands == many || operands <= p.operands
}

// What an option takes.
const (
	flag = iota + 1
	text
	digits
	file
)

// option finds a word among the options: its kind, 0 if there is none, its name, and its value if the word
// has that as well.
func (p looker) option(program, word string) (kind int, name, value string, has bool) {
	for _, entry := range p.options {
		kind, name := flag, entry
		switch entry[len(entry)-1] {
		case ':':
			kind, name = text, entry[:len(entry)-1]
		case '#':
			kind, name = digits, entry[:len(entry)-1]
		case '=':
			kind, name = file, entry[:len(entry)-1]
		}
		switch {
		case name == "-" && isNumber(word[1:]): // head -3
			return flag, name, "", false
		case strings.HasPrefix(entry, "-["), name == "-":
		case word == name:
			return kind, name, "", false
		case kind != flag && strings.HasPrefix(word, name+"="):
			return kind, name, word[len(name)+1:], true
		}
	}
	if strings.HasPrefix(word, "--") || oneDash[program] {
		return 0, "", "", false
	}
	for i := 1; i < len(word); i++ { // a cluster of letters, of which the last may take what follows
		letter := word[i : i+1]
		if slices.ContainsFunc(p.options, func(entry string) bool {
			letters, are := strings.CutPrefix(entry, "-[")
			return are && strings.Contains(strings.TrimSuffix(letters, "]"), letter) || entry == "-"+letter
		}) {
			continue
		}
		kinds := map[string]int{"-" + letter + ":": text, "-" + letter + "#": digits, "-" + letter + "=": file}
		for _, entry := range p.options {
			if kind := kinds[entry]; kind != 0 {
				return kind, "-" + letter, word[i+1:], i+1 < len(word)
			}
		}
		return 0, "", "", false
	}
	return flag, word, "", false
}

// gitLooks is for git, which runs as program.Reading has it.
func (c Command) gitLooks(l look, args []expanded) bool {
	return onlyReads(partOf(flat(args))) && c.places(l, args)
}

// listedLooks is for what has the same options as a rule may allow.
func (c Command) listedLooks(l look, args []expanded) bool {
	p := partOf(flat(args))
	_, n, known := listing(p.texts())
	return known && onlyListed(p.texts()[:n], p.words[n:]) && c.places(l, args)
}

// places says whether all that the words may name can be opened, and none became an option.
func (c Command) places(l look, args []expanded) bool {
	for _, e := range args[1:] {
		for _, text := range e.texts {
			if e.made && strings.HasPrefix(text, "-") {
				return false
			}
			if text == "HEAD" || strings.HasPrefix(text, "HEAD:") {
				text = strings.TrimPrefix(strings.TrimPrefix(text, "HEAD"), ":")
			}
			if !c.opensAll(l, text) {
				return false
			}
		}
	}
	return true
}

// testLooks is for test, of which some shells run code in the index of an array.
func (c Command) testLooks(l look, args []expanded) bool {
	l.besideGit = false // it opens nothing
	for _, e := range args[1:] {
		for _, text := range e.texts {
			if strings.ContainsAny(text, "$`") || text != "]" && strings.Contains(text, "[") || !c.opensAll(l, text) {
				return false
			}
		}
	}
	return true
}

func flat(args []expanded) (out []string) {
	for _, e := range args {
		out = append(out, e.texts...)
	}
	return out
}

func partOf(texts []string) part {
	p := part{argv: texts}
	for _, text := range texts {
		p.words = append(p.words, word{text, true})
	}
	return p
}
