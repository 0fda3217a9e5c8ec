package policy

import (
	"regexp"
	"strings"

	"pillion/internal/pattern"
)

// sedCommand is one command of sed that prints, deletes, counts or replaces, with its addresses. Those
// that write or read files (w, W, r, R) or run a program (e, and the flag e of s) are not among them.
var sedCommand = pattern.New(`^\s*(` + sedAddress + `(\s*,\s*([+~]?\d+|` + sedAddress + `))?)?\s*!?\s*([pdq=lDPnNgGhHx]|q\d+)\s*(;|\n|$)`)

// sedReplaces is an s command: what it looks for, what it puts there, flags without e and w.
var sedReplaces = pattern.New(`^\s*(` + sedAddress + `(\s*,\s*([+~]?\d+|` + sedAddress + `))?)?\s*!?\s*s(` +
	sedPair("/") + `|` + sedPair("|") + `|` + sedPair("#") + `|` + sedPair(",") + `)[gpIi0-9]*\s*(;|\n|$)`)

func sedPair(end string) string {
	mark := regexp.QuoteMeta(end)
	return mark + expression(end) + mark + `(\\.|[^\\\n` + end + `])*` + mark
}

var sedAddress = `(\d+(~\d+)?|\$|/` + expression("/") + `/I?)`

// expression matches a regular expression that every program ends at the same place: some know no brackets there.
func expression(end string) string {
	return `(\\.|\[\^?(\[:[a-z]+:\]|[^][^\\\n` + end + `])+\]|[^[\\\n` + end + `])*`
}

// sedReads says whether a script of sed is made of such commands.
func sedReads(script string) bool {
	for strings.TrimSpace(script) != "" {
		found := sedCommand().FindString(script)
		if found == "" {
			found = sedReplaces().FindString(script)
		}
		if found == "" {
			return false
		}
		script = script[len(found):]
	}
	return true
}

var (
	awkText = pattern.New(`"(\\.|[^"\\\n])*"`)
	// awkTexts are texts, and patterns where no division can stand, in a program of awk.
	awkTexts = pattern.New(awkText().String() + `|(^|[(!~,;{}&|\n])[ \t]*/` + expression(`/"`) + `/`)
	awkWord  = pattern.New(`[A-Za-z_]\w*`)
	// awkCalls are words of awk that leave the text that it was given: they run programs, read and write
	// other files, or name what follows.
	awkCalls = set("system getline close fflush ARGV ARGC ENVIRON PROCINFO function func extension")
)

// awkReads says whether a program of awk only prints what it matches. A > may compare, outside of braces
// and of what is printed.
func awkReads(program string) bool {
	rest := awkTexts().ReplaceAllString(program, "$2 1 ")
	divides := strings.Contains(rest, "/") // then where patterns are is not known
	if divides {
		rest = awkText().ReplaceAllString(program, " 1 ")
	}
	if strings.ContainsAny(rest, "@\"\\") || divides && strings.Count(rest, "/") < strings.Count(program, "/") {
		return false
	}
	for _, word := range awkWord().FindAllString(rest, -1) {
		if awkCalls[word] {
			return false
		}
	}
	rest = strings.ReplaceAll(strings.ReplaceAll(rest, "||", ""), ">=", "")
	depth := 0
	for _, c := range rest {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		case '|':
			return false
		case '>':
			if depth > 0 {
				return false
			}
		}
	}
	return true
}

// jqLoads are the words of jq and yq that read other files or the environment, or write.
var jqLoads = pattern.New(`\b(import|include|load\w*|env|strenv|envsubst|input_filename|get_search_list|modulemeta|halt_error|eval\w*|e|ea|shell)\b|\$ENV|\$__|=`)

var jqText = pattern.New(`"(\\[^(]|[^"\\])*"`)

// jqReads says whether a filter of jq or yq looks at what it was given alone.
func jqReads(filter string) bool {
	plain := jqText().ReplaceAllString(filter, " ")
	if strings.ContainsAny(plain, `"#\`) { // where texts are is not known: behind a comment, and with code in them
		plain = filter
	}
	plain = strings.NewReplacer("==", "", "!=", "", ">=", "", "<=", "").Replace(plain)
	return !jqLoads().MatchString(plain)
}
