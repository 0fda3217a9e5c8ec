//lint:file-ignore SA1019 the newest revision has no roots, today's agents do

package mcp

import (
	"context"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/agents/internal/agenttest"
	"pillion/agents/relay"
	"pillion/internal/testrig/check"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/session"
)

// connectWithRoots starts a server and a client that works in the folders.
func connectWithRoots(t *testing.T, o Options, uris ...string) (*agent, *sdk.Client) {
	t.Helper()
	in, out := serve(t, o)
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "0.1"}, nil)
	client.AddRoots(rootsOf(uris)...)
	session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: out, Writer: in}, &sdk.ClientSessionOptions{ProtocolVersion: today})
	must(t, err)
	t.Cleanup(func() { session.Close() })
	return &agent{ClientSession: session}, client
}

func rootsOf(uris []string) []*sdk.Root {
	var roots []*sdk.Root
	for _, uri := range uris {
		roots = append(roots, &sdk.Root{URI: uri})
	}
	return roots
}

func fileURI(dir string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String()
}

// opened remembers with which folders the tools were started.
func opened(door *alone, dirs *[][]string) func([]string, session.Agent, approval.Asker, tools.Human) (*Door, error) {
	return func(folders []string, who session.Agent, asker approval.Asker, human tools.Human) (*Door, error) {
		*dirs = append(*dirs, folders)
		return door.open(folders, who, asker, human)
	}
}

func TestRootsComeBeforeTheWorkingFolder(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "hello\n"})
	other, spaced := t.TempDir(), filepath.Join(t.TempDir(), "with space")
	must(t, os.Mkdir(spaced, 0o755))
	door := &alone{dir: p.Dir, t: t}
	var dirs [][]string
	a, client := connectWithRoots(t, Options{Cwd: other, Alone: opened(door, &dirs)},
		"https://example.com/x", fileURI(filepath.Join(other, "gone")), fileURI("/"), fileURI(p.Dir), fileURI(spaced))
	read := func() {
		t.Helper()
		if r := a.call(t, "read_file", object{"path": "a.txt"}); r.isError || r.text != "hello\n" {
			t.Errorf("got %+v", r)
		}
	}
	read()
	if len(dirs) != 1 || strings.Join(dirs[0], "|") != p.Dir+"|"+spaced {
		t.Fatalf("opened %v", dirs)
	}
	// The editor is looked for by each root.
	editor(t, p)
	client.RemoveRoots(fileURI(p.Dir))
	client.AddRoots(&sdk.Root{URI: fileURI(filepath.Join(p.Dir, "..", filepath.Base(p.Dir)))})
	for deadline := time.Now().Add(agenttest.Patience); len(p.Sessions.List()) == 0; read() {
		if time.Now().After(deadline) {
			t.Fatal("the editor on the second root is not found")
		}
	}
	// None left: the folder that the agent was started in.
	for _, uri := range []string{"https://example.com/x", fileURI(filepath.Join(other, "gone")), fileURI("/"), fileURI(p.Dir), fileURI(spaced)} {
		client.RemoveRoots(uri)
	}
	for deadline := time.Now().Add(agenttest.Patience); strings.Join(dirs[len(dirs)-1], "|") != other; read() {
		if time.Now().After(deadline) {
			t.Fatalf("opened %v, never %s", dirs, other)
		}
	}
	for deadline := time.Now().Add(agenttest.Patience); door.closings() == 0; read() {
		if time.Now().After(deadline) {
			t.Fatal("the tools on the folders of before are still open")
		}
	}
}

func TestAClientThatDoesNotNameItsRoots(t *testing.T) {
	p := project(t, map[string]string{"a.txt": "hello\n"})
	peer := newWirePeer(t, Options{Cwd: p.Dir, Alone: aloneIn(t, p), rootsTime: 10 * time.Millisecond})
	peer.sendf(strings.Replace(hello, `"capabilities":{}`, `"capabilities":{"roots":{}}`, 1), "2025-06-18")
	peer.wantResult("0", `"protocolVersion":"2025-06-18"`)
	peer.sendf(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	asked := 0
	for id := range 2 {
		peer.sendf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"a.txt"}}}`, id)
		l := peer.next()
		for ; l.Result == nil; l = peer.next() {
			if l.Method == "roots/list" {
				asked++
			}
		}
		check.Has(t, "the result", string(l.Result), "hello")
	}
	check.Same(t, "how often it asked", asked, 1)
}

func TestNothingIsServedInAHome(t *testing.T) {
	home(t)
	own := os.Getenv("HOME")
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(own, link))
	registered, err := user.Current()
	must(t, err)
	must(t, os.MkdirAll(filepath.Join(own, ".ssh"), 0o700))
	looked := func(dir string) func(string) (sidecar, bool, error) {
		return func(string) (sidecar, bool, error) {
			t.Errorf("an editor is looked for on %s", dir)
			return sidecar{connect: func(context.Context, relay.Hello) (*relay.Client, error) { return nil, context.Canceled }}, true, nil
		}
	}
	for _, dir := range []string{"/", own, link, filepath.Dir(own), registered.HomeDir, "/home", "/etc", filepath.Join(own, ".ssh")} {
		door := &alone{dir: own, t: t}
		o := Options{Cwd: dir, Alone: door.open, find: looked(dir)}
		byCwd := connect(t, "tester", o, nil)
		o.Cwd = "/"
		byRoot, _ := connectWithRoots(t, o, fileURI(dir))
		for _, a := range []*agent{byCwd, byRoot} {
			for range 2 {
				r := a.call(t, "list_files", object{"path": "."})
				r.want(t, "PERMISSION_DENIED", "nothing is served in", "project")
			}
			if list, err := a.ListTools(t.Context(), nil); err != nil || len(list.Tools) == 0 {
				t.Errorf("%s: the tools are not listed: %v", dir, err)
			}
		}
		if door.count() != 0 {
			t.Errorf("%s is served", dir)
		}
	}
}
