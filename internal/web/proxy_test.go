package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestParseHost(t *testing.T) {
	for text, want := range map[string]string{
		"example.org": "example.org", "Example.ORG.": "example.org", "example.org:22": "example.org:22", "*.example.org": "*.example.org", "*.example.org:8443": "*.example.org:8443",
		"bücher.example": "xn--bcher-kva.example", "127.0.0.1:5432": "127.0.0.1:5432", "::1": "::1", "[::1]:80": "[::1]:80", "localhost": "localhost",
		"": "", "*": "", "*.": "", "a b": "", "example.org:": "", "example.org:0": "", "example.org:70000": "", "example.org:x": "", "https://example.org": "", "example.org/x": "", "me@example.org": "", "a.*.org": "",
		strings.Repeat("a", 400): "",
		// Each has one spelling, and none leads to addresses by a wildcard or a short form.
		"example.org..": "example.org", "example.org\u3002:0443": "example.org:443", "[::ffff:10.0.0.1]:80": "10.0.0.1:80", "\uff11\uff12\uff17.0.0.1": "127.0.0.1", "fe80::1%lo": "fe80::1",
		"*.0.0.1:2375": "", "*.1": "", "127.1": "", "0x7f.1": "", "0x7f000001": "", "2130706433": "", "017700000001": "", "*.::1": "", "..": "",
	} {
		got, err := ParseHost(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestListed(t *testing.T) {
	hosts := []string{"example.org", "*.below.example", "ssh.example:22"}
	for at, want := range map[string]bool{
		"example.org:443": true, "example.org:80": true, "example.org:22": false, "sub.example.org:443": false, "notexample.org:443": false,
		"a.below.example:443": true, "a.b.below.example:80": true, "below.example:443": false, "xbelow.example:443": false,
		"ssh.example:22": true, "ssh.example:443": false,
	} {
		host, port, _ := net.SplitHostPort(at)
		if got := Listed(hosts, host, port); got != want {
			t.Errorf("%s: %v", at, got)
		}
	}
}

// newProxy serves one, and gives a client behind it.
func newProxy(t *testing.T, p *Proxy) (*http.Client, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = p.Serve(l)
	}()
	transport := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: l.Addr().String()})}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		l.Close()
		<-done
	})
	return &http.Client{Transport: transport}, l.Addr().String()
}

func TestProxyLeadsToListedHostsAlone(t *testing.T) {
	there := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s", r.URL.Path, body)
	}))
	defer there.Close()
	plain := httptest.NewServer(there.Config.Handler)
	defer plain.Close()
	p := &Proxy{Hosts: []string{there.Listener.Addr().String(), plain.Listener.Addr().String()}}
	client, _ := newProxy(t, p)
	transport, _ := client.Transport.(*http.Transport)
	transport.TLSClientConfig = there.Client().Transport.(*http.Transport).TLSClientConfig
	for _, base := range []string{there.URL, plain.URL} {
		answer, err := client.Post(base+"/x", "text/plain", strings.NewReader("sent"))
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if string(body) != "/x sent" {
			t.Errorf("%s: %q", base, body)
		}
	}
	if got := p.Refused(); len(got) > 0 {
		t.Errorf("refused %q", got)
	}
	p.Hosts = []string{"example.org"}
	if answer, err := client.Get(plain.URL); err != nil || answer.StatusCode != http.StatusForbidden {
		t.Errorf("%+v, %v", answer, err)
	} else {
		answer.Body.Close()
	}
	transport.CloseIdleConnections()
	if answer, err := client.Get(there.URL); err == nil {
		t.Errorf("%+v", answer)
		answer.Body.Close()
	}
	if want := []string{plain.Listener.Addr().String(), there.Listener.Addr().String()}; !slices.Equal(p.Refused(), want) {
		t.Errorf("refused %q, want %q", p.Refused(), want)
	}
}

// A listed name does not lead to this machine.
func TestProxyLeadsToNoPrivateAddress(t *testing.T) {
	there := httptest.NewServer(http.NotFoundHandler())
	defer there.Close()
	_, port, _ := net.SplitHostPort(there.Listener.Addr().String())
	p := &Proxy{Hosts: []string{"localtest.invalid:" + port, "localhost:" + port}}
	if err := p.check("127.0.0.1:"+port, "localtest.invalid"); err == nil {
		t.Error("a name led to this machine")
	}
	p.Private = []string{"localtest.invalid"}
	if err := p.check("127.0.0.1:"+port, "localtest.invalid"); err != nil {
		t.Error(err)
	}
	client, _ := newProxy(t, p)
	answer, err := client.Get("http://localhost:" + port)
	if err != nil || answer.StatusCode != http.StatusNotFound {
		t.Fatalf("%+v, %v", answer, err)
	}
	answer.Body.Close()
}

func TestProxyAndNonsense(t *testing.T) {
	p := &Proxy{}
	_, address := newProxy(t, p)
	for _, request := range []string{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "CONNECT x HTTP/1.1\r\nHost: x\r\n\r\n", "GET ftp://x/ HTTP/1.1\r\nHost: x\r\n\r\n", "\x16\x03\x01\r\n\r\n"} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		line, _ := bufio.NewReader(conn).ReadString('\n')
		conn.Close()
		if !strings.HasPrefix(line, "HTTP/1.1 4") {
			t.Errorf("%q: %q", request, line)
		}
	}
	for i := range 2 * mostRefused {
		p.note(fmt.Sprintf("%d.example:443", i))
	}
	if len(p.Refused()) != mostRefused {
		t.Errorf("%d", len(p.Refused()))
	}
}
