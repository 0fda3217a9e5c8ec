package web

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"pillion/internal/fault"
)

func serve(t *testing.T, answer http.HandlerFunc) (address string) {
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL
}

func mustParse(t *testing.T, address string) *url.URL {
	u, err := Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func fetch(t *testing.T, address string) (Page, error) {
	return (&Fetcher{}).Fetch(t.Context(), Request{URL: mustParse(t, address), Private: []string{"127.0.0.1"}})
}

func wantCode(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if err == nil || fault.From(err).Code != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

func TestPages(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			fmt.Fprint(w, `<html><head><title>x</title><style>p{}</style><script>alert(1)</script></head><body><h1>Tea</h1><p>Boil <b>it</b>. <a href="/more">More</a></p><table><tr><th>a</th></tr><tr><td>1</td></tr></table></body></html>`)
		case "/latin":
			w.Header().Set("Content-Type", "text/plain; charset=iso-8859-1")
			w.Write([]byte("caf\xe9")) //nolint:errcheck // the test reads it
		case "/image":
			w.Header().Set("Content-Type", "image/png")
			w.Write([]byte("\x89PNG")) //nolint:errcheck // the test reads it
		case "/moved":
			http.Redirect(w, r, "/page", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		case "/empty":
		default:
			http.NotFound(w, r)
		}
	})
	if p, err := fetch(t, at+"/moved"); err != nil || p.URL != at+"/page" || p.Status != 200 || p.Content != "# Tea\n\nBoil **it**. [More]("+at+"/more)\n\n| a |\n|---|\n| 1 |" {
		t.Errorf("got %+v, %v", p, err)
	}
	if p, err := fetch(t, at+"/latin"); err != nil || p.Content != "café" {
		t.Errorf("got %+v, %v", p, err)
	}
	if p, err := fetch(t, at+"/gone"); err != nil || p.Status != 404 || !strings.Contains(p.Content, "not found") {
		t.Errorf("got %+v, %v", p, err)
	}
	if p, err := fetch(t, at+"/empty"); err != nil || p.Content != "" {
		t.Errorf("got %+v, %v", p, err)
	}
	_, err := fetch(t, at+"/image")
	wantCode(t, err, fault.BinaryFile)
	_, err = fetch(t, at+"/round")
	wantCode(t, err, fault.ExecutionFailed)
}

// A page may be endless, huge or huge once it is unpacked: what is read of it is bounded.
func TestPagesThatAreTooMuch(t *testing.T) {
	ended := make(chan struct{})
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		line := strings.Repeat("x", 1<<16)
		switch r.URL.Path {
		case "/huge":
			for range 5 << 30 / len(line) {
				if _, err := io.WriteString(w, line); err != nil {
					close(ended)
					return
				}
			}
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for range 1 << 30 / len(line) {
				if _, err := io.WriteString(z, line); err != nil {
					return
				}
			}
			z.Close() //nolint:errcheck // nobody reads so far
		case "/endless":
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/headers":
			w.Header().Set("X-Long", strings.Repeat("y", 1<<20))
		}
	})
	for _, path := range []string{"/huge", "/bomb"} {
		if p, err := fetch(t, at+path); err != nil || !p.Truncated || len(p.Content) != MaxText {
			t.Errorf("%s: %d characters, %v", path, len(p.Content), err)
		}
	}
	<-ended // the server was told to stop
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := (&Fetcher{}).Fetch(ctx, Request{URL: mustParse(t, at+"/endless"), Private: []string{"127.0.0.1"}})
	wantCode(t, err, fault.Timeout)
	_, err = fetch(t, at+"/headers")
	wantCode(t, err, fault.ExecutionFailed)
}

