package web

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"

	"pillion/internal/fault"
)

// Search is where to search, as the user's settings have it.
type Search struct {
	Provider string // a name in providers; "": none is set
	URL      string // of the provider; "": the usual one
	// Key gets the user's key when one is needed; nil: there is none.
	Key func(context.Context) (string, error)
}

// Found is a result of a search. Its texts are one visible line each.
type Found struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Snippet string `json:"snippet"`
}

// Bounds of a search.
const (
	MaxQuery   = 400 // characters, what Brave takes
	MaxFound   = 20
	maxTitle   = 200 // characters
	maxSnippet = 500
	maxLink    = 2000
)

// provider is how one is asked.
type provider struct {
	title   string
	url     string // "": the user has to say
	path    string
	key     bool
	request func(u *url.URL, query string, limit int, key string) *http.Request
	read    func(raw []byte) ([]Found, error)
}

// providers are those that can be set, by name.
var providers = map[string]provider{
	"searxng": {
		title: "SearXNG", path: "/search",
		request: func(u *url.URL, query string, _ int, _ string) *http.Request {
			return asked(u, url.Values{"q": {query}, "format": {"json"}})
		},
		read: readResults,
	},
	"tavily": {
		title: "Tavily", url: "https://api.tavily.com", path: "/search", key: true,
		request: func(u *url.URL, query string, limit int, key string) *http.Request {
			body, _ := json.Marshal(map[string]any{"query": query, "max_results": limit}) //nolint:errcheck // texts and a number
			r := &http.Request{Method: http.MethodPost, URL: u, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body))}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer "+key)
			return r
		},
		read: readResults,
	},
	"brave": {
		title: "Brave", url: "https://api.search.brave.com", path: "/res/v1/web/search", key: true,
		request: func(u *url.URL, query string, limit int, key string) *http.Request {
			r := asked(u, url.Values{"q": {query}, "count": {strconv.Itoa(limit)}})
			r.Header.Set("X-Subscription-Token", key)
			return r
		},
		read: func(raw []byte) ([]Found, error) {
			var answer struct {
				Web struct {
					Results []struct{ Title, URL, Description string }
				}
			}
			err := json.Unmarshal(raw, &answer)
			var out []Found
			for _, r := range answer.Web.Results {
				out = append(out, Found{r.Title, r.URL, r.Description})
			}
			return out, err
		},
	},
}

func asked(u *url.URL, query url.Values) *http.Request {
	u.RawQuery = query.Encode()
	return &http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}}
}

// readResults is what SearXNG and Tavily answer.
func readResults(raw []byte) ([]Found, error) {
	var answer struct {
		Results []struct{ Title, URL, Content string }
	}
	err := json.Unmarshal(raw, &answer)
	var out []Found
	for _, r := range answer.Results {
		out = append(out, Found{r.Title, r.URL, r.Content})
	}
	return out, err
}

// At says who is asked, and at which host, or what is missing in the settings.
func (s Search) At() (title, host string, err error) {
	u, err := s.address()
	if err != nil {
		return "", "", err
	}
	return providers[s.Provider].title, u.Host, nil
}

func (s Search) address() (*url.URL, error) {
	p, known := providers[s.Provider]
	address := p.url
	if s.URL != "" {
		address = s.URL
	}
	switch {
	case !known:
		return nil, unset("there is no search provider", "web.search.provider to searxng (with the address of one in web.search.url), tavily or brave (with a key from web.search.keyCommand)")
	case address == "":
		return nil, unset("the address of the search provider is missing", "web.search.url to the address of their SearXNG")
	case p.key && s.Key == nil:
		return nil, unset("the key of the search provider is missing", "web.search.keyCommand to a command that prints it, or to start the editor with PILLION_SEARCH_KEY")
	}
	u, err := Parse(address)
	if err != nil {
		return nil, unset("the address of the search provider is none", "web.search.url to one that begins with https://")
	}
	u.RawQuery = ""
	if u.Path = strings.TrimSuffix(u.Path, "/"); !strings.HasSuffix(u.Path, p.path) {
		u.Path += p.path
	}
	u.RawPath = ""
	return u, nil
}

func unset(what, hint string) *fault.Error {
	return fault.New(fault.ExecutionFailed, "%s, so the web cannot be searched", what).WithHint("ask the user to set %s", hint)
}

