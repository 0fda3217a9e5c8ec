package policy

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/internal/pattern"
)

// Command is what an exec tool would run.
type Command struct {
	Line string
	Cwd  string // as tools print paths; "" and "." are the workspace root
	// Env and Stdin change what a line does, so no grant holds when one is given.
	Env   map[string]string
	Stdin string
	// POSIX says that a shell of that kind reads the line. Of what another one
	// makes of it nothing is known here, so only exact rules hold.
	POSIX bool
	// Words is what the workspace knows of the line's words; see
	// CommandReading.Words. Of one that is missing the name alone is judged.
	Words map[string]WordFact
	// Matches are the names of files that a pattern of the line stands for; see Looks.Patterns.
	Matches map[Pattern][]string
	// Hosts are what it is to reach, with the port unless it is a usual one; see Everything.
	Hosts []string
}

// WordFact is where a word of a command leads, if it is taken for a path.
type WordFact struct {
	PathFact
	// Outside: of every workspace folder. Of PathFact then hold Path, which is absolute, Guarded and
	// Executable; else all of it.
	Outside   bool
	Temporary bool // it lies in a folder for temporary files, outside
	IsFolder  bool // inside
	// Planted says that a program of this name lies in the workspace, where the
	// search for programs would find it.
	Planted bool
}

// bare says that the line alone decides what the command does.
func (c Command) bare() bool { return len(c.Env) == 0 && c.Stdin == "" }

// fact is what is known of a word, from its name alone if need be.
func (c Command) fact(name string) WordFact {
	if f, known := c.Words[name]; known {
		return f
	}
	outside, at := path.IsAbs(name) || slices.Contains(strings.Split(name, "/"), ".."), path.Join(folder(c.Cwd), name)
	if path.IsAbs(name) {
		at = path.Clean(name)
	}
	return WordFact{PathFact: PathFact{Path: at}, Outside: outside}
}

// protected says why a write to where the word leads needs a user, "" if it does
// not: because of what it leads to, or of its own name.
func (f WordFact) protected(name string) string {
	if f.Outside && f.Guarded != "" {
		return fault.Quote(name) + " " + f.Guarded
	}
	if !f.Outside {
		if reason := f.PathFact.protected(); reason != "" {
			return reason
		}
	}
	reason, _ := Protected(name)
	if reason == "" && f.Outside && path.IsAbs(f.Path) {
		reason, _ = Protected(f.Path)
	}
	if reason == "" && Secret(name) {
		return secretReason(name)
	}
	return reason
}

// isSystem finds, by its name without links, what belongs to the system: its programs run it or obey it.
var isSystem = pattern.New(`^/(etc|usr|bin|sbin|lib[^/]*|opt|boot|sys|proc/sys|run/systemd|var/spool|var/lib/(dpkg|rpm|systemd)|nix|snap|Library|System|Applications|private/etc|private/var/at)(/|$)`)

// program says why a write outside of the workspace to where the word leads may change what is run, ""
// if it does not.
func (f WordFact) program(name string, redirected bool) string {
	switch {
	case !f.Outside:
		return ""
	case redirected && f.Executable:
		return fault.Quote(name) + " is a program: it has the executable bit"
	case isSystem().MatchString(f.Path):
		return fault.Quote(name) + " belongs to the system, whose programs run it or obey it"
	}
	return ""
}

// plainMode is a mode of chmod that makes no program of a file.
var plainMode = pattern.New(`^([ugoa]*[-=+][rwst]*|[ugoa]*-[rwxXst]+|[0-7]?[0246]{3})$`)

// makesPrograms lists the words of a part that it may make programs of.
func (p part) makesPrograms() []word {
	if programName(p.words[0].text) != "chmod" || len(p.words) < 3 || slices.ContainsFunc(p.words[1:], func(w word) bool { return w.literal && plainMode().MatchString(w.text) }) {
		return nil
	}
	return p.words[1:]
}

