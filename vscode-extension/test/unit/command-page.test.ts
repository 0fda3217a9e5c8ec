import assert from "node:assert/strict";
import { test } from "node:test";
import { Approvals } from "../../src/approvals";
import { argv, commandPage, endedPage } from "../../src/command-page";
import type { Preview } from "../../src/protocol";
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
  });
  assert.equal(
    page.text,
    `claude wants to run a command

  $ cd src && make test > 'out file'

Folder        project
Why it asks   edits ask in this mode
It runs       cd src
              make test   (writes out file)
It writes     src/out file
Network       it may reach it
Sandbox       none; it runs with your own rights
Asked by      claude, over MCP

Approve                   this once
Approve for this session  and from now on, without asking:
                          edit_file(src/**)
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
