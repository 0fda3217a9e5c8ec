package gateway

import (
	"encoding/json"
	"strings"
)

// rooted has the paths in a call's arguments begin at the workspace's root: a leading / is
// that root in frames, unless the path lies inside an open folder as it stands.
func (h Host) rooted(arguments json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(arguments, &all) != nil {
		return arguments // the door says what is wrong
	}
	changed := false
	for _, name := range []string{"path", "from", "to", "cwd"} {
		var text string
		if json.Unmarshal(all[name], &text) == nil && h.relative(text) != text {
			all[name], changed = encode(h.relative(text)), true
		}
	}
	for _, name := range []string{"files", "paths"} {
		var list []string
		if json.Unmarshal(all[name], &list) != nil {
			continue
		}
		for i, text := range list {
			list[i] = h.relative(text)
			changed = changed || list[i] != text
		}
		all[name] = encode(list)
	}
	if !changed {
		return arguments
	}
	return encode(all)
}

// relative is one path.
func (h Host) relative(path string) string {
	if !strings.HasPrefix(path, "/") || h.Inside(path) {
		return path
	}
	return strings.TrimLeft(path, "/")
}

// restored has modified arguments name paths as the gateway did: what the user left as it
// was is the gateway's own.
func restored(modified, given, translated json.RawMessage) json.RawMessage {
	var now, own, ours map[string]json.RawMessage
	if json.Unmarshal(modified, &now) != nil || json.Unmarshal(given, &own) != nil || json.Unmarshal(translated, &ours) != nil {
		return modified
	}
	for name, value := range now {
		if string(value) == string(ours[name]) && own[name] != nil {
			now[name] = own[name]
		}
	}
	return encode(now)
}
