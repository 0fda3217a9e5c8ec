package tools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/process"
	"pillion/workspace/diff"
)

// TestMain lets the test binary be the guardian that commands run below.
func TestMain(m *testing.M) {
	process.PlayPart()
	flag.Parse()
	if err := setUp(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(common)
	os.Exit(code)
}

const gitConfig = "[user]\n\tname = A Person\n\temail = person@example.org\n[init]\n\tdefaultBranch = main\n\ttemplateDir =\n"

// common is a folder of this run of the tests, with what all worlds have alike.
var common string

// setUp gives all tests an environment, which they can then share and run beside each
// other, for they mostly wait for programs.
func setUp() (err error) {
	if common, err = os.MkdirTemp("", "pillion-tools-"); err != nil {
		return err
	}
	home := filepath.Join(common, "home")
	for name, value := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, ".config"), "GIT_CONFIG_NOSYSTEM": "1"} {
		err = errors.Join(err, os.Setenv(name, value))
	}
	for _, name := range []string{"NVIM", "VSCODE_IPC_HOOK_CLI", "PILLION_TOKEN", "DISPLAY", "WAYLAND_DISPLAY"} {
		err = errors.Join(err, os.Setenv(name, "what a command must not see"))
	}
	if os.Getenv("PILLION_RIDES") == "" { // the same cases in each run; others are tried by make rides
		err = errors.Join(err, flag.Set("rapid.seed", "41"), flag.Set("rapid.checks", "50"))
	}
	return errors.Join(err, os.Mkdir(home, 0o700), os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(gitConfig), 0o600), flag.Set("test.parallel", "6"))
}

var update = flag.Bool("update", false, "write what the calls gave into the scenario files; read the difference before you keep it")

// TestScenarios plays testdata/*.txtar, a file a tool, through the door of a real
// Registry. A file is a txtar archive of these sections, in order:
//
//	-- any/path --      a file of the workspace
//	-- setup --         what else happens before the next call, a line each; see world.do
//	-- shell --         a script for bash, in the workspace; BASE is the folder around everything
//	-- call: what for   a line "TOOL ARGUMENTS", and what happens meanwhile; see readCall
//	-- git: arguments   what git says
//	-- want --          all that came of the call, but for what is usual; see report and brief
//
// Beside the exact result every call is held to what holds for all: see check.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenario files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { playFile(t, file) })
	}
}

func playFile(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	must(t, err)
	if !slices.ContainsFunc(archive.Files, func(f txtar.File) bool { return f.Name == "setup" && string(f.Data) == "home\n" }) {
		t.Parallel()
	}
	w := newWorld(t)
	for i := 0; i < len(archive.Files); i++ {
		section := &archive.Files[i]
		name, isCall := strings.CutPrefix(section.Name, "call: ")
		git, isGit := strings.CutPrefix(section.Name, "git: ")
		switch {
		case section.Name == "setup":
			w.setup(string(section.Data))
		case section.Name == "shell":
			w.shell(string(section.Data))
		case isCall, isGit:
			if i+1 == len(archive.Files) || archive.Files[i+1].Name != "want" {
				archive.Files = slices.Insert(archive.Files, i+1, txtar.File{Name: "want"})
			}
			i++
			if isGit {
				compare(t, w.says(strings.Fields(git)...)+"\n", &archive.Files[i])
				continue
			}
			t.Run(name, func(t *testing.T) { playCall(t, w, string(section.Data), &archive.Files[i]) })
			w.t = t
		default:
			w.write(section.Name, string(section.Data))
		}
	}
	if *update {
		must(t, os.WriteFile(file, txtar.Format(archive), 0o644))
	}
}

func playCall(t *testing.T, w *world, text string, want *txtar.File) {
	w.t = t
	limit, got := time.Second/4, ""
	for {
		c := w.readCall(strings.ReplaceAll(text, "$TIME", fmt.Sprint(limit.Seconds())))
		w.writesGit = writesGit(c.tool)
		before := w.look()
		result := w.execute(c)
		after := w.look()
		check(t, c, result, before, after)
		got = strings.ReplaceAll(w.report(c, result, before, after), fmt.Sprintf("after %s\n", limit), "after $TIME\n")
		if !strings.Contains(text, "$TIME") || got == string(want.Data) || limit > time.Minute || *update && limit > time.Second {
			break
		}
		limit *= 2
	}
	compare(t, got, want)
}

