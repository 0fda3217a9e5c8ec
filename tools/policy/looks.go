package policy

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"pillion/internal/pattern"
)

// Looks is a command line in which every part is a program that is known to read. It may run in
// the box without a question; see Command.LooksOnly.
//
// It is read more freely than a line that a rule allows: what the shell makes of a word is known
// here for names of files, for the variables of loops and for the folder that the line went to. That
// is no wall: the box is, in which nothing can be written and secrets are hidden. What is read here
// only decides whether the user is asked.
type Looks struct {
	parts   []look
	folders []string // that it goes to
}

// look is one simple command.
type look struct {
	words  []lookWord
	inputs []lookWord            // files that are redirected into it
	folder string                // that the line went to, from its own one; "" is its own
	loops  map[string][]lookWord // what a loop's variable stands for
	piped  bool                  // its input is what another part prints
	// besideGit: git runs in the line, which tells where a repository keeps the contents of secrets.
	besideGit bool
}

// lookWord is a word, in pieces.
type lookWord []wordPiece

type wordPiece struct {
	text     string // itself; of a pattern the characters that mean something; of a variable its name
	kind     pieceKind
	isQuoted bool
}

type pieceKind int

const (
	plainText pieceKind = iota
	patternText
	loopVariable
)

// Pattern is a pattern for names of files, from the line's own folder.
type Pattern struct{ Folder, Text string }

// ReadLooks takes a line apart, and reports false where it is of another kind. Which programs it
// runs it does not look at.
func ReadLooks(line string) (l *Looks, ok bool) {
	if len(line) > maxPlain || hasOddCharacters(line) || strings.Contains(line, "((") || !strings.Contains(line, "\n") && strings.TrimSpace(line) == "" {
		return nil, false
	}
	defer func() {
		if recover() != nil { // as in ReadCommand
			l, ok = nil, false
		}
	}()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, false
	}
	r := looksReader{}
	r.list(file.Stmts, &place{})
	return &Looks{r.parts, r.folders}, !r.failed && len(r.parts) > 0 && len(r.parts) <= maxParts
}

type looksReader struct {
	parts   []look
	folders []string
	failed  bool
}

// place is where a command of the line runs.
type place struct {
	folder string
	loops  map[string][]lookWord
	piped  bool
	inside bool // of something after which the folder would not be known
	unsure bool // it is not known, but behind &&
}

func (r *looksReader) list(statements []*syntax.Stmt, at *place) {
	for _, s := range statements {
		r.failed = r.failed || at.unsure
		r.statement(s, at)
	}
}

func (r *looksReader) statement(s *syntax.Stmt, at *place) {
	if s.Background || s.Coprocess || s.Disown || s.Negated {
		r.failed = true
		return
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		r.call(cmd, s.Redirs, at)
		return
	case *syntax.BinaryCmd:
		r.both(cmd, at)
	case *syntax.Subshell:
		apart := *at
		r.list(cmd.Stmts, &apart)
	case *syntax.Block:
		r.list(cmd.Stmts, at)
	case *syntax.IfClause:
		r.within(at, func(inner *place) {
			for branch := cmd; branch != nil; branch = branch.Else {
				r.list(branch.Cond, inner)
				r.list(branch.Then, inner)
			}
		})
	case *syntax.ForClause:
		r.loop(cmd, at)
	default:
		r.failed = true
	}
	r.failed = len(r.inputs(s.Redirs)) > 0 || r.failed
}

func (r *looksReader) both(cmd *syntax.BinaryCmd, at *place) {
	switch cmd.Op {
	case syntax.AndStmt:
		r.statement(cmd.X, at)
		before := at.folder
		r.statement(cmd.Y, at)
		at.unsure = at.unsure || at.folder != before
	case syntax.OrStmt:
		r.within(at, func(inner *place) {
			r.statement(cmd.X, inner)
			r.statement(cmd.Y, inner)
		})
	case syntax.Pipe:
		left, right := *at, *at
		right.piped = true
		r.statement(cmd.X, &left)
		r.statement(cmd.Y, &right)
	default:
		r.failed = true
	}
}

// within reads what the shell may leave out, or do again.
func (r *looksReader) within(at *place, read func(inner *place)) {
	inner := *at
	inner.inside = true
	read(&inner)
}

func (r *looksReader) loop(cmd *syntax.ForClause, at *place) {
	words, ok := cmd.Loop.(*syntax.WordIter)
	if !ok || cmd.Select || words.Name == nil || !words.InPos.IsValid() || !loopName().MatchString(words.Name.Value) || at.loops[words.Name.Value] != nil {
		r.failed = true // what the inner one of two loops leaves in its variable, the outer one goes on with
		return
	}
	values := r.wordsOf(words.Items)
	r.failed = r.failed || slices.ContainsFunc(values, func(w lookWord) bool { return strings.ContainsAny(w.text(), "$`") })
	r.within(at, func(inner *place) {
		inner.loops = map[string][]lookWord{words.Name.Value: values}
		maps.Copy(inner.loops, at.loops)
		r.list(cmd.Do, inner)
	})
}

