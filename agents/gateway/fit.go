package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
)

// fitted is the tool_result of a call in a frame that is not too large. The text for a model goes
// first, since the result's fields say the same; then long texts and lists lose their middle, and
// say so. What only reads is refused instead: it can be asked for in parts.
func (s Settings) fitted(callID string, r tools.Result) []byte {
	most := s.frameBytes()
	frame := s.result(callID, r)
	r.Content = slices.Clone(r.Content)
	for size := 64 << 10; len(frame) > most && size >= 1<<10; size /= 8 {
		for i, part := range r.Content {
			if part.Type == "text" {
				r.Content[i] = tools.Part{Type: "text", Text: withoutMiddle(part.Text, size)}
			}
		}
		frame = s.result(callID, r)
	}
	if len(frame) <= most {
		return frame
	}
	if !r.Deed {
		return s.failed(callID, fault.New(fault.FileTooLarge, "the result has %d bytes, over the limit of %d for a frame; ask for a part", len(frame), most), nil)
	}
	whole := r.Structured
	for size := most / 2; len(frame) > most && size > 0; size /= 4 {
		r.Structured = shortened(whole, size)
		frame = s.result(callID, r)
	}
	return frame
}

// shortened is the object with no text longer than size, and no list of more than so many
// entries for it. An object that has lost something says truncated, or diff_omitted of its diff.
func shortened(object json.RawMessage, size int) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	var value map[string]any
	if d.Decode(&value) != nil {
		return object
	}
	shorten(value, size)
	out := []byte("{")
	for _, first := range []string{"ok", "success"} {
		if is, has := value[first]; has {
			out = fmt.Appendf(out, `"%s":%v,`, first, is)
			delete(value, first)
		}
	}
	return append(out, encode(value)[1:]...)
}

// entrySize is about what an entry of a list takes.
const entrySize = 256

func shorten(value any, size int) (short any, cut bool) {
	switch value := value.(type) {
	case string:
		text := withoutMiddle(value, size)
		return text, text != value
	case []any:
		if most := size/entrySize + 1; len(value) > most {
			value, cut = value[:most], true
		}
		for i := range value {
			value[i], _ = shorten(value[i], size)
		}
		return value, cut
	case map[string]any:
		for name, field := range value {
			short, cut := shorten(field, size)
			switch {
			case cut && name == "diff":
				value[name], value["diff_omitted"] = "", true
			case cut:
				value[name], value["truncated"] = short, true
			}
		}
	}
	return value, false
}

// withoutMiddle is a text of about so many bytes: its head and its tail.
func withoutMiddle(text string, size int) string {
	if len(text) <= size {
		return text
	}
	head, tail := text[:size/2], text[len(text)-size/2:]
	return strings.ToValidUTF8(head, "") + fmt.Sprintf("\n[%d bytes are left out here]\n", len(text)-len(head)-len(tail)) + strings.ToValidUTF8(tail, "")
}
