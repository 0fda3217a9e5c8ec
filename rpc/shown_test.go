package rpc

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pillion/agents/gateway"
	"pillion/config"
	"pillion/conversation"
	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/patching"
	"pillion/tools/session"
	"pillion/workspace/change"
	"pillion/workspace/tracking"
)

const hostile = "\x1b[2J\u202e\x9b\u200b"

// TestNothingIsShownRaw: whatever stands in any string of what an editor is sent, it arrives
// escaped, or in a field that is known to be exact.
func TestNothingIsShownRaw(t *testing.T) {
	found := map[string]bool{}
	for _, one := range []any{
		approval.Request{},
		approval.Changed{},
		approvalResolved{},
		promptUser{},
		planReview{},
		patchReview{},
		change.BufferEdit{},
		tools.Activity{},
		agentStatus{},
		processOutput{},
		conversation.Changed{},
		conversation.Appended{},
		conversation.View{},
		conversation.ContextFile{},
		gateway.State{},
		Untrusted{},
		sessionChanged{},
		Unusual{},
		workspaceChanged{},
		Tracking{},
		Index{},
		change.JournalChanged{},
		change.EntryInfo{},
		[]config.ListedRule{},
		showMessageRequest{},
		logMessage{},
		showDocument{},
		progressOf{},
		statusResult{},
		processInfo{},
		activityShown{},
		tools.Display{},
		tools.Part{},
		patching.ReviewFile{},
		session.Info{},
		session.Todo{},
		tracking.Change{},
		approval.Answer{},
		answered{},
		map[string]any{"message": hostile, "sessions": []session.Info{{}}},
	} {
		filled := reflect.New(reflect.TypeOf(one)).Elem()
		fill(filled)
		sent := shown(filled.Interface())
		rawNames(reflect.ValueOf(sent), "", found)
		if _, err := json.Marshal(sent); err != nil {
			t.Errorf("%T: %v", one, err)
		}
	}
	for name := range found {
		if _, field, _ := strings.Cut(name, "."); !exact[name] && !exact[field] {
			t.Errorf("%s is shown as it comes", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(exact)) {
		used := found[name]
		for at := range found {
			used = used || strings.HasSuffix(at, "."+name)
		}
		if !used && !slices.Contains(elsewhere, name) {
			t.Errorf("no field is called %s", name)
		}
	}
}

// elsewhere are exact fields of what has no type of ours, and why.
var elsewhere = []string{
	"query", "socket", "token", // of editor/symbols, relay/info and progress
}

// fill puts hostile text into every string, and one entry into what can have several.
func fill(v reflect.Value) {
	if v.Type().Implements(marshaler) {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostile)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value)
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), value)
	case reflect.Interface:
		if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf(hostile))
		}
	case reflect.Struct:
		for f, value := range v.Fields() {
			if f.IsExported() {
				fill(value)
			}
		}
	}
}

// rawNames are the fields that have something invisible, as type.field.
func rawNames(v reflect.Value, name string, into map[string]bool) {
	switch v.Kind() {
	case reflect.String:
		if fault.Escape(v.String()) != v.String() {
			into[name] = true
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			rawNames(v.Elem(), name, into)
		}
	case reflect.Slice:
		for i := range v.Len() {
			rawNames(v.Index(i), name, into)
		}
	case reflect.Map:
		for _, value := range v.Seq2() {
			rawNames(value, name, into)
		}
	case reflect.Struct:
		for f, value := range v.Fields() {
			if field, _, _ := strings.Cut(f.Tag.Get("json"), ","); f.IsExported() && field != "-" {
				rawNames(value, v.Type().Name()+"."+field, into)
			}
		}
	}
}
