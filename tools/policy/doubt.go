package policy

import (
	"path"
	"slices"
	"strings"

	"pillion/internal/pattern"
)

// What this file finds has a rule that restricts ask: a line may run what the rule is about by a word that is no
// plain name of it.

// made is what the shell makes anew in a word, and marks what it takes away.
var (
	made  = pattern.New("\\$\\([^)]*\\)|`[^`]*`|\\$\\{[^}]*\\}|\\$(\\w+|.)|[*?]+|\\[[^]]*\\]|\\{[^}]*\\}")
	marks = strings.NewReplacer(`"`, "", "'", "", `\`, "")
)

// pieces are the names that a word may be taken apart to, folded, with a * for what is made when it runs.
func pieces(text string) []string {
	text = fold(marks.Replace(made().ReplaceAllString(text, "*")))
	return strings.FieldsFunc(text, func(c rune) bool { return isCode(c) && c != '*' || strings.ContainsRune("=,+:", c) })
}

// names says whether a word may name a program: by a piece of it, by a pattern, or as the end of options (env -Stouch).
func names(text, program string) bool {
	return program != "" && slices.ContainsFunc(pieces(text), func(piece string) bool {
		name := programName(piece)
		if strings.Contains(name, "*") {
			is, _ := path.Match(name, program) //nolint:errcheck // it has no brackets
			return is && strings.Trim(name, "*") != ""
		}
		return name == program || strings.HasPrefix(piece, "-") && !strings.HasPrefix(piece, "--") && strings.HasSuffix(name, program) ||
			program == "git" && strings.HasPrefix(name, "git-")
	})
}

// spelled is a word as people wrote it, where the shell makes something of it.
func (p part) spelled(i int) string {
	if w := p.words[i]; w.literal {
		return w.text
	}
	return p.argv[len(p.argv)-len(p.words)+i]
}

// runsNone says whether a part is known to run no program, whatever its words name.
func (p part) runsNone() bool {
	texts := p.texts()
	name := programName(texts[0])
	switch {
	case readers[name] && hazards[name] == nil:
		return true
	case slices.ContainsFunc(p.words, func(w word) bool { return !w.literal }):
		return false
	case name == "sed" || name == "gsed":
		return !sedRuns(texts)
	}
	return (readers[name] || name == "git" && len(texts) > 1 && gitReads[texts[1]]) && hazard(texts) == ""
}

// How sed is given code, and its options that are none.
var (
	sedEvaluates = pattern.New(`^(-[nErsuzi]*e|--expression=?)`)
	sedOption    = pattern.New(`^-([nErsuz]+|i.*|-in-place.*|-quiet|-silent|-regexp-extended|-separate|-unbuffered|-null-data|-posix)$`)
)

// sedRuns says whether sed may run a program.
func sedRuns(texts []string) bool {
	var scripts, operands []string
	for i := 1; i < len(texts); i++ {
		option := sedEvaluates().FindString(texts[i])
		switch rest := texts[i][len(option):]; {
		case option != "" && rest == "" && i+1 < len(texts):
			i++
			scripts = append(scripts, texts[i])
		case option != "":
			scripts = append(scripts, rest)
		case !strings.HasPrefix(rest, "-"):
			operands = append(operands, rest)
		case !sedOption().MatchString(rest):
			return true
		}
	}
	if scripts == nil {
		scripts = operands[:min(1, len(operands))]
	}
	return slices.ContainsFunc(scripts, func(script string) bool { return !sedReads(script) })
}

// perlCode is how perl is given code, of which a few letters do much.
var perlCode = pattern.New(`^-[A-Za-z0-9]*[eE]`)

// gitRuns are the subcommands of git that run what their words say, with the words that have them do so; none: always.
var gitRuns = map[string][]string{
	"bisect": words("run"), "submodule": words("foreach"), "rebase": words("-x --exec"), "clone": words("-c -u --config --template"),
	"filter-branch": nil, "difftool": nil, "mergetool": nil, "for-each-repo": nil, "hook": nil, "send-email": nil, "shell": nil, "instaweb": nil, "daemon": nil,
}

// gitRunsWords are options of more than one of them.
var gitRunsWords = words("--exec --extcmd --open-files-in-pager --upload-pack --receive-pack")

// harmlessSetting is one of git's that names no program, nor another name for a command.
var harmlessSetting = pattern.New(`(?i)^((user|author|committer|color|advice|init|i18n|push|pull|branch)\.[^=]*=.*|[^=]+=(true|false|on|off|yes|no|never|always|auto|cat|\d*))$`)

// gitHandsOver says whether git may run what its words say.
func gitHandsOver(texts []string) bool {
	at := 1
	for ; at < len(texts) && strings.HasPrefix(texts[at], "-"); at++ {
		switch option := texts[at]; {
		case option == "-c" && at+1 < len(texts) && harmlessSetting().MatchString(texts[at+1]), slices.Contains(words("-C --git-dir --work-tree --namespace"), option):
			at++
		case strings.HasPrefix(option, "-c"), strings.HasPrefix(option, "--config-env"), strings.HasPrefix(option, "--exec-path="):
			return true
		}
	}
	if at >= len(texts) {
		return false
	}
	sub, rest := texts[at], texts[at+1:]
	by, known := gitRuns[sub]
	for i, text := range rest {
		if slices.ContainsFunc(slices.Concat(by, gitRunsWords), func(o string) bool { return text == o || isOption("git", text, o) }) ||
			sub == "config" && strings.Contains(text, ".") && i+1 < len(rest) && !harmlessSetting().MatchString(text+"="+rest[i+1]) {
			return true
		}
	}
	return known && by == nil
}

// copiers are programs that fill a file which they name.
var copiers = set("cp mv ln install tee dd sponge patch ed ex rsync sed gsed perl")

// filled are the last elements of the names that the line writes to.
func (r *CommandReading) filled() map[string]bool {
	out := map[string]bool{}
	for _, w := range r.writes {
		out[path.Base(fold(w.text))] = true
	}
	for _, p := range r.parts {
		if words := unwrapped(p.words); len(words) > 1 && copiers[programName(words[0].text)] && (changes(words) || !(part{words: words}).runsNone()) {
			for _, w := range words[1:] {
				for _, name := range pathsIn(w.text) {
					out[path.Base(fold(name))] = true
				}
			}
		}
	}
	return out
}

// runsFile says whether a part may run one of these files: by its name, by what stands for it behind a program that runs
// others, or by a recipe. What an interpreter gets behind its first operand, it is not taken to run.
func (p part) runsFile(files map[string]bool) bool {
	if len(files) == 0 || len(p.words) == 0 || p.runsNone() {
		return false
	}
	is := func(text string) bool { return text != "" && files[path.Base(fold(text))] }
	words, behind, isNext := unwrapped(p.words), false, false
	for i, w := range words {
		name, isOption := programName(w.text), strings.HasPrefix(w.text, "-")
		runs := runsOthers[name] || runsWords[name] || recipes[name] != nil
		switch {
		case i == 0 && strings.Contains(w.text, "/") && is(w.text), slices.ContainsFunc(recipes[name], is):
			return true
		case behind && (isNext || strings.HasPrefix(w.text, "./")) && is(w.text), behind && isOption && slices.ContainsFunc(pathsIn(w.text), is):
			return true
		case runs:
			behind = true
		case isNext && !isOption && interpreters[programName(words[0].text)]:
			return false
		}
		isNext = runs || isOption
	}
	return false
}
