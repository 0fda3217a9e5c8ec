// Package web fetches pages for agents, text from the public network as Markdown, and
// searches with the provider that the user chose.
//
// Fetch is the entry point, and Search for who searches. What keeps it from a private network is checked on each
// connection, on the address that was really dialled, so neither a name that resolves
// to one, nor one that resolves otherwise the second time, nor a redirect gets there.
// Everything is bounded: time, bytes (unpacked ones), redirects.
//
// Proxy is the one through which commands in the sandbox reach what they may, with the same check.
//
// Deliberately not here: whether an agent may fetch (tools/policy), and the use of proxies that the
// environment names, behind which nobody could say where a connection ends.
package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"pillion/internal/fault"
)

// Bounds of a fetch.
const (
	Time         = 10 * time.Second
	MaxText      = 250_000 // characters
	maxBytes     = 2 << 20 // of a page, unpacked
	maxRedirects = 10
	secureTime   = 3 * time.Second // for https to answer in place of http
)

// Fetcher fetches pages; its zero value is ready.
type Fetcher struct {
	Resolver *net.Resolver // nil: the system's
}

// Request is what to fetch.
type Request struct {
	URL *url.URL // from Parse
	// Private are the hosts whose addresses may be private.
	Private []string
	// May says whether a redirect to a host may be followed.
	May func(to *url.URL) error

	here bool // only this machine is reached: what is sent is secret, and goes in the clear
}

// Page is what a server answered.
type Page struct {
	URL         string // after redirects
	Status      int
	ContentType string
	Content     string // at most MaxText characters
	Truncated   bool
}

// Parse reads an address as an agent writes it, and gives the one to fetch: a page of
// GitHub that shows a file becomes the file.
func Parse(address string) (*url.URL, error) {
	u, err := normalised(address)
	if err != nil {
		return nil, err
	}
	return rawFile(u), nil
}

func normalised(address string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, fault.Invalid("%s is no web address; give a whole one that begins with https://", fault.Quote(fault.Clip(address, 200)))
	case u.User != nil:
		return nil, fault.Invalid("the address has a user name or password in it; leave it out")
	}
	host, err := asciiHost(u.Hostname())
	if err != nil {
		return nil, fault.Invalid("%s is no name of a host; check the address", fault.Quote(u.Hostname()))
	}
	port := u.Port()
	if port == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		port = ""
	}
	u.Host = host
	if strings.Contains(host, ":") {
		u.Host = "[" + host + "]"
	}
	if port != "" {
		u.Host += ":" + port
	}
	u.Fragment, u.RawFragment = "", ""
	var query strings.Builder // as url.URL writes the path: what is shown is what goes over the network
	for _, c := range []byte(u.RawQuery) {
		if c > ' ' && c <= '~' {
			query.WriteByte(c)
		} else {
			fmt.Fprintf(&query, "%%%02X", c)
		}
	}
	u.RawQuery = query.String()
	return u, nil
}

// rawFile is the file that a page of GitHub shows.
func rawFile(u *url.URL) *url.URL {
	parts := strings.SplitN(strings.TrimPrefix(u.EscapedPath(), "/"), "/", 4)
	if u.Host != "github.com" || len(parts) < 4 || parts[2] != "blob" {
		return u
	}
	raw, err := url.Parse("https://raw.githubusercontent.com/" + parts[0] + "/" + parts[1] + "/" + parts[3])
	if err != nil {
		return u
	}
	return raw
}

// Fetch gets a page. Where http was asked for and https answers, it is https.
func (f *Fetcher) Fetch(ctx context.Context, r Request) (Page, error) {
	ctx, cancel := context.WithTimeout(ctx, Time)
	defer cancel()
	client, end := f.client(r)
	defer end()
	answer, err := f.open(ctx, client, r.URL)
	if err != nil {
		return Page{}, told(r.URL, err)
	}
	defer answer.Body.Close()
	page, err := read(answer)
	if err != nil {
		return page, told(r.URL, err)
	}
	return page, nil
}

func (f *Fetcher) open(ctx context.Context, client *http.Client, u *url.URL) (*http.Response, error) {
	if u.Scheme == "http" && u.Port() == "" {
		secure := *u
		secure.Scheme = "https"
		if answer, err := getSoon(ctx, client, secure.String()); err == nil || errors.As(err, new(*fault.Error)) {
			return answer, err
		}
	}
	return get(ctx, client, u.String())
}

