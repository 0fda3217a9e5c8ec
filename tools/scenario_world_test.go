package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pillion/internal/web"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/tools/process"
	"pillion/tools/session"
	"pillion/tools/skills"
	"pillion/workspace"
	"pillion/workspace/change"
	"pillion/workspace/document"
)

// world is what a scenario happens in: a workspace on disk, an editor, a user,
// and the registry between them. Files lie below base/project; base holds what is
// outside.
type world struct {
	t       *testing.T // of the call that runs
	file    *testing.T
	base    string
	folders []string // below project

	store     *document.Store
	registry  *tools.Registry
	human     *human
	editor    *editor
	rules     policy.Rules
	allowed   []tools.Allowed
	limits    tools.Limits
	sessions  map[string]*session.Session
	chunks    []tools.Chunk    // of the last call
	decisions []tools.Decision // of the last call, where its caller hears them
	// languages is what the scenario says of code; nil: nobody can be asked.
	languages *languages
	writesGit bool   // the call that runs may write to repositories
	gitFile   string // the git that is used
	noGit     bool
	// sandbox is off in scenarios, which must come out the same on every machine.
	sandbox func(*process.Runner) tools.Sandbox
	memory  workspace.Path
	search  web.Search
	site    *httptest.Server // what the scenario has on the web; nil: nothing
	pages   *http.ServeMux
	runners map[string]tools.Runner
}

func newWorld(t *testing.T) *world {
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	w := &world{t: t, file: t, base: base, folders: []string{"."}, limits: tools.DefaultLimits, sessions: map[string]*session.Session{}, runners: map[string]tools.Runner{}}
	w.sandbox = func(*process.Runner) tools.Sandbox { return tools.Sandbox{} }
	w.write("../outside/secret.txt", "out of reach\n")
	w.must(os.MkdirAll(w.path("../home"), 0o755))
	w.must(os.MkdirAll(w.path("."), 0o755))
	return w
}

// readyWorld is a world whose registry is wired, before there is anything in it.
func readyWorld(t *testing.T) *world {
	w := newWorld(t)
	w.start()
	return w
}

// ownHome has programs find the world's own home, and not that of all worlds: see setUp.
// Its test cannot run beside others.
func (w *world) ownHome() {
	w.file.Setenv("HOME", w.path("../home"))
	w.file.Setenv("XDG_CONFIG_HOME", w.path("../home/.config"))
	w.write("../home/.gitconfig", gitConfig)
}

// start wires the registry at the first call.
func (w *world) start() {
	if w.registry != nil {
		return
	}
	var folders []workspace.Folder
	for _, name := range w.folders {
		folders = append(folders, workspace.Folder{Dir: w.path(name)})
	}
	ws, err := workspace.Open(folders...)
	must(w.t, err)
	runner, err := process.NewRunner()
	must(w.t, err)
	w.file.Cleanup(func() { w.must(runner.Close()) })
	w.store = document.NewStore(ws)
	w.human = &human{do: w.do}
	w.editor = &editor{store: w.store}
	w.registry = &tools.Registry{
		Documents: w.store,
		Committer: &change.Committer{Documents: w.store, Editor: w.editor},
		Approvals: approval.NewQueue(w.human, 0),
		Processes: process.NewTable(runner),
		Human:     w.human,
		LookPath:  w.lookPath,
		Settings: func() tools.Settings {
			return tools.Settings{Rules: w.rules, Allowed: w.allowed, Limits: w.limits, Sandbox: w.sandbox(runner), PrivateHosts: []string{"127.0.0.1"}, Memory: w.memory, Skills: w.skills, Search: w.search, Runners: w.runners}
		},
	}
}

// skills are those of the user's own folder.
func (w *world) skills(only string) []skills.Skill {
	return skills.Outside("~/.agents/skills", w.path("../home/.agents/skills"), only)
}

// lookPath finds a program as it is in PATH, and remembers it of git.
func (w *world) lookPath(name string) (string, error) {
	if w.noGit {
		return "", exec.ErrNotFound
	}
	file, err := exec.LookPath(name)
	w.gitFile = file
	return file, err
}

