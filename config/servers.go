package config

import (
	"bytes"
	"encoding/json"
	"time"
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
type Servers = Named[LanguageServer]

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

func (s LanguageServer) off() LanguageServer { return LanguageServer{Enabled: s.Enabled} }

func (s LanguageServer) over(below LanguageServer) LanguageServer { return fill(s, below) }

func (s LanguageServer) inProject(LanguageServer) (counts LanguageServer, field, because string) {
	return s, "", ""
}

// decodeRaw reads an object that is handed on as it is.
func (p *problems) decodeRaw(raw json.RawMessage, into *json.RawMessage, at string) {
	var compact bytes.Buffer
	if p.object(raw, at) != nil && json.Compact(&compact, raw) == nil {
		*into = compact.Bytes()
	}
}
