// Package wellformed says where a file of data cannot be read: JSON, JSON with comments,
// notebooks, TOML, YAML and XML, by their names. Broken is the entry point. Deliberately not
// here: what the data means, and source code, of which language servers know.
package wellformed

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"
)

// Problem is why a text cannot be read.
type Problem struct {
	Format string // JSON, JSON with comments, TOML, YAML or XML
	Line   int    // from 1
	Reason string
}

// mostRead bounds the texts that are looked at: the slowest reader, YAML's, takes up to 0.4 s for one.
const mostRead = 1 << 20

type reader struct {
	format string
	read   func(text string) *Problem
}

var readers = map[string]reader{
	".json": {"JSON", readJSON}, ".ipynb": {"JSON", readJSON}, ".geojson": {"JSON", readJSON}, ".webmanifest": {"JSON", readJSON},
	".jsonc": {"JSON with comments", readJSONC},
	".toml":  {"TOML", readTOML},
	".yaml":  {"YAML", readYAML}, ".yml": {"YAML", readYAML},
	".xml": {"XML", readXML}, ".svg": {"XML", readXML}, ".xsd": {"XML", readXML}, ".csproj": {"XML", readXML}, ".plist": {"XML", readXML},
}

// Broken says what is wrong with after that was not with before, of a file of that name; nil
// where nothing is, or nothing is known. before is empty for a new file.
func Broken(name, before, after string) *Problem {
	r, known := readers[strings.ToLower(path.Ext(name))]
	if !known || after == before || strings.TrimSpace(after) == "" || len(before) > mostRead || len(after) > mostRead {
		return nil
	}
	isNew := strings.TrimSpace(before) == ""
	wasRead := isNew || r.read(before) == nil
	if r.format == "JSON" && (!wasRead || isNew && mayHaveComments(name)) {
		r = readers[".jsonc"] // many programs read their .json so
		wasRead = isNew || r.read(before) == nil
	}
	if !wasRead {
		return nil
	}
	problem := r.read(after)
	if problem != nil {
		problem.Format = r.format
	}
	return problem
}

// mayHaveComments knows the files whose programs take comments in them.
func mayHaveComments(name string) bool {
	leaf := path.Base(name)
	return path.Base(path.Dir(name)) == ".vscode" || strings.HasPrefix(leaf, "tsconfig") || strings.HasPrefix(leaf, "jsconfig") || strings.HasPrefix(leaf, ".") ||
		leaf == "devcontainer.json" || leaf == "deno.json"
}

func lineAt(text string, offset int64) int {
	return 1 + strings.Count(text[:max(0, min(int(offset), len(text)))], "\n")
}

func readJSON(text string) *Problem {
	d := json.NewDecoder(strings.NewReader(text))
	var value json.RawMessage
	err := d.Decode(&value)
	if err == nil {
		var more json.RawMessage
		if err = d.Decode(&more); err == io.EOF {
			return nil
		}
		if err == nil {
			err = errors.New("there is more behind the value")
		}
	}
	at := d.InputOffset()
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		at = max(syntax.Offset-1, at)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		at, err = int64(len(strings.TrimRight(text, "\n"))), errors.New("it ends in the middle")
	}
	return &Problem{Line: lineAt(text, at), Reason: err.Error()}
}

// hujson says line and column in its error's text.
var placed = regexp.MustCompile(`line (\d+), column \d+: `)

func readJSONC(text string) *Problem {
	_, err := hujson.Parse([]byte(text))
	if err == nil {
		return nil
	}
	return placedProblem(strings.TrimPrefix(err.Error(), "hujson: "), placed)
}

func readTOML(text string) *Problem {
	var value any
	err := toml.Unmarshal([]byte(text), &value)
	if err == nil {
		return nil
	}
	p := &Problem{Line: 1, Reason: strings.TrimPrefix(err.Error(), "toml: ")}
	if at := (*toml.DecodeError)(nil); errors.As(err, &at) {
		p.Line, _ = at.Position()
	}
	return p
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// yamlParsers: of what the parser says, and not the scanner, the lines are counted from 0.
var yamlParsers = regexp.MustCompile(`^(did not find expected|found (undefined tag|duplicate %|incompatible))`)

func readYAML(text string) *Problem {
	d := yaml.NewDecoder(strings.NewReader(text))
	for {
		var value yaml.Node
		switch err := d.Decode(&value); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			p := placedProblem(strings.TrimPrefix(err.Error(), "yaml: "), yamlLine)
			if strings.Contains(err.Error(), "line ") && yamlParsers.MatchString(p.Reason) {
				p.Line++
			}
			return p
		}
	}
}

// placedProblem takes the line out of what a reader says.
func placedProblem(reason string, line *regexp.Regexp) *Problem {
	p := &Problem{Line: 1, Reason: reason}
	if at := line.FindStringSubmatchIndex(reason); at != nil {
		p.Line, _ = strconv.Atoi(reason[at[2]:at[3]])
		p.Reason = reason[:at[0]] + reason[at[1]:]
	}
	return p
}

func readXML(text string) *Problem {
	d := xml.NewDecoder(strings.NewReader(text))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is decoded already
	for roots, depth := 0, 0; ; {
		token, err := d.Token()
		switch token := token.(type) {
		case xml.StartElement:
			if depth == 0 {
				roots++
			}
			depth++
		case xml.EndElement:
			depth--
		case xml.CharData:
			if depth == 0 && len(bytes.Trim(token, " \t\r\n\ufeff")) > 0 {
				err = errors.New("text outside of the document's element")
			}
		}
		if roots > 1 {
			err = errors.New("a second element behind the document's own")
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			line, _ := d.InputPos()
			p := &Problem{Line: line, Reason: strings.TrimPrefix(err.Error(), "XML ")}
			if syntax := (*xml.SyntaxError)(nil); errors.As(err, &syntax) {
				p.Line, p.Reason = syntax.Line, syntax.Msg
			}
			return p
		}
	}
}
