package policy

import (
	"cmp"
	"slices"
	"strings"

	"pillion/internal/pattern"
)

// prefix is the literal words before the * of a rule such as
// run_command(go test *), which stands for any further words, or none.
func (r Rule) prefix() (words []string, ok bool) {
	text, ends := strings.CutSuffix(r.Specifier, " *")
	if !r.pattern || !ends {
		return nil, false
	}
	parts, problem := readPlain(text)
	if problem != "" || len(parts) != 1 || len(parts[0].redirs) > 0 {
		return nil, false
	}
	return parts[0].words, true
}

// NeverAllows says why the rule, though it can be read, allows nothing as an allow
// rule, "" if it can. People who wrote one should hear of it.
func (r Rule) NeverAllows() string {
	if !slices.ContainsFunc(commandTools, r.names) || r.Specifier == "" || !r.pattern {
		return ""
	}
	words, ok := r.prefix()
	if !ok {
		return "a * can only stand at its end, after plain words and a blank, such as " + r.Tool +
			"(go test *); in double quotes it means itself"
	}
	if _, _, known := listing(words); r.Listed && !known {
		return "of " + strings.Join(words, " ") + " no options are listed: leave 'with listed options' out"
	}
	return tooWide(words)
}

// tooWide says why no rule may allow whatever begins with these words.
func tooWide(words []string) string {
	if why := hazard(words); why != "" {
		return why
	}
	name := programName(words[0])
	switch {
	case subcommands[name] && len(words) == 1:
		return "what " + name + " does depends on the word after it: name that as well"
	case len(words) == 2 && slices.Contains(scripted[name], words[1]):
		return "what it runs depends on the word after it: name that as well"
	}
	return ""
}

// allowsLine holds for an exact rule and its very line.
func (r Rule) allowsLine(c Command) bool {
	return c.bare() && !r.pattern && r.Specifier == c.Line && r.Folder == folder(c.Cwd)
}

// coversParts says whether the whole line is plain and each part of it is allowed.
func coversParts(r Request, given []Rule) bool {
	if r.lineWhy() != "" {
		return false
	}
	return !slices.ContainsFunc(r.reading.parts, func(p part) bool { return r.partWhy(p, given) != "" })
}

// lineWhy says what about the line as a whole keeps patterns off it.
func (r Request) lineWhy() string {
	switch {
	case !r.Command.POSIX:
		return "rules with * need a POSIX shell to read the line"
	case len(r.Command.Env) > 0:
		return "it brings variables of its own"
	case r.Command.Stdin != "":
		return "it brings an input of its own"
	}
	return r.reading.problem
}

// partWhy says why a part needs a yes, "" when a rule allows it.
func (r Request) partWhy(p part, given []Rule) string {
	switch {
	case p.why != "":
		return p.why
	case len(p.words) == 0:
		return "it runs nothing, and redirects"
	}
	if why := r.Command.placesWhy(p); why != "" {
		return why
	}
	if slices.ContainsFunc(given, func(rule Rule) bool { return rule.allowsPart(*r.Command, p) }) || r.readsAllowed() && onlyReads(p) {
		return ""
	}
	return noRule
}

func (r Rule) allowsPart(c Command, p part) bool {
	words, ok := r.prefix()
	if !ok || r.Folder != folder(c.Cwd) || tooWide(words) != "" || len(p.words) < len(words) {
		return false
	}
	for i, text := range words {
		if p.words[i].text != text {
			return false
		}
	}
	return !r.Listed || onlyListed(words, p.words[len(words):])
}

// explain is what the dialog shows of a command.
func explain(r Request) ([]CommandPart, []string) {
	given, whole := r.given(), r.lineWhy()
	if slices.ContainsFunc(given, func(rule Rule) bool {
		return rule.Specifier == "" && rule.Folder == "" || rule.allowsLine(*r.Command)
	}) {
		given, whole = nil, ""
	}
	parts := make([]CommandPart, 0, len(r.reading.parts))
	special := false // some part has a reason of its own
	for _, p := range r.reading.parts {
		part := CommandPart{Argv: p.argv, Why: r.partWhy(p, given)}
		special = special || part.Why != "" && part.Why != noRule
		parts = append(parts, part)
	}
	for i := range parts {
		if !special && whole != "" {
			parts[i].Why = whole
		}
	}
	if len(parts) > maxParts {
		parts = append(parts[:maxParts-1], CommandPart{Argv: []string{"…"}, Why: "the line has more parts than can be shown"})
	}
	writes := []string{}
	for _, w := range r.reading.writes {
		if !slices.Contains(writes, w.shown) {
			writes = append(writes, w.shown)
		}
	}
	return parts, writes
}