// loopName is a name that means nothing to a shell or to a program that gets it.
var loopName = pattern.New(`^[a-z]+[0-9]*$`)

func (r *looksReader) call(cmd *syntax.CallExpr, redirs []*syntax.Redirect, at *place) {
	if len(cmd.Assigns) > 0 || len(cmd.Args) == 0 || !isBareWord(cmd.Args[0]) || strings.Contains(cmd.Args[0].Lit(), `\`) {
		r.failed = true // what names a program with quotes or a backslash CommandReading.Programs leaves out
		return
	}
	part := look{words: r.wordsOf(cmd.Args), inputs: r.inputs(redirs), folder: at.folder, loops: at.loops, piped: at.piped}
	r.parts = append(r.parts, part)
	if name, isPlain := part.words[0].plain(); isPlain && name == "cd" {
		to, isPlain := part.words[len(part.words)-1].plain()
		if len(part.words) != 2 || len(redirs) > 0 || !isPlain || to == "" || strings.HasPrefix(to, "-") || slices.Contains(strings.Split(to, "/"), "..") || at.inside {
			r.failed = true // of .. behind a link the shell thinks otherwise than its programs
			return
		}
		at.folder = from(at.folder, to)
		r.folders = append(r.folders, at.folder)
	}
}

// from is a name as the line's own folder has it.
func from(folder, name string) string {
	if folder == "" || path.IsAbs(name) {
		return name
	}
	return folder + "/" + name // not cleaned: what leads up may be a link
}

// inputs are the files that are read by redirections. Nothing is to be written.
func (r *looksReader) inputs(redirs []*syntax.Redirect) (out []lookWord) {
	for _, redir := range redirs {
		word := r.word(redir.Word)
		text, isPlain := word.plain()
		switch redir.Op {
		case syntax.RdrOut, syntax.AppOut:
			r.failed = r.failed || !isPlain || text != "/dev/null"
		case syntax.DplOut:
			r.failed = r.failed || !isPlain || text != "1" && text != "2"
		case syntax.RdrIn:
			out = append(out, word)
		default:
			r.failed = true
		}
	}
	return out
}

func (r *looksReader) wordsOf(words []*syntax.Word) []lookWord {
	out := make([]lookWord, 0, len(words))
	for _, w := range words {
		out = append(out, r.word(w))
	}
	return out
}

func (r *looksReader) word(w *syntax.Word) lookWord {
	var out lookWord
	if w == nil {
		r.failed = true
		return nil
	}
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			out = append(out, r.unquoted(part.Value, i == 0)...)
		case *syntax.SglQuoted:
			r.failed = r.failed || part.Dollar
			out = append(out, wordPiece{part.Value, plainText, true})
		case *syntax.DblQuoted:
			r.failed = r.failed || part.Dollar
			out = append(out, wordPiece{"", plainText, true}) // it may be empty
			out = append(out, r.quoted(part.Parts)...)
		case *syntax.ParamExp:
			out = append(out, r.variable(part, false))
		default:
			r.failed = true
		}
	}
	return out
}

// quoted is what is in double quotes.
func (r *looksReader) quoted(parts []syntax.WordPart) (out lookWord) {
	for len(parts) > 0 {
		var text strings.Builder // the parser may end a text at a $
		for len(parts) > 0 {
			lit, is := parts[0].(*syntax.Lit)
			if !is {
				break
			}
			text.WriteString(lit.Value)
			parts = parts[1:]
		}
		r.failed = r.failed || dollars().MatchString(text.String())
		out = append(out, wordPiece{unescape(text.String()), plainText, true})
		if len(parts) == 0 {
			break
		}
		variable, is := parts[0].(*syntax.ParamExp)
		if parts = parts[1:]; !is {
			r.failed = true
			return nil
		}
		out = append(out, r.variable(variable, true))
	}
	return out
}

func (r *looksReader) variable(p *syntax.ParamExp, quoted bool) wordPiece {
	if p.Param == nil || p.Excl || p.Length || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Exp != nil || p.Names != 0 {
		r.failed = true
		return wordPiece{}
	}
	return wordPiece{p.Param.Value, loopVariable, quoted}
}

// dollars finds what another shell than this reader's expands in double quotes: of a pattern only the
// end is left.
var dollars = pattern.New(`(^|[^\\])(\\\\)*\$[^\s|/)]`)

// unescape is a text in double quotes as the shell has it.
func unescape(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			if text[i+1] == '\n' {
				i++
				continue
			}
			if strings.IndexByte("$`\"\\", text[i+1]) >= 0 {
				i++
			}
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

