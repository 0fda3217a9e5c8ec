package rpc

import (
	"encoding/json"
	"reflect"
	"strings"

	"pillion/internal/fault"
)

// exact are the fields of the wire, by their names in JSON, that the editor has to get as they
// are, since it gives them back, opens them, or compares them. The plugins escape what they show
// of them. A name after a type's is for that type alone.
var exact = names(
	// What something is known by.
	"approvalId", "callId", "conversationId", "digest", "entryId", "hash", "id", "parent", "planId", "processId", "promptId", "reviewId", "sessionId", "socket", "token",
	"Changed.removed",
	// What is given back.
	"grants", "rule", "rules", "actions", "messageAction.title",
	// Files and addresses.
	"cwd", "file", "folder", "from", "path", "paths", "query", "to", "toUri", "unsaved", "uri", "url", "writes", "hosts", "argv",
	// Texts of files, of agents and of programs, which are shown as such: where a text can be edited,
	// compared or rendered.
	"after", "before", "command", "content", "data", "diff", "markdown", "newText", "plan",
	"Appended.text", "Display.text", "Entry.text", "Part.text", "Preview.message", "ReviewHunk.lines", "activityShown.text", "patchReview.message", "processOutput.text", "promptUser.message",
)

// shown is v with every other string escaped: whoever adds a field to the wire need not think of
// text that a terminal, a notification or a list would obey. What is JSON already, and what makes
// its own, stays as it is.
func shown(v any) any {
	if v == nil {
		return nil
	}
	return shownValue(reflect.ValueOf(v)).Interface()
}

var marshaler = reflect.TypeFor[json.Marshaler]()

func shownValue(v reflect.Value) reflect.Value {
	if v.Type().Implements(marshaler) {
		return v
	}
	switch v.Kind() {
	case reflect.String:
		out := reflect.New(v.Type()).Elem()
		out.SetString(fault.Escape(v.String()))
		return out
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(shownValue(v.Elem()))
		return out
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(shownValue(v.Elem()))
		return out
	case reflect.Slice:
		if v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8 {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(shownValue(v.Index(i)))
		}
		return out
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for key, value := range v.Seq2() {
			if !isExact("", key.String()) {
				value = shownValue(value)
			}
			out.SetMapIndex(key, value)
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for f, value := range v.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() && !isExact(v.Type().Name(), name) {
				out.FieldByIndex(f.Index).Set(shownValue(value))
			}
		}
		return out
	}
	return v
}

func isExact(typeName, field string) bool { return exact[field] || exact[typeName+"."+field] }

func names(all ...string) map[string]bool {
	out := map[string]bool{}
	for _, name := range all {
		out[name] = true
	}
	return out
}
