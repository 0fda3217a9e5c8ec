package rpc

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"pillion/internal/fault"
	"pillion/internal/wire"
)

// doubts are the projects' settings files that an editor without a plugin was told
// of. Trust given there is for the text that was shown.
type doubts struct {
	mu    sync.Mutex        // guards shown
	shown map[string]string // hashes, by path
}

// settingsText names a text of a settings file.
type settingsText struct {
	Path string `json:"path"`
	Hash string `json:"hash"`
}

func (s *server) settingsTrust(_ context.Context, p settingsText) (any, error) {
	return s.trust(p.Path, p.Hash)
}

func (s *server) settingsIgnore(_ context.Context, p settingsText) (any, error) {
	if err := s.running().Ignore(p.Path, p.Hash); err != nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "it asks as before: %v", err)
	}
	return map[string]bool{"ignored": true}, nil
}

func (s *server) rulesForget(_ context.Context, p forgetParams) (any, error) {
	if err := s.running().ForgetRule(p.Folder, p.Rule); err != nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "not forgotten: %v", err)
	}
	return map[string]bool{"forgotten": true}, nil
}

type forgetParams struct {
	Folder string `json:"folder"`
	Rule   string `json:"rule"`
}

func (s *server) trust(path, hash string) (any, error) {
	if err := s.running().Trust(path, hash); err != nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "not trusted: %v", err)
	}
	return map[string]bool{"trusted": true}, nil
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
