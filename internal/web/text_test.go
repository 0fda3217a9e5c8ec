package web

import (
	"strings"
	"testing"
)

// A page that is not large becomes no Markdown that is, nor takes long to become it.
func TestPagesThatGrow(t *testing.T) {
	for name, page := range map[string]string{
		"brackets": strings.Repeat("[", 1<<17),
		"colspan":  "<table><tr><td colspan=1000000000>a</td><td rowspan=1000000000>b</td></tr><tr><td>c</td></tr></table>",
		"quotes":   strings.Repeat("<blockquote>", 200) + strings.Repeat("<p>a", 2000),
		"lists":    strings.Repeat("<ul><li>", 200) + strings.Repeat("<p>a", 2000),
		"table":    "<table><tr>" + strings.Repeat("<td>a", 2000) + "</tr>" + strings.Repeat("<tr><td>b", 2000),
		"column":   "<table><tr><td>" + strings.Repeat("a", 2000) + "</tr>" + strings.Repeat("<tr><td>b", 2000),
	} {
		text, err := textOf([]byte(page), "text/html", Page{URL: "http://x.example/", ContentType: "text/html"})
		if err != nil || len(text) > 30*len(page) || !strings.ContainsAny(text, "a[") {
			t.Errorf("%s: of %d bytes come %d, %v", name, len(page), len(text), err)
		}
	}
}
