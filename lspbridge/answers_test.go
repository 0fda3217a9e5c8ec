package lspbridge

import (
	"encoding/json"
	"testing"

	"pillion/internal/wire"
)

const hovers = `{"hoverProvider":true,"textDocumentSync":{"openClose":true,"change":2,"save":{}}}`

// started has the server of a.py run.
func (r *rig) started() {
	r.Helper()
	_, _, err := r.bridge.Hover(r.Context(), r.snapshot(), r.path("a.py"), at(0, 0))
	r.must(err)
}

// TestWhatAServerAsks holds an answer to everything that a server may ask.
func TestWhatAServerAsks(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "x = 1\n"}, func(t *testing.T, r *rig) {
		f := r.serve(hovers)
		r.settings.Servers[0].Settings = []byte(`{"fake":{"lint":{"on":true}},"with.dots":7}`)
		r.started()
		root := r.path(".").URI()
		for _, c := range []struct{ method, params, want string }{
			{
				"workspace/configuration", `{"items":[{"section":"fake.lint.on"},{"section":"nothing"},{"section":"fake"},{},{"section":"with.dots"},{"section":"fake.lint.on.deeper"}]}`,
				`[true,null,{"lint":{"on":true}},{"fake":{"lint":{"on":true}},"with.dots":7},7,null]`,
			},
			{"window/workDoneProgress/create", `{"token":1}`, `null`},
			{"client/registerCapability", `{"registrations":[{"id":"1","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[{"globPattern":"**/*.py"}]}}]}`, `null`},
			{"client/unregisterCapability", `{"unregisterations":[{"id":"1","method":"workspace/didChangeWatchedFiles"}]}`, `null`},
			{"workspace/workspaceFolders", `{}`, `[{"name":"` + r.path(".").Base() + `","uri":"` + root + `"}]`},
			{"workspace/applyEdit", `{"edit":{}}`, `{"applied":false,"failureReason":"changes are made by those who ask for them"}`},
			{"window/showMessageRequest", `{"type":1,"message":"Really?","actions":[{"title":"Yes"}]}`, `null`},
			{"window/showDocument", `{"uri":"file:///etc/passwd"}`, `{"success":false}`},
			{"workspace/semanticTokens/refresh", `{}`, `null`},
		} {
			got, err := f.ask(t, c.method, c.params)
			if err != nil || sorted(json.RawMessage(got)) != sorted(json.RawMessage(c.want)) {
				t.Errorf("%s: %s, %v, want %s", c.method, got, err, c.want)
			}
		}
		_, err := f.ask(t, "fake/unheardOf", `{}`)
		if said, ok := err.(*wire.Error); !ok || said.Code != wire.CodeMethodNotFound { //nolint:errorlint // Call gives it as it is
			t.Errorf("an unknown request: %v", err)
		}
	})
}