// No way leads to a private address, and nothing is sent there.
func TestPrivateAddresses(t *testing.T) {
	var reached atomic.Int32
	secret := serve(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	_, port, err := net.SplitHostPort(strings.TrimPrefix(secret, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	var lookups atomic.Int32
	f := &Fetcher{Resolver: resolver(t, func(name string) netip.Addr {
		if name == "changes.test." && lookups.Add(1) == 1 {
			return netip.MustParseAddr("192.0.2.1") // whoever asks before connecting hears this
		}
		return netip.MustParseAddr("127.0.0.1")
	})}
	away := ""
	open := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, away, http.StatusFound) })
	for _, to := range []string{
		"http://localhost:" + port, "http://inside.test:" + port, "http://changes.test:" + port, "http://[::1]:" + port, "http://[::ffff:127.0.0.1]:" + port, "http://0.0.0.0:" + port,
		"http://169.254.169.254/latest/meta-data/", "http://10.0.0.1", "http://[fd00:ec2::254]/", "http://100.100.100.200/",
	} {
		_, err := f.Fetch(t.Context(), Request{URL: mustParse(t, to)})
		wantCode(t, err, fault.PermissionDenied)
		away = to
		_, err = f.Fetch(t.Context(), Request{URL: mustParse(t, open), Private: []string{"127.0.0.1"}})
		if strings.Contains(to, "127.0.0.1") {
			continue // that one is allowed here
		}
		wantCode(t, err, fault.PermissionDenied)
	}
	if n := reached.Load(); n > 1 {
		t.Errorf("the private server was reached %d times", n)
	}
}

// resolver asks a name server of our own.
func resolver(t *testing.T, answer func(name string) netip.Addr) *net.Resolver {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m = dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true}, Questions: m.Questions}
			if q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}, Body: &dnsmessage.AResource{A: answer(q.Name.String()).As4()},
				}}
			}
			if packed, err := m.Pack(); err == nil {
				conn.WriteTo(packed, from) //nolint:errcheck // who asked, asks again
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// A redirect to another host is judged first.
func TestARedirectIsJudged(t *testing.T) {
	for to, host := range map[string]string{"https://elsewhere.example/x": "elsewhere.example", "https://github.com/o/r/blob/main/x": "github.com"} {
		at := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
		no, asked := errors.New("no"), ""
		_, err := (&Fetcher{}).Fetch(t.Context(), Request{URL: mustParse(t, at), Private: []string{"127.0.0.1"}, May: func(to *url.URL) error {
			asked = to.Host
			return fault.New(fault.PolicyDenied, "%w", no)
		}})
		wantCode(t, err, fault.PolicyDenied)
		if asked != host {
			t.Errorf("asked about %q, not %s", asked, host)
		}
	}
}

func TestAddresses(t *testing.T) {
	for given, want := range map[string]string{
		"https://Example.org:443/a?b#c":                  "https://example.org/a?b",
		"http://bücher.example:8080":                     "http://xn--bcher-kva.example:8080",
		"https://exаmple.org/":                           "https://xn--exmple-4nf.org/", // a Cyrillic letter
		"https://github.com/o/r/blob/main/a%20b/c.go#L3": "https://raw.githubusercontent.com/o/r/main/a%20b/c.go",
		"https://github.com/o/r/issues/1":                "https://github.com/o/r/issues/1",
		"https://example.org/\u200b?a=\u200b%20b+c d":    "https://example.org/%E2%80%8B?a=%E2%80%8B%20b+c%20d",
		"https://[2001:db8::1]/":                         "https://[2001:db8::1]/",
		"https://example.org./":                          "https://example.org/",
		"ftp://example.org":                              "", "example.org": "", "https://u:p@example.org": "", "https://": "", "https://exa mple.org": "", "file:///etc/passwd": "",
	} {
		u, err := Parse(given)
		switch {
		case want == "":
			wantCode(t, err, fault.InvalidArguments)
		case err != nil || u.String() != want:
			t.Errorf("%s: got %v, %v, want %s", given, u, err, want)
		}
	}
}

func TestPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1::1": true, "::ffff:93.184.216.34": true,
		"127.0.0.1": false, "::1": false, "::ffff:127.0.0.1": false, "::127.0.0.1": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false,
		"169.254.169.254": false, "fe80::1%eth0": false, "fd00::1": false, "100.64.0.1": false, "0.0.0.0": false, "224.0.0.1": false, "255.255.255.255": false, "168.63.129.16": false, "ff02::1": false, "fec0::1": false, "::ffff:0:7f00:1": false, "::ffff:0:a9fe:a9fe": false,
	} {
		if got := Public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %t", address, got)
		}
	}
}
