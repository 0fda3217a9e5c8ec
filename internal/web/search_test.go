package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pillion/internal/fault"
)

const theKey = "tvly-0123456789"

func with(provider, url string) Search {
	return Search{Provider: provider, URL: url, Key: func(context.Context) (string, error) { return theKey, nil }}
}

// Each provider is asked as its own documents say, and its answer understood.
func TestProviders(t *testing.T) {
	asked := ""
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) //nolint:errcheck // compared
		asked = fmt.Sprint(r.Method, " ", r.URL, " ", string(body), " ", r.Header.Get("Authorization"), r.Header.Get("X-Subscription-Token"))
		switch r.URL.Path {
		case "/res/v1/web/search":
			fmt.Fprint(w, `{"type":"search","query":{"original":"a b"},"web":{"type":"search","results":[{"title":"T &amp; x","url":"https://t.example/","description":"A <strong>b</strong>","age":"1d"}]}}`)
		case "/search", "/deep/search":
			fmt.Fprint(w, `{"query":"a b","number_of_results":1,"answers":[],"results":[{"title":"T & x","url":"https://t.example/","content":"A b","score":0.5,"raw_content":null}]}`)
		default:
			http.NotFound(w, r)
		}
	})
	for _, one := range []struct{ provider, url, want string }{
		{"searxng", at, "GET /search?format=json&q=a+b  "},
		{"searxng", at + "/deep/", "GET /deep/search?format=json&q=a+b  "},
		{"searxng", at + "/search?x=1", "GET /search?format=json&q=a+b  "},
		{"tavily", at, `POST /search {"max_results":7,"query":"a b"} Bearer ` + theKey},
		{"brave", at, "GET /res/v1/web/search?count=7&q=a+b  " + theKey},
	} {
		found, err := (&Fetcher{}).Search(t.Context(), with(one.provider, one.url), "a b", 7)
		if err != nil || len(found) != 1 || found[0] != (Found{"T & x", "https://t.example/", "A b"}) || asked != one.want {
			t.Errorf("%s: %+v, %v; asked %s", one.provider, found, err, asked)
		}
	}
}

// Whatever a server answers, it is bounded, and no error has the key.
func TestBadProviders(t *testing.T) {
	answer := http.HandlerFunc(nil)
	var elsewhere atomic.Int32
	other := serve(t, func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) })
	at := serve(t, func(w http.ResponseWriter, r *http.Request) { answer(w, r) })
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "3")
			http.Error(w, "your key "+theKey+" is wrong", code)
		}
	}
	text := func(s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, s) }
	} //nolint:errcheck // the test reads it
	for what, one := range map[string]struct {
		answer http.HandlerFunc
		code   fault.Code
	}{
		"no JSON":  {text("<html>"), fault.ExecutionFailed},
		"a list":   {text("[]"), fault.ExecutionFailed},
		"deep":     {text(strings.Repeat("[", 1<<20)), fault.ExecutionFailed},
		"huge":     {text(`{"results":[{"title":"` + strings.Repeat("x", maxBytes) + `"}]}`), fault.FileTooLarge},
		"bomb":     {bomb, fault.FileTooLarge},
		"key":      {status(401), fault.ExecutionFailed},
		"too soon": {status(429), fault.RateLimited},
		"broken":   {status(500), fault.ExecutionFailed},
		"moved":    {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusTemporaryRedirect) }, fault.ExecutionFailed},
		"slow":     {func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush(); <-r.Context().Done() }, fault.Timeout},
	} {
		answer = one.answer
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if what == "slow" {
			ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
		}
		_, err := (&Fetcher{}).Search(ctx, with("tavily", at), "a", 5)
		cancel()
		if wantCode(t, err, one.code); err == nil {
			t.Errorf("%s: no error", what)
			continue
		}
		if said, _ := json.Marshal(fault.From(err)); strings.Contains(string(said), theKey) { //nolint:errcheck // texts
			t.Errorf("%s: the error has the key: %s", what, said)
		}
	}
	if elsewhere.Load() > 0 {
		t.Error("a redirect was followed")
	}
}

func bomb(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	line := bytes.Repeat([]byte(" "), 1<<16)
	for range 1 << 28 / len(line) {
		if _, err := z.Write(line); err != nil {
			return
		}
	}
	z.Close() //nolint:errcheck // nobody reads so far
}

// Results are bounded in number and length, and are plain lines.
func TestFoundIsPlain(t *testing.T) {
	raw, err := json.Marshal(map[string]any{"results": append([]map[string]string{
		{"title": "a\x00\u202eb<script>c</script>", "url": "https://x.example/", "content": strings.Repeat("é ", 1000)},
		{"title": "no", "url": "javascript:alert(1)"},
		{"title": "no", "url": "https://x.example/" + strings.Repeat("y", maxLink)},
	}, many(30)...)})
	if err != nil {
		t.Fatal(err)
	}
	at := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(raw) }) //nolint:errcheck // the test reads it
	found, err := (&Fetcher{}).Search(t.Context(), with("searxng", at), "a", MaxFound)
	if err != nil || len(found) != MaxFound || found[1].Title != "0" {
		t.Fatalf("%d found, %v", len(found), err)
	}
	if f := found[0]; f.Title != `a\x00\u202ebc` || len([]rune(f.Snippet)) != maxSnippet {
		t.Errorf("title %q, %d characters", f.Title, len([]rune(f.Snippet)))
	}
}

func many(n int) (out []map[string]string) {
	for i := range n {
		out = append(out, map[string]string{"title": fmt.Sprint(i), "url": "http://y.example/"})
	}
	return out
}

// The provider's usual address must be public, as that of any page. One that the user named
// may be private; then the key goes over TLS, or stays on this machine.
func TestWhereSearchesGo(t *testing.T) {
	f := &Fetcher{Resolver: resolver(t, func(name string) netip.Addr {
		if name == "far.test." {
			return netip.MustParseAddr("198.51.100.1")
		}
		return netip.MustParseAddr("127.0.0.1")
	})}
	for _, s := range []Search{with("tavily", ""), with("brave", ""), with("brave", "http://far.test")} {
		_, err := f.Search(t.Context(), s, "a", 5)
		wantCode(t, err, fault.PermissionDenied)
	}
	at := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"results":[]}`) })
	if found, err := f.Search(t.Context(), with("tavily", strings.Replace(at, "127.0.0.1", "near.test", 1)), "a", 5); err != nil || len(found) != 0 {
		t.Errorf("on this machine: %v, %v", found, err)
	}
}

// What is missing in the settings is said before anybody is asked.
func TestWhatIsMissing(t *testing.T) {
	for want, s := range map[string]Search{
		"web.search.provider":   {},
		"web.search.url to the": {Provider: "searxng"},
		"web.search.url to one": {Provider: "searxng", URL: "search.example.org"},
		"web.search.keyCommand": {Provider: "brave"},
	} {
		if _, _, err := s.At(); err == nil || !strings.Contains(fault.From(err).Hint, want) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	if title, host, err := with("brave", "").At(); title != "Brave" || host != "api.search.brave.com" || err != nil {
		t.Errorf("%s at %s, %v", title, host, err)
	}
}
