package lspbridge

import (
	"os/exec"
	"strings"
	"testing"

	"pillion/workspace/document"
	"pillion/workspace/language"
)

// pylsp is the real one.
func pylsp(t *testing.T) Server {
	t.Helper()
	if _, err := exec.LookPath("pylsp"); err != nil {
		t.Fatalf("pylsp is needed: %v", err)
	}
	return Known()[0]
}

func TestPylspDefinitionAndHover(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.py": "def greet(name):\n    \"\"\"Says hello.\"\"\"\n    return 'hello ' + name\n",
		"b.py": "from a import greet\n\nprint('🎉', greet('you'))\n",
	}, pylsp(t))
	s := r.snapshot()
	places, by, err := r.bridge.Definition(t.Context(), s, r.path("b.py"), at(2, 14))
	r.must(err)
	want := document.Range{Start: at(0, 4), End: at(0, 9)}
	if len(places) != 1 || places[0].Path != r.path("a.py") || places[0].Range != want {
		t.Errorf("definition: %+v, want a.py %v", places, want)
	}
	if by != (language.Server{Name: "pylsp", Status: language.Running}) {
		t.Errorf("answered by %+v", by)
	}
	text, _, err := r.bridge.Hover(t.Context(), s, r.path("b.py"), at(2, 14))
	r.must(err)
	if !strings.Contains(text, "Says hello.") {
		t.Errorf("hover: %q", text)
	}
}

func TestTheTextIsThatOfTheBuffer(t *testing.T) {
	r := newRig(t, map[string]string{"a.py": "x = 1\n"}, pylsp(t))
	p := r.path("a.py")
	for version, text := range []string{"def old(): pass\nold()\n", "\n\ndef new(): pass\nnew()\n"} {
		if version == 0 {
			r.store.Open(p, p.URI(), 1, text)
		} else {
			r.store.Change(p, 2, text)
		}
		places, _, err := r.bridge.Definition(t.Context(), r.snapshot(), p, at(uint32(1+2*version), 1))
		r.must(err)
		if len(places) != 1 || places[0].Range.Start != at(uint32(2*version), 4) {
			t.Errorf("%q: %+v", text, places)
		}
	}
}
