import assert from "node:assert/strict";
import { test } from "node:test";
import { Approvals } from "../../src/approvals";
import { argv, commandPage, endedPage, fitsLine } from "../../src/command-page";
import type { ApprovalDecision, Preview } from "../../src/protocol";
import type { Page } from "../../src/sheet";
import { command, file, request } from "./samples";

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
