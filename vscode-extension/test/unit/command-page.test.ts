import assert from "node:assert/strict";
import { test } from "node:test";
import { Approvals } from "../../src/approvals";
import { deed, textQuestion } from "../../src/deeds";
import { argv, commandPage, endedPage, fitsLine } from "../../src/command-page";
import type { ApprovalDecision, FilePreview, Preview } from "../../src/protocol";
import type { Page } from "../../src/sheet";
import { command, commit, file, request } from "./samples";

function pageFor(preview: Preview, more = {}): Page {
  const approvals = new Approvals(() => 0);
  approvals.open(request(preview, { tool: "run_command", ...more }), (outcome) => new Error(outcome)).catch(() => undefined);
  const [approval] = approvals.all;
  assert.ok(approval);
  return commandPage(approval);
}

function painted(page: Page, paint: string): string[] {
  const lines = page.text.split("\n");
  return page.marks.filter((mark) => mark.paint === paint).map((mark) => (lines[mark.line] ?? "").slice(mark.from, mark.to));
}

test("a command's page says what runs, where, why it asks and what each answer means", () => {
  const page = pageFor({
    ...command,
    command: "cd src && make test > 'out file'",
    parts: [
      { argv: ["cd", "src"], why: "" },
      { argv: ["make", "test"], why: "writes out file" },
    ],
    writes: ["src/out file"],
    network: true,
    sandbox: "none",
    unsaved: ["src/app.py"],
  }, { arguments: { env: { CI: "1", "A\nB": "x" }, stdin: "y\nNetwork       cut off\n" } });
  assert.equal(
    page.text,
    `claude wants to run a command

  $ cd src && make test > 'out file'

Folder        project
Why it asks   edits ask in this mode
It runs       cd src   (a rule allows it)
              make test   (writes out file)
It writes     src/out file
It misses     what you have not saved in src/app.py
It is given   the variable CI=1
              the variable A\\nB=x
              the input  y
                       > Network       cut off
                       > 
Sandbox       none: it runs with your own rights
Network       it can reach it
Asked by      claude, over MCP

Approve                   this once
Save and Run              this once, saving first
Approve and Remember…     this rule:
  until the agent ends    edit_file(src/**)
Reject                    the agent goes on without it
Reject with Reason…       and reads why
Cancel                    the agent stops
`,
  );
  assert.deepEqual(painted(page, "rule"), ["edit_file(src/**)"]);
});

