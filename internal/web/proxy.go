package web

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"pillion/internal/fault"
)

// ParseHost reads what a command may reach: a host, or with "*." all that are below one, and
// with a port that alone; without one, those of HTTP. It gives the host as it goes over the
// network.
func ParseHost(text string) (string, error) {
	name, port := text, ""
	bad := fault.Invalid("%s is no host; write a name such as example.org, or example.org:22", fault.Quote(text))
	if host, after, err := net.SplitHostPort(text); err == nil {
		if name, port = host, after; port == "" {
			return "", bad
		}
	}
	below, wild := strings.CutPrefix(name, "*.")
	ascii, err := asciiHost(strings.Trim(below, "[]"))
	if err != nil || ascii == "" || strings.ContainsAny(ascii, "*/@ %") || len(text) > 300 || isNumeric(ascii) && (wild || !isAddress(ascii)) {
		return "", bad
	}
	if wild {
		ascii = "*." + ascii
	}
	if port == "" {
		return ascii, nil
	}
	at, err := netip.ParseAddrPort("127.0.0.1:" + port)
	if err != nil || at.Port() == 0 {
		return "", bad
	}
	return net.JoinHostPort(ascii, strconv.Itoa(int(at.Port()))), nil
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// isNumeric says whether a host is an address or what some programs read as one, such as
// 127.1: no name of a host ends in a number.
func isNumeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	_, err := strconv.ParseUint(last, 0, 64)
	return err == nil || isAddress(host) || strings.Trim(last, "0123456789") == ""
}

// Listed says whether one of the hosts, as ParseHost gives them, is this one at this port.
func Listed(hosts []string, host, port string) bool {
	return slices.ContainsFunc(hosts, func(listed string) bool {
		name, only, err := net.SplitHostPort(listed)
		if err != nil {
			name, only = listed, ""
		}
		if only != port && (only != "" || port != "80" && port != "443") {
			return false
		}
		below, wild := strings.CutPrefix(name, "*.")
		return name == host || wild && strings.HasSuffix(host, "."+below)
	})
}

// Proxy is an HTTP proxy that leads to listed hosts alone. A name that resolves to an address
// that is not public leads nowhere, unless it is a private one.
type Proxy struct {
	Hosts   []string // as ParseHost gives them
	Private []string

	mu      sync.Mutex // guards refused
	refused []string
}

// mostRefused bounds what Refused gives.
const mostRefused = 20

// Refused are the hosts, with their ports, that were asked for and are not listed.
func (p *Proxy) Refused() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.refused)
}

// Serve answers on the listener until that is closed.
func (p *Proxy) Serve(l net.Listener) error {
	server := &http.Server{Handler: p, ReadHeaderTimeout: Time, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10}
	return server.Serve(l)
}

// ServeHTTP leads one request on, or refuses it.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodConnect:
		p.tunnel(w, r)
	case r.URL.Scheme == "http" && r.URL.Host != "":
		forward := httputil.ReverseProxy{
			Rewrite:      func(*httputil.ProxyRequest) {},
			Transport:    &http.Transport{DialContext: p.dial, DisableKeepAlives: true, ResponseHeaderTimeout: time.Minute},
			ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { refuse(w, err) },
		}
		forward.ServeHTTP(w, r)
	default:
		http.Error(w, "this is a proxy", http.StatusBadRequest)
	}
}

func refuse(w http.ResponseWriter, err error) {
	status := http.StatusBadGateway
	if fault.CodeOf(err) == fault.PermissionDenied {
		status = http.StatusForbidden
	}
	http.Error(w, "pillion: "+err.Error(), status)
}

func (p *Proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	there, err := p.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		refuse(w, err)
		return
	}
	defer there.Close()
	here, early, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer here.Close()
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(there, early) // what was read ahead, and all that follows
		closeWrite(there)
	}()
	_, _ = io.Copy(here, there)
	closeWrite(here)
}

func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

// dial connects to a listed host.
func (p *Proxy) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fault.New(fault.PermissionDenied, "%s names no port", fault.Quote(address))
	}
	name, err := asciiHost(host)
	if err != nil || !Listed(p.Hosts, name, port) {
		p.note(net.JoinHostPort(host, port))
		return nil, fault.New(fault.PermissionDenied, "commands may not reach %s here", fault.Quote(address))
	}
	d := net.Dialer{Timeout: Time, Control: func(_, to string, _ syscall.RawConn) error { return p.check(to, name) }}
	return d.DialContext(ctx, network, net.JoinHostPort(name, port))
}

// check looks at an address that a listed name resolved to.
func (p *Proxy) check(to, name string) error {
	if isAddress(name) || name == "localhost" || IsNamed(p.Private, name) {
		return nil
	}
	return onlyPublic(name)("tcp", to, nil)
}

func (p *Proxy) note(address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(address) < 300 && len(p.refused) < mostRefused && !slices.Contains(p.refused, address) {
		p.refused = append(p.refused, address)
	}
}