// Words lists each literal text of the line that could name a file, so that the
// workspace can say where it leads.
func (r *CommandReading) Words() []string {
	var out []string
	for _, p := range r.parts {
		for _, w := range p.words {
			out = append(out, pathsIn(w.text)...)
		}
		for _, redir := range p.redirs {
			if redir.target != "" && !redir.copies() {
				out = append(out, redir.target)
			}
		}
	}
	out = append(out, r.mayChange()...)
	if r.unreadable {
		out = append(out, r.namesInLine()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Programs lists the names that the shell searches for in PATH.
func (r *CommandReading) Programs() []string {
	var out []string
	for _, p := range r.parts {
		if len(p.words) > 0 && p.words[0].literal && !strings.Contains(p.words[0].text, "/") {
			out = append(out, p.words[0].text)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Scripts lists the names on the line whose content decides what it does: each
// program with a slash in its name, and whatever is named where another program or
// a shell could run it. Which of them are files, the workspace knows.
func (r *CommandReading) Scripts() []string {
	var out []string
	if r.unreadable { // by this reader: another shell may know what it says
		out = namesIn(r.line, maxNamesInLine)
	}
	all := r.unreadable
	for _, p := range r.parts {
		switch {
		case len(p.words) == 0:
		case !p.words[0].literal || runsOther(p.words[0].text) != "":
			all = true
		case strings.Contains(p.words[0].text, "/"):
			out = append(out, p.words[0].text)
		}
		if len(p.words) > 0 {
			out = append(out, recipes[programName(p.words[0].text)]...)
		}
	}
	if all {
		out = append(out, r.Words()...)
		for _, p := range r.parts {
			out = append(out, namesInCode(p)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// How many names are looked up for one word that is code, and for a whole line that
// cannot be read.
const (
	maxNamesInCode = 50
	maxNamesInLine = 200
)

// namesInCode are the names that stand in words that may be lines of code: sh -c
// "sh build.sh".
func namesInCode(p part) []string {
	var out []string
	for _, w := range p.words {
		if w.literal && strings.ContainsFunc(w.text, isCode) {
			out = append(out, namesIn(w.text, maxNamesInCode)...)
		}
	}
	return out
}

// namesInLine are the names that stand anywhere in the line, but the program head, which would be
// the name of a repository's file.
func (r *CommandReading) namesInLine() (out []string) {
	names := strings.FieldsFunc(r.line, isCode)
	for _, name := range names[:min(len(names), maxNamesInLine)] {
		out = append(out, pathsIn(name)...)
	}
	return slices.DeleteFunc(out, func(name string) bool { return fold(name) == "head" || fold(name) == "." })
}

func namesIn(code string, most int) []string {
	names := slices.DeleteFunc(strings.FieldsFunc(code, isCode), func(name string) bool { return strings.HasPrefix(name, "-") || len(name) > 4096 })
	return names[:min(len(names), most)]
}

// Folders are the folders that the line says that it goes to, in order.
func (r *CommandReading) Folders() []string {
	var out []string
	for _, p := range r.parts {
		if len(p.words) < 2 || !p.words[0].literal || !goes(p.words[0].text) {
			continue
		}
		if last := p.words[len(p.words)-1]; last.literal && last.text != "-" {
			out = append(out, last.text)
		}
	}
	return out
}

// onlyLooks says that of the line's own parts none changes a file.
func (r *CommandReading) onlyLooks() bool {
	return len(r.writes) == 0 && !slices.ContainsFunc(r.parts, func(p part) bool {
		return len(p.words) > 0 && p.argv[0] != "[[" && !(p.words[0].literal && (goes(p.words[0].text) || looks(p)))
	})
}

func looks(p part) bool {
	name := programName(p.words[0].text)
	return readers[name] && readsOnly(name, p.texts())
}

func goes(program string) bool { return program == "cd" || program == "pushd" || program == "chdir" }

// recipes are the files in the folder of a command that say what a program runs.
var recipes = map[string][]string{
	"make":  {"GNUmakefile", "makefile", "Makefile"},
	"gmake": {"GNUmakefile", "makefile", "Makefile"},
	"npm":   {"package.json"}, "pnpm": {"package.json"}, "yarn": {"package.json"}, "npx": {"package.json"}, "bun": {"package.json"},
	"just": {"justfile", "Justfile", ".justfile"},
	"rake": {"Rakefile", "rakefile"},
	"task": {"Taskfile.yml", "Taskfile.yaml"},
}

// pathsIn lists what a word may hold of paths: itself, an option's value, what
// stands after a colon.
func pathsIn(text string) []string {
	var out []string
	add := func(s string) {
		if s != "" && s != "-" && len(s) <= 4096 {
			out = append(out, s)
		}
	}
	if !strings.HasPrefix(text, "-") {
		add(text)
	} else if len(text) > 2 && text[1] != '-' {
		add(text[2:])
	}
	if _, value, has := strings.Cut(text, "="); has {
		add(value)
	}
	if strings.Contains(text, "://") {
		return out
	}
	for _, piece := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(":,=@", c) }) {
		if piece != text { // git show HEAD:.env
			add(piece)
		}
	}
	return out
}

func (f WordFact) secret(name string) bool {
	return Secret(name) || f.isSecret()
}

// placesWhy says what about the places that a literal command names keeps patterns
// off it, "" if nothing does.
func (c Command) placesWhy(p part) string {
	program := p.words[0].text
	if !strings.Contains(program, "/") && c.fact(program).Planted {
		return program + " would be a program of this workspace, which PATH leads to"
	}
	for _, redir := range p.redirs {
		if why := c.redirectionWhy(redir); why != "" {
			return why
		}
	}
	reads := readers[programName(program)]
	for _, w := range p.words {
		for _, name := range pathsIn(w.text) {
			if isGit := programName(program) == "git"; isGit && (name == "HEAD" || strings.HasPrefix(name, "HEAD:") && len(pathsIn(name)) > 1) {
				continue // a commit, and not the file that makes a repository
			}
			if why := c.placeWhy(name, reads); why != "" {
				return why
			}
		}
	}
	return ""
}

func (c Command) redirectionWhy(redir redirection) string {
	switch fact := c.fact(redir.target); {
	case redir.copies(), redir.target == "/dev/null":
		return ""
	case redir.writes():
		return "it writes to " + fault.Quote(redir.target)
	case fact.Outside:
		return "it reads " + fault.Quote(redir.target) + ", which is outside the workspace"
	case fact.secret(redir.target):
		return secretReason(redir.target)
	}
	return ""
}

func (c Command) placeWhy(name string, reads bool) string {
	if name == "" || isNoFile(name) {
		return ""
	}
	fact := c.fact(name)
	protected := fact.protected(name)
	switch {
	case fact.Outside:
		return "it names " + fault.Quote(name) + ", which is outside the workspace"
	case fact.secret(name):
		return secretReason(name)
	case protected != "" && !reads && !fact.Executable:
		return protected
	}
	return ""
}

// writeReasons list what a line writes, as it says itself, that needs a user
// whatever was allowed: protected paths in every mode, and places outside the
// workspace unless the mode leaves commands alone.
func writeReasons(r Request) []string {
	if r.Command == nil || r.looks || r.InDraft && r.layered() { // on a draft what is protected is as the rest, or cannot be written
		return nil
	}
	var out []string
	add := func(name string, redirected bool) {
		fact := r.Command.fact(name)
		fact.Executable = fact.Executable && redirected
		if reason := cmp.Or(fact.protected(name), fact.program(name, redirected)); reason != "" {
			out = append(out, "it writes to a protected file: "+reason)
		} else if redirected && fact.Outside && r.Mode != FullAccess {
			out = append(out, "it writes to "+fault.Quote(name)+", which is outside the workspace")
		}
	}
	for _, w := range r.reading.writes {
		if w.literal {
			add(w.text, true)
		}
	}
	for _, name := range append(r.reading.Folders(), ".") {
		if reason := r.Command.fact(name).protected(name); reason != "" && !r.reading.onlyLooks() {
			out = append(out, "it writes to, or runs something in, a protected folder: "+reason)
		}
	}
	if r.reading.unreadable && !(r.reading.readsTwice && r.reading.onlyLooks()) {
		for _, name := range r.reading.namesInLine() {
			if reason := r.Command.fact(name).protected(name); reason != "" {
				out = append(out, "it may write to a protected file, since not every shell reads the same in this line: "+reason)
			}
		}
	}
	written := map[string]bool{}
	for _, p := range r.reading.parts {
		if p.words = unwrapped(p.words); len(p.words) == 0 || !p.words[0].literal || !changes(p.words) {
			continue
		}
		for _, w := range p.words[1:] {
			for _, name := range pathsIn(w.text) {
				written[name] = true
				add(name, false)
			}
		}
		for _, w := range p.makesPrograms() {
			if fact := r.Command.fact(w.text); w.literal && path.IsAbs(fact.Path) && fact.Outside && !fact.Temporary {
				out = append(out, "it makes "+fault.Quote(w.text)+" executable, which is outside the workspace")
			}
		}
	}
	for _, name := range r.reading.mayChange() {
		if reason := r.Command.fact(name).effect(name); reason != "" && !written[name] {
			out = append(out, "it may change a protected file: "+reason)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