// lsp has the languages of the scenario answer a question.
func (w *world) lsp(question, rest string) {
	w.start()
	if w.languages == nil {
		w.languages = &languages{t: w.t, ws: w.store.Workspace(), answers: map[string]fakeAnswer{}}
		w.registry.Languages = w.languages
	}
	w.languages.t = w.t
	w.languages.learn(question, rest)
}

// serve puts a page on the web, at $WEB, from where alone it can be fetched.
func (w *world) serve(path, page string) {
	if w.site == nil {
		w.pages = http.NewServeMux()
		w.site = httptest.NewServer(w.pages)
		w.file.Cleanup(w.site.Close)
	}
	w.pages.HandleFunc(path, func(out http.ResponseWriter, in *http.Request) {
		if to, moved := strings.CutPrefix(page, "to "); moved {
			http.Redirect(out, in, to, http.StatusFound)
			return
		}
		fmt.Fprint(out, page)
	})
}

func (w *world) session(name string) *session.Session {
	if w.sessions[name] == nil {
		w.sessions[name] = session.New(name, session.Agent{Name: "agent", Via: "mcp"}, policy.Default)
	}
	return w.sessions[name]
}

// path is a name of the scenario on disk.
func (w *world) path(name string) string {
	return filepath.Join(w.base, "project", filepath.FromSlash(name))
}

func (w *world) write(name, text string) {
	p := w.path(name)
	must(w.t, os.MkdirAll(filepath.Dir(p), 0o755))
	must(w.t, os.WriteFile(p, []byte(text), 0o644))
}

func (w *world) setup(text string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			w.do(line)
		}
	}
}

