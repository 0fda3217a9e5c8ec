package found

import (
	"errors"
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
func (s *Source) nameOf(own string) (string, error) {
	name := unfit.ReplaceAllString(own, "_")
	if s.Alias != "" {
		name = s.Alias + separator + name
	}
	switch {
	case !printable.MatchString(own):
		return "", errors.New("its name is empty, or has characters that can be taken for others or cannot be seen")
	case !fitName.MatchString(name):
		return "", errors.New("its name does not begin with a letter")
	case s.Kind == Command && name != own:
		return "", errors.New("its name has other characters than letters, digits, _, - and ., and would be part of a command line")
	case s.Alias == "" && strings.Contains(name, separator):
		return "", errors.New("its name looks like that of a server's tool, with __ in it")
	case len(name) > longestName:
		return "", fmt.Errorf("its name has more than %d characters", longestName)
	}
	return name, nil
}

// shownName is a tool's own name for people, in which nothing can be taken for something else.
func shownName(own string) string { return strconv.QuoteToASCII(fault.Clip(own, 100)) }

// plain is a name as most models know it, without dots.
func plain(name string) string { return strings.ReplaceAll(name, ".", "_") }

var alike = strings.NewReplacer("i", "l", "1", "l", "0", "o", ".", "_", "-", "_", "rn", "m", "vv", "w")

// Skeleton is the same for names that can be taken for each other, or differ in case alone.
func Skeleton(name string) string { return alike.Replace(strings.ToLower(name)) }