func compare(t *testing.T, got string, want *txtar.File) {
	t.Helper()
	if *update {
		want.Data = []byte(got)
	} else if want := string(want.Data); got != want {
		t.Errorf("want −, got +:\n%s\nrun go test ./tools -run TestScenarios -update, and read the difference", diff.Unified(diff.Hunks(want, got, 3)))
	}
}

// check holds a result to what is true of every call: it says whether it is ok,
// a failure tells in one clause with a code of the contract what is wrong, and has
// changed nothing; and the registry still answers.
func check(t *testing.T, c *call, r tools.Result, before, after view) {
	var s struct {
		OK      *bool
		Success *bool
		Error   *struct{ Code, Message, Hint string }
	}
	if err := json.Unmarshal(r.Structured, &s); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, r.Structured)
	}
	switch {
	case s.OK == nil:
		t.Errorf("the result does not say ok: %s", r.Structured)
	case *s.OK == r.IsError, *s.OK != (s.Error == nil), s.Success != nil && *s.Success != *s.OK:
		t.Errorf("ok, success, error and isError do not agree: %s, isError %t", r.Structured, r.IsError)
	}
	if s.Error != nil {
		checkWords(t, s.Error.Code, s.Error.Message, s.Error.Hint)
		if c.tool != "run_command" && !c.halfDone && len(c.meanwhile()) == 0 && !before.equal(after) {
			t.Errorf("a failed call changed something:\n%s", after.since(before))
		}
	}
	if s.Error == nil || s.Error.Code != "TOOL_NOT_FOUND" {
		if err := tools.CheckResult(c.tool, r.Structured); err != nil {
			t.Errorf("the result is not as the tool's schema says: %v\n%s", err, r.Structured)
		}
	}
	if len(r.Content) == 0 {
		t.Error("the model gets nothing to read")
	}
}

func checkWords(t *testing.T, code, message, hint string) {
	if !slices.Contains(contractCodes, code) {
		t.Errorf("%s is no code of the contract", code)
	}
	first, _ := utf8.DecodeRuneInString(message)
	isName := strings.ContainsAny(strings.SplitN(message, " ", 2)[0], "./_\"") // a file's name keeps its case
	if message == "" || unicode.IsUpper(first) && !isName || strings.HasSuffix(message, ".") {
		t.Errorf("an error is a lower-case clause without a full stop: %q", message)
	}
	if first, _ := utf8.DecodeRuneInString(hint); hint != "" && (unicode.IsUpper(first) && !strings.HasPrefix(hint, "README") || strings.HasSuffix(hint, ".")) {
		t.Errorf("a hint is a lower-case clause without a full stop: %q", hint)
	}
}

// contractCodes are those of CONTRACT section 3.
var contractCodes = strings.Fields(`
	FILE_NOT_FOUND FILE_EXISTS FILE_TOO_LARGE NOT_A_FILE BINARY_FILE PERMISSION_DENIED INVALID_PATH PATH_OUTSIDE_WORKSPACE
	ENCODING_ERROR CONCURRENT_MODIFICATION EDIT_NO_MATCH EDIT_AMBIGUOUS PATCH_APPLY_FAILED WORK_TREE_DIRTY
	GIT_NOT_INITIALIZED GIT_ERROR TOOL_NOT_FOUND INVALID_ARGUMENTS EXECUTION_FAILED TIMEOUT CANCELLED USER_REJECTED
	APPROVAL_UNAVAILABLE POLICY_DENIED RATE_LIMITED LSP_UNAVAILABLE PROCESS_NOT_FOUND AGENT_ERROR LLM_ERROR`)

