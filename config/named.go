package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"pillion/internal/fault"
)

// Named are settings of single servers or runners, by name.
type Named[E entry[E]] map[string]E

// entry is what is set about one.
type entry[E any] interface {
	Off() bool
	// off is all of it that counts without trust: that the server is switched off.
	off() E
	// over is it, laid over what another place says under its name.
	over(below E) E
	// inProject is all of it that can ever count in a project, beside the user's own entry
	// of the name, and why that is not all: the field that does not count, or all of it.
	inProject(own E) (counts E, field, because string)
}

// anyNamed is a Named of whatever kind; the values are of the same.
type anyNamed interface {
	over(under reflect.Value) reflect.Value
	both(other reflect.Value) reflect.Value
	restrict(key string, own reflect.Value, trusted bool, h *held) reflect.Value
}

// over lays one server's settings over others, each by itself.
func (s Named[E]) over(under reflect.Value) reflect.Value {
	if len(s) == 0 {
		return under
	}
	out := maps.Clone(s)
	for name, below := range under.Interface().(Named[E]) {
		if above, ok := out[name]; ok {
			below = above.over(below)
		}
		out[name] = below
	}
	return reflect.ValueOf(out)
}

// fill sets what is not set, each field as a whole: a command is not added to another.
func fill[E any](above, below E) E {
	a, b := reflect.ValueOf(&above).Elem(), reflect.ValueOf(below)
	for i := range a.NumField() {
		if a.Field(i).IsZero() {
			a.Field(i).Set(b.Field(i))
		}
	}
	return above
}

// restrict says what of a project's entries counts over the user's own, and tells the rest.
func (s Named[E]) restrict(key string, mine reflect.Value, trusted bool, h *held) reflect.Value {
	own, out := mine.Interface().(Named[E]), Named[E]{}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		entry, field, because := s[name].inProject(own[name])
		if because != "" {
			h.never = append(h.never, fmt.Sprintf("setting %q is ignored in a project: %s", strings.TrimSuffix(join(join(key, name), field), "."), because))
		}
		only := reflect.DeepEqual(entry, entry.off())
		if only && !entry.Off() && because != "" {
			continue
		}
		only = only && entry.Off()
		if !only && !reflect.DeepEqual(entry, own[name]) {
			h.loosens = append(h.loosens, fmt.Sprintf("%s %s %s", key, fault.Quote(name), fault.Escape(jsonOf(entry))))
		}
		switch {
		case only || trusted:
			out[name] = entry
		case entry.Off():
			out[name] = entry.off()
		}
	}
	return reflect.ValueOf(out.orNone())
}

// orNone makes nothing of what is empty: it is not set.
func (s Named[E]) orNone() Named[E] {
	if len(s) == 0 {
		return nil
	}
	return s
}

// jsonOf is an entry as JSON.
func jsonOf(entry any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(entry); err != nil {
		return fault.Quote(err.Error())
	}
	return string(bytes.TrimSpace(out.Bytes()))
}

// both are the entries of two folders that are open together: what one switches off
// is off, and what is set counts where both say the same. What holds in a folder by
// itself, Folder says.
func (s Named[E]) both(other reflect.Value) reflect.Value {
	theirs, out := other.Interface().(Named[E]), Named[E]{}
	for _, all := range []Named[E]{s, theirs} {
		for name := range all {
			switch a, b := s[name], theirs[name]; {
			case a.Off():
				out[name] = a.off()
			case b.Off():
				out[name] = b.off()
			case reflect.DeepEqual(a, b):
				out[name] = a
			}
		}
	}
	return reflect.ValueOf(out.orNone())
}

// How many entries are read, and how much of one.
const (
	maxEntries = 100
	maxEntry   = 64 << 10
)

// decode reads such an object; one that is none does not spoil the others.
func (s *Named[E]) decode(p *problems, raw json.RawMessage, at string) {
	object, out := p.object(raw, at), Named[E]{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		at, raw := join(at, name), object[name]
		switch {
		case len(out) == maxEntries:
			p.add("only the first %d entries are read", maxEntries)
			*s = out
			return
		case len(raw) > maxEntry || name == "" || len(name) > 100:
			p.add("setting %q is ignored: it is too long", at)
		case string(raw) == "null":
		case bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")):
			var one E
			p.decodeObject(raw, reflect.ValueOf(&one).Elem(), at)
			out[name] = one
		default:
			p.add("setting %q is ignored: it must be an object", at)
		}
	}
	*s = out.orNone()
}
