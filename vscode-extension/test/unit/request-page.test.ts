import assert from "node:assert/strict";
import { test } from "node:test";
import { type Approval, Approvals } from "../../src/approvals";
import type { ApprovalRequest, FilePreview, Preview } from "../../src/protocol";
import { endedPage, fitsLine, requestPage } from "../../src/request-page";
import { type Page, pictureLines } from "../../src/sheet";
import { command, commit, diff, file, hunk, request, whole } from "./samples";

function approvalOf(preview: Preview, more: Partial<ApprovalRequest> = {}): { approvals: Approvals; approval: Approval } {
  const approvals = new Approvals(() => 0);
  approvals.open(request(preview, more), (outcome) => new Error(outcome)).catch(() => undefined);
  const [approval] = approvals.all;
  assert.ok(approval);
  return { approvals, approval };
}

function pageFor(preview: Preview, more: Partial<ApprovalRequest> = {}): Page {
  return requestPage(approvalOf(preview, more).approval);
}

function painted(page: Page, paint: string): string[] {
  const lines = page.text.split("\n");
  return page.marks.filter((mark) => mark.paint === paint).map((mark) => (lines[mark.line] ?? "").slice(mark.from, mark.to));
}

test("a page has what the sidecar says, as it says it, and what each answer means", () => {
  const page = pageFor({
    ...command,
    lines: ["cd src &&", "make \\u200b"],
    notices: ["Invisible characters are written as escapes."],
    unsaved: ["a.py"],
    facts: [
      { code: "folder", label: "Folder", text: "project" },
      { code: "parts", label: "Runs", text: "", items: ["cd src   (allowed by a rule)", "make"] },
      { code: "unsaved", label: "Unsaved changes not included", text: "a.py", tone: "warning", action: "save" },
      { code: "anything", label: "Of the future", text: "shown too", tone: "muted" },
    ],
  });
  assert.equal(
    page.text,
    `claude wants to run a command

  $ cd src &&
  > make \\u200b
  Invisible characters are written as escapes.

Folder        project
Runs          cd src   (allowed by a rule)
              make
Unsaved changes not included
  a.py
Of the future shown too

Approve                   once
Save and Run              once, after saving
Approve and Remember…     this rule:
  for this session        edit_file(src/**)
Reject                    the agent goes on without it
Reject with Reason…       and reads your reason
Stop Agent                rejects this and pauses the agent
`,
  );
  assert.equal(page.action, 9);
  assert.deepEqual(painted(page, "rule"), ["edit_file(src/**)"]);
  assert.deepEqual(painted(page, "warning"), ["\\u200b", "  Invisible characters are written as escapes.", "a.py"]);
});

test("what the sidecar leaves out leaves no empty lines", () => {
  const page = pageFor({ ...command, facts: [] }, { reasons: null, decisions: null });
  assert.doesNotMatch(page.text, /undefined|null|\n\n\n/);
});

test("the states of a picture stand side by side, and what comes next below them", () => {
  const data = (name: string): string => `data:image/png;base64,${name}`;
  const picture: FilePreview = { ...file, path: "a.png", name: "a.png", text: false, diff: "", hunks: [whole("1", "binary")], summary: "binary" };
  const page = pageFor(diff([{ ...picture, pictures: { before: data("one"), after: data("two") } }, { ...picture, path: "b.png", name: "b.png", pictures: { after: data("new") } }]));
  const at = page.pictures.map(({ line, at, url }) => [page.text.split("\n")[line]?.slice(0, at), url]);
  assert.deepEqual(at, [["  before ", data("one")], ["  before  after ", data("two")], ["  after ", data("new")]]);
  const below = page.text.split("\n").slice((page.pictures[0]?.line ?? 0) + 1);
  assert.equal(below.findIndex((line) => line !== ""), pictureLines);
});

test("a plan's page shows it whole, set in, so that no line of it can pass for the page's own", () => {
  const decisions = [
    { id: "reject", title: "Reject", scope: "once" as const, meaning: "the agent stays in plan mode" },
    { id: "approve", title: "Approve", scope: "once" as const, meaning: "the agent leaves plan mode and starts" },
  ];
  const plan: Preview = { kind: "plan", act: "carry out a plan", deed: "carry out a plan", subject: "", question: "Carry out this plan?", lines: ["# Plan", "Approve                   once"], facts: [] };
  const { text } = pageFor(plan, { decisions });
  assert.match(text, /^claude wants to carry out a plan\n\n {2}Plan\n {2}Approve {19}once\n\nApprove\n {2}the agent leaves plan mode and starts\nReject {20}the agent stays in plan mode\nReject with Reason/);
});

