package web

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"pillion/internal/fault"
)

// textOf is what a model reads of a body.
func textOf(raw []byte, kind string, page Page) (string, error) {
	if !isText(kind) {
		return "", fault.New(fault.BinaryFile, "%s is %s, not text", fault.Quote(fault.Clip(page.URL, 200)), fault.Escape(fault.Clip(kind, 80))).
			WithHint("fetch a page of text; download files with run_command")
	}
	text, err := decoded(raw, page.ContentType)
	if err != nil {
		return "", err
	}
	if kind != "text/html" && kind != "application/xhtml+xml" {
		return text, nil
	}
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return "", fault.New(fault.ExecutionFailed, "the page cannot be read as HTML: %s", fault.Escape(err.Error())).WithHint("fetch another page")
	}
	tame(doc, 0)
	plugins := []converter.Plugin{base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal))}
	// Escaping takes the square of the time for some texts.
	markdown, err := converter.NewConverter(converter.WithPlugins(plugins...), converter.WithEscapeMode(converter.EscapeModeDisabled)).ConvertNode(doc, converter.WithDomain(page.URL))
	if err != nil {
		return "", fault.New(fault.ExecutionFailed, "the page cannot be read as HTML: %s", fault.Escape(err.Error())).WithHint("fetch another page")
	}
	return string(markdown), nil
}

// What of a page is more than people write would become very much more Markdown: each line
// of what is nested gets a mark for each, and each row of a table all of its cells.
const (
	mostNested = 12
	mostCells  = 20_000
)

// tame leaves the text of a page and takes out what would make too much of it.
func tame(n *html.Node, nested int) {
	switch n.DataAtom {
	case atom.Td, atom.Th:
		n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "colspan" || a.Key == "rowspan" })
	case atom.Ul, atom.Ol, atom.Blockquote:
		if nested++; nested > mostNested {
			n.Data, n.DataAtom = "div", atom.Div
		}
	case atom.Table:
		if rows, columns := size(n); rows*columns > mostCells {
			n.Data, n.DataAtom = "div", atom.Div
		}
	}
	for c := range n.ChildNodes() {
		tame(c, nested)
	}
}

// size counts the rows of a table and the cells of the longest, also of tables in it.
func size(n *html.Node) (rows, columns int) {
	cells := 0
	for c := range n.ChildNodes() {
		switch c.DataAtom {
		case atom.Tr:
			rows++
		case atom.Td, atom.Th:
			cells++
		}
		r, most := size(c)
		rows, columns = rows+r, max(columns, most)
	}
	return rows, max(columns, cells)
}

func isText(kind string) bool {
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") {
		return kind != "image/svg+xml"
	}
	switch kind {
	case "application/json", "application/xml", "application/javascript", "application/x-ndjson", "application/yaml", "application/x-yaml", "application/toml":
		return true
	}
	return false
}

// decoded is the body as UTF-8. Half a character at its end is left out.
func decoded(raw []byte, contentType string) (string, error) {
	r, err := charset.NewReader(bytes.NewReader(raw), contentType)
	if err == io.EOF { // there is nothing
		return "", nil
	}
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return "", err
	}
	return strings.ToValidUTF8(string(text), string(utf8.RuneError)), nil
}
