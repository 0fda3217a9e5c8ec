package approval

import (
	"fmt"
	"strings"

	"pillion/internal/fault"
)

// PlainPreview is a preview as plain text of at most limit bytes, with
// everything invisible made visible. What was cut is said, at the end.
func PlainPreview(p Preview, limit int) string {
	text := fault.Escape(plainText(p))
	if len(text) <= limit {
		return text
	}
	cut := strings.ToValidUTF8(text[:limit], "")
	return fmt.Sprintf("%s\n… %d more bytes are not shown", cut, len(text)-len(cut))
}

func plainText(p Preview) string {
	var out strings.Builder
	switch p.Kind {
	case "diff":
		for _, f := range p.Files {
			out.WriteString(f.Diff)
		}
	case "command":
		fmt.Fprintf(&out, "%s\nin %s\n", p.Command, p.Cwd)
		for _, w := range p.Writes {
			out.WriteString("writes " + w + "\n")
		}
	case "url":
		out.WriteString(p.URL)
	default:
		out.WriteString(p.Markdown)
	}
	return out.String()
}
