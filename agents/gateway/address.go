package gateway

import (
	"net/netip"
	"net/url"
	"strings"

	"pillion/internal/fault"
)

// address is where a gateway is.
type address struct {
	dial      string // all of it
	shown     string // without what may be secret
	host      string
	sessionID string
	loopback  bool // only this machine may be at the other end
}

// parseAddress reads the address of a gateway for a session. {session_id} in it stands for
// the session; without it, the session is put behind the path, which is /ws if there is
// none. An address that names a session already (…/ws/ID) is left so, unless the editor
// named one.
func parseAddress(text, id string, named, insecure bool) (address, error) {
	const how = "give an address such as wss://codelab.example.org/ws"
	text = strings.TrimSpace(text)
	const place = "{session_id}"
	placed := strings.Contains(text, place)
	u, err := url.Parse(strings.ReplaceAll(text, place, url.PathEscape(id)))
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "":
		return address{}, fault.Invalid("the gateway's address cannot be read; %s", how)
	case u.Scheme != "ws" && u.Scheme != "wss":
		return address{}, fault.Invalid("the gateway's address begins with %s; %s", fault.Quote(u.Scheme+"://"), how)
	case u.User != nil:
		return address{}, fault.Invalid("the gateway's address has a name or a password in it; give the token instead")
	}
	u.Fragment = ""
	path := strings.TrimRight(u.Path, "/")
	switch before, last, found := strings.Cut(path, "/ws/"); {
	case placed:
	case found && !strings.Contains(last, "/") && !named:
		id = last
	case found && !strings.Contains(last, "/"):
		u = u.JoinPath("..", id)
		u.Path = before + "/ws/" + id
	case path == "":
		u = u.JoinPath("ws", id)
	default:
		u = u.JoinPath(id)
	}
	shown := *u
	shown.RawQuery = ""
	a := address{dial: u.String(), shown: shown.String(), host: u.Hostname(), sessionID: id}
	if a.loopback = u.Scheme == "ws" && !insecure; a.loopback && !isLoopback(u.Hostname()) {
		return address{}, fault.Invalid("without TLS (ws://) your token and your files would cross the network in the clear; use wss://, or set gateway.allowInsecure")
	}
	return a, nil
}

// isLoopback says of a name or address whether it is meant to be this machine. Whether it
// is one is checked again where the connection is made.
func isLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// checkToken says whether a token can be sent in a header.
func checkToken(token string) error {
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fault.Invalid("the token has characters that no token has: copy it again, without blanks and line breaks")
	}
	return nil
}
