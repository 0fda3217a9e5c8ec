package policy

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// onlyBash is why a part is in the dialog that bash alone may read in a line.
const onlyBash = "bash reads this in the line, and other shells something else"

// addBash reads the line as bash does, which may be /bin/sh. Where that is not what file says, or
// there is what POSIX does not know, the line is unreadable, and what bash would run is added.
func (r *CommandReading) addBash(file *syntax.File) *CommandReading {
	bash, err := parse(r.line, syntax.LangBash)
	if err != nil {
		r.unreadable = true
		return r
	}
	same := file != nil && slices.Equal(tokens(file), tokens(bash))
	if same && !hasBash(bash) {
		return r
	}
	r.unreadable, r.readsTwice = true, true
	if same {
		return r
	}
	r.problem = "bash reads it otherwise than other shells"
	first := len(r.parts)
	r.addParts(bash)
	for i := range r.parts[first:] {
		r.parts[first+i].why = cmp.Or(r.parts[first+i].why, onlyBash)
	}
	return r
}

// token is where a word or redirection stands, or a program's name.
type token struct {
	from, to  uint
	isProgram bool
}

// tokens are those of a line, by which two readings of it can be compared.
func tokens(file *syntax.File) (out []token) {
	add := func(node syntax.Node) { out = append(out, token{node.Pos().Offset(), node.End().Offset(), false}) }
	timed := false // the next program is a word behind time
	program := func(node syntax.Node) {
		if !timed {
			out = append(out, token{node.Pos().Offset(), node.Pos().Offset(), true})
		}
		timed = false
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CallExpr:
			for _, a := range n.Assigns {
				add(a)
			}
			args := n.Args
			if len(args) > 0 {
				program(args[0])
			}
			if len(args) > 1 && args[0].Lit() == "time" && args[1].Lit() == "-p" {
				add(args[0])
				args = args[2:]
			}
			for _, w := range args {
				add(w)
			}
		case *syntax.DeclClause:
			program(n.Variant)
			add(n.Variant)
			for _, a := range n.Args {
				add(a)
			}
		case *syntax.TimeClause:
			from := n.Time.Offset()
			out = append(out, token{from, from, true}, token{from, from + uint(len("time")), false})
			timed = n.Stmt != nil
		case *syntax.Redirect:
			add(n)
		}
		return true
	})
	return out
}

// hasBash says whether there is in a line what only some shells know.
func hasBash(file *syntax.File) bool {
	found := false
	syntax.Walk(file, func(node syntax.Node) bool {
		found = found || isBash(node)
		return !found
	})
	return found
}

func isBash(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.ArithmCmd, *syntax.TestClause, *syntax.CoprocClause, *syntax.LetClause, *syntax.ProcSubst, *syntax.ExtGlob, *syntax.ArrayExpr, *syntax.CStyleLoop:
		return true
	case *syntax.SglQuoted:
		return n.Dollar
	case *syntax.DblQuoted:
		return n.Dollar
	case *syntax.ArithmExp:
		return n.Bracket
	case *syntax.ForClause:
		return n.Select || n.Braces
	case *syntax.WordIter:
		return slices.ContainsFunc(n.Items, hasBraces)
	case *syntax.FuncDecl:
		return n.RsrvWord
	case *syntax.BinaryCmd:
		return n.Op == syntax.PipeAll
	case *syntax.CallExpr:
		return slices.ContainsFunc(n.Args, hasBraces)
	case *syntax.Assign:
		return n.Append || n.Index != nil
	case *syntax.CaseItem:
		return n.Op != syntax.Break
	case *syntax.CmdSubst:
		return n.TempFile || n.ReplyVar
	case *syntax.Redirect:
		return n.Op == syntax.RdrAll || n.Op == syntax.AppAll || n.Op == syntax.WordHdoc || n.N != nil && strings.HasPrefix(n.N.Value, "{") || n.Word != nil && hasBraces(n.Word)
	}
	return false
}

// hasBraces finds a{b,c} and a{1..3}, which bash makes several words of.
func hasBraces(w *syntax.Word) bool {
	split := &syntax.Word{Parts: w.Parts}
	syntax.SplitBraces(split)
	return slices.ContainsFunc(split.Parts, func(p syntax.WordPart) bool { _, is := p.(*syntax.BraceExp); return is })
}

// addDeclaration takes in what is a command of its own for bash, and words for others.
func (r *CommandReading) addDeclaration(p *part, d *syntax.DeclClause) {
	p.argv = append(p.argv, d.Variant.Value)
	p.words = append(p.words, word{d.Variant.Value, true})
	for _, a := range d.Args {
		var w word
		switch {
		case a.Name == nil:
			w = literal(a.Value)
		case a.Naked && a.Index == nil:
			w = word{a.Name.Value, true}
		case a.Value != nil && a.Index == nil:
			value := literal(a.Value)
			w = word{a.Name.Value + "=" + value.text, value.literal}
		default:
			w.text = a.Name.Value + "="
		}
		p.argv, p.words = append(p.argv, r.written(a)), append(p.words, w)
	}
}