// do lets one thing happen. TEXT is a Go string literal, and so may be PATH.
//
//	write PATH TEXT    somebody writes a file on disk; "TEXT" * N repeats it
//	remove PATH
//	link PATH TARGET
//	hardlink PATH TARGET
//	mode PATH OCTAL
//	fifo PATH
//	age PATH DURATION  it was last changed that long ago
//	git ARGUMENTS…     runs git in the workspace
//	without git        there is no such program; before the first call
//	home               programs find a home of this scenario alone; before the first call,
//	                   in a section of its own
//	folders NAME…      the workspace folders; before the first call
//	open PATH          the editor opens a file
//	type PATH TEXT     the user makes this the text of an open buffer
//	format TEXT        what the editor puts in front of a file that it saves
//	session NAME MODE  a session's mode
//	resume NAME        a session's next turn
//	allow|ask|deny RULE
//	agents NAME TOOL…  the setting agents.NAME.tools, once more
//	offer NAME TOOL…   what a session is limited to
//	limit read|write|diff|output BYTES; before the first call
//	preset codelab     the limits that it has; the same
//	rate NAME N        of a session: so many changes and reads a minute
//	provider NAME      who searches the web, at $WEB, with the key "key"; no NAME: nobody
//	own NAME           the session is the editor's own
//	memory PATH        what the setting memory.file names
//	runner NAME COMMAND…
//	                   a sub-agent that is a command
//	lsp QUESTION ABOUT JSON
//	                   what a language server answers; see languages
func (w *world) do(line string) {
	verb, rest, _ := strings.Cut(line, " ")
	name, argument, _ := strings.Cut(rest, " ")
	if quoted, err := strconv.QuotedPrefix(rest); err == nil {
		name, argument = w.text(quoted), strings.TrimPrefix(rest[len(quoted):], " ")
	}
	switch verb {
	case "write":
		w.write(name, w.text(argument))
	case "remove":
		w.must(os.RemoveAll(w.path(name)))
	case "link":
		w.must(os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
		w.must(os.Symlink(strings.ReplaceAll(argument, "$BASE", w.base), w.path(name)))
	case "hardlink":
		w.must(os.Link(w.path(argument), w.path(name)))
	case "mode":
		w.must(os.Chmod(w.path(name), fs.FileMode(w.number(argument, 8))))
	case "fifo":
		w.must(makeFIFO(w.path(name)))
	case "age":
		ago, err := time.ParseDuration(argument)
		w.must(err)
		w.must(os.Chtimes(w.path(name), time.Time{}, time.Now().Add(-ago)))
	case "git":
		w.git(rest)
	case "home":
		w.ownHome()
	case "without":
		w.noGit = true
	case "folders":
		w.folders = strings.Fields(rest)
	default:
		w.doLive(verb, name, argument, rest)
	}
}

// doLive is do for what needs the editor, the sessions or the settings.
func (w *world) doLive(verb, name, argument, rest string) {
	switch verb {
	case "provider":
		w.search = web.Search{Provider: name, URL: w.site.URL, Key: func(context.Context) (string, error) { return "key", nil }}
	case "own":
		w.sessions[name] = session.New(session.Editors, session.Agent{Name: "Editor", Via: "editor"}, policy.Default)
	case "memory":
		w.start()
		var err error
		w.memory, err = w.store.Workspace().Apart(w.path(name))
		w.must(err)
	case "lsp":
		question, about, _ := strings.Cut(rest, " ")
		w.lsp(question, about)
	case "runner":
		w.runners[name] = tools.Runner{Args: strings.Fields(argument), Timeout: time.Minute}
	case "web":
		w.serve(name, w.text(argument))
	case "open":
		w.start()
		w.editor.open(w, name)
	case "type":
		w.editor.typeText(w, name, w.text(argument))
	case "format":
		w.editor.format = w.text(rest)
	case "session":
		w.must(w.session(name).SetMode(policy.Mode(argument)))
	case "offer":
		w.session(name).Offer(strings.Fields(argument))
	case "agents":
		chosen, _ := tools.Choose(strings.Fields(argument))
		w.allowed = append(w.allowed, tools.Allowed{Agent: name, Tools: chosen, Where: "agents." + name + ".tools"})
	case "resume":
		w.session(name).NewTurn()
	case "rate":
		n := int(w.number(argument, 10))
		w.session(name).SetLimits(session.Limits{Changes: n, Reads: n})
	case "limit":
		size := w.number(argument, 10)
		*map[string]*int64{"read": &w.limits.ReadBytes, "write": &w.limits.WriteBytes, "diff": &w.limits.DiffBytes, "output": &w.limits.OutputBytes}[name] = size
	case "preset":
		w.limits = tools.CodeLab(w.limits)
	case "allow", "ask", "deny":
		rule, err := policy.ParseRule(rest)
		w.must(err)
		list := map[string]*[]policy.Rule{"allow": &w.rules.Allow, "ask": &w.rules.Ask, "deny": &w.rules.Deny}[verb]
		*list = append(*list, rule)
	default:
		w.t.Fatalf("no such thing can happen: %s %s", verb, rest)
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	must(w.t, err)
}

// json is what tools get of arguments: JSON already, or what becomes it.
func (w *world) json(v any) json.RawMessage {
	if text, is := v.(string); is {
		return json.RawMessage(text)
	}
	raw, err := json.Marshal(v)
	w.must(err)
	return raw
}

// ask makes a call in the session main.
func (w *world) ask(ctx context.Context, tool string, arguments any) tools.Result {
	return w.registry.Execute(ctx, tools.Call{Name: tool, Arguments: w.json(arguments), Session: w.session("main")})
}

// needs is what the user would be shown of a call.
func (w *world) needs(tool string, arguments any) tools.Need {
	w.start()
	return w.registry.ApprovalRequest(context.Background(), tools.Call{Name: tool, Arguments: w.json(arguments), Session: w.session("s")})
}

func (w *world) text(literal string) string {
	quoted, err := strconv.QuotedPrefix(literal)
	w.must(err)
	text, err := strconv.Unquote(quoted)
	w.must(err)
	if times, ok := strings.CutPrefix(literal[len(quoted):], " * "); ok {
		return strings.Repeat(text, int(w.number(times, 10)))
	}
	return text
}

func (w *world) number(s string, base int) int64 {
	n, err := strconv.ParseInt(s, base, 64)
	w.must(err)
	return n
}

// gitDates have commits come out the same in each run.
var gitDates = []string{"GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z"}

func (w *world) git(arguments string) {
	args := []string{"-c", "user.name=A Person", "-c", "user.email=person@example.org", "-c", "init.defaultBranch=main"}
	cmd := exec.Command("git", append(args, strings.Fields(arguments)...)...)
	cmd.Dir = w.path(".")
	cmd.Env = append(os.Environ(), gitDates...)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git %s: %v\n%s", arguments, err, out)
	}
}

// says is what git says.
func (w *world) says(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = w.path(".")
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// shell has a shell do something in the workspace. MARK is a file that shows that a program ran.
func (w *world) shell(script string) {
	w.t.Helper()
	cmd := exec.Command("bash", "-euc", script)
	cmd.Dir, cmd.Env = w.path("."), slices.Concat(os.Environ(), gitDates, []string{"BASE=" + w.base, "MARK=" + w.path("../mark")})
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	w.must(os.RemoveAll(w.path("../mark")))
}

// editor is an editor with documents open. It implements change.Editor.
type editor struct {
	store  *document.Store
	format string
}

func (e *editor) open(w *world, name string) {
	p, err := w.store.Workspace().Resolve(name)
	w.must(err)
	data, err := os.ReadFile(p.Abs())
	w.must(err)
	c, err := document.Decode(data, "")
	w.must(err)
	e.store.Open(p, p.URI(), 1, c.Text)
	e.store.SetState(p, document.State{Version: 1, Encoding: string(c.Encoding), BOM: c.BOM})
}

func (e *editor) typeText(w *world, name, text string) {
	p, err := w.store.Workspace().Resolve(name)
	w.must(err)
	b := e.store.Buffer(p)
	e.store.Change(p, b.Version+1, text)
	e.store.SetState(p, document.State{Version: b.Version + 1, Dirty: true, Encoding: string(b.Encoding), BOM: b.BOM})
}

// Takes every open file, as a plugin does.
func (e *editor) Takes(*document.File) bool { return true }

// Edit does what a plugin does for document/edit.
func (e *editor) Edit(_ context.Context, edit change.BufferEdit) (change.BufferResult, error) {
	p, ok := e.store.Workspace().FromURI(edit.URI)
	b := e.store.Buffer(p)
	if !ok || b == nil || b.Version != edit.Version {
		return change.BufferResult{Reason: "the document has another version"}, nil
	}
	text := b.Text
	for _, one := range slices.Backward(edit.Edits) {
		text = document.Apply(text, one.Range, one.NewText)
	}
	if edit.Save {
		text = e.format + text
		data, err := document.Content{Text: text, Encoding: b.Encoding, BOM: b.BOM}.Encode()
		if err == nil {
			err = os.WriteFile(p.Abs(), data, 0o644)
		}
		if err != nil {
			return change.BufferResult{}, err
		}
	}
	e.store.Change(p, b.Version+1, text)
	e.store.SetState(p, document.State{Version: b.Version + 1, Dirty: !edit.Save, Encoding: string(b.Encoding), BOM: b.BOM})
	return change.BufferResult{Applied: true, Version: b.Version + 1, Dirty: !edit.Save}, nil
}

// view is all there is to see: each file below base, and each unsaved buffer.
type view map[string]string

func (w *world) look() view {
	v := view{}
	err := filepath.WalkDir(w.base, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(w.path("."), name)
		if w.writesGit && (entry.Name() == ".git" || strings.HasSuffix(entry.Name(), ".git")) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		v["disk "+filepath.ToSlash(rel)] = describeEntry(name, info)
		return nil
	})
	w.must(err)
	if w.store != nil {
		for _, b := range w.store.Dirty() {
			v["unsaved "+b.Path.String()] = strconv.Quote(b.Text)
		}
	}
	return v
}

func describeEntry(name string, info fs.FileInfo) string {
	switch {
	case info.IsDir():
		return "folder"
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := os.Readlink(name)
		return "link to " + target
	case !info.Mode().IsRegular():
		return info.Mode().Type().String()
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	text := strconv.Quote(string(data))
	if info.Mode()&0o111 != 0 {
		text += " executable"
	}
	return text
}

func (v view) equal(other view) bool { return v.since(other) == "" }

// since says what is different now, a line each.
func (v view) since(before view) string {
	var out []string
	for name, now := range v {
		was, there := before[name]
		switch {
		case !there:
			out = append(out, fmt.Sprintf("%s is new: %s", name, now))
		case was != now:
			out = append(out, fmt.Sprintf("%s is now: %s", name, now))
		}
	}
	for name := range before {
		if _, there := v[name]; !there {
			out = append(out, name+" is gone")
		}
	}
	slices.Sort(out)
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, "\n") + "\n"
}

func must(t testing.TB, err error) {
	if err != nil { // a world that all tests share has no test
		t.Helper()
		t.Fatal(err)
	}
}
