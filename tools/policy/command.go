package policy

import (
	"math"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// CommandReading is what a command line says to a reader.
type CommandReading struct {
	line   string
	parts  []part
	writes []target
	// problem says what about the line keeps every pattern off it, "" when nothing
	// does; unreadable, that no reader can say what it runs.
	problem    string
	unreadable bool
	readsTwice bool // bash can read it, and not every shell reads the same
	steers     bool // it sets a variable by which the shell, or what it runs next, comes to run programs
	fedUntil   uint // where the part ends that has an input, as far as it has been read
}

// part is one simple command of a line, wherever it stands in it.
type part struct {
	argv   []string // the words as people read them
	words  []word
	redirs []redirection // with the target's text where it is literal
	sets   []assignment  // variables, for this command alone
	why    string        // what about it keeps every pattern off it
	isFed  bool          // it has an input: of a pipe, a file or the line itself
}

// assignment is a variable with its value as it is written.
type assignment struct{ name, value string }

// word is one word of a part; its text is only known when it is literal.
type word struct {
	text    string
	literal bool
}

// target is where a redirection writes.
type target struct {
	shown string
	word
}

// CommandPart is one simple command of a line, for the dialog.
type CommandPart struct {
	Argv []string // the words, as written where they are not plain
	Why  string   // why it asks; empty when a rule allows it
}

// ReadCommand takes a command line apart with a POSIX shell parser, and what is
// plain in it with a second reader. What bash reads in it besides, it adds; the line is
// unreadable then. It decides nothing.
func ReadCommand(line string) (r *CommandReading) {
	r = &CommandReading{line: line}
	simples, problem := readPlain(line)
	r.problem = problem
	if len(line) > maxParsed {
		return r.cannotRead(line)
	}
	// Agents choose the line. What the parser breaks on, it does not read.
	defer func() {
		if recover() != nil {
			r.cannotRead(line)
		}
	}()
	file, err := parse(line, syntax.LangPOSIX)
	if err != nil {
		return r.cannotRead(line).addBash(nil)
	}
	plain := r.addParts(file)
	if r.problem == "" && !(plain && r.agreesWith(simples)) {
		r.problem = "its readers do not agree on what it says"
	}
	r.unreadable = hasOddCharacters(line) || len(r.parts) > maxRead
	if r.problem != "" || slices.ContainsFunc(r.parts, func(p part) bool { return changesShell[p.words[0].text] }) {
		r.addBash(file)
	}
	return r
}

func parse(line string, variant syntax.LangVariant) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(variant), syntax.KeepComments(true)).Parse(strings.NewReader(line), "")
}

// addParts takes in what a parser found, and reports whether all of it is of the plain kind.
func (r *CommandReading) addParts(file *syntax.File) bool {
	plain, defines, first := true, false, len(r.parts)
	piped := map[*syntax.Stmt]bool{}
	r.fedUntil = 0
	syntax.Walk(file, func(node syntax.Node) bool {
		if len(r.parts)-first > maxRead {
			return false
		}
		switch n := node.(type) {
		case *syntax.Stmt:
			if piped[n] || takesInput(n) {
				r.fedUntil = max(r.fedUntil, n.End().Offset())
			}
			plain = r.addStatement(n) && plain
		case *syntax.BinaryCmd:
			piped[n.Y] = n.Op == syntax.Pipe || n.Op == syntax.PipeAll
		case *syntax.Comment:
			plain = false
		case *syntax.WordIter:
			r.steers = r.steers || n.Name != nil && steering().MatchString(n.Name.Value)
		case *syntax.FuncDecl:
			r.parts = append(r.parts, part{argv: []string{functionName(n)}, why: "it defines a function"})
			plain, defines = false, true
		}
		return true
	})
	if defines && r.fedUntil > 0 { // who calls what is not followed
		for i := range r.parts[first:] {
			r.parts[first+i].isFed = true
		}
	}
	return plain
}

func functionName(f *syntax.FuncDecl) string {
	if f.Name == nil {
		return "()"
	}
	return f.Name.Value + "()"
}

// maxParsed and maxRead bound the work on a line that no pattern would hold for.
const (
	maxParsed = 32 << 10
	maxRead   = 1000
)

func (r *CommandReading) cannotRead(line string) *CommandReading {
	if r.problem == "" {
		r.problem = "it cannot be read as a shell command"
	}
	r.unreadable = true
	r.parts = []part{{argv: []string{line}, why: "it cannot be read as a shell command"}}
	return r
}

// hasOddCharacters finds what one shell or parser may drop and another keep.
func hasOddCharacters(line string) bool {
	return strings.ContainsFunc(line, func(c rune) bool {
		return c < ' ' && c != '\n' && c != '\t' || c == 0x7f || dropIgnorable(c) < 0 && c > 0x7f
	})
}

