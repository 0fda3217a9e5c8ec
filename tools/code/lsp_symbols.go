package code

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

var _ = tools.Define(tools.NewRead(tools.Spec{
	Name:        "lsp_symbols",
	Title:       "List symbols",
	Description: "Outlines a file (path), or finds names in the workspace (query). Positions are from 0.",
	Results:     []any{symbolsFields{}, askedAbout{}},
}, planSymbols))

type symbolsArgs struct {
	Path  string `json:"path,omitempty"`
	Query string `json:"query,omitempty" jsonschema:"a name or part of one"`
	In    string `json:"in,omitempty" jsonschema:"with query: a folder"`
}

type symbol struct {
	oneSymbol
	Children []symbol `json:"children,omitempty"`
}

type oneSymbol struct {
	Name      string         `json:"name"`
	Detail    string         `json:"detail,omitempty"`
	Kind      string         `json:"kind"`
	Container string         `json:"container,omitempty"`
	URI       string         `json:"uri,omitempty"` // outside the workspace
	Path      string         `json:"path,omitempty"`
	Range     document.Range `json:"range"`
}

type symbolsResult struct {
	Symbols []symbol `json:"symbols"`
	symbolsCount
}

type symbolsCount struct {
	Count     int  `json:"count"` // of all, also of those left out
	Truncated bool `json:"truncated"`
	tools.AnsweredBy
}

// symbolsFields is symbolsResult one level deep: a schema of this kind cannot name itself.
type symbolsFields struct {
	Symbols []struct {
		oneSymbol
		Children []struct{} `json:"children,omitempty"`
	} `json:"symbols"`
	symbolsCount
}

// Bounds of an outline.
const (
	mostSymbols = 500
	deepSymbols = 20
	longKind    = 40
)

func planSymbols(ctx context.Context, in tools.Input, args symbolsArgs) (*tools.Answer, error) {
	switch {
	case (args.Path == "") == (args.Query == ""):
		return nil, fault.Invalid("give path, for the symbols of a file, or query, for names in the workspace")
	case args.Path != "" && args.In != "":
		return nil, fault.Invalid("in goes with query; path names the one file")
	case args.Query != "":
		return findSymbols(ctx, in, args)
	}
	f, err := readCodeFile(in, args.Path)
	if err != nil {
		return nil, err
	}
	ask, err := languagesOf(in)
	if err != nil {
		return unanswered(f.asked(language.Server{}), err, searchInstead), nil
	}
	found, by, err := ask.Symbols(ctx, in.Snapshot, f.Path)
	if err != nil {
		return unanswered(f.asked(by), err, searchInstead), nil
	}
	a := symbolsAnswer(found, by, "in "+fault.Quote(f.Path.String()), false)
	a.Reads = []workspace.Path{f.Path}
	return a, nil
}

// findSymbols asks for each folder. One that nobody answers for is no failure while
// another is.
func findSymbols(ctx context.Context, in tools.Input, args symbolsArgs) (*tools.Answer, error) {
	folders := in.Snapshot.Workspace().Roots()
	if args.In != "" {
		folder, err := in.Snapshot.Workspace().ResolveDir(args.In)
		if err != nil {
			return nil, err
		}
		folders = []workspace.Path{folder}
	}
	ask, err := languagesOf(in)
	if err != nil {
		return unanswered(askedAbout{Path: args.In, AnsweredBy: tools.Answered(language.Server{})}, err, searchInstead), nil
	}
	var all []language.Symbol
	var by language.Server
	err = errors.New("no folder is open")
	for _, folder := range folders {
		found, server, oneErr := ask.FindSymbols(ctx, in.Snapshot, folder, args.Query)
		if oneErr == nil && err != nil || by == (language.Server{}) {
			by, err = server, oneErr
		}
		all = append(all, found...)
	}
	if err != nil {
		return unanswered(askedAbout{Path: args.In, AnsweredBy: tools.Answered(by)}, err, searchInstead), nil
	}
	return symbolsAnswer(all, by, "for "+fault.Quote(fault.Clip(args.Query, 60)), true), nil
}

func symbolsAnswer(found []language.Symbol, by language.Server, where string, withPath bool) *tools.Answer {
	left := mostSymbols
	r := symbolsResult{symbolsOf(found, &left, deepSymbols), symbolsCount{Count: countSymbols(found), AnsweredBy: tools.Answered(by)}}
	r.Truncated = r.Count > mostSymbols-left
	if r.Symbols == nil {
		r.Symbols = []symbol{}
	}
	text := fmt.Sprintf("%s %s (%s", tools.Count(r.Count, "symbol"), where, r.AnsweredBy)
	a := &tools.Answer{Result: r, Rest: "look for a name with query", Summary: fmt.Sprintf("%s %s", tools.Count(r.Count, "symbol"), where)}
	switch {
	case r.Count == 0:
		a.Text = text + ")"
	default:
		a.Text = text + "; line and character are counted from 0):" + outline(r.Symbols, "\n", withPath)
	}
	if r.Truncated {
		a.Notes = append(a.Notes, fmt.Sprintf("(%d of %d; the rest is left out)", mostSymbols-left, r.Count))
	}
	return a
}

func countSymbols(all []language.Symbol) int {
	n := len(all)
	for _, s := range all {
		n += countSymbols(s.Children)
	}
	return n
}

// symbolsOf are as many as are left, and so deep.
func symbolsOf(all []language.Symbol, left *int, deep int) []symbol {
	var out []symbol
	for _, s := range all {
		if *left == 0 || deep == 0 {
			break
		}
		*left--
		one := symbol{oneSymbol: oneSymbol{
			Name: fault.Clip(s.Name, tools.LongWord), Detail: fault.Clip(s.Detail, tools.ShortLine), Kind: fault.Clip(s.Kind, longKind), Container: fault.Clip(s.Container, tools.ShortLine), Range: s.Location.Range,
		}}
		if s.Location.Path.IsZero() {
			one.URI = fault.Clip(s.Location.URI, longURI)
		} else {
			one.Path = s.Location.Path.String()
		}
		one.Children = symbolsOf(s.Children, left, deep-1)
		out = append(out, one)
	}
	return out
}

// outline is a line for each, those below another one indented.
func outline(all []symbol, newline string, withPath bool) string {
	var out strings.Builder
	for _, s := range all {
		place := fmt.Sprintf("%d:%d", s.Range.Start.Line, s.Range.Start.Character)
		if withPath {
			place = tools.PlaceIn(fault.Quote(cmp.Or(s.Path, s.URI)), s.Range.Start)
		}
		line := s.Kind + " " + s.Name
		if s.Detail != "" {
			line += " " + s.Detail
		}
		if s.Container != "" {
			line += " in " + s.Container
		}
		out.WriteString(newline + place + " " + tools.OneLine(line) + outline(s.Children, newline+"  ", withPath))
	}
	return out.String()
}
