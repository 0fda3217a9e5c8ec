package main

import (
	"fmt"
	"strings"
)

const (
	openMark  = "<!-- generated: "
	closeMark = "<!-- end of generated -->"
)

// marked fills a Markdown document: table answers what stands between the markers
// of one name.
func marked(table func(root, name string) (string, error)) func(root string, doc []byte) ([]byte, error) {
	return func(root string, doc []byte) ([]byte, error) {
		var out strings.Builder
		rest := string(doc)
		for {
			before, after, found := strings.Cut(rest, openMark)
			out.WriteString(before)
			if !found {
				return []byte(out.String()), nil
			}
			name, after, closed := strings.Cut(after, " -->\n")
			_, after, ended := strings.Cut(after, closeMark)
			if !closed || !ended {
				return nil, fmt.Errorf("the marker %q has no %q", openMark+name, closeMark)
			}
			text, err := table(root, name)
			if err != nil {
				return nil, err
			}
			out.WriteString(openMark + name + " -->\n\n" + text + "\n" + closeMark)
			rest = after
		}
	}
}

func unknownMarker(name string) error {
	return fmt.Errorf("nothing is generated for the marker %q", name)
}

// cell is text as it stands in a table of Markdown.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
