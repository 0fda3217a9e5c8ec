package wire

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Raw is a value that is JSON already. As a result it is written as it is, neither
// parsed nor compacted; the caller vouches for it and leaves it alone afterwards.
type Raw = json.RawMessage

// encode makes JSON of v without a copy where v is JSON already.
func encode(v any) (json.RawMessage, error) {
	if raw, ok := v.(Raw); ok {
		if len(raw) == 0 {
			return Raw("null"), nil
		}
		return raw, nil
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return out.Bytes()[:out.Len()-1], nil // without the encoder's line feed
}

// AppendString appends s to dst as a JSON string. Invalid UTF-8 becomes U+FFFD. The
// characters < > & stay as they are; U+2028 and U+2029, at which some clients split
// lines, are escaped.
func AppendString(dst []byte, s string) []byte {
	out, _ := jsontext.AppendQuote(dst, s) // an error says that invalid UTF-8 was replaced
	if !strings.Contains(s, "\u2028") && !strings.Contains(s, "\u2029") {
		return out
	}
	quoted := strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`).Replace(string(out[len(dst):]))
	return append(out[:len(dst)], quoted...)
}
