package found

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"pillion/internal/fault"
)

// separator stands between an alias and a tool's own name.
const separator = "__"

// longestName is what models' programs take, their own prefix left aside.
const longestName = 64

var (
	fitName   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)
	unfit     = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)
	printable = regexp.MustCompile(`^[ -~]+$`)
)

// CheckAlias says what is wrong with a server's alias, nothing if it can be one.
func CheckAlias(alias string) string {
	switch {
	case !fitName.MatchString(alias):
		return "an alias has letters from A to Z, digits, _, - and . alone, and begins with a letter"
	case strings.Contains(alias, separator), strings.HasSuffix(alias, "_"):
		return "an alias has no __ in it and no _ at its end"
	case len(alias) > longestName/2:
		return "an alias has at most 32 characters"
	}
	return ""
}

// nameOf makes the name by which agents call a tool. Blanks, slashes and the like become _;
// a letter that is none of A to Z may be there to look like one.
func nameOf(alias, own string) (string, error) {
	if !printable.MatchString(own) {
		return "", fmt.Errorf("the tool %s is refused: its name is empty, or has characters that can be taken for others or cannot be seen", strconv.QuoteToASCII(fault.Clip(own, 100)))
	}
	name := unfit.ReplaceAllString(own, "_")
	if alias != "" {
		name = alias + separator + name
	}
	switch {
	case !fitName.MatchString(name):
		return "", fmt.Errorf("the tool %s is refused: its name does not begin with a letter", fault.Quote(fault.Clip(own, 100)))
	case alias == "" && strings.Contains(name, separator):
		return "", fmt.Errorf("the tool %s is refused: its name looks like that of a server's tool, with __ in it", fault.Quote(fault.Clip(own, 100)))
	case len(name) > longestName:
		return "", fmt.Errorf("the tool %s is refused: its name has more than %d characters", fault.Quote(fault.Clip(own, 100)), longestName)
	}
	return name, nil
}

// plain is a name as most models know it, without dots.
func plain(name string) string { return strings.ReplaceAll(name, ".", "_") }

var alike = strings.NewReplacer("I", "l", "1", "l", "|", "l", "0", "o", "O", "o", ".", "_", "-", "_")

// skeleton is the same for names that can be taken for each other.
func skeleton(name string) string { return strings.ToLower(alike.Replace(name)) }