test("a review's page offers what can be answered", () => {
  const decisions = [
    { id: "reject", title: "Cancel", scope: "once" as const, meaning: "the agent gets nothing" },
    { id: "approve", title: "Apply", scope: "once" as const, meaning: "the agent gets the hunks" },
  ];
  const { text } = pageFor(diff([file], { kind: "review", act: "have a patch reviewed" }), { decisions });
  assert.match(text, /^claude wants to have a patch reviewed\n/);
  assert.match(text, /\nApply +the agent gets the hunks\nCancel +the agent gets nothing\nCancel with Reason… +and reads your reason\n$/);
});

test("a dead dialog says why, and that nothing was done", () => {
  const page = endedPage(request(diff([file])), "withdrawn");
  assert.match(page.text, /^The agent no longer waits for an answer\n/);
  assert.match(page.text, /src\/app\.py/);
  assert.match(page.text, /can no longer be approved/);
  assert.match(endedPage(request(command), "something new").text, /something new/);
});

test("several rules are all shown, each with how far it reaches", () => {
  const [no, yes] = request().decisions ?? [];
  assert.ok(no && yes);
  const rule = (id: string, scope: "session" | "workspace", text: string): typeof no => ({ id, title: "Approve", scope, rule: text, meaning: "" });
  const decisions = [no, yes, rule("s1", "session", "run_command(go test ./tools)"), rule("s2", "session", "run_command(go test *)"), rule("w1", "workspace", "run_command(go test *)\u202e")];
  const page = pageFor(command, { decisions });
  assert.match(page.text, /^Approve and Remember… {5}one of these rules:$/m);
  assert.match(page.text, /^ {2}for this session {8}run_command\(go test \*\)$/m);
  assert.match(page.text, /^ {2}for this workspace {6}run_command\(go test \*\)\\u\{202e\}$/m);
  assert.equal(painted(page, "rule").length, 3);
});

test("a list's line shows a short plain command whole, and nothing else", () => {
  const fits = (subject: string, given: object = { command: subject }, more = {}): boolean => fitsLine(approvalOf({ ...command, subject, ...more }, { arguments: given }).approval);
  assert.equal(fits("go test ./..."), true);
  assert.equal(fits("x".repeat(61)), false);
  assert.equal(fits("go test", { command: "go test", env: { A: "1" } }), false);
  assert.equal(fits("go test", { command: "go test", stdin: "y" }), false);
  assert.equal(fits("go test", undefined, { unsaved: ["a.go"] }), false);
});