// getSoon gives up when nothing has answered after secureTime.
func getSoon(ctx context.Context, client *http.Client, address string) (*http.Response, error) {
	ctx, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(secureTime, cancel)
	answer, err := get(ctx, client, address)
	if err != nil || !timer.Stop() {
		cancel()
		if answer != nil {
			answer.Body.Close()
		}
		return nil, errors.Join(err, context.Cause(ctx))
	}
	answer.Body = body{answer.Body, cancel}
	return answer, nil
}

// body ends its request's context with it.
type body struct {
	io.ReadCloser
	end context.CancelFunc
}

func (b body) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

func get(ctx context.Context, client *http.Client, address string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "pillion")
	request.Header.Set("Accept", "text/markdown, text/html;q=0.9, text/*;q=0.8, */*;q=0.5")
	return client.Do(request)
}

func (f *Fetcher) client(r Request) (_ *http.Client, end func()) {
	transport := &http.Transport{
		DialContext:            f.dial(r),
		MaxResponseHeaderBytes: 256 << 10,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    Time,
	}
	client := &http.Client{Transport: transport, CheckRedirect: func(to *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fault.New(fault.ExecutionFailed, "the server redirects more than %d times", maxRedirects).WithHint("fetch another address")
		}
		if next, err := normalised(to.URL.String()); err != nil {
			return err
		} else if r.May != nil && (next.Host != via[0].URL.Host || next.Scheme != "https" && via[0].URL.Scheme == "https") { // another host, or the address for all to read
			return r.May(next)
		}
		return nil
	}}
	return client, transport.CloseIdleConnections
}

// dial connects to public addresses alone, but for the hosts that are named.
func (f *Fetcher) dial(r Request) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		d := net.Dialer{Resolver: f.Resolver}
		switch {
		case r.here:
			d.Control = onlyHere(host)
		case !IsNamed(r.Private, host):
			d.Control = onlyPublic(host)
		}
		return d.DialContext(ctx, network, address)
	}
}

// IsNamed reports whether a host is among those whose addresses may be private.
func IsNamed(hosts []string, host string) bool {
	for _, one := range hosts {
		if strings.EqualFold(one, host) {
			return true
		}
	}
	return false
}

// told is an error as an agent reads it.
func told(u *url.URL, err error) error {
	var own *fault.Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
		return fault.New(fault.Timeout, "%s did not answer in full within %s", fault.Escape(u.Host), Time).WithHint("try another address, or later")
	case errors.Is(err, context.Canceled):
		return err
	}
	return fault.New(fault.ExecutionFailed, "%s cannot be fetched: %s", fault.Escape(u.Host), fault.Escape(plainError(err))).WithHint("check the address")
}

// plainError is an error without the address, which whoever reads it knows.
func plainError(err error) string {
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	return err.Error()
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// read takes the text of an answer.
func read(answer *http.Response) (Page, error) {
	page := Page{URL: answer.Request.URL.String(), Status: answer.StatusCode, ContentType: answer.Header.Get("Content-Type")}
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxBytes+1))
	if err != nil {
		return page, err
	}
	page.Truncated = len(raw) > maxBytes
	raw = raw[:min(len(raw), maxBytes)]
	if page.ContentType == "" {
		page.ContentType = http.DetectContentType(raw)
	}
	kind, _, err := mime.ParseMediaType(page.ContentType)
	if err != nil {
		kind = http.DetectContentType(raw)
	}
	text, err := textOf(raw, kind, page)
	if err != nil {
		return page, err
	}
	page.Content, page.Truncated = clip(text, page.Truncated)
	return page, nil
}

func clip(text string, truncated bool) (string, bool) {
	count := 0
	for at := range text {
		if count == MaxText {
			return text[:at], true
		}
		count++
	}
	return text, truncated
}

// Public says whether an address is one of the public network.
func Public(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	for _, p := range special {
		if p.Contains(ip) {
			return false
		}
	}
	return true
}

// special are the ranges of the registries of special-purpose addresses (RFC 6890), and
// addresses where clouds tell a machine its secrets.
var special = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "168.63.129.16/32",
	"::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
)

func prefixes(texts ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range texts {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

func refused(host string, ip netip.Addr) error {
	return fault.New(fault.PermissionDenied, "%s is at %s, which is not a public address; nothing was sent", fault.Quote(host), ip).
		WithHint("the user can allow it with the setting web.privateHosts: [%q]", fault.Escape(host))
}
