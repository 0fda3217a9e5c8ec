package rpc

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"pillion/internal/fault"
	"pillion/internal/wire"
)

// settingsUntrusted is settings/untrusted.
type settingsUntrusted struct {
	Path  string   `json:"path"`
	Hash  string   `json:"hash"`
	Rules []string `json:"rules"` // empty: nothing is asked any more
}

// doubts are the projects' settings files that an editor without a plugin was told
// of. Trust given there is for the text that was shown.
type doubts struct {
	mu    sync.Mutex        // guards shown
	shown map[string]string // hashes, by path
}

func (s *server) untrusted(c client, u settingsUntrusted) {
	if u.Rules == nil {
		u.Rules = []string{}
	}
	if c.Pillion {
		s.conn.Notify("settings/untrusted", u) //nolint:errcheck // without it nothing is trusted
		return
	}
	s.doubts.mu.Lock()
	defer s.doubts.mu.Unlock()
	if len(u.Rules) == 0 {
		delete(s.doubts.shown, u.Path)
		return
	}
	if s.doubts.shown == nil {
		s.doubts.shown = map[string]string{}
	}
	rules := strings.Join(u.Rules, "\n")
	how := "The command pillion.trustSettings trusts exactly this text; so does `pillion trust` in a terminal."
	if s.doubts.shown[u.Path] = u.Hash; len(rules) > boxPreview {
		delete(s.doubts.shown, u.Path) // nobody trusts by command what was not on show
		how = "There is more than fits here: `pillion trust` in a terminal shows all of it, and asks."
	}
	s.show(messageWarning, "Pillion: %s asks for more than you trust. These settings are ignored:\n%s\n%s", fault.Escape(u.Path), clip(rules, boxPreview), how)
}

func (s *server) settingsTrust(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := params[struct {
		Path string `json:"path"`
		Hash string `json:"hash"`
	}](raw)
	if err != nil {
		return nil, err
	}
	return s.trust(p.Path, p.Hash)
}

func (s *server) trust(path, hash string) (any, error) {
	if err := s.running().Trust(path, hash); err != nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "not trusted: %v", err)
	}
	return trusted{true}, nil
}

// trusted is the result of settings/trust.
type trusted struct {
	Trusted bool `json:"trusted"`
}

// trustShown trusts what a message showed: the file named, or the only one.
func (s *server) trustShown(path string) (any, error) {
	s.doubts.mu.Lock()
	shown := maps.Clone(s.doubts.shown)
	s.doubts.mu.Unlock()
	if path == "" && len(shown) == 1 {
		path = slices.Sorted(maps.Keys(shown))[0]
	}
	hash, ok := shown[path]
	switch {
	case len(shown) == 0:
		return nil, wire.Errorf(wire.CodeRequestFailed, "no project settings are waiting for your trust")
	case path == "":
		return nil, wire.Errorf(wire.CodeInvalidParams, "several are waiting for your trust; name one: %s", strings.Join(slices.Sorted(maps.Keys(shown)), ", "))
	case !ok:
		return nil, wire.Errorf(wire.CodeInvalidParams, "%s is not waiting for your trust", fault.Quote(path))
	}
	result, err := s.trust(path, hash)
	if err == nil {
		s.show(messageInfo, "Pillion: %s is now trusted.", fault.Escape(path))
	}
	return result, err
}