// addStatement takes in a statement's own simple command, with what it redirects.
// It reports whether the statement is of the plain kind.
func (r *CommandReading) addStatement(s *syntax.Stmt) bool {
	plain := !s.Negated && !s.Background && !s.Coprocess && !s.Disown
	p := part{isFed: s.Pos().Offset() < r.fedUntil}
	if s.Background {
		p.why = "it is left running in the background"
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		r.addCall(&p, cmd)
	case *syntax.DeclClause:
		r.addDeclaration(&p, cmd)
	case *syntax.BinaryCmd:
		if cmd.Op != syntax.AndStmt && cmd.Op != syntax.OrStmt && cmd.Op != syntax.Pipe {
			plain = false
		}
		if len(s.Redirs) == 0 {
			return plain
		}
	case nil:
	default:
		plain = false
		if len(s.Redirs) == 0 {
			return false
		}
	}
	for _, redir := range s.Redirs {
		r.addRedirect(&p, redir)
	}
	if p.why == "" && len(p.words) > 0 {
		p.why = p.wordsWhy()
	}
	if p.isFed && len(p.words) > 0 && changesShell[p.words[0].text] && takesInput(s) {
		r.fedUntil = math.MaxUint // exec < x
	}
	r.parts = append(r.parts, p)
	return plain
}

func (r *CommandReading) addCall(p *part, call *syntax.CallExpr) {
	for _, a := range call.Assigns {
		p.argv = append(p.argv, r.written(a))
		if a.Name != nil && p.why == "" {
			p.why = "it sets " + a.Name.Value
		}
		if a.Name != nil {
			_, value, _ := strings.Cut(r.written(a), "=")
			p.sets = append(p.sets, assignment{a.Name.Value, value})
			r.steers = r.steers || len(call.Args) == 0 && steering().MatchString(a.Name.Value)
		}
	}
	for _, arg := range call.Args {
		w := literal(arg)
		p.words = append(p.words, w)
		if w.literal && isBareWord(arg) {
			p.argv = append(p.argv, w.text)
		} else {
			p.argv = append(p.argv, r.written(arg))
		}
	}
}

func (r *CommandReading) addRedirect(p *part, redir *syntax.Redirect) {
	out := redirection{op: redir.Op.String()}
	if redir.N != nil {
		out.fd = redir.N.Value
	}
	if redir.Word == nil {
		p.redirs = append(p.redirs, out)
		return
	}
	w := literal(redir.Word)
	out.target = w.text
	p.redirs = append(p.redirs, out)
	switch {
	case redir.Hdoc != nil:
		p.why = "it has a text for its input"
	case !w.literal:
		p.why = "where it redirects to is only known when it runs"
	}
	// bash and its kin take >&word for a file.
	toFile := out.writes() || out.op == ">&" && (!w.literal || !isNumber(w.text) && w.text != "-")
	if toFile && !(w.literal && isNoFile(w.text)) {
		r.writes = append(r.writes, target{r.written(redir.Word), w})
	}
}

// takesInput says whether a statement redirects what it reads.
func takesInput(s *syntax.Stmt) bool {
	return slices.ContainsFunc(s.Redirs, func(redir *syntax.Redirect) bool {
		return strings.HasPrefix(redir.Op.String(), "<") && !(redir.Word != nil && (redir.Word.Lit() == "/dev/null" || redir.Word.Lit() == "-"))
	})
}

// isNoFile knows the names that stand for a stream, or for nothing.
func isNoFile(name string) bool {
	return name == "/dev/null" || name == "/dev/stdout" || name == "/dev/stderr"
}

// wordsWhy says what about a part's words keeps every pattern off it.
func (p *part) wordsWhy() string {
	if !p.words[0].literal {
		return "which program it runs is only known then"
	}
	if why := runsOther(p.words[0].text); why != "" {
		return why
	}
	texts := make([]string, 0, len(p.words))
	for i, w := range p.words {
		if !w.literal {
			return "its words are made when it runs: " + p.argv[len(p.argv)-len(p.words)+i]
		}
		texts = append(texts, w.text)
	}
	return hazard(texts)
}

// agreesWith holds the two readings of one line against each other.
func (r *CommandReading) agreesWith(simples []simple) bool {
	return slices.EqualFunc(r.parts, simples, func(p part, s simple) bool {
		return slices.EqualFunc(p.words, s.words, func(w word, text string) bool { return w.literal && w.text == text }) &&
			slices.Equal(p.redirs, s.redirs)
	})
}

// literal is the text of a word that nothing is done to.
func literal(w *syntax.Word) word {
	var out strings.Builder
	for _, wordPart := range w.Parts {
		switch part := wordPart.(type) {
		case *syntax.Lit:
			for i := range len(part.Value) {
				if !isLiteral(part.Value[i], out.String()) {
					return word{}
				}
				out.WriteByte(part.Value[i])
			}
		case *syntax.SglQuoted:
			if part.Dollar {
				return word{}
			}
			out.WriteString(part.Value)
		case *syntax.DblQuoted:
			text, ok := quotedText(part)
			if !ok {
				return word{}
			}
			out.WriteString(text)
		default:
			return word{}
		}
	}
	return word{out.String(), true}
}

func quotedText(q *syntax.DblQuoted) (string, bool) {
	var out strings.Builder
	for _, wordPart := range q.Parts {
		lit, ok := wordPart.(*syntax.Lit)
		if !ok || strings.Contains(lit.Value, `\`) {
			return "", false
		}
		out.WriteString(lit.Value)
	}
	return out.String(), !q.Dollar
}

func isBareWord(w *syntax.Word) bool { return w.Lit() != "" }

// written is a node as it stands in the line.
func (r *CommandReading) written(node syntax.Node) string {
	from, to := node.Pos().Offset(), node.End().Offset()
	if from > to || to > uint(len(r.line)) {
		return "…" // in backquotes within backquotes
	}
	return r.line[from:to]
}