// Search asks the provider. Nothing is followed elsewhere: the key is for it alone.
func (f *Fetcher) Search(ctx context.Context, s Search, query string, limit int) ([]Found, error) {
	u, err := s.address()
	if err != nil {
		return nil, err
	}
	p, key := providers[s.Provider], ""
	if p.key {
		if key, err = s.Key(ctx); err != nil {
			return nil, err
		}
		if key == "" {
			return nil, unset("the key of the search provider is empty", "web.search.keyCommand to a command that prints it")
		}
	}
	request := Request{here: key != "" && u.Scheme == "http"}
	if s.URL != "" {
		request.Private = []string{u.Hostname()} // the user named it
	}
	ctx, cancel := context.WithTimeout(ctx, Time)
	defer cancel()
	client, end := f.client(request)
	defer end()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	r := p.request(u, query, limit, key).WithContext(ctx)
	r.Header.Set("User-Agent", "pillion")
	r.Header.Set("Accept", "application/json")
	answer, err := client.Do(r)
	if err != nil {
		return nil, told(u, err)
	}
	defer answer.Body.Close()
	return p.results(u, answer, limit)
}

// results takes them from an answer.
func (p provider) results(u *url.URL, answer *http.Response, limit int) ([]Found, error) {
	if answer.StatusCode != http.StatusOK {
		return nil, p.refused(u, answer)
	}
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxBytes+1))
	if err != nil {
		return nil, told(u, err)
	}
	if len(raw) > maxBytes {
		return nil, fault.New(fault.FileTooLarge, "%s answered with more than %d bytes", fault.Escape(u.Host), maxBytes).WithHint("search for something else")
	}
	found, err := p.read(raw)
	if err != nil {
		return nil, fault.New(fault.ExecutionFailed, "what %s answered is not the JSON of %s", fault.Escape(u.Host), p.title).WithHint("ask the user to check web.search.url")
	}
	out := make([]Found, 0, min(limit, len(found)))
	for _, one := range found {
		if link, err := url.Parse(one.URL); len(out) == limit || err != nil || link.Scheme != "http" && link.Scheme != "https" || len(one.URL) > maxLink {
			continue
		}
		out = append(out, Found{plainLine(one.Title, maxTitle), fault.Line(one.URL), plainLine(one.Snippet, maxSnippet)})
	}
	return out, nil
}

// refused says what to do about a status. What the server says of it is left out: it may
// repeat the key.
func (p provider) refused(u *url.URL, answer *http.Response) error {
	host, status := fault.Escape(u.Host), answer.StatusCode
	err := fault.New(fault.ExecutionFailed, "%s answered with status %d", host, status)
	switch {
	case status == http.StatusTooManyRequests:
		wait := time.Minute
		if seconds, bad := strconv.Atoi(answer.Header.Get("Retry-After")); bad == nil && seconds >= 0 && seconds < 24*3600 {
			wait = time.Duration(seconds) * time.Second
		}
		return fault.New(fault.RateLimited, "%s was asked too often; wait %d ms", host, wait.Milliseconds()).With("retry_after_ms", wait.Milliseconds())
	case p.key && (status == http.StatusUnauthorized || status == http.StatusForbidden):
		return err.WithHint("ask the user to check the key (web.search.keyCommand)")
	case status == http.StatusForbidden:
		return err.WithHint("ask the user to allow the format json in the settings of their SearXNG (search.formats)")
	case status >= 300 && status < 400:
		return err.WithHint("it redirects; ask the user to set web.search.url to the address where it leads")
	}
	return err.WithHint("try again later, or ask the user to check web.search.url")
}

// plainLine is the text of a piece of HTML, in one line of at most so many characters.
func plainLine(piece string, most int) string {
	var text strings.Builder
	tokens := html.NewTokenizer(strings.NewReader(piece))
	for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
		if kind == html.TextToken {
			text.WriteString(html.UnescapeString(string(tokens.Raw())))
		}
	}
	line := []rune(fault.Line(strings.Join(strings.Fields(strings.ToValidUTF8(text.String(), "")), " ")))
	if len(line) > most {
		return string(line[:most-1]) + "…"
	}
	return string(line)
}
