package found

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"

	"pillion/internal/fault"
)

// Bounds of what one program may declare.
const (
	mostTools       = 200
	longDescription = 2000 // characters
	longTitle       = 80
	longDeclaration = 128 << 10 // bytes
	longList        = 16 << 20  // bytes of all declarations
	longShown       = 1 << 20   // bytes of what agents see of them
)

// declared is a tool as its program declares it.
type declared struct {
	Name        string
	Title       string
	Description string
	Schema      any // of its arguments, as JSON was read
	Claims      []string
	Rest        any // what else makes it the tool that it is
}

// collection is what one program declares, as far as it may go.
type collection struct {
	source        *Source
	out           offer
	number, bytes int
	shown         int // bytes
}

// add takes one more, or notes why not. It says whether more may come.
func (c *collection) add(d declared) bool {
	if d.Schema == nil { // it takes no arguments
		d.Schema = map[string]any{"type": "object", "properties": map[string]any{}}
	}
	text, err := json.Marshal(d)
	c.number++
	c.bytes += len(text)
	switch {
	case c.number > mostTools:
		return c.end("only the first %d of its tools are listed", mostTools)
	case c.bytes > longList:
		return c.end("no more of its tools are listed: their definitions are longer than 16 MiB together")
	case err != nil || len(text) > longDeclaration:
		err = fmt.Errorf("its definition is longer than %d bytes", longDeclaration)
	default:
		var t Tool
		if t, err = c.source.tool(d, text); err == nil {
			if c.shown += t.size(); c.shown > longShown {
				return c.end("no more of its tools are listed: their definitions are longer than 1 MiB together")
			}
			c.out.tools = append(c.out.tools, t)
			return true
		}
	}
	c.out.notes = append(c.out.notes, Note{c.source.name(), fmt.Sprintf("the tool %s is refused: %v", shownName(d.Name), err)})
	return true
}

// size is about how many bytes agents see of it.
func (t Tool) size() int { return len(t.Schema) + len(t.Description) }

func (c *collection) end(format string, values ...any) bool {
	c.out.notes = append(c.out.notes, Note{c.source.name(), fmt.Sprintf(format, values...)})
	return false
}

// tool makes a tool of a declaration, whose text names it: another text is another tool, and so
// is one that another program declares.
func (s *Source) tool(d declared, text []byte) (Tool, error) {
	name, err := s.nameOf(d.Name)
	if err != nil {
		return Tool{}, err
	}
	sum := sha256.Sum256(fmt.Appendf(text, "%q%q", s.Origin, s.Place()))
	t := Tool{
		Name: name, Own: d.Name, Title: strings.Join(strings.Fields(visible(d.Title, longTitle)), " "), Description: visible(d.Description, longDescription),
		Claims: d.Claims, Definition: hex.EncodeToString(sum[:16]), Source: s, Access: s.Access["*"],
	}
	if access, set := s.Access[d.Name]; set {
		t.Access = access
	}
	if t.Title == "" {
		t.Title = d.Name
	}
	return t, t.declare(d.Schema)
}

// declare gives the tool the schema of its arguments: in the words that models take, and to
// check arguments by.
func (t *Tool) declare(schema any) error {
	if object(schema) == nil {
		return errors.New("the schema of its arguments is not an object")
	}
	written, err := expand(object(schema))
	if err != nil {
		return err
	}
	if t.Schema, err = clean(written); err != nil {
		return err
	}
	text, err := json.Marshal(written)
	if err != nil {
		return err
	}
	if t.declared, err = resolve(text); err != nil { // of another kind: as models see it, then
		t.declared, err = resolve(t.Schema)
	}
	t.Closed = isClosed(written, t.Schema)
	return err
}

// isClosed says whether a schema names all arguments that there are. One that says nothing of
// others is taken to: programs pass over what they do not know, and a model that errs is to hear
// of it.
func isClosed(s map[string]any, cleaned json.RawMessage) bool {
	for _, word := range []string{"patternProperties", "allOf", "anyOf", "oneOf", "dependentSchemas", "if", "unevaluatedProperties"} {
		if s[word] != nil {
			return false
		}
	}
	if more := s["additionalProperties"]; more != nil && more != false {
		return false
	}
	var shown struct {
		Properties map[string]any `json:"properties"`
	}
	_, named := s["properties"].(map[string]any)
	return named && json.Unmarshal(cleaned, &shown) == nil && len(shown.Properties) == len(object(s["properties"]))
}

func resolve(text json.RawMessage) (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
}

// visible is a text without characters that nobody sees, and without any beyond most.
func visible(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsGraphic(r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && !unicode.Is(unicode.Variation_Selector, r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, ""))
	text = strings.TrimSpace(text)
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most-1]) + "…"
	}
	return text
}

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
