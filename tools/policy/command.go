package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// CommandReading is what a command line says to a reader, for the dialog. It
// decides nothing: what cannot be read is said to be so.
type CommandReading struct {
	Parts  []CommandPart
	Writes []string // targets of output redirections, as written
}

// CommandPart is one simple command of the line.
type CommandPart struct {
	Argv []string // the words, as written where they are not plain
	Why  string   // what about it needs a look
}

// maxParts bounds what a dialog shows.
const maxParts = 50

// ReadCommand takes a command line apart with a POSIX shell parser.
func ReadCommand(line string) CommandReading {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	if err != nil {
		return CommandReading{Parts: []CommandPart{{Argv: []string{line}, Why: "it cannot be read as a shell command"}}}
	}
	var r CommandReading
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CallExpr:
			r.addCall(n)
		case *syntax.Redirect:
			if writes(n.Op) && n.Word != nil && n.Word.Lit() != "/dev/null" {
				r.Writes = append(r.Writes, printed(n.Word))
			}
		case *syntax.FuncDecl:
			r.add(CommandPart{Argv: []string{n.Name.Value + "()"}, Why: "it defines a function"})
		}
		return true
	})
	return r
}

func (r *CommandReading) add(p CommandPart) {
	if len(r.Parts) < maxParts {
		r.Parts = append(r.Parts, p)
	} else {
		r.Parts[maxParts-1] = CommandPart{Argv: []string{"…"}, Why: "the line has more parts than can be shown"}
	}
}

func (r *CommandReading) addCall(call *syntax.CallExpr) {
	part := CommandPart{Why: "it runs a program"}
	for _, a := range call.Assigns {
		part.Argv = append(part.Argv, printed(a))
		if a.Name != nil {
			part.Why = "it sets " + a.Name.Value
		}
	}
	for _, word := range call.Args {
		text, plain := word.Lit(), word.Lit() != ""
		if !plain {
			text = printed(word)
		}
		if isDynamic(word) {
			part.Why = "its words are made when it runs"
		}
		part.Argv = append(part.Argv, text)
	}
	if len(part.Argv) > 0 {
		r.add(part)
	}
}

func isDynamic(word *syntax.Word) bool {
	dynamic := false
	syntax.Walk(word, func(node syntax.Node) bool {
		switch node.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp, *syntax.ProcSubst:
			dynamic = true
		}
		return !dynamic
	})
	return dynamic
}

func writes(op syntax.RedirOperator) bool {
	switch op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob:
		return true
	}
	return false
}

func printed(node syntax.Node) string {
	var out strings.Builder
	if err := syntax.NewPrinter().Print(&out, node); err != nil {
		return "…"
	}
	return out.String()
}