// judgeCommand reads a deny or ask rule: it is about the call when it is about any
// part of the line, wherever that stands.
func (r Rule) judgeCommand(req Request) judgement {
	c := *req.Command
	switch {
	case r.Folder != "" && fold(r.Folder) != fold(folder(c.Cwd)):
		return differs
	case !r.pattern && strings.TrimSpace(r.Specifier) == strings.TrimSpace(c.Line), r.pattern && r.globMatches(strings.TrimSpace(c.Line)):
		return matches
	}
	out := differs
	if !c.POSIX || req.reading.unreadable || req.reading.steers {
		out = unclear
	}
	filled := req.reading.filled()
	for _, p := range req.reading.parts {
		switch judged := r.judgePart(p, req); {
		case judged == matches:
			return matches
		case judged == unclear, p.runsFile(filled):
			out = unclear
		}
	}
	return out
}

func (r Rule) judgePart(p part, req Request) judgement {
	p.isFed = p.isFed || req.Command.Stdin != "" || req.Tool == "run_persistent"
	for name, value := range req.Command.Env {
		p.sets = append(p.sets[:len(p.sets):len(p.sets)], assignment{name, value})
	}
	var texts []string
	literal := true
	for _, w := range p.words {
		texts, literal = append(texts, fold(w.text)), literal && w.literal
	}
	wanted, readable := r.restricted()
	switch {
	case !readable && !r.pattern:
		return differs // it is about its very line
	case !readable && r.globMatches(strings.Join(texts, " ")):
		return matches
	case !readable && !literal:
		return unclear
	case !readable:
		wanted = []string{""}
	}
	if len(texts) == 0 {
		texts = []string{""}
	}
	texts[0] = programName(texts[0])
	if sub, is := strings.CutPrefix(texts[0], "git-"); is && wanted[0] == "git" {
		texts = append([]string{"git", sub}, texts[1:]...)
	}
	isProgram := texts[0] == wanted[0] && len(p.words) > 0
	switch {
	case literal && isProgram && beginsWith(texts, wanted, r.pattern):
		return matches
	case p.setsUp(wanted[0]), len(p.words) > 0 && !p.words[0].literal:
		return unclear
	case isProgram && (!literal || p.mentions(wanted)), !isProgram && len(p.words) > 0 && p.mayRun(wanted[0]):
		return unclear
	}
	return differs
}

// globMatches reads a rule that restricts as a pattern for text.
func (r Rule) globMatches(text string) bool {
	return glob(strings.ReplaceAll(fold(r.Specifier), "*", "**")).MatchString(fold(text))
}

// mayRun says whether a part may run this program: it is named, or it can run others, and there is code, or no telling.
func (p part) mayRun(program string) bool {
	if p.runsNone() {
		return false
	}
	name := programName(p.words[0].text)
	_, hazardous := hazards[name]
	runs := hazardous || runsOther(p.words[0].text) != "" // else it may be a wrapper that is not known here
	if runs && (p.isFed || name == "xargs") && p.runsInput() {
		return true
	}
	operands := 0
	for i, w := range p.words[1:] {
		if runs && (!w.literal || strings.ContainsFunc(w.text, isCode)) || names(p.spelled(i+1), program) || name == "perl" && perlCode().MatchString(w.text) {
			return true
		}
		if !strings.HasPrefix(w.text, "-") && !descriptors().MatchString(w.text) {
			operands++
		}
	}
	return operands == 0 && runsOthers[name]
}

// runsInput says whether a part may take what it reads for code or for a program's name.
func (p part) runsInput() bool {
	texts := p.texts()
	switch name := programName(texts[0]); name {
	case "sed", "gsed":
		return sedRuns(texts)
	case "xargs":
		texts = slices.Clone(texts[1:])
		for len(texts) > 0 && harmlessXargs().MatchString(texts[0]) {
			texts = texts[1:]
		}
		return len(texts) == 0 || !readers[texts[0]] || hazards[texts[0]] != nil
	default:
		return runsOthers[name] || runsWords[name] || !changesShell[name] && hazard(texts) != ""
	}
}

