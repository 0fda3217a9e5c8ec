package install

import (
	"testing"

	"github.com/tailscale/hujson"
)

// Whatever a user's settings look like: our edits give a document that parses,
// says what was asked, and without our part is what it was.
func FuzzJSONKeepsTheRest(f *testing.F) {
	for _, s := range []string{
		``, `{}`, "{\n}\n", `{"a":1}`, `{"a":[1,{"b":2},],}`, "{ // c\n}", "{\r\n\t\"permissions\": {\"deny\": [\"x\", /* c */ ] },\r\n}",
		"{\"env\":{}, // note\n \"mcpServers\": {\"z\": null}}", `{"permissions":{"deny":[]}}`, "/*a*/{/*b*/\"permissions\"/*c*/:/*d*/{/*e*/}/*f*/}/*g*/",
		"{\"mcpServers\": {\"pillion\": {\"x\": 1}}}", "{\"a\": 1 // c\n}", "{\"a\": 1\n// c\n, \"b\": 2}", `{"a": 1e999, "a": "\ud800"}`,
	} {
		f.Add(s)
	}
	o := Options{Binary: "/p", Home: "/h"}
	must(f, o.check())
	edits := append(known["qwen"].files(o)[0].edits, claudeFiles(o)[1].edits...)
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := parseJSON("x", text)
		if err != nil {
			return
		}
		before := decodeValue(doc.root)
		past := &recordFile{}
		if _, err := installInto(doc, edits, past); err != nil {
			return // a member of the wrong kind
		}
		if !equalJSON(without(before, edits), without(decodeValue(doc.root), edits)) {
			t.Errorf("installing lost something: %q", doc.text)
		}
		installed := doc.text
		if why, err := installInto(doc, edits, past); err != nil || len(why) != 0 || doc.text != installed {
			t.Errorf("again: %v %v", why, err)
		}
		past.Existed = true
		uninstall(doc, edits, past)
		if _, err := hujson.Parse([]byte(doc.text)); err != nil {
			t.Errorf("uninstalling broke it: %v in %q", err, doc.text)
		}
		first, err := parseJSON("x", text)
		must(t, err)
		if !equalJSON(without(decodeValue(first.root), edits), without(decodeValue(doc.root), edits)) {
			t.Errorf("uninstalling lost something: %q", doc.text)
		}
	})
}

func FuzzTOMLKeepsTheRest(f *testing.F) {
	for _, s := range []string{
		"", "a = 1", "[features]", "[features]\n", "# c\n[a]\nb = 1\n", "features.x = 1\r\n[mcp_servers.pillion]\r\nx = 1\r\n", "[mcp_servers]\npillion = { a = 1 }\n",
		"a = \"\"\"\n[features]\n\"\"\"\n[features.x]\ny = [1,\n2]\n", "sandbox_mode = 'x' # y", "[[features]]\n", "[ features ] # c\n\"shell_tool\"=true", "approval_policy=1\n\n\n[x]\n\n",
	} {
		f.Add(s)
	}
	o := Options{Binary: "/p"}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := parseTOML("x", text)
		if err != nil {
			return
		}
		past := &recordFile{}
		if _, err := codexInstall(doc, o, past); err != nil {
			return // what does not fit is refused with words
		}
		if err := onlyOurs("x", text, doc.text); err != nil {
			return // refused as well: nothing is written
		}
		installed := doc.text
		if why, err := codexInstall(doc, o, past); err != nil || len(why) != 0 || doc.text != installed {
			t.Errorf("again: %v %v\n%s\nthen\n%s", why, err, installed, doc.text)
		}
		if _, err := codexUninstall(doc, o, past); err != nil {
			t.Errorf("uninstalling: %v", err)
		}
		if err := onlyOurs("x", text, doc.text); err != nil {
			t.Errorf("uninstalling lost something: %v\n%q", err, doc.text)
		}
	})
}
