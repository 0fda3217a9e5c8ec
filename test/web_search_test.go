package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pillion/internal/testrig"
	"pillion/internal/testrig/check"
)

// TestTheSearchKeyIsNowhere but in the request to the provider that the user chose, of
// which a project has no say.
func TestTheSearchKeyIsNowhere(t *testing.T) {
	t.Parallel()
	const key = "k3y-that-nobody-must-see"
	got := make(chan string, 1)
	answer := `{"web": {"results": [{"title": "Tea", "url": "https://tea.example/", "description": "hot"}]}}`
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("X-Subscription-Token") + " " + r.URL.String()
		if r.URL.Query().Get("q") == "bad" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, "the key %s is wrong", r.Header.Get("X-Subscription-Token"))
			return
		}
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(provider.Close)
	file := filepath.Join(t.TempDir(), "key")
	must(t, os.WriteFile(file, []byte(key+"\nmore\n"), 0o600))
	e := spawn(t, testrig.Options{Settings: object{"web": object{"search": object{"provider": "brave", "url": provider.URL, "keyCommand": "cat " + file}}}})
	var log bytes.Buffer
	e.OnNotice(func(_ string, params json.RawMessage) { log.Write(params) })
	e.Write(".pillion/settings.json", `{"web": {"search": {"url": "http://127.0.0.1:1", "keyCommand": "echo theirs"}}}`)
	for query, want := range map[string]string{"tea": "[map[snippet:hot title:Tea url:https://tea.example/]]", "bad": "<nil>"} {
		a, done := e.Ask("web_search", object{"query": query})
		preview, _ := a.Params["preview"].(object)
		check.Has(t, "the dialog", fmt.Sprint(preview["facts"]), strings.TrimPrefix(provider.URL, "http://"), query)
		check.Nothing(t, "before the yes it asked", got)
		r := answered(t, a, done, object{"decision": "approve", "decisionId": "approve"})
		check.Same(t, "it asked", testrig.Wait(t, got, "the request"), key+" /res/v1/web/search?count=10&q="+query)
		if fmt.Sprint(r.StructuredContent["results"]) != want || strings.Contains(fmt.Sprint(r), key) {
			t.Errorf("%s gives %v", query, r)
		}
	}
	nowhere(t, e, log.String(), key)
}
