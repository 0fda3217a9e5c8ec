package policy

import (
	"encoding/base64"
	"strings"
	"unicode"

	"pillion/internal/pattern"
)

// keyShape is how the values of one kind of key begin, and how they go on.
type keyShape struct {
	kind   string
	prefix string
	least  int // characters after the prefix
	also   string
	most   int // likewise; 0: any number
}

// keyShapes are those that can be told from other text by their beginning alone. also are
// characters that they have beside letters and digits.
var keyShapes = []keyShape{
	{"an AWS access key", "AKIA", 16, "", 16},
	{"an AWS access key", "ASIA", 16, "", 16},
	{"a GitHub token", "ghp_", 36, "", 0},
	{"a GitHub token", "gho_", 36, "", 0},
	{"a GitHub token", "ghu_", 36, "", 0},
	{"a GitHub token", "ghs_", 36, "", 0},
	{"a GitHub token", "ghr_", 36, "", 0},
	{"a GitHub token", "github_pat_", 60, "_", 0},
	{"a GitLab token", "glpat-", 20, "_-.", 0},
	{"a Slack token", "xoxb-", 24, "-", 0},
	{"a Slack token", "xoxp-", 24, "-", 0},
	{"a Slack token", "xoxa-", 24, "-", 0},
	{"a Slack token", "xoxr-", 24, "-", 0},
	{"a Slack token", "xoxs-", 24, "-", 0},
	{"a Slack token", "xapp-", 24, "-", 0},
	{"an Anthropic key", "sk-ant-", 40, "_-", 0},
	{"an OpenAI key", "sk-proj-", 40, "_-", 0},
	{"an OpenAI key", "sk-svcacct-", 40, "_-", 0},
	{"an OpenAI key", "sk-", 40, "", 0},
	{"a Google key", "AIza", 35, "_-", 0},
	{"a Google token", "ya29.", 40, "_-", 0},
	{"a Google key", "GOCSPX-", 28, "_-", 0},
	{"a Stripe key", "sk_live_", 24, "", 0},
	{"a Stripe key", "rk_live_", 24, "", 0},
	{"an npm token", "npm_", 36, "", 0},
	{"a PyPI token", "pypi-AgEI", 50, "_-", 0},
	{"a Hugging Face token", "hf_", 34, "", 0},
	{"a SendGrid key", "SG.", 60, "_-.", 0},
}

const (
	shortestKey = 20  // of all shapes, with its prefix
	longestKey  = 128 // so much of one is looked at
	leastVaried = 10  // different characters: xxxxxxxx stands for a key and is none
)

// KeyIn names the kind of key that a text seems to hold, "" if none. It looks at text of any
// size in a time that nobody notices: a key is a run of at least shortestKey characters, so
// one character in so many is looked at.
func KeyIn(text string) string {
	if holdsPrivateKey(text) {
		return "a private key"
	}
	for i := shortestKey - 1; i < len(text); i += shortestKey {
		if !inKey[text[i]] {
			continue
		}
		from, to := i, i+1
		for from > 0 && inKey[text[from-1]] {
			from--
		}
		for to < len(text) && inKey[text[to]] {
			to++
		}
		if to-from >= shortestKey {
			if kind := keyKind(text[from:to]); kind != "" {
				return kind
			}
		}
		i = max(i, to-1)
	}
	return loginIn(text)
}

var (
	inAddress = pattern.New(`^[^\s/:@"'<>]*:([^\s/:@"'<>]+)@([^\s/:@"'<>?#]+)`)
	inHeader  = pattern.New(`(?i)^["']?\s*[:=,]\s*["']?(basic|bearer|token)\s+([\w+/=.~-]{12,})`)
	noLogin   = pattern.New(`(?i)pass|secret|example|change|your|token|test|dummy|xxx|123|[$%{}<>*()\[\]\\]`)
	noHost    = pattern.New(`(?i)(^|\.)(example|localhost|test|invalid|host|hostname)(\.[a-z]+)?$|[${}%<>]|^127\.`)
)

// loginIn finds what lets somebody in by an address or a header.
func loginIn(text string) string {
	for _, mark := range []string{"://", "uthorization", "UTHORIZATION"} {
		for _, rest, found := strings.Cut(text, mark); found; _, rest, found = strings.Cut(rest, mark) {
			near := rest[:min(len(rest), 4*longestKey)]
			if m := inAddress().FindStringSubmatch(near); m != nil && mark == "://" && isPassword(m[1]) && !noHost().MatchString(m[2]) {
				return "a password in an address"
			}
			m := inHeader().FindStringSubmatch(near)
			if m == nil || mark == "://" {
				continue
			}
			value := m[2]
			if decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "=")); err == nil && strings.EqualFold(m[1], "basic") {
				_, value, _ = strings.Cut(string(decoded), ":")
			}
			if isPassword(value) {
				return "an Authorization header"
			}
		}
	}
	return ""
}

