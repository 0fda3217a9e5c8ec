package found

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/internal/fault"
)

// Result is what a call gave.
type Result struct {
	Parts      []Part
	Structured json.RawMessage // an object, as the program gave it; nil: none, or it was too large
	Failed     bool            // the program says so
	ExitCode   *int            // of a command
	Left       int             // bytes that were left out
	Cut        bool            // more was left out, and the text says how much
}

// Part is one piece of it, as in MCP.
type Part struct {
	Type     string // text, image or audio
	Text     string
	MIMEType string
	Data     string // base64
}

// room takes parts as long as there is room for them.
type room struct {
	left   int
	result *Result
}

func (r *room) text(text string) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if cut := len(text) - r.left; cut > 0 {
		at := r.left
		for at > 0 && !utf8.RuneStart(text[at]) {
			at--
		}
		r.result.Left += len(text) - at
		text = text[:at]
	}
	r.left -= len(text)
	if text != "" {
		r.result.Parts = append(r.result.Parts, Part{Type: "text", Text: text})
	}
}

// media is taken as a whole or not at all.
func (r *room) media(kind, mime string, data []byte) {
	if size := base64.StdEncoding.EncodedLen(len(data)); size > r.left {
		r.result.Left += size
		return
	}
	text := base64.StdEncoding.EncodeToString(data)
	r.left -= len(text)
	r.result.Parts = append(r.result.Parts, Part{Type: kind, MIMEType: visible(mime, longTitle), Data: text})
}

// resultOf bounds what a server gave.
func resultOf(given *sdk.CallToolResult, most int) Result {
	out := Result{Failed: given.IsError}
	r := room{most, &out}
	for _, content := range given.Content {
		switch c := content.(type) {
		case *sdk.TextContent:
			r.text(c.Text)
		case *sdk.ImageContent:
			r.media("image", c.MIMEType, c.Data)
		case *sdk.AudioContent:
			r.media("audio", c.MIMEType, c.Data)
		case *sdk.ResourceLink:
			r.text(fmt.Sprintf("(resource %s: %s)", fault.Quote(c.Name), fault.Line(c.URI)))
		case *sdk.EmbeddedResource:
			if c.Resource == nil {
				continue
			}
			if c.Resource.Text != "" || len(c.Resource.Blob) == 0 {
				r.text(c.Resource.Text)
				continue
			}
			r.text(fmt.Sprintf("(resource %s: %d bytes that are no text)", fault.Line(c.Resource.URI), len(c.Resource.Blob)))
		default:
			r.text("(a part of a kind that is not known here)")
		}
	}
	if fields, is := given.StructuredContent.(map[string]any); is {
		text, err := json.Marshal(fields)
		switch {
		case err != nil || len(text) > most:
			out.Left += len(text)
		case len(out.Parts) == 0 && out.Left == 0: // a model reads text
			out.Structured = text
			r.text(string(text))
		default:
			out.Structured = text
		}
	}
	if len(given.InputRequests) > 0 {
		out.Failed = true
		r.text("the server asked for more input, which cannot be given here")
	}
	return out
}