test("a commit's page has its message first and its diff last", () => {
  const page = pageFor(commit, { tool: "git.commit", arguments: { message: commit.message }, decisions: (request().decisions ?? []).slice(0, 2) });
  assert.equal(
    page.text,
    `claude wants to commit 1 file to main

  clock: pad
  
  why\\u202e

Branch        main, now at b3a5c5d
Files         M a.py +1 −1
              A b.py +1 −0
Unsaved changes not included
  a.py

Approve                   once
Save First                then review it again
Edit Message…             your text is committed
Reject                    the agent goes on without it
Reject with Reason…       and reads your reason
Stop Agent                rejects this and pauses the agent

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
});

test("a message that the user wrote is on the page in place of the agent's", () => {
  const { approvals, approval } = approvalOf(commit, { arguments: { message: commit.message } });
  approvals.writeMessage("a1", "mine");
  assert.match(requestPage(approval).text, /main\n\n {2}mine\n {2}You edited this; the agent gets your text\.\n\nBranch/);
  assert.match(endedPage(approval.request, "withdrawn").text, /clock: pad[^]*\+three/);
});

test("the page of a change says what of it is left out, and of which file the user's own text counts", () => {
  const edit = { ...file, before: "old\n2\n9\n", after: "new\n2\nnine\n", hunks: [hunk("1", [0, 1], [0, 1]), hunk("2", [2, 3], [2, 3])] };
  const move: FilePreview = { ...file, path: "a.txt", name: "a.txt", to: "b.txt", operation: "move", text: false, summary: "moved to b.txt", before: "", after: "", hunks: [whole("3", "moved to b.txt")] };
  const { approvals, approval } = approvalOf(diff([edit, move]));
  assert.deepEqual(painted(requestPage(approval), "warning"), []);
  assert.match(requestPage(approval).text, /^ {2}a\.txt {2}moved to b\.txt$/m);
  approvals.take("a1", edit.path, ["2"], false);
  approvals.take("a1", move.path, ["3"], false);
  assert.deepEqual(painted(requestPage(approval), "warning"), ["  You selected 1 of 2 hunks; the diff shows which.", "  You left this out."]);
  approvals.edit("a1", edit.path, "mine\n");
  assert.deepEqual(painted(requestPage(approval), "warning").slice(0, 1), ["  You edited this: your text counts, and its diff shows it."]);
});

/** The fields whose words the sidecar chooses. */
const composed = new Set(["act", "deed", "subject", "question", "label", "text", "items", "lines", "notices", "name", "summary", "banner", "title", "meaning"]);

/** The same in other words, as long as they were. */
function reworded<T>(value: T, field = ""): T {
  if (typeof value === "string") {
    return (composed.has(field) ? value.replace(/\w/g, "x") : value) as T;
  }
  if (Array.isArray(value)) {
    return value.map((item: unknown) => reworded(item, field)) as T;
  }
  return (typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, reworded<unknown>(item, name)])) : value) as T;
}

test("the words of a request decide nothing: in other words its page is the same", () => {
  const facts = [{ code: "merged", label: "Merged", text: "with changes made since", tone: "warning" as const }];
  const files = [{ ...file, facts, banner: "merged", hunks: [hunk("1", [0, 1], [0, 1])] }, { ...file, path: "b.py", name: "b.py", text: false, summary: "deleted", operation: "delete", facts }];
  const reasons = [{ code: "class", text: "this tool changes files" }, { code: "merged", text: "the file changed" }];
  for (const preview of [command, { ...commit, lines: ["plain"], diff: "" }, diff(files), diff(files, { kind: "review" }), diff(files, { kind: "review", draft: true })]) {
    const given = request(preview, { reasons, arguments: { message: "m" } });
    const [page, other] = [given, reworded(given)].map((one) => pageFor(one.preview, one));
    assert.ok(page && other);
    assert.deepEqual([other.marks, [...other.places], other.action], [page.marks, [...page.places], page.action]);
    assert.notEqual(other.text, page.text);
  }
});

test("what is too long for 60 columns stands below its label, set in, and what it is stays the same", () => {
  const long = "x".repeat(50);
  const decisions = (request().decisions ?? []).map((decision) => ({ ...decision, meaning: decision.id === "approve" ? long : decision.meaning }));
  const { text } = pageFor({ ...command, facts: [{ code: "a", label: "Folder", text: long }, { code: "b", label: "Runs", text: "", items: ["make", long] }] }, { decisions });
  assert.match(text, new RegExp(`\nFolder\n  ${long}\nRuns\n  make\n  ${long}\n`));
  assert.match(text, new RegExp(`\nApprove\n  ${long}\n`));
  assert.ok(text.split("\n").every((line) => line.length <= 60));
});

test("a plan is laid out, and nothing in it hides or passes for the page's own line", () => {
  const lines = ["# Plan", "", "- count `words.txt`, **then** stop", "2. done * 3", "```sh", "# no heading", "```", "Reject                    \\u200b"];
  const page = pageFor({ kind: "plan", act: "carry out a plan", deed: "", subject: "", question: "", facts: [], lines });
  assert.match(page.text, /\n {2}Plan\n\n? {2}\n {2}• count words\.txt, then stop\n {2}2\. done \* 3\n {2}```sh\n {2}# no heading\n {2}```\n {2}Reject {20}\\u200b\n/);
  assert.deepEqual([painted(page, "rule")[0], painted(page, "code")], ["words.txt", ["  # no heading"]]);
  assert.deepEqual(painted(page, "warning"), ["\\u200b"]);
});