// isPassword tells what lets somebody in from what stands for it in documentation.
func isPassword(value string) bool {
	return len(value) >= 8 && strings.ContainsAny(value, "0123456789") && strings.ContainsFunc(value, unicode.IsLetter) && !noLogin().MatchString(value)
}

var inKey = func() (is [256]bool) {
	for c := range is {
		is[c] = isWordByte(byte(c)) || c == '_' || c == '-' || c == '.'
	}
	return is
}()

// keyKind looks where a word begins in the run.
func keyKind(run string) string {
	for at := 0; at < len(run); at++ {
		if at > 0 && isWordByte(run[at-1]) {
			continue
		}
		for _, shape := range keyShapes {
			if rest, ok := strings.CutPrefix(run[at:], shape.prefix); ok && shape.fits(rest) {
				return shape.kind
			}
		}
	}
	if isToken(run) {
		return "a signed token (JWT)"
	}
	return ""
}

func (k keyShape) fits(rest string) bool {
	rest = rest[:min(len(rest), longestKey)]
	n := 0
	for n < len(rest) && (isWordByte(rest[n]) || strings.IndexByte(k.also, rest[n]) >= 0) {
		n++
	}
	if n < k.least || k.most > 0 && n > k.most {
		return false
	}
	return isVaried(rest[:n]) && !strings.Contains(rest[:n], "EXAMPLE")
}

// isVaried tells what was drawn by chance from words and placeholders.
func isVaried(value string) bool {
	var seen [256]bool
	different := 0
	for i := range len(value) {
		if !seen[value[i]] {
			seen[value[i]] = true
			different++
		}
	}
	return different >= leastVaried && strings.ContainsAny(value, "0123456789")
}

// isToken knows a JWT by its three parts, of which the first two are JSON objects.
func isToken(run string) bool {
	parts := strings.Split(run, ".")
	for i := 0; i+2 < len(parts); i++ {
		at := strings.Index(parts[i], "eyJ") // behind what is no part of it, such as the - of a difference
		if at < 0 || at > 0 && isWordByte(parts[i][at-1]) {
			continue
		}
		if strings.HasPrefix(parts[i+1], "eyJ") && len(parts[i])-at >= 16 && len(parts[i+1]) >= 16 && len(parts[i+2]) >= 20 && isVaried(parts[i+2]) {
			return true
		}
	}
	return false
}

// holdsPrivateKey finds the head of a key with a key below it; code that only knows such
// heads has none.
func holdsPrivateKey(text string) bool {
	const head = "PRIVATE KEY"
	for {
		at := strings.Index(text, head)
		if at < 0 {
			return false
		}
		before := text[max(0, at-30):at]
		text = text[at+len(head):]
		rest, closed := strings.CutPrefix(strings.TrimPrefix(text, " BLOCK"), "-----")
		if closed && strings.Contains(before, "-----BEGIN ") && beginsWithKey(rest) {
			return true
		}
	}
}

// LooksLikeKeyBody says whether a text has a run of characters such as private keys are made of:
// whether it is one, the lines around it say.
func LooksLikeKeyBody(text string) bool {
	run := 0
	for i := range len(text) {
		if c := text[i]; isWordByte(c) || c == '/' || c == '+' {
			if run++; run == 40 {
				return true
			}
		} else {
			run = 0
		}
	}
	return false
}

// beginsWithKey skips line ends, also written as \n, quotes, and the headers of old formats.
func beginsWithKey(rest string) bool {
	rest = rest[:min(len(rest), 1000)]
	for _, line := range strings.FieldsFunc(strings.NewReplacer(`\n`, "\n", `\r`, "\n").Replace(rest), func(c rune) bool { return strings.ContainsRune("\n\r\t \"'`,", c) }) {
		line, _, ends := strings.Cut(line, "-----")
		for at := 0; at < len(line); at++ { // before the run stand signs of a comment, a quotation, a difference or a number of the line
			start := at
			for at < len(line) && (isWordByte(line[at]) || line[at] == '/' || line[at] == '+') {
				at++
			}
			isHash := start > 1 && line[start-1] == '-' && isWordByte(line[start-2]) // sha512-…
			if at-start >= 40 && !isHash && isVaried(line[start:at]) {
				return true
			}
		}
		if ends {
			return false
		}
	}
	return false
}