// unquoted takes in text outside of quotes. Some shells make several words of braces.
func (r *looksReader) unquoted(text string, begins bool) (out lookWord) {
	if begins && (text == "[" || text == "]") {
		return lookWord{{text, plainText, false}} // a pattern of one such character matches nothing
	}
	var plain strings.Builder
	flush := func() {
		if plain.Len() > 0 {
			out = append(out, wordPiece{plain.String(), plainText, false})
			plain.Reset()
		}
	}
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '\\' && i+1 < len(text):
			if i++; text[i] != '\n' {
				plain.WriteByte(text[i])
			}
		case b == '$', b == '[', b == '{' && text != "{}", b == '~' && (i == 0 && begins || i > 0 && strings.IndexByte("=:", text[i-1]) >= 0):
			r.failed = true
		case b == '*' || b == '?':
			flush()
			out = append(out, wordPiece{string(b), patternText, false})
		default:
			plain.WriteByte(b)
		}
	}
	flush()
	return out
}

// plain is the text of a word that is nothing else.
func (w lookWord) plain() (string, bool) {
	var out strings.Builder
	for _, p := range w {
		if p.kind != plainText {
			return "", false
		}
		out.WriteString(p.text)
	}
	return out.String(), true
}

// expanded is what the shell may make of a word: of a pattern several words, of a variable one of
// several.
type expanded struct {
	texts []string
	made  bool
}

func (e expanded) plain() (string, bool) { return e.texts[0], !e.made && len(e.texts) == 1 }

// unsplit is what stays one word.
var unsplit = pattern.New(`^[\w./%+,:@=-]+$`)

// mostTexts is what one word may become.
const mostTexts = 1000

// expand gives the texts of a word, with the names that match its patterns. It reports false where they
// are not known.
func (l look) expand(w lookWord, matches map[Pattern][]string) (expanded, bool) {
	if text, isPlain := w.plain(); isPlain {
		return expanded{texts: []string{text}}, true
	}
	var out []string
	for _, v := range l.variants(w) {
		for _, p := range v {
			if p.kind == loopVariable {
				return expanded{}, false // none that is known
			}
		}
		pattern, is := v.pattern()
		names, known := matches[Pattern{l.folder, pattern}]
		switch {
		case is && !known:
			return expanded{}, false
		case len(names) > 0:
			out = append(out, names...)
		default:
			out = append(out, v.text())
		}
	}
	// Without quotes the shell takes apart what a variable has, once more; some read more in it than others.
	again := slices.ContainsFunc(w, func(p wordPiece) bool { return p.kind == loopVariable && !p.isQuoted }) &&
		slices.ContainsFunc(out, func(text string) bool { return !unsplit().MatchString(text) })
	return expanded{out, true}, !again && len(out) > 0 && len(out) <= mostTexts
}

// variants are the word with the values of variables in place of their names.
func (l look) variants(w lookWord) []lookWord {
	out := []lookWord{nil}
	for _, piece := range w {
		values := []lookWord{{piece}}
		if words, known := l.loops[piece.text]; piece.kind == loopVariable && known {
			outer := l
			outer.loops = maps.Clone(l.loops)
			delete(outer.loops, piece.text)
			values = nil
			for _, value := range words {
				values = append(values, outer.variants(value)...)
			}
		}
		var next []lookWord
		for _, before := range out {
			for _, value := range values {
				next = append(next, append(slices.Clone(before), value...))
			}
		}
		if out = next; len(out) > mostTexts {
			return nil
		}
	}
	return out
}

func (w lookWord) text() string {
	var out strings.Builder
	for _, p := range w {
		out.WriteString(p.text)
	}
	return out.String()
}

// pattern is a word as path.Match reads it, which knows fewer brackets than shells: of these there are none.
func (w lookWord) pattern() (text string, is bool) {
	for _, p := range w {
		if p.kind == patternText {
			text, is = text+p.text, true
		} else {
			text += meansPattern.Replace(p.text)
		}
	}
	return text, is
}

var meansPattern = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// Patterns are those whose names of files the workspace is to find.
func (l *Looks) Patterns() []Pattern {
	var out []Pattern
	for _, p := range l.parts {
		for _, w := range slices.Concat(p.words, p.inputs) {
			for _, v := range p.variants(w) {
				if text, is := v.pattern(); is {
					out = append(out, Pattern{p.folder, text})
				}
			}
		}
	}
	return out
}

// Names lists each text of the line that could name a file, as its own folder has it; see
// CommandReading.Words.
func (l *Looks) Names(matches map[Pattern][]string) []string {
	var out []string
	for _, p := range l.parts {
		for _, w := range slices.Concat(p.words, p.inputs) {
			e, _ := p.expand(w, matches)
			for _, text := range e.texts {
				for _, name := range pathsIn(text) {
					out = append(out, from(p.folder, name))
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
