package policy

import "strings"

// simple is a simple command that means the same to every shell: its words are
// the text that they show.
type simple struct {
	words  []string
	redirs []redirection
}

// redirection sends a stream elsewhere. Of a copied descriptor (2>&1) the target
// is its number.
type redirection struct {
	fd, op, target string
}

func (r redirection) copies() bool { return strings.HasSuffix(r.op, "&") }

func (r redirection) writes() bool { return strings.Contains(r.op, ">") && !r.copies() }

// maxPlain and maxParts bound what a rule can judge, and what a dialog shows.
const (
	maxPlain = 8 << 10
	maxParts = 50
)

// readPlain takes a line apart that consists of nothing but literal words, joined
// by &&, ||, ; and |. It is the narrow reader, by which rules allow: whatever it
// does not know for sure, it refuses, and problem says what that is. The wide one
// is ReadCommand; the two must agree before a rule holds.
func readPlain(line string) (parts []simple, problem string) {
	if len(line) > maxPlain {
		return nil, "it is too long to be judged by a rule"
	}
	for i := range len(line) {
		switch b := line[i]; {
		case b == '\n' || b == '\r':
			return nil, "it has more than one line"
		case b < ' ' || b == 0x7f:
			return nil, "it has control characters"
		case b > 0x7f:
			return nil, "it has characters beyond ASCII, which can look like others"
		}
	}
	r := plainReader{text: line}
	for {
		part, problem := r.part()
		if problem != "" {
			return nil, problem
		}
		parts = append(parts, part)
		if len(parts) > maxParts {
			return nil, "it has more than 50 parts"
		}
		if r.operator() == "" || r.atEnd() && r.last == ";" {
			break
		}
	}
	if !r.atEnd() {
		return nil, r.strange()
	}
	return parts, ""
}

type plainReader struct {
	text string
	at   int
	last string // the operator that was read last
}

func (r *plainReader) blanks() {
	for r.at < len(r.text) && r.text[r.at] == ' ' {
		r.at++
	}
}

func (r *plainReader) atEnd() bool { r.blanks(); return r.at == len(r.text) }

func (r *plainReader) take(token string) bool {
	if !strings.HasPrefix(r.text[r.at:], token) {
		return false
	}
	r.at += len(token)
	return true
}

// operator reads what joins two parts, "" if nothing does.
func (r *plainReader) operator() string {
	r.blanks()
	r.last = ""
	for _, op := range []string{"&&", "||", ";", "|"} {
		if r.take(op) {
			r.last = op
			break
		}
	}
	return r.last
}

func (r *plainReader) part() (simple, string) {
	var part simple
	for {
		r.blanks()
		if r.at == len(r.text) || strings.IndexByte(";|&", r.text[r.at]) >= 0 {
			if len(part.words) == 0 {
				return part, "it has a part without a command"
			}
			return part, ""
		}
		if strings.IndexByte("<>", r.text[r.at]) >= 0 {
			if problem := r.redirection(&part, ""); problem != "" {
				return part, problem
			}
			continue
		}
		start := r.at
		word, problem := r.word()
		if problem != "" {
			return part, problem
		}
		raw := r.text[start:r.at]
		switch {
		case r.at < len(r.text) && strings.IndexByte("<>", r.text[r.at]) >= 0 && isNumber(raw):
			if len(raw) > 1 {
				return part, "it redirects a descriptor that not every shell knows"
			}
			if problem := r.redirection(&part, raw); problem != "" {
				return part, problem
			}
		case len(part.words) == 0 && strings.Contains(raw, "="):
			return part, "it sets a variable"
		default:
			part.words = append(part.words, word)
		}
	}
}

func (r *plainReader) redirection(part *simple, fd string) string {
	redir := redirection{fd: fd}
	for _, op := range []string{"<<", ">>", ">|", ">&", "<&", "<>", ">", "<"} {
		if r.take(op) {
			redir.op = op
			break
		}
	}
	if redir.op == "<<" {
		return "it has a text for its input"
	}
	r.blanks()
	start := r.at
	word, problem := r.word()
	if problem != "" {
		return problem
	}
	raw := r.text[start:r.at]
	running := r.at < len(r.text) && strings.IndexByte("<>", r.text[r.at]) >= 0 && isNumber(raw) // >1>x: whose is the 1?
	if running || redir.copies() && (len(raw) != 1 || !isNumber(raw)) || !redir.copies() && word == "" {
		return "it redirects in a way that a rule cannot judge"
	}
	redir.target = word
	part.redirs = append(part.redirs, redir)
	return ""
}

// word reads one word; what it returns is the text that the shell will see.
func (r *plainReader) word() (string, string) {
	var out strings.Builder
	start := r.at
	for r.at < len(r.text) {
		b := r.text[r.at]
		switch {
		case b == '\'' || b == '"':
			text, closed := r.quoted(b)
			if !closed {
				return "", "it has quotes that do not end, or that hold what the shell expands"
			}
			out.WriteString(text)
			continue
		case strings.IndexByte(" ;|&<>", b) >= 0:
			if r.at == start {
				return "", r.strange()
			}
			return out.String(), ""
		case !isLiteral(b, r.text[start:r.at]):
			return "", r.strange()
		}
		out.WriteByte(b)
		r.at++
	}
	if r.at == start {
		return "", "it ends in the middle"
	}
	return out.String(), ""
}

// quoted reads text in quotes. In double ones nothing may stand that the shell
// looks at.
func (r *plainReader) quoted(quote byte) (string, bool) {
	text, _, closed := strings.Cut(r.text[r.at+1:], string(quote))
	if !closed || quote == '"' && strings.ContainsAny(text, "$`\\") {
		return "", false
	}
	r.at += len(text) + 2
	return text, true
}

// isLiteral says whether a byte outside quotes stands for itself in every shell;
// before is what the word has so far.
func isLiteral(b byte, before string) bool {
	switch {
	case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9':
		return true
	case b == '=' || b == '%' || b == '^':
		return before != ""
	case b == '~': // HEAD~1; elsewhere it is a home
		return before != "" && !strings.ContainsAny(before, "=:") && (isWordByte(before[len(before)-1]) || before[len(before)-1] == '^')
	}
	return strings.IndexByte("_-./:+,@", b) >= 0
}

func isWordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// strange says what the byte at the reader's place would make the shell do.
func (r *plainReader) strange() string {
	if r.at == len(r.text) {
		return "it ends in the middle"
	}
	switch r.text[r.at] {
	case '$', '`':
		return "its words are made when it runs"
	case '&':
		return "it leaves something running in the background"
	case '*', '?', '[', ']':
		return "it has a pattern for file names"
	case '{', '}':
		return "it has braces"
	case '~':
		return "it names somebody's home with ~"
	case '(', ')':
		return "it has parentheses"
	case '\\':
		return "it has a backslash"
	case '!':
		return "it has an exclamation mark"
	case '#':
		return "it has a comment"
	}
	return "it has a part that a rule cannot judge"
}
