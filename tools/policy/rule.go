package policy

import (
	"path"
	"strconv"
	"strings"

	"pillion/internal/fault"
	"pillion/internal/pattern"
)

// Rule names calls. Written down it is
//
//	tool                      every call of the tool
//	tool(specifier)           calls on this path, or of this command line
//	tool(specifier) in folder calls of this command line in this folder
//	tool(specifier *) with listed options
//	                          likewise, but for the further words: see Listed
//
// A specifier stands bare when it is one visible line with balanced parentheses
// that does not begin with a quotation mark; otherwise it is a Go string literal:
// run_command("printf ')'"). In a bare one * is a wildcard: for paths * within a
// name and ** across folders; for a command, at its end after a blank, any further
// plain words. A quoted one always means the text itself. So every rule prints as
// exactly one line, and parses back to itself.
//
// An allow rule or grant for a command holds in its own folder alone, the
// workspace root if it names none, and not at all when the call brings an
// environment or input of its own. Without * it is about the very line; with *,
// about one part of a line whose every part needs such a rule. A deny or ask rule without a folder holds in
// all of them, and compares names as a forgiving file system would.
type Rule struct {
	Tool      string
	Specifier string // empty: every call
	Folder    string // of a command, as tools print paths; empty: see above
	// Listed says of a pattern for commands that of the options after its words only those
	// are allowed that are known to be harmless, as in every pattern that a dialog offers.
	Listed bool

	pattern bool // written bare, with a wildcard; only ParseRule makes these
}

// Rules are the rules from settings. Deny beats ask beats allow.
type Rules struct {
	Allow []Rule
	Ask   []Rule
	Deny  []Rule
}

var toolName = pattern.New(`^[A-Za-z][A-Za-z0-9_.-]*`)

// ParseRule reads a rule as String and people write it.
func ParseRule(s string) (Rule, error) {
	r := Rule{Tool: toolName().FindString(s)}
	rest := s[len(r.Tool):]
	switch {
	case r.Tool == "":
		return Rule{}, malformed(s, "it must start with a tool's name")
	case rest == "":
		return r, nil
	case rest[0] != '(':
		return Rule{}, malformed(s, "after the tool's name only (specifier) may follow")
	}
	rest, err := r.parseSpecifier(rest[1:])
	if err != "" {
		return Rule{}, malformed(s, err)
	}
	if after, ok := strings.CutPrefix(rest, listedOptions); ok && r.pattern && RunsCommands(r.Tool) {
		r.Listed, rest = true, after
	}
	if rest == "" {
		return r, nil
	}
	named, ok := strings.CutPrefix(rest, " in ")
	if !ok {
		return Rule{}, malformed(s, "after the closing parenthesis only ' in folder' may follow, or after a * first ' with listed options'")
	}
	if strings.HasPrefix(named, `"`) {
		text, bad := strconv.Unquote(named)
		if bad != nil {
			return Rule{}, malformed(s, "the folder's quotes do not end")
		}
		named = text
	}
	if folder(named) == "" {
		return Rule{}, malformed(s, "the folder is the workspace root: leave ' in …' out")
	}
	r.Folder = folder(named)
	return r, nil
}

// parseSpecifier takes the specifier and its closing parenthesis off text and
// gives the rest, or what is wrong.
func (r *Rule) parseSpecifier(text string) (rest, problem string) {
	if quoted, err := strconv.QuotedPrefix(text); err == nil && quoted[0] == '"' {
		r.Specifier, _ = strconv.Unquote(quoted)
		rest, closed := strings.CutPrefix(text[len(quoted):], ")")
		if !closed || r.Specifier == "" {
			return "", "a quoted specifier is text in quotes and then a closing parenthesis"
		}
		return rest, ""
	}
	end := closing(text)
	if end < 0 {
		return "", "its parentheses do not match: put the specifier in double quotes"
	}
	r.Specifier = text[:end]
	if !bare(r.Specifier) {
		return "", "put a specifier that is empty, has blanks around it or is more than one visible line in double quotes"
	}
	r.pattern = strings.Contains(r.Specifier, "*")
	return text[end+1:], ""
}

func malformed(s, problem string) error {
	return fault.Invalid("cannot read the rule %s: %s", fault.Quote(s), problem)
}

// listedOptions is Listed as it is written.
const listedOptions = " with listed options"

// AsOffered is the rule as a dialog would offer it today. Patterns that were remembered for a
// session before had no list.
func (r Rule) AsOffered() Rule {
	r.Listed = r.Listed || r.pattern && RunsCommands(r.Tool)
	return r
}

// String writes the rule so that ParseRule gives it back.
func (r Rule) String() string {
	var out strings.Builder
	out.WriteString(r.Tool)
	if r.Specifier == "" {
		return out.String()
	}
	out.WriteByte('(')
	if r.pattern || bare(r.Specifier) && !strings.Contains(r.Specifier, "*") {
		out.WriteString(r.Specifier)
	} else {
		out.WriteString(quote(r.Specifier))
	}
	out.WriteByte(')')
	if r.Listed {
		out.WriteString(listedOptions)
	}
	if r.Folder != "" {
		out.WriteString(" in ")
		if bare(r.Folder) {
			out.WriteString(r.Folder)
		} else {
			out.WriteString(quote(r.Folder))
		}
	}
	return out.String()
}

// MarshalText and UnmarshalText make a rule one string in settings.
func (r Rule) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText is ParseRule.
func (r *Rule) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRule(string(text))
	return err
}

// bare says whether text needs no quotes.
func bare(text string) bool {
	return text != "" && text[0] != '"' &&
		strings.TrimSpace(text) == text &&
		!strings.ContainsAny(text, "\n\t") && fault.Escape(text) == text &&
		closing(text+")") == len(text)
}

func quote(text string) string { return fault.Escape(strconv.Quote(text)) }

// closing finds the parenthesis that ends text, -1 without one.
func closing(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// folder gives the workspace root one spelling, "".
func folder(cwd string) string {
	if clean := path.Clean(cwd); clean != "." {
		return clean
	}
	return ""
}
