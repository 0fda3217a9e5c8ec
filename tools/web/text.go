package web

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
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
	markdown, err := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin())).
		ConvertString(text, converter.WithDomain(page.URL))
	if err != nil {
		return "", fault.New(fault.ExecutionFailed, "the page cannot be read as HTML: %s", fault.Escape(err.Error())).WithHint("fetch another page")
	}
	return markdown, nil
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
