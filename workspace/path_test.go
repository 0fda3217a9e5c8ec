package workspace_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
	"pillion/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// resolve gives the printed path, or the error's code.
func resolve(w *workspace.Workspace, name string) string {
	p, err := w.Resolve(name)
	if err != nil {
		return string(fault.CodeOf(err))
	}
	return p.String()
}

const (
	outsideWorkspace = string(fault.PathOutsideWorkspace)
	invalidPath      = string(fault.InvalidPath)
	permissionDenied = string(fault.PermissionDenied)
)

func TestResolve(t *testing.T) {
	outer := t.TempDir()
	dir := filepath.Join(outer, "ws")
	tree(t, outer, map[string]string{
		"ws/file":            "",
		"ws/sub/deep":        "",
		"ws/link":            "->file",
		"ws/dir":             "->sub",
		"ws/sub/up":          "->../file",
		"ws/sub/back":        "->../../ws/file",
		"ws/absolute":        "->" + dir + "/file",
		"ws/absolute-new":    "->" + dir + "/sub/new",
		"ws/absolute-dir":    "->" + dir + "/sub",
		"ws/dangling":        "->nowhere",
		"ws/loop":            "->loop",
		"ws/out":             "->../secret",
		"ws/out-absolute":    "->" + outer + "/secret",
		"ws/out-dir":         "->..",
		"ws/out-dangling":    "->../nowhere",
		"ws/out-etc":         "->/etc",
		"ws/sub/chain":       "->../out",
		"ws/absolute-out":    "->" + dir + "/out",
		"ws/dir-out":         "->absolute-dir/../../secret",
		"ws2/file":           "",
		"secret":             "canary",
		"spelled":            "->ws",
		"ws/..file":          "",
		"ws/file..":          "",
		"ws/ sp ace ":        "",
		"ws/\u00e9\u202e":    "",
		"ws/back\\slash":     "",
		"ws/c:":              "",
		"ws/-":               "",
		"ws/~":               "",
		"ws/$HOME":           "",
		"ws/%2e%2e/secret":   "",
		"ws/sub/dangling-up": "->../new/file",
	})
	w := open(t, dir)
	long := strings.Repeat("x/", 2048)
	for name, want := range map[string]string{
		"file":              "file",
		"./file":            "file",
		"sub//deep":         "sub/deep",
		"sub/./deep/":       "sub/deep",
		".":                 ".",
		"./":                ".",
		"new/and/deep":      "new/and/deep",
		"file/below":        "file/below", // only an access shows that file is no folder
		dir:                 ".",
		dir + "/":           ".",
		dir + "/sub/deep":   "sub/deep",
		dir + "//sub/.//x":  "sub/x",
		dir + "/new":        "new",
		"link":              "link",
		"dir/deep":          "dir/deep",
		"sub/up":            "sub/up",
		"sub/back":          "file",
		"absolute":          "file",
		"absolute-new":      "sub/new",
		"absolute-dir/deep": "sub/deep",
		"dangling":          "dangling",
		"loop":              "loop",
		"..file":            "..file",
		"file..":            "file..",
		" sp ace ":          " sp ace ",
		"\u00e9\u202e":      "\u00e9\u202e",
		`back\slash`:        `back\slash`,
		"-":                 "-",
		"~":                 "~",
		"~/x":               "~/x", // no shell expands it, and the folder is there
		"$HOME":             "$HOME",
		"%2e%2e/secret":     "%2e%2e/secret", // nor does a URI decoder

		"CON":                       invalidPath,
		"sub/nul":                   invalidPath,
		"com1/x":                    invalidPath,
		"file:///etc/passwd":        invalidPath,
		"FILE:x":                    invalidPath,
		"https://example.org/x":     invalidPath,
		`..\up`:                     outsideWorkspace,
		`sub\..\..\up`:              outsideWorkspace,
		"..":                        outsideWorkspace,
		"../secret":                 outsideWorkspace,
		"../ws/file":                outsideWorkspace,
		"sub/../file":               outsideWorkspace,
		"sub/..":                    outsideWorkspace,
		dir + "/../secret":          outsideWorkspace,
		dir + "/sub/../file":        outsideWorkspace,
		"/":                         outsideWorkspace,
		"/file":                     outsideWorkspace,
		"/etc/passwd":               outsideWorkspace,
		"//etc/passwd":              outsideWorkspace,
		outer:                       outsideWorkspace,
		dir + "2/file":              outsideWorkspace,
		strings.ToUpper(dir):        outsideWorkspace,
		"out":                       outsideWorkspace,
		"out/":                      outsideWorkspace,
		"out-absolute":              outsideWorkspace,
		"out-dir":                   outsideWorkspace,
		"out-dir/secret":            outsideWorkspace,
		"out-dir/ws/file":           outsideWorkspace,
		"out-dangling":              outsideWorkspace,
		"out-etc/passwd":            outsideWorkspace,
		"out-etc/nowhere/at/all":    outsideWorkspace,
		"sub/chain":                 outsideWorkspace,
		"absolute-out":              outsideWorkspace,
		"dir-out":                   outsideWorkspace,
		filepath.Join(dir, "out"):   outsideWorkspace,
		filepath.Join(outer, "ws2"): outsideWorkspace,

		"":                                   invalidPath,
		"\x00":                               invalidPath,
		"fi\x00le":                           invalidPath,
		"a\nb":                               invalidPath,
		"a\tb":                               invalidPath,
		"\x1b[31m":                           invalidPath,
		"\x7f":                               invalidPath,
		"\u0085":                             invalidPath,
		dir + "/\x01":                        invalidPath,
		long + "x":                           invalidPath,
		`\`:                                  invalidPath,
		`\file`:                              invalidPath,
		`\\server\share`:                     invalidPath,
		"C:":                                 invalidPath,
		"c:/file":                            invalidPath,
		`C:\file`:                            invalidPath,
		"c:file":                             "c:file",
		strings.Repeat("x", 4096):            strings.Repeat("x", 4096),
		strings.Repeat("é", 4096):            strings.Repeat("é", 4096),
		strings.Repeat("é", 4097):            invalidPath,
		filepath.Join(outer, "spelled/file"): outsideWorkspace, // open knows the folder as ws
	} {
		if got := resolve(w, name); got != want {
			t.Errorf("%.80q: %.80q, want %.80q", name, got, want)
		}
	}
	if got, err := w.ResolveDir(""); err != nil || got.String() != "." {
		t.Errorf("the empty folder name: %v, %v", got, err)
	}

	spelled := open(t, filepath.Join(outer, "spelled"))
	for _, name := range []string{filepath.Join(outer, "spelled/file"), filepath.Join(dir, "file")} {
		if got := resolve(spelled, name); got != "file" {
			t.Errorf("%s, opened through a link: %s", name, got)
		}
	}
}

func TestResolveWithoutAFolder(t *testing.T) {
	w := open(t)
	if got := resolve(w, "file"); got != outsideWorkspace {
		t.Error(got)
	}
	if _, ok := w.FromURI("file:///etc/passwd"); ok {
		t.Error("a URI was found in no folder")
	}
}

func TestTarget(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, map[string]string{
		"a/b/c": "", "link": "->a/b", "a/link": "->b/c", "twice": "->link/../link", "dangling": "->a/new/file", "absolute": "->" + dir + "/a/link",
		"over": "->../" + filepath.Base(dir) + "/a", "loop": "->loop", "ping": "->pong", "pong": "->ping", "self": "->" + dir + "/self",
		"out": "->/etc/nowhere", "a/up": "->../../x", "climb": "->a/../../..",
	})
	w := open(t, dir)
	root := w.Roots()[0]
	for name, want := range map[string]string{
		".": ".", "a/b": "a/b", "new/x": "new/x", "link/c": "a/b/c", "link/new/x": "a/b/new/x", "a/link": "a/b/c", "twice": "a/b/c",
		"dangling": "a/new/file", "dangling/x": "a/new/file/x", "absolute": "a/b/c", "over/b": "a/b", "loop": invalidPath, "ping": invalidPath, "self": invalidPath,
		"out": outsideWorkspace, "a/up": outsideWorkspace, "climb": outsideWorkspace, "a/b/c/d": string(fault.FileNotFound),
	} {
		got, err := root.Join(name).Target()
		if said := string(fault.CodeOf(err)); err != nil && said != want || err == nil && got.String() != want {
			t.Errorf("%s: %v, %v, want %s", name, got, err, want)
		}
	}
}

func TestSeveralFolders(t *testing.T) {
	outer := planted(t, map[string]string{"app/a": "", "app/inner/b": "", "other/app/c": "", "lib/app/d": "", "x/link": "->../app/a"})
	w, err := workspace.Open(
		workspace.Folder{Dir: filepath.Join(outer, "app")},
		workspace.Folder{Dir: filepath.Join(outer, "other/app")},
		workspace.Folder{Dir: filepath.Join(outer, "lib/app"), Name: "library"},
		workspace.Folder{Dir: filepath.Join(outer, "app/inner"), Name: "with/slash"},
		workspace.Folder{Dir: filepath.Join(outer, "app/")},
	)
	machine.Must(t, err)
	t.Cleanup(func() { machine.Must(t, w.Close()) })
	for name, want := range map[string]string{
		"app/a":                               "app/a",
		"app":                                 "app",
		"./app/":                              "app",
		"app-2/c":                             "app-2/c",
		"library/d":                           "library/d",
		"inner/b":                             "inner/b",
		"app/inner/b":                         "inner/b", // one file has one Path
		"app/inner":                           "inner",
		filepath.Join(outer, "app/inner/b"):   "inner/b",
		filepath.Join(outer, "other/app/c"):   "app-2/c",
		filepath.Join(outer, "app/new/thing"): "app/new/thing",
		"a":                                   invalidPath,
		".":                                   invalidPath,
		"nowhere/x":                           invalidPath,
		"app/../app-2/c":                      outsideWorkspace,
		filepath.Join(outer, "x"):             outsideWorkspace,
	} {
		if got := resolve(w, name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	_, err = w.ResolveDir("")
	if fault.CodeOf(err) != fault.InvalidPath || !strings.Contains(err.Error(), "app, app-2, library, inner") {
		t.Errorf("the empty folder name: %v", err)
	}
	direct, err := w.Resolve(filepath.Join(outer, "app/inner/b"))
	machine.Must(t, err)
	if joined := w.Roots()[0].Join("inner").Join("b"); joined != direct {
		t.Errorf("%v and %v are two Paths of one file", joined, direct)
	}
}

func TestPathsOutliveAChangeOfFolders(t *testing.T) {
	outer := planted(t, map[string]string{"one/a": "text", "two/a": ""})
	one, two := workspace.Folder{Dir: filepath.Join(outer, "one")}, workspace.Folder{Dir: filepath.Join(outer, "two")}
	w := open(t, one.Dir)
	before, err := w.Resolve("a")
	machine.Must(t, err)

	var reading sync.WaitGroup // a Path may be printed while the folders change
	stop := make(chan struct{})
	reading.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_ = before.String()
			}
		}
	})
	machine.Must(t, w.SetFolders(two, one))
	close(stop)
	reading.Wait()

	after, err := w.Resolve("one/a")
	machine.Must(t, err)
	if before != after || before.String() != "one/a" {
		t.Errorf("%v is no longer %v", before, after)
	}
	if _, _, err := before.ReadFile(10); err != nil {
		t.Error(err)
	}
	if err := w.SetFolders(one, workspace.Folder{Dir: filepath.Join(outer, "gone")}); err == nil {
		t.Error("a folder that does not exist was opened")
	}
	if err := w.SetFolders(workspace.Folder{Dir: "relative"}); err == nil {
		t.Error("a relative folder was opened")
	}
	if got := len(w.Roots()); got != 2 {
		t.Errorf("a failed change left %d folders", got)
	}
	machine.Must(t, w.SetFolders(w.Folders()...))
	machine.Must(t, w.SetFolders(workspace.Folder{Dir: one.Dir, Name: "one"}))
	if again, err := w.Resolve("a"); err != nil || again != before {
		t.Errorf("naming the folder as it is called opened it anew: %v", err)
	}
	if before.String() != "a" {
		t.Errorf("alone again it is %s", before)
	}
	machine.Must(t, w.SetFolders(workspace.Folder{Dir: one.Dir, Name: "renamed"}, two))
	if got := w.Roots()[0].String(); got != "renamed" {
		t.Errorf("the renamed folder is called %s", got)
	}
}

func TestURIs(t *testing.T) {
	outer := planted(t, map[string]string{"my folder#1/a": "", "link": "->my folder#1"})
	w := open(t, filepath.Join(outer, "link"))
	for _, name := range []string{
		".", "a", "sp ace", "50%", "100%25", "a#b", "a?b=c", "é/日本/😀", "a+b&c;d:e@f", "%2e%2e", "[x]", "back\\slash", "'quote\"", "tab\there", "\u202e", "~",
	} {
		p := w.Roots()[0].Join(name)
		if got, ok := w.FromURI(p.URI()); !ok || got != p {
			t.Errorf("%q: by %s came %v", name, p.URI(), got)
		}
		if !strings.HasPrefix(p.URI(), "file:///") || !strings.Contains(p.URI(), "/link") || strings.ContainsAny(p.URI(), " #?\"\\\t") {
			t.Errorf("%q: %s", name, p.URI())
		}
	}
	for uri, want := range map[string]string{
		"file://" + outer + "/link/a":                   "a",
		"file://" + outer + "/link/a/../b":              "b",
		"file://" + outer + "/link/%61":                 "a",
		"file://localhost" + outer + "/link/a":          "a",
		"file://" + outer + "/my%20folder%231/a":        "a", // the same folder by its own name
		"FILE://" + outer + "/link/a":                   "a",
		"file://" + outer + "/link":                     ".",
		"file://" + outer + "/link/":                    ".",
		"file://server" + outer + "/link/a":             "",
		"file://" + outer + "/link/../secret":           "",
		"file://" + outer + "/link/%2e%2e/secret":       "",
		"file://" + outer + "/link2/a":                  "",
		"untitled:Untitled-1":                           "",
		"git:" + outer + "/link/a":                      "",
		"vscode-notebook-cell://" + outer + "/link/a#W": "",
		"file:a":                        "",
		"file:":                         "",
		"":                              "",
		outer + "/link/a":               "",
		"file://" + outer + "/link/%zz": "",
	} {
		got, ok := w.FromURI(uri)
		if ok != (want != "") || got.String() != want {
			t.Errorf("%s: %q, %v, want %q", uri, got, ok, want)
		}
	}
}

func FuzzResolveStaysInside(f *testing.F) {
	outer := f.TempDir()
	dir := filepath.Join(outer, "ws")
	tree(f, outer, map[string]string{
		"canary": "canary", "ws/a/b": "inside", "ws/out": "->..", "ws/a/out": "->../../canary", "ws/abs": "->" + outer, "ws/in": "->" + dir + "/a",
		"ws/again": "->../ws/out", "ws/up": "->a/../..", "ws2/canary": "canary",
	})
	w := open(f, dir)
	for _, seed := range []string{
		"a/b", "../canary", "out/canary", "a/out", "abs/canary", "in/../../canary", "again/canary", "up/canary", dir + "2/canary", dir + "/../canary",
		"./a/./out", "a//out/", "in/out", "C:/canary", `..\canary`, "out/ws/a/b", "/proc/self/root" + outer + "/canary", "a/b/../../../canary", "\u2025/canary", "..;/canary",
	} {
		f.Add(seed)
		f.Add(dir + "/" + seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		p, err := w.Resolve(name)
		if err != nil {
			if !strings.Contains("INVALID_PATH PATH_OUTSIDE_WORKSPACE PERMISSION_DENIED", string(fault.CodeOf(err))) {
				t.Errorf("%q: %v", name, err)
			}
			return
		}
		target, err := p.Target()
		for _, at := range []workspace.Path{p, target} {
			if at.IsZero() {
				continue
			}
			data, _, err := at.ReadFile(100)
			if err == nil && string(data) != "inside" {
				t.Errorf("%q leads out, to %s", name, data)
			}
			if rel, err := filepath.Rel(dir, at.Abs()); err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
				t.Errorf("%q is named %s", name, at.Abs())
			}
		}
		if again, ok := w.FromURI(p.URI()); err == nil && (!ok || again != p) {
			t.Errorf("%q: by %s came %v", name, p.URI(), again)
		}
	})
}

func TestSystemPlacesBelowAWideFolder(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	tree(t, home, map[string]string{
		".ssh/id": "", ".aws/credentials": "", ".local/share/keyrings/k": "", "keys": "->.ssh", "project/hosts": "->/etc/hosts", "project/a": "", "later": "->.gnupg/new",
	})
	top := open(t, "/")
	for name, want := range map[string]string{
		"/proc/self/environ":              permissionDenied,
		"proc":                            permissionDenied,
		"/sys/kernel":                     permissionDenied,
		"/dev/null":                       permissionDenied,
		"/etc/passwd":                     permissionDenied,
		"etc/does/not/exist":              permissionDenied,
		"/boot":                           permissionDenied,
		"/root/x":                         permissionDenied,
		"/home/somebody-else/x":           permissionDenied,
		"/home/somebody-else":             permissionDenied,
		"/Users/somebody-else/x":          permissionDenied,
		"/home":                           "home",
		"/etcetera":                       "etcetera",
		"/":                               ".",
		home + "/.ssh/id":                 permissionDenied,
		home + "/.ssh":                    permissionDenied,
		home + "/.gnupg/new":              permissionDenied, // also before it exists
		home + "/.local/share/keyrings/k": permissionDenied,
		home + "/keys/id":                 permissionDenied,
		home + "/later":                   permissionDenied,
		home + "/project/hosts":           permissionDenied,
		home + "/project/a":               strings.TrimPrefix(home, "/") + "/project/a",
		home + "/.local/share/x":          strings.TrimPrefix(home, "/") + "/.local/share/x",
	} {
		if got := resolve(top, name); got != want {
			t.Errorf("below /, %s: %s, want %s", name, got, want)
		}
	}
	all := walk(t, open(t, home).Roots()[0], workspace.WalkOptions{})
	expect(t, all, ".local", ".local/share", "keys", "later", "project", "project/a", "project/hosts")

	inside := open(t, filepath.Join(home, ".ssh")) // opened by the user, so it is open
	if got := resolve(inside, "id"); got != "id" {
		t.Errorf("in a private folder that was opened itself: %s", got)
	}
}

func TestAHomeBelowHomes(t *testing.T) {
	homes := planted(t, map[string]string{"me/.ssh/id": "", "me/a": ""})
	machine.Must(t, os.Symlink(filepath.Join(homes, "me"), filepath.Join(homes, "spelled")))
	t.Setenv("HOME", filepath.Join(homes, "spelled")) // a home that is a link
	w := open(t, homes)
	for name, want := range map[string]string{"me/.ssh/id": permissionDenied, "spelled/.ssh/id": permissionDenied, "me/a": "me/a"} {
		if got := resolve(w, name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestUnfit(t *testing.T) {
	outer := t.TempDir()
	home := filepath.Join(outer, "homes", "me")
	tree(t, outer, map[string]string{
		"homes/me/project/file":            "",
		"homes/me/.ssh/keys/file":          "",
		"homes/me/.config/nvim/a":          "",
		"homes/me/.config/gcloud/a":        "",
		"homes/me/.config/pillion/a":       "",
		"homes/me/.cursor/worktrees/x/y/a": "",
		"homes/me/.mozilla/firefox/a":      "",
		"to-home":                          "->homes/me",
		"to-ssh":                           "->homes/me/.ssh",
	})
	t.Setenv("HOME", filepath.Join(outer, "to-home")) // a home that is a link
	for dir, want := range map[string]string{
		"/":                                          "root of the file system",
		home:                                         "your home",
		filepath.Join(outer, "to-home"):              "your home",
		filepath.Join(home, "..", "me"):              "your home",
		filepath.Join(outer, "homes"):                "contains home folders",
		outer:                                        "contains home folders",
		filepath.Join(home, ".ssh"):                  "private",
		filepath.Join(home, ".ssh", "keys"):          "private",
		filepath.Join(outer, "to-ssh"):               "private",
		filepath.Join(home, ".config/gcloud"):        "private",
		filepath.Join(home, ".config/nvim"):          "",
		filepath.Join(home, ".config/pillion"):       "private",
		filepath.Join(home, ".cursor/worktrees/x/y"): "",
		filepath.Join(home, ".mozilla/firefox"):      "private",
		filepath.Join(home, ".config"):               "many programs",
		filepath.Join(home, "project"):               "",
		filepath.Join(home, "project/file"):          "not a folder",
		filepath.Join(home, "gone"):                  "cannot be found",
	} {
		if why := workspace.Unfit(dir); !strings.Contains(why, want) || want == "" && why != "" {
			t.Errorf("of %s it says %q, want %q", dir, why, want)
		}
	}
	if runtime.GOOS != "linux" {
		return
	}
	for _, dir := range []string{"/etc", "/proc/self", "/home", "/root", "/proc/self/root/etc", "/proc/self/root" + home, "/usr", "/var", "/usr/share", "/mnt", "/var/tmp", "/usr/local/lib"} {
		if workspace.Unfit(dir) == "" {
			t.Errorf("%s is fit", dir)
		}
	}
	if why := workspace.Unfit("/usr/share/doc"); why != "" {
		t.Errorf("/usr/share/doc %s", why)
	}
}

// A file apart is reached by whoever holds its Path, and by no name.
func TestApart(t *testing.T) {
	outer := machine.NewFolder(t).Dir
	t.Setenv("HOME", filepath.Join(outer, "home"))
	tree(t, outer, map[string]string{
		"ws/file": "", "ws/inside.md": "", "home/x/memory.md": "mine", "home/x/settings.json": "{}", "home/link.md": "->x/memory.md", "mnt/memory.md": "",
	})
	w := open(t, filepath.Join(outer, "ws"))
	at := func(name string) workspace.Path {
		t.Helper()
		p, err := w.Apart(filepath.Join(outer, name))
		machine.Must(t, err)
		return p
	}
	for name, want := range map[string]string{
		"home/x/memory.md": "~/x/memory.md", "home/link.md": "~/x/memory.md", "home/new/folder/memory.md": "~/new/folder/memory.md",
		"mnt/memory.md": filepath.ToSlash(outer) + "/mnt/memory.md", "ws/inside.md": "inside.md",
	} {
		if got := at(name).String(); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	p := at("home/x/memory.md")
	if data, _, err := p.ReadFile(10); err != nil || string(data) != "mine" || p != at("home/link.md") || !p.IsApart() || at("ws/inside.md").IsApart() {
		t.Errorf("%s holds %q, %v", p, data, err)
	}
	if found, ok := w.FromURI(p.URI()); !ok || found != p {
		t.Errorf("%s is %v", p.URI(), found)
	}
	if found, err := w.Known(p.Abs()); err != nil || found != p {
		t.Errorf("%s is %v, %v", p.Abs(), found, err)
	}
	for _, name := range []string{p.Abs(), filepath.Join(outer, "home/x/settings.json"), "../home/x/memory.md"} {
		if got := resolve(w, name); got != outsideWorkspace {
			t.Errorf("an agent reaches %s as %s", name, got)
		}
	}
	if _, ok := w.FromURI("file://" + filepath.ToSlash(outer) + "/home/x/settings.json"); ok {
		t.Error("what lies beside it is known")
	}
	if len(w.Roots()) != 1 {
		t.Errorf("the folders are %v", w.Roots())
	}
	machine.Must(t, os.RemoveAll(filepath.Join(outer, "home/x")))
	tree(t, outer, map[string]string{"home/x/memory.md": "again"})
	if data, _, err := at("home/x/memory.md").ReadFile(10); err != nil || string(data) != "again" {
		t.Errorf("in a folder that was made again it holds %q, %v", data, err)
	}
	machine.Must(t, w.SetFolders(workspace.Folder{Dir: filepath.Join(outer, "home")}))
	if got := at("home/x/memory.md"); got.IsApart() || got.String() != "x/memory.md" {
		t.Errorf("in a folder that is open now it is %s", got)
	}
}

// TestReopen: a folder that is made again is opened again, by its own name alone.
func TestReopen(t *testing.T) {
	top := machine.NewFolder(t)
	top.Write("app/a.txt", "")
	w := open(t, top.Abs("app"))
	p, err := w.Resolve("a.txt")
	top.Must(err)
	reads := func(want bool, when string) {
		t.Helper()
		w.Reopen()
		if _, _, err := p.ReadFile(100); (err == nil) != want {
			t.Errorf("%s: %v", when, err)
		}
	}
	reads(true, "at first")
	top.Remove("app")
	reads(false, "removed")
	top.Write("other/a.txt", "")
	top.Link("other", "app")
	reads(false, "a link in its place")
	top.Remove("app")
	top.Write("app/a.txt", "")
	reads(true, "made again")
}

// TestAFolderThatWasReplaced is neither of the two until somebody says which.
func TestAFolderThatWasReplaced(t *testing.T) {
	top := machine.NewFolder(t)
	dir, moved := top.Abs("app"), top.Abs("moved")
	top.Must(os.Mkdir(dir, 0o755))
	w := open(t, dir)
	p, err := w.Resolve("a.txt")
	top.Must(err)
	refused := func(want bool, when string) {
		t.Helper()
		if err := w.CheckFolders(); (fault.CodeOf(err) == fault.ConcurrentModification) != want {
			t.Errorf("%s: %v", when, err)
		}
	}
	refused(false, "at first")
	top.Must(os.Rename(dir, moved))
	refused(true, "moved away")
	top.Write("app/a.txt", "")
	w.Reopen()
	refused(true, "replaced")
	if _, _, err := p.ReadFile(100); err == nil {
		t.Error("it became the other one by itself")
	}
	w.OpenAgain(dir)
	refused(false, "opened again")
	if _, _, err := p.ReadFile(100); err != nil {
		t.Errorf("opened again: %v", err)
	}
	top.Remove("app")
	top.Must(os.Rename(moved, dir))
	refused(false, "the only one that is left")
	top.Must(os.Rename(dir, moved))
	top.Link("moved", "app")
	refused(true, "a link in its place")
}