// harmlessXargs does not make xargs put what it reads in the place of the program.
var harmlessXargs = pattern.New(`^(-[0rtx]+|-[LPn]?[0-9]*|[0-9]+)$`)

// descriptors are files that are what the line itself hands a program to read.
var descriptors = pattern.New(`^/+(dev/+(stdin|fd/+\d+)|proc/+.*/fd/+\d+)$`)

func (p part) texts() []string {
	var out []string
	for _, w := range p.words {
		out = append(out, w.text)
	}
	return out
}

// steering are the variables by which programs, and the shell, come to run others.
var steering = pattern.New(`^(PATH|HOME|XDG_CONFIG_HOME|ZDOTDIR|ENV|BASH_ENV|BASH_FUNC_.*|IFS|PS4|SHELL|SHELLOPTS|PROMPT_COMMAND|PAGER|EDITOR|VISUAL|BROWSER|` +
	`.*_(PAGER|EDITOR|ASKPASS|RSH)|MANPAGER|LESSOPEN|LESSCLOSE|MAKEFLAGS|TAR_OPTIONS|PERL5(OPT|DB|LIB)|RUBY(OPT|LIB)|PYTHON(PATH|STARTUP)|(LD|DYLD|GIT)_.*)$`)

// setters are the programs that set the variables which their words name.
var setters = set("env export readonly declare typeset local read printf getopts set setenv unset")

// setsUp says whether what a part sets may have it, or what follows, run this program: it is
// named, or the variable is one of those.
func (p part) setsUp(program string) bool {
	return slices.ContainsFunc(p.sets, func(a assignment) bool {
		value := strings.Join(pieces(a.value), " ")
		return len(p.words) > 0 && steering().MatchString(a.name) || program != "" && (strings.Contains(value, program) || names(a.value, program))
	}) || len(p.words) > 0 && setters[programName(p.words[0].text)] && slices.ContainsFunc(p.words[1:], func(w word) bool {
		name, _, _ := strings.Cut(w.text, "=")
		return steering().MatchString(name)
	})
}

// isCode finds what is hardly a part of a plain argument.
func isCode(c rune) bool {
	return c > '~' || c < '!' || strings.ContainsRune("\"'`$\\;&|<>(){}[]*?!#", c)
}

// restricted are the words of a rule that restricts, folded.
func (r Rule) restricted() ([]string, bool) {
	text := r.Specifier
	if r.pattern {
		var ends bool
		if text, ends = strings.CutSuffix(text, " *"); !ends {
			return nil, false
		}
	}
	parts, problem := readPlain(text)
	if problem != "" || len(parts) != 1 {
		return nil, false
	}
	out := make([]string, 0, len(parts[0].words))
	for _, w := range parts[0].words {
		out = append(out, fold(w))
	}
	out[0] = programName(out[0])
	return out, true
}

func beginsWith(texts, wanted []string, open bool) bool {
	return len(texts) >= len(wanted) && slices.Equal(texts[:len(wanted)], wanted) && (open || len(texts) == len(wanted))
}

// mentions says whether a part of the program that the words begin with may come to the other words as well: they
// are there, in order, with others between, as in git -C elsewhere push, or git runs what its words say.
func (p part) mentions(wanted []string) bool {
	texts, wanted := p.texts(), wanted[1:]
	isGit := programName(texts[0]) == "git"
	if isGit && len(wanted) > 0 && len(texts) > 1 {
		if fold(texts[1]) != wanted[0] && !strings.HasPrefix(wanted[0], "-") && p.runsNone() { // git commit -m "git push"
			return false
		}
		if gitHandsOver(texts) {
			return true
		}
	}
	for _, text := range texts[1:] {
		for _, piece := range pieces(text) {
			if isGit {
				piece = cmp.Or(samePlumbing[piece], strings.TrimPrefix(piece, "git-"))
			}
			if len(wanted) > 0 && (piece == wanted[0] || fold(text) == wanted[0]) {
				wanted = wanted[1:]
			}
		}
	}
	return len(wanted) == 0
}

// samePlumbing are commands of git that others run for what they do.
var samePlumbing = map[string]string{"send-pack": "push", "http-push": "push", "fetch-pack": "fetch"}
