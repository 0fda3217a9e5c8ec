package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"

	"pillion/internal/fault"
)

// LanguageServers is who is asked about code, and how long is waited.
type LanguageServers struct {
	Prefer      string `json:"prefer,omitempty"`      // who answers navigation: editor or own
	Diagnostics string `json:"diagnostics,omitempty"` // who says what is wrong: own or editor
	// EditWaitSeconds is how long the result of an edit waits to say what it broke.
	EditWaitSeconds *float64 `json:"editWaitSeconds,omitempty"` // nil: the default; 0: it does not
	IdleMinutes     *float64 `json:"idleMinutes,omitempty"`     // nil: the default; 0: for ever
	Servers         Servers  `json:"servers,omitempty"`
}

// Servers are what is set about single servers, by name.
type Servers map[string]LanguageServer

// LanguageServer is what is set about one. What is not set stays as it is known.
type LanguageServer struct {
	Enabled               *bool             `json:"enabled,omitempty"`
	Command               []string          `json:"command,omitempty"`
	Languages             []string          `json:"languages,omitempty"`
	RootMarkers           []string          `json:"rootMarkers,omitempty"`
	Env                   map[string]string `json:"env,omitempty"`
	Settings              json.RawMessage   `json:"settings,omitempty"`
	InitializationOptions json.RawMessage   `json:"initializationOptions,omitempty"`
	Install               string            `json:"install,omitempty"`
}

// EditWait is how long an edit's result waits.
func (l LanguageServers) EditWait() time.Duration { return orDefault(l.EditWaitSeconds, 1.5, 1) }

// Idle is after how long a server that nobody asks is stopped, 0 for never.
func (l LanguageServers) Idle() time.Duration { return orDefault(l.IdleMinutes, 30, 60) }

func orDefault(set *float64, value, unit float64) time.Duration {
	if set != nil {
		value = *set
	}
	return seconds(value * unit)
}

// Off says that the server is switched off.
func (s LanguageServer) Off() bool { return s.Enabled != nil && !*s.Enabled }

// off is all of it that counts without trust: that the server is switched off.
func (s LanguageServer) off() LanguageServer { return LanguageServer{Enabled: s.Enabled} }

// over lays one server's settings over others, each by itself.
func (s Servers) over(under any) any {
	if len(s) == 0 {
		return under
	}
	out := maps.Clone(s)
	for name, below := range under.(Servers) {
		above := out[name]
		fill(reflect.ValueOf(&above).Elem(), reflect.ValueOf(below))
		out[name] = above
	}
	return out
}

// fill sets what is not set, each field as a whole: a command is not added to another.
func fill(above, below reflect.Value) {
	for i := range above.NumField() {
		if above.Field(i).IsZero() {
			above.Field(i).Set(below.Field(i))
		}
	}
}

// hold says what of a project's servers counts over the user's own, and tells the rest.
func (s Servers) hold(key string, own any, trusted bool, loosens *[]string) any {
	out := Servers{}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		entry := s[name]
		only := entry.Off() && reflect.DeepEqual(entry, entry.off())
		if !only && !reflect.DeepEqual(entry, own.(Servers)[name]) {
			*loosens = append(*loosens, fmt.Sprintf("%s %s %s", key, fault.Quote(name), fault.Escape(asJSON(entry))))
		}
		switch {
		case only || trusted:
			out[name] = entry
		case entry.Off():
			out[name] = entry.off()
		}
	}
	return out.orNone()
}

// orNone makes nothing of what is empty: it is not set.
func (s Servers) orNone() Servers {
	if len(s) == 0 {
		return nil
	}
	return s
}

// both are the servers of two folders that are open together: what one switches off
// is off, and what is set counts where both say the same. A folder by itself has
// Folder.LanguageServers.
func (s Servers) both(other any) any {
	out, others := Servers{}, other.(Servers)
	for _, all := range []Servers{s, others} {
		for name := range all {
			switch a, b := s[name], others[name]; {
			case a.Off() || b.Off():
				no := false
				out[name] = LanguageServer{Enabled: &no}
			case reflect.DeepEqual(a, b):
				out[name] = a
			}
		}
	}
	return out.orNone()
}

// entries is a setting that is an object whose entries stand each by itself, by name.
type entries interface {
	over(under any) any
	hold(key string, own any, trusted bool, loosens *[]string) any
	both(other any) any
}

// How many entries are read, and how much of one.
const (
	maxEntries = 100
	maxEntry   = 64 << 10
)

// decodeEntries reads such an object; an entry that is none does not spoil the others.
func (p *problems) decodeEntries(raw json.RawMessage, at, noun string, read func(name string, raw json.RawMessage, at string)) {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		p.add("setting %q is ignored: it must be an object", at)
		return
	}
	found := 0
	for _, name := range slices.Sorted(maps.Keys(object)) {
		at, raw := join(at, name), object[name]
		switch {
		case found == maxEntries:
			p.add("only the first %d %s are read", maxEntries, noun)
			return
		case len(raw) > maxEntry || name == "" || len(name) > 100:
			p.add("setting %q is ignored: it is too long", at)
		case string(raw) == "null":
		case bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")):
			found++
			read(name, raw, at)
		default:
			p.add("setting %q is ignored: it must be an object", at)
		}
	}
}

func (p *problems) decodeServers(raw json.RawMessage, into *Servers, at string) {
	out := Servers{}
	p.decodeEntries(raw, at, "servers", func(name string, raw json.RawMessage, at string) {
		var s LanguageServer
		p.decodeObject(raw, reflect.ValueOf(&s).Elem(), at)
		out[name] = s
	})
	*into = out.orNone()
}

// decodeRaw reads an object that is handed on as it is.
func (p *problems) decodeRaw(raw json.RawMessage, into *json.RawMessage, at string) {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		p.add("setting %q is ignored: it must be an object", at)
		return
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) == nil {
		*into = compact.Bytes()
	}
}

func (p *problems) checkLanguageServers(l *LanguageServers) {
	if !slices.Contains([]string{"", "editor", "own"}, l.Prefer) {
		p.add("languageServers.prefer %q does not exist; use editor or own", l.Prefer)
		l.Prefer = ""
	}
	if !slices.Contains([]string{"", "editor", "own"}, l.Diagnostics) {
		p.add("languageServers.diagnostics %q does not exist; use own or editor", l.Diagnostics)
		l.Diagnostics = ""
	}
	p.checkUpTo(&l.EditWaitSeconds, "languageServers.editWaitSeconds", 60)
	p.checkUpTo(&l.IdleMinutes, "languageServers.idleMinutes", math.MaxInt32)
}

func (p *problems) checkUpTo(value **float64, at string, most float64) {
	if v := *value; v != nil && (*v < 0 || *v > most) {
		p.add("%s is ignored: it must be between 0 and %.0f", at, most)
		*value = nil
	}
}