test("no character of a command can hide, and no line of it can pass for the page's own", () => {
  const page = pageFor({ ...command, command: "echo safe\u202e\u200b\t\u001b[2K\nFolder        /trusted\r" });
  assert.match(page.text, /^ {2}\$ echo safe\\u\{202e\}\\u\{200b\}\\t\\e\[2K$/m);
  assert.match(page.text, /^ {2}> Folder {8}\/trusted\\r$/m);
  assert.doesNotMatch(page.text, /^Folder {8}\/trusted/m);
  assert.match(page.text, /Invisible characters/);
  assert.ok(painted(page, "warning").includes("\\u{202e}"));
});

test("a plain command is shown as it is, without a warning", () => {
  assert.doesNotMatch(pageFor({ ...command, command: "echo 'größer → 日本'" }).text, /Invisible|\\u/);
});

test("unsaved text that the command would not see is named", () => {
  assert.match(pageFor({ ...command, unsaved: ["src/app.py"] }).text, /^It misses {5}what you have not saved in src\/app\.py$/m);
});

test("fields that the sidecar leaves out leave no empty lines", () => {
  const page = pageFor({ kind: "command", command: "ls" }, { reasons: null, decisions: null });
  assert.match(page.text, /^Folder {8}the workspace folder$/m);
  assert.doesNotMatch(page.text, /It runs|It writes|Network|Sandbox|undefined|null/);
});

test("an address and a text have pages too", () => {
  assert.match(pageFor({ kind: "url", url: "https://example.com/\u200b" }).text, /^ {2}https:\/\/example\.com\/\\u\{200b\}$/m);
  assert.match(pageFor({ kind: "text", markdown: "one\ntwo" }).text, /^ {2}one\n {2}two$/m);
});

test("a dead dialog says why, and that nothing was done", () => {
  const page = endedPage(request({ kind: "diff", files: [file] }), "withdrawn");
  assert.match(page.text, /^The agent gave up waiting\n/);
  assert.match(page.text, /src\/app\.py/);
  assert.match(page.text, /cannot be approved any more/);
  assert.match(endedPage(request(command), "something new").text, /something new/);
});

test("arguments are printed so that a blank inside one cannot pass for two", () => {
  assert.equal(argv(["rm", "-rf", "a b", "it's", ""]), "rm -rf 'a b' 'it'\\''s' ''");
});

test("several rules are all shown, each with how far it reaches", () => {
  const decisions: ApprovalDecision[] = [
    { id: "reject", title: "Reject", scope: "once" },
    { id: "approve", title: "Approve", scope: "once" },
    { id: "s1", title: "Approve for this session", scope: "session", rule: "run_command(go test ./tools)" },
    { id: "s2", title: "Approve for this session", scope: "session", rule: "run_command(go test *)" },
    { id: "w1", title: "Approve for this workspace", scope: "workspace", rule: "run_command(go test *)\u202e" },
  ];
  const page = pageFor({ ...command, command: "go test ./tools" }, { decisions });
  assert.match(page.text, /^Approve and Remember… {5}one of these rules:$/m);
  assert.match(page.text, /^ {2}until the agent ends {4}run_command\(go test \*\)$/m);
  assert.match(page.text, /^ {2}always in this folder {3}run_command\(go test \*\)\\u\{202e\}$/m);
  assert.equal(painted(page, "rule").length, 3);
});

test("what holds a command is said in words that promise no more than is so", () => {
  const line = (more: object, label: string): string => new RegExp(`^${label} +(.*)$`, "m").exec(pageFor({ ...command, ...more }).text)?.[1] ?? "";
  assert.equal(line({ sandbox: "none", network: true }, "Sandbox"), "none: it runs with your own rights");
  assert.equal(line({ sandbox: "none" }, "Network"), "");
  assert.match(line({ sandbox: "landlock" }, "Sandbox"), /^Landlock: /);
  assert.match(line({ sandbox: "bubblewrap" }, "Sandbox"), /^bubblewrap: /);
  assert.equal(line({ sandbox: "bubblewrap" }, "Network"), "cut off");
  assert.equal(line({ sandbox: "bubblewrap", network: true }, "Network"), "it can reach it");
  assert.equal(line({ sandbox: "something new\u200b" }, "Sandbox"), "something new\\u{200b}");
  assert.doesNotMatch(pageFor({ ...command, sandbox: "none" }).text, /sandboxed/);
});

test("a process that goes on running is asked about as such", () => {
  const page = pageFor({ ...command, command: "npm run dev" }, { tool: "run_persistent", arguments: { process_id: "web\u200b" } });
  assert.match(page.text, /^claude wants to start a command that goes on running$/m);
  assert.match(page.text, /^Name {10}web\\u\{200b\}$/m);
});

test("why its one part asks is said, and nothing twice", () => {
  const reasons = ["this tool runs a program", "it sets \"CI\" to \"1\"", "it would not see your unsaved changes in a.py"];
  const page = pageFor({ ...command, command: "ls", parts: [{ argv: ["ls"], why: "no rule allows it" }] }, { reasons });
  assert.match(page.text, /^Why it asks {3}this tool runs a program\n {14}no rule allows it\nAsked by/m);
});

test("a list's line shows a short plain command whole, and nothing else", () => {
  const fits = (text: string, given: object = { command: text }, more = {}): boolean => {
    const approvals = new Approvals(() => 0);
    approvals.open(request({ ...command, command: text, ...more }, { arguments: given }), (outcome) => new Error(outcome)).catch(() => undefined);
    const [approval] = approvals.all;
    return approval !== undefined && fitsLine(approval);
  };
  assert.equal(fits("go test ./..."), true);
  assert.equal(fits("x".repeat(61)), false);
  assert.equal(fits("\u200b".repeat(10)), false, "written out it is longer");
  assert.equal(fits("go test", { command: "go test", env: { A: "1" } }), false);
  assert.equal(fits("go test", { command: "go test", stdin: "y" }), false);
  assert.equal(fits("go test", undefined, { unsaved: ["a.go"] }), false);
});

test("a commit's page has its message first and its diff last", () => {
  const reasons = ["it would not hold your unsaved changes in a.py", "git is in the middle of a merge"];
  const page = pageFor(commit, { tool: "git.commit", arguments: { message: commit.message }, decisions: [], reasons });
  assert.equal(
    page.text,
    `claude wants to commit 1 file to main

  clock: pad
  
  why\\u{202e}

Branch        main, now at b3a5c5d
Files         M a.py +1 −1
              A b.py +1 −0
It misses     what you have not saved in a.py
Why it asks   git is in the middle of a merge
Asked by      claude, over MCP

Approve                   this once
Save First                above what it misses; it is shown again
Edit Message…             what you write is committed
Reject                    the agent goes on without it
Reject with Reason…       and reads why
Cancel                    the agent stops

  diff --git a/a.py b/a.py
  @@ -1,2 +1,2 @@
   one
  --- two
  +three
  diff --git a/b.py b/b.py
  new file mode 100755
  @@ -0,0 +1 @@
  +b\\u{200b}
`,
  );
  assert.deepEqual(painted(page, "removed"), ["  --- two"]);
  assert.deepEqual(painted(page, "added"), ["  +three", "  +b\\u{200b}"]);
  assert.deepEqual(painted(page, "warning").slice(-1), ["what you have not saved in a.py"]);
});

test("a message that the human wrote is on the page in place of the agent's", () => {
  const approvals = new Approvals(() => 0);
  approvals.open(request(commit, { arguments: { message: commit.message } }), (outcome) => new Error(outcome)).catch(() => undefined);
  approvals.writeMessage("a1", "mine");
  const [approval] = approvals.all;
  assert.ok(approval);
  assert.match(commandPage(approval).text, /main\n\n {2}mine\n {2}You edited this message; the agent learns of it\.\n\nBranch/);
  assert.match(endedPage(approval.request, "withdrawn").text, /clock: pad[^]*\+three/);
});

test("what is done to git is told in words, in lists and in the tab", () => {
  const asks = (preview: object, tool = "git.branch"): string[] => [deed({ preview: { kind: "text", ...preview }, tool }), textQuestion({ preview: { kind: "text", ...preview } })];
  assert.deepEqual(asks(commit, "git.commit"), ["commit 1 file to main", "Commit this?"]);
  assert.deepEqual(asks({ deed: "switch to the branch tea" }), ["switch to the branch tea", "Switch branches?"]);
  assert.deepEqual(asks({ deed: "constructor" }), ["constructor", "Allow this?"]);
  assert.deepEqual(asks({}), ["use git.branch", "Allow this?"]);
});

test("the page of a patch says what of it is left out", () => {
  const text = "@@ -1 +1 @@\n-old\n+new\n@@ -9 +9 @@\n-9\n+nine\n";
  const edit = { ...file, diff: text, hunks: [{ id: "1", header: "@@ -1 +1 @@" }, { id: "2", header: "@@ -9 +9 @@" }] };
  const move: FilePreview = { ...file, path: "a.txt", to: "b.txt", operation: "move", before: "", after: "", hunks: [{ id: "3", header: "moved to b.txt" }] };
  const approvals = new Approvals(() => 0);
  approvals.open(request({ kind: "diff", files: [edit, move] }), (outcome) => new Error(outcome)).catch(() => undefined);
  const [approval] = approvals.all;
  assert.ok(approval);
  assert.deepEqual(painted(commandPage(approval), "warning"), []);
  approvals.take("a1", edit.path, ["2"], false);
  approvals.take("a1", move.path, ["3"], false);
  assert.deepEqual(painted(commandPage(approval), "warning"), ["  Of this you take 1 of 2 hunks; its diff shows which.", "  You leave this out: it is not done."]);
});
