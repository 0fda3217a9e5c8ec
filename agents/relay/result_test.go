package relay

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pillion/internal/wire"
	"pillion/tools"
)

// What comes out of the brief form is what the whole form says, display aside.
func TestBriefResultsSayTheSame(t *testing.T) {
	long := strings.Repeat("a \"quoted\" line,\tü \u2028 <&>\n", 1000)
	field := func(text string) json.RawMessage {
		return append(wire.AppendString([]byte(`{"ok":true,"content":`), text), '}')
	}
	shared := tools.Part{Type: "text", Text: long, Shared: &tools.Span{From: len(`{"ok":true,"content":`), To: len(field(long)) - 1}}
	for name, r := range map[string]tools.Result{
		"short":      {Content: []tools.Part{{Type: "text", Text: "short"}}, Structured: field("short")},
		"empty":      {Content: []tools.Part{{Type: "text"}}, Structured: field("")},
		"no content": {Structured: json.RawMessage(`{"ok":true}`)},
		"shared":     {Content: []tools.Part{shared, {Type: "text", Text: "note"}}, Structured: field(long)},
		"twice":      {Content: []tools.Part{shared, shared}, Structured: field(long)},
		"not shared": {Content: []tools.Part{{Type: "text", Text: long}}, Structured: field(long[1:])},
		"key inside": {Content: []tools.Part{{Type: "text", Text: `,"structuredContent":{`}}, Structured: field(tools.StructuredKey)},
		"failed":     {Content: []tools.Part{{Type: "text", Text: "no"}}, Structured: json.RawMessage(`{"ok":false}`), IsError: true},
		"an image":   {Content: []tools.Part{{Type: "image", Data: "aGk=", MIMEType: "image/png"}}, Structured: json.RawMessage(`{"ok":true}`)},
	} {
		t.Run(name, func(t *testing.T) {
			brief := []byte(briefly(r))
			read, err := readBrief(brief, true)
			must(t, err)
			bare, err := readBrief(brief, false) // from a sidecar that knows no form
			if err != nil || !reflect.DeepEqual(decodeAny(t, bare.Bytes()), decodeAny(t, NewResult(r, false).Bytes())) {
				t.Errorf("without the structure: %.300s, %v", bare.Bytes(), err)
			}
			plain := r
			plain.Content = slices.Clone(r.Content)
			for i := range plain.Content {
				plain.Content[i].Shared = nil
			}
			want, local, far := decodeAny(t, bytes.Join(plain.Pieces(), nil)), decodeAny(t, NewResult(r, true).Bytes()), decodeAny(t, read.Bytes())
			if !reflect.DeepEqual(local, want) || !reflect.DeepEqual(far, want) {
				t.Errorf("whole %.300s\nlocal %.300s\nfar   %.300s", want, local, far)
			}
			if read.Size() != len(read.Bytes()) {
				t.Errorf("the size is %d, there are %d bytes", read.Size(), len(read.Bytes()))
			}
			if name == "shared" && len(brief) > len(long)*3/2 {
				t.Errorf("of %d bytes %d are sent", len(long), len(brief))
			}
		})
	}
}

func decodeAny(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
	return v
}

func TestBriefResultsThatAreBroken(t *testing.T) {
	for _, text := range []string{
		`{}`, `{"isError":false}`, `{"ok":true,"content":[]}`,
		`{"isError":false,"content":[{"type":"text","range":[0,99]}],"structuredContent":{}}`,
		`{"isError":false,"content":[{"type":"text","range":[-1,1]}],"structuredContent":{}}`,
		`{"isError":false,"content":[{"type":"text","range":[2,1]}],"structuredContent":{}}`,
	} {
		if r, err := readBrief([]byte(text), true); err == nil {
			t.Errorf("%s gave %s", text, r.Bytes())
		}
	}
}