// execute makes the call, and then sees whether the registry still answers.
func (w *world) execute(c *call) tools.Result {
	w.start()
	w.human.take(c)
	call := tools.Call{
		Name: c.tool, Arguments: c.arguments, CallID: "call", Session: w.session(c.session),
		Timeout: c.timeout, RequiresApproval: c.requiresApproval, PageBytes: c.page,
	}
	w.chunks = nil
	if c.streams {
		call.Stream = func(_ context.Context, chunk tools.Chunk) error {
			w.chunks = append(w.chunks, chunk)
			return nil
		}
	}
	if w.decisions = nil; c.decides != "" {
		call.Decided = func(d tools.Decision) bool {
			w.decisions = append(w.decisions, d)
			return c.decides == "here"
		}
	}
	result := w.registry.Execute(context.Background(), call)
	w.human.done(w.t)
	probe := w.registry.Execute(context.Background(), tools.Call{
		Name: "read_file", Arguments: json.RawMessage(`{"path":""}`), CallID: "probe", Session: w.session("probe"),
	})
	if probe.Err == nil || probe.Err.Code != fault.InvalidPath {
		w.t.Errorf("after the call nothing works any more: %s", probe.Structured)
	}
	return result
}

// report is all that came of a call: the questions to the user, the result, what
// the model reads beside it, and what is different on disk and in the editor.
func (w *world) report(c *call, r tools.Result, before, after view) string {
	var out strings.Builder
	for _, line := range w.human.asked {
		if w.writesGit {
			line = w.redact(line)
		}
		out.WriteString(strings.ReplaceAll(line, w.base, "$BASE") + "\n")
	}
	for _, d := range w.decisions {
		fmt.Fprintf(&out, "decided: %s %q %s\n", d.Decision, d.Feedback, w.redact(string(d.Arguments)))
	}
	for _, c := range w.chunks {
		fmt.Fprintf(&out, "chunk, lines %d to %d: %q\n", c.StartLine, c.EndLine, c.Content)
	}
	out.WriteString(brief(w.redact(string(indent(r.Structured)))))
	for i, part := range r.Content {
		switch {
		case part.Type != "text":
			fmt.Fprintf(&out, "%s %s, %d characters of base64\n", part.Type, part.MIMEType, len(part.Data))
		case r.IsError && i == 0, i == 0 && !c.text:
		default:
			out.WriteString("text " + strings.ReplaceAll(w.redact(strings.TrimSuffix(part.Text, "\n")), "\n", "\n   | ") + "\n")
		}
	}
	out.WriteString(w.redact(after.since(before)))
	return fault.Escape(out.String())
}

func indent(raw json.RawMessage) []byte {
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return raw
	}
	return out.Bytes()
}

var varying = []struct {
	find *regexp.Regexp
	put  string
}{
	{regexp.MustCompile(`"modified": "\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"`), `"modified": "<time>"`},
	{regexp.MustCompile(`"duration_ms": \d+`), `"duration_ms": "<ms>"`},
	{regexp.MustCompile(`"started": "[^"]+Z"`), `"started": "<time>"`},
	{regexp.MustCompile(`"pid": [1-9]\d*`), `"pid": "<pid>"`},
	{regexp.MustCompile(`still running after [\d.]+m?s`), `still running after <time>`},
	{regexp.MustCompile(`"retry_after_ms": \d+`), `"retry_after_ms": "<ms>"`},
	{regexp.MustCompile(`wait \d+ ms`), `wait <n> ms`},
	{regexp.MustCompile(`\(/\S*/(?:printf|cat|sh)\)`), `(<program>)`},
}

// writesGit says whether a tool writes to repositories. Of what these hold a scenario
// then shows what the tool says, and no files; and of hashes, which times are in, that
// they are there.
func writesGit(tool string) bool {
	return tool == "git.commit" || tool == "git.branch" || tool == "git.push"
}

var gitHash = regexp.MustCompile(`\b[0-9a-f]{7}(?:[0-9a-f]{33})?\b`)

// redact puts placeholders for what differs from run to run.
func (w *world) redact(s string) string {
	if w.writesGit {
		s = gitHash.ReplaceAllString(s, "<hash>")
		if w.gitFile != "" {
			s = strings.ReplaceAll(s, w.gitFile, "<git>")
		}
	}
	s = strings.ReplaceAll(s, w.base, "$BASE")
	if w.site != nil {
		s = strings.ReplaceAll(s, strings.TrimPrefix(w.site.URL, "http://"), "$WEB")
	}
	for _, v := range varying {
		s = v.find.ReplaceAllString(s, v.put)
	}
	return s
}
