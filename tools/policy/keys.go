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
	{"a Vault token", "hvs.", 24, "_-", 0},
	{"a DigitalOcean token", "dop_v1_", 64, "", 64},
	{"a DigitalOcean token", "doo_v1_", 64, "", 64},
	{"a Doppler token", "dp.pt.", 43, "", 44},
	{"a Terraform token", ".atlasv1.", 60, "_-", 0},
	{"a Shopify token", "shpat_", 32, "", 32},
	{"a Shopify token", "shpca_", 32, "", 32},
	{"a Shopify token", "shppa_", 32, "", 32},
	{"a Linear key", "lin_api_", 40, "", 40},
	{"a Notion token", "ntn_", 46, "", 46},
	{"a Groq key", "gsk_", 52, "", 52},
	{"an xAI key", "xai-", 70, "_", 0},
	{"an OpenRouter key", "sk-or-v1-", 64, "", 64},
	{"an OpenAI key", "sk-admin-", 40, "_-", 0},
	{"an OpenAI key", "sk-None-", 40, "_-", 0},
	{"a Perplexity key", "pplx-", 48, "", 0},
	{"a Replicate token", "r8_", 37, "", 37},
	{"a Docker token", "dckr_pat_", 27, "_-", 27},
	{"a Docker token", "dckr_oat_", 27, "_-", 0},
	{"a RubyGems key", "rubygems_", 48, "", 48},
	{"a Databricks token", "dapi", 32, "", 32},
	{"a Grafana token", "glsa_", 41, "_", 41},
	{"a New Relic key", "NRAK-", 27, "", 27},
	{"a Sentry token", "sntrys_", 60, "_", 0},
	{"a webhook's secret", "whsec_", 32, "", 0},
	{"a Stripe key", "sk_test_", 24, "", 0},
	{"a Stripe key", "rk_test_", 24, "", 0},
	{"a GitLab token", "gldt-", 20, "_-.", 0},
	{"a GitLab token", "glrt-", 20, "_-.", 0},
	{"a GitLab token", "glptt-", 40, "", 40},
	{"an Atlassian token", "ATATT3", 100, "_-", 0},
	{"a Postman key", "PMAK-", 59, "-", 59},
	{"a PlanetScale token", "pscale_tkn_", 32, "_-.", 0},
	{"a PlanetScale password", "pscale_pw_", 32, "_-.", 0},
	{"a Supabase token", "sbp_", 40, "", 40},
	{"a Slack token", "xoxc-", 24, "-", 0},
	{"a Slack token", "xoxd-", 24, "-", 0},
	{privateKey, "AGE-SECRET-KEY-1", 58, "", 58},
	{privateKey, "xprv", 100, "", 0},
}

const privateKey = "a private key"

// markedShapes are of values that only what stands beside them tells from others: the text has the mark, and around it,
// as group 1, the value.
var markedShapes = []struct {
	kind, mark, also string // also stands somewhere in the text
	shape            pattern.Pattern
}{
	{"an AWS secret key", "aws_secret_access_key", "", pattern.New(`key["']?\s*[:=]\s*["']?([\w/+]{40})(?:[^\w/+=]|$)`)},
	{"an AWS secret key", "AWS_SECRET_ACCESS_KEY", "", pattern.New(`KEY["']?\s*[:=]\s*["']?([\w/+]{40})(?:[^\w/+=]|$)`)},
	{"an Azure key", "AccountKey=", "", pattern.New(`=([\w/+]{86}==)`)},
	{"an npm token", ":_authToken", "", pattern.New(`_authToken\s*=\s*["']?([\w./+=~-]{20,})`)},
	{"a Slack webhook", "hooks.slack.com/services/", "", pattern.New(`/T\w{8,}/B\w{8,}/(\w{23,})`)},
	{"a Telegram token", ":AA", "", pattern.New(`(?:^|\D)\d{8,10}:(AA[\w-]{33})(?:[^\w-]|$)`)},
	{privateKey, "PrivateKey", "", pattern.New(`PrivateKey\s*=\s*([\w/+]{43}=)`)}, // of WireGuard
	{privateKey, "Private-Lines:", "", pattern.New(`: \d+\s+([\w/+]{40,})`)},      // of PuTTY
	{privateKey, `"d"`, `"kty"`, pattern.New(`"d"\s*:\s*"([\w-]{40})`)},           // of JSON
}

