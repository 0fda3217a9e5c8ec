package policy

import (
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/internal/pattern"
)

// What a part of a line may change is what it names, unless its program is known to read only: of
// programs that write there is no end.

// wrappers run the program that their words name.
var wrappers = set("command exec builtin noglob nocorrect time gtime env nice ionice timeout gtimeout nohup stdbuf setsid xargs sudo doas chrt taskset unbuffer busybox toybox strace ltrace")

// alsoRead are programs that only read, but with the options in hazards; harmlessWords, builtins that change no file.
var (
	alsoRead      = set("sort uniq shellcheck actionlint yamllint column fold expand unexpand paste join xxd hexdump base64 tr fmt pr zcat sha384sum sha512sum b2sum which type")
	harmlessWords = set("cd pushd popd chdir export unset readonly declare typeset local let read readarray mapfile shift return exit break continue wait umask ulimit set shopt whence where")
)

// gitReads are the subcommands of git that change no file of the work tree that they name.
var gitReads = set(`add commit diff log show status blame annotate ls-files ls-tree cat-file rev-parse rev-list grep shortlog describe merge-base name-rev check-ignore check-attr
	reset diff-tree diff-index diff-files whatchanged show-ref for-each-ref branch tag`)

// interpreters run the file that is their first operand.
var interpreters = set(". source sh bash dash zsh ksh mksh fish python perl ruby node deno bun tsx ts-node php lua")

var (
	plainOption = pattern.New(`^-[eux]+$`)
	runsItsWord = pattern.New(`^[A-Za-z_]\w*=|^[0-9.]+[smhd]?$`)
	sedWrites   = pattern.New(`(^|[^A-Za-z])[gpiImM0-9]*[wWe]`)
	awkWrites   = pattern.New(`[>|]|system|inplace`)
)

// touches lists the names in the words of a part which it may change.
func touches(words []word) (names []string) {
	for len(words) > 0 && words[0].literal && wrappers[programName(words[0].text)] {
		behind := behindWrapper(words)
		for i, w := range words[1:min(behind+1, len(words))] { // the last is the program, or what env -S takes for one
			if !runsItsWord().MatchString(w.text) && (strings.HasPrefix(w.text, "-") || words[i].text == "-o" || strings.ContainsFunc(w.text, isCode)) {
				names = append(names, touched(w.text, true)...)
			}
		}
		words = words[behind:]
	}
	if len(words) == 0 {
		return names
	}
	texts := (part{words: words}).texts()
	name := programName(texts[0])
	if words[0].literal && readsOnly(name, texts) {
		return names
	}
	plain, hasCode := texts[1:], func(text string) bool {
		return runsOther(texts[0]) != "" && name != "gh" && name != "glab" && strings.ContainsFunc(text, isCode)
	}
	switch {
	case changes(words):
	case name == "sed" || name == "gsed":
		plain, hasCode = nil, sedWrites().MatchString
	case strings.HasSuffix(name, "awk") && !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "inplace") }):
		plain, hasCode = nil, awkWrites().MatchString
	case interpreters[name]:
		for len(plain) > 0 && plainOption().MatchString(plain[0]) {
			plain = plain[1:]
		}
		if len(plain) > 0 && !strings.HasPrefix(plain[0], "-") {
			plain = plain[1:]
		}
	}
	for _, text := range plain {
		if !strings.Contains(text, "://") || name == "wget" || name == "aria2c" || name == "curl" && hazard(texts) != "" {
			names = append(names, touched(text, false)...)
		}
	}
	for _, text := range texts[1:] {
		if hasCode(text) {
			names = append(names, touched(text, true)...)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { // a commit, and not the file that makes a repository
		return fold(name) == "head" || texts[0] == "git" && strings.HasSuffix(fold(name), "/head")
	})
}

// behindWrapper is where the program stands that a wrapper runs.
func behindWrapper(words []word) int {
	at := 1
	for at < len(words) && (strings.HasPrefix(words[at].text, "-") || runsItsWord().MatchString(words[at].text) || words[at-1].text == "-o") {
		at++
	}
	return at
}

// unwrapped are the words of the program that wrappers run in the end.
func unwrapped(words []word) []word {
	for len(words) > 0 && words[0].literal && wrappers[programName(words[0].text)] {
		words = words[behindWrapper(words):]
	}
	return words
}

// touched lists the names in a word: paths, and those in code.
func touched(text string, code bool) []string {
	out := pathsIn(text)
	if at := strings.IndexAny(text, "./"); at > 2 && text[0] == '-' && text[1] != '-' { // -so.envrc
		out = append(out, text[at:])
	}
	if !code {
		return out
	}
	pieces := strings.FieldsFunc(text, isCode)
	for _, piece := range pieces[:min(len(pieces), maxNamesInCode)] {
		out = append(out, pathsIn(piece)...)
		if rest := strings.TrimLeft(piece, "gpiImM0123456789wW"); rest != piece { // sed takes w.envrc
			out = append(out, rest)
		}
	}
	return out
}

// readsOnly says whether a program changes none of the files that its words name.
func readsOnly(name string, texts []string) bool {
	switch {
	case harmlessWords[texts[0]]:
		return true
	case name == "git":
		for len(texts) > 1 && strings.HasPrefix(texts[1], "-") && !strings.HasPrefix(texts[1], "-c") {
			texts = texts[1:]
			if texts[0] == "-C" && len(texts) > 1 {
				texts = texts[1:]
			}
		}
		return len(texts) > 1 && gitReads[texts[1]] && hazard(append([]string{"git"}, texts[1:]...)) == ""
	case name == "find":
		texts = slices.Clone(texts)
		for i, text := range texts[:len(texts)-1] {
			if next := texts[i+1]; (text == "-exec" || text == "-execdir") && readers[next] && hazards[next] == nil {
				texts[i] = "-print"
			}
		}
	}
	return (readers[name] || alsoRead[name]) && hazard(texts) == ""
}

// mayChange lists what the line names and may change, by whatever program.
func (r *CommandReading) mayChange() (names []string) {
	var byName, byCode bool // what a part prints is the words, or code, of another
	for _, p := range r.parts {
		if p.isFed && len(p.words) > 0 && p.runsInput() {
			byCode = true
			byName = byName || slices.ContainsFunc(p.words, func(w word) bool { n := programName(w.text); return n == "xargs" || n == "parallel" })
		}
	}
	for _, p := range r.parts {
		if len(p.argv) > 0 && (p.argv[0] == "[" || p.argv[0] == "[[") {
			continue
		}
		names = append(names, touches(p.words)...)
		if len(p.words) == 0 || !byName && !(byCode && (p.words[0].text == "echo" || p.words[0].text == "printf")) {
			continue
		}
		for _, w := range p.words[1:] {
			names = append(names, touched(w.text, true)...)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return strings.Trim(name, `"'`) == "" }) // which would be the folder itself
}

// effect says why changing what the word leads to needs a user, because of what programs do with it.
func (f WordFact) effect(name string) string {
	if reason, _ := Protected(name); reason != "" {
		return reason
	}
	for i, at := range f.judged() {
		if effect, _ := at.effect(); effect != "" && !f.Outside {
			return fault.Quote(f.names()[i]) + " " + effect
		}
	}
	if f.Guarded != "" {
		return fault.Quote(name) + " " + f.Guarded
	}
	if f.BareRepository {
		return fault.Quote(name) + " " + isRepository
	}
	return ""
}
