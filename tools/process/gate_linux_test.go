package process

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// A command without a network reaches what is listed by the proxy, and nothing by any other
// way; what it asked for beside that is told.
func TestListedHostsCanBeReached(t *testing.T) {
	p := newPlace(t)
	r := newRunner(t)
	if r.Walls().Level != Bubblewrap {
		t.Log("bubblewrap does not work here, and no other level has a gate")
		return
	}
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("here " + r.URL.Path + "\n")) }))
	defer there.Close()
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	defer elsewhere.Close()
	other := elsewhere.Listener.Addr().String()
	spec := p.spec(Bubblewrap, quote(ownProgram(t, p.inside))+" get "+there.URL+"/a/ "+elsewhere.URL+"/ "+there.URL+"/b/; echo $HTTPS_PROXY")
	spec.Confine.Offline, spec.Confine.Hosts = true, []string{there.Listener.Addr().String()}
	spec.Env = map[string]string{"NO_PROXY": "", "no_proxy": ""}
	for range 2 { // the second time in a box that was made ahead
		got := run(t, r, spec)
		lines := strings.Split(got.Stdout, "\n")
		if len(lines) != 5 || lines[0] != "200 here /a/" || !strings.Contains(lines[1], "403") || lines[2] != "200 here /b/" || lines[3] != "http://127.0.0.1:3128" || !slices.Equal(got.Refused, []string{other}) {
			t.Errorf("%+v", got)
		}
	}
	t.Run("and nothing else", func(t *testing.T) {
		for _, hosts := range [][]string{nil, {"127.0.0.1:1"}} {
			spec := p.spec(Bubblewrap, "")
			spec.Confine.Offline, spec.Confine.Hosts = true, hosts
			if speaks(t, r, spec, "tcp", other) {
				t.Errorf("%q: it has the whole network", hosts)
			}
		}
	})
	t.Run("a box is for its own hosts", func(t *testing.T) {
		spec.Confine.Hosts, spec.Confine.PrivateHosts = []string{"a.example", "b.example"}, nil
		run(t, r, spec)
		first := made(t, r)
		spec.Confine.Hosts, spec.Confine.PrivateHosts = []string{"a.example"}, []string{"b.example"}
		if run(t, r, spec); made(t, r) == first {
			t.Error("a private host was taken for one that is listed")
		}
		spec.Confine.Hosts = []string{other}
		if got := run(t, r, spec); !slices.Equal(got.Refused, []string{there.Listener.Addr().String()}) {
			t.Errorf("%+v", got)
		}
	})
}