// markedIn finds such a value.
func markedIn(text string) string {
	for _, m := range markedShapes {
		for at := 0; ; at += len(m.mark) {
			next := strings.Index(text[at:], m.mark)
			if next < 0 || !strings.Contains(text, m.also) {
				break
			}
			at += next
			found := m.shape().FindStringSubmatch(text[max(0, at-11):min(len(text), at+len(m.mark)+2*longestKey)])
			if found != nil && isVaried(found[1]) && !strings.Contains(found[1], "EXAMPLE") {
				return m.kind
			}
		}
	}
	return ""
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
		return privateKey
	}
	if kind := markedIn(text); kind != "" {
		return kind
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
		if at > 0 && isWordByte(run[at-1]) && isWordByte(run[at]) {
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
	if m := inDiscord().FindString(run); m != "" && isVaried(m) {
		return "a Discord token"
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

var inDiscord = pattern.New(`^[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}$`)

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

// holdsPrivateKey finds the head of a key with a key below it, also in base64 or as addresses and strings have it; code
// that only knows such heads has none.
func holdsPrivateKey(text string) bool {
	const word, inBase64 = "PRIVATE", "LS0tLS1CRUdJTi"
	for rest, found := text, true; found; {
		if _, rest, found = strings.Cut(rest, inBase64); found {
			n := 0
			for n < min(len(rest), 8000) && (isWordByte(rest[n]) || rest[n] == '+' || rest[n] == '/') {
				n++
			}
			encoded := inBase64 + rest[:n]
			decoded, err := base64.StdEncoding.DecodeString(encoded[:len(encoded)&^3])
			if err == nil && holdsPrivateKey(string(decoded)) {
				return true
			}
		}
	}
	for from := 0; ; from += len(word) {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return false
		}
		from += at
		start := max(0, from-60)
		if keyHead().MatchString(unescaped.Replace(text[start:min(len(text), from+60)])) {
			near := unescaped.Replace(text[start:min(len(text), from+20000)])
			if head := keyHead().FindStringIndex(near); head != nil && beginsWithKey(keyHeaders().ReplaceAllString(near[head[1]:], "")) {
				return true
			}
		}
	}
}

var (
	keyHead    = pattern.New(`----[- ]BEGIN[ +][A-Z0-9 +]{0,30}PRIVATE[ +]KEY([ +]BLOCK)?[- ]----`)
	keyHeaders = pattern.New(`^\s*([A-Za-z][\w-]*: [^\n]*\n)+`)
	unescaped  = strings.NewReplacer(`\u0020`, " ", "\t", " ", `\t`, " ", "%20", " ", "%0A", "\n", "%0D", "\n", "%2B", "+", "%2F", "/", "%2D", "-", `\n`, "\n", `\r`, "\n")
)

const inBase = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="

// LooksLikeKeyBody says whether a text has a run of characters such as private keys are made of:
// whether it is one, the lines around it say.
func LooksLikeKeyBody(text string) bool {
	const least = 40
	inBody := func(i int) bool { return isWordByte(text[i]) || text[i] == '/' || text[i] == '+' }
	for i := least - 1; i < len(text); i += least { // one of so many is in a run of that length
		from, to := i, i
		for from > 0 && inBody(from-1) {
			from--
		}
		for to < len(text) && inBody(to) && to-from < least {
			to++
		}
		if inBody(i) && to-from >= least {
			return true
		}
	}
	return false
}

// beginsWithKey skips quotes, and takes lines together that are shorter than usual.
func beginsWithKey(rest string) bool {
	rest = rest[:min(len(rest), 1000)]
	short := ""
	for _, line := range strings.FieldsFunc(rest, func(c rune) bool { return strings.ContainsRune("\n\r\t \"'`,", c) }) {
		line, _, ends := strings.Cut(line, "-----")
		if strings.Trim(line, inBase) != "" || len(line) < 16 {
			short = ""
		} else if short += line; len(short) >= 64 && isVaried(short) {
			return true
		}
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
