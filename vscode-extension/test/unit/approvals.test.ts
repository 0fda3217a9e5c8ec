import assert from "node:assert/strict";
import { test } from "node:test";
import { type Approval, Approvals, inertMs } from "../../src/approvals";
import type { ApprovalAnswer } from "../../src/protocol";
import { command, commit, diff, file, request } from "./samples";

interface Table {
  approvals: Approvals;
  answer: Promise<ApprovalAnswer>;
  heard: string[];
  pass: (ms: number) => void;
}

/** One approval on a table with a clock that stands still until it is told to move. */
function table(more = {}): Table {
  let clock = 0;
  const heard: string[] = [];
  const approvals = new Approvals(() => clock);
  approvals.listen({
    added: ({ id }) => heard.push(`added ${id}`),
    changed: ({ id }) => heard.push(`changed ${id}`),
    removed: ({ id }, outcome) => heard.push(`removed ${id} ${outcome}`),
  });
  const answer = approvals.open(request(undefined, more), (outcome) => new Error(outcome));
  answer.catch(() => undefined);
  return { approvals, answer, heard, pass: (ms) => (clock += ms) };
}

function only(approvals: Approvals): Approval {
  const [approval] = approvals.all;
  assert.ok(approval);
  return approval;
}

const moved = { approvalId: "a1", digest: "digest-2", reasons: [], preview: diff([{ ...file, before: "head\nold\n", after: "head\nnew\n" }]), moved: true };

test("a yes within the first half second is not taken, a later one is, and only once", async () => {
  const { approvals, answer, heard, pass } = table();
  pass(inertMs - 1);
  assert.equal(approvals.answer("a1", { kind: "approve" }), "too-soon");
  assert.equal(approvals.all.length, 1);
  pass(1);
  assert.equal(approvals.answer("a1", { kind: "approve" }), "taken");
  assert.equal(approvals.answer("a1", { kind: "reject" }), "gone");
  assert.deepEqual(await answer, { decision: "approve", decisionId: "approve", digest: "digest-1" });
  assert.deepEqual(heard, ["added a1", "removed a1 approve"]);
});

test("a typed reason is taken whenever it comes: refusing is safe, and the words must not be lost", async () => {
  const { approvals, answer } = table();
  assert.equal(approvals.answer("a1", { kind: "reject" }), "too-soon");
  assert.equal(approvals.answer("a1", { kind: "reject", feedback: "not like this" }), "taken");
  assert.equal((await answer).feedback, "not like this");
});

test("a command that the user wrote anew is an edit of the call's arguments, the others as they were", async () => {
  const { approvals, answer } = table({ preview: command, arguments: { command: "make test", cwd: "project" } });
  assert.equal(only(approvals).editableCommand, "make test");
  assert.equal(approvals.answer("a1", { kind: "amend", command: "make check" }), "taken");
  assert.deepEqual(await answer, { decision: "edit", modifiedArguments: { command: "make check", cwd: "project" }, digest: "digest-1" });
});

test("a message that the user wrote anew is an edit of the call's arguments, whatever happens beneath it", async () => {
  const given = { preview: commit, arguments: { message: commit.message, files: ["a.py"] } };
  const { approvals, answer, heard, pass } = table(given);
  assert.equal(only(approvals).message, commit.message);
  approvals.writeMessage("a1", "mine\n\nand why\n");
  assert.deepEqual([only(approvals).isEdited, only(approvals).message], [true, "mine\n\nand why"]);
  approvals.change({ approvalId: "a1", digest: "digest-2", reasons: [], preview: { ...commit, unsaved: [] }, moved: false });
  assert.deepEqual([only(approvals).beneath, only(approvals).unsaved], ["updated", []]);
  pass(inertMs);
  assert.equal(approvals.answer("a1", { kind: "approve" }), "taken");
  assert.deepEqual(await answer, { decision: "edit", modifiedArguments: { message: "mine\n\nand why", files: ["a.py"] }, digest: "digest-2" });
  assert.deepEqual(heard, ["added a1", "changed a1", "changed a1", "removed a1 approve"]);
});

test("the agent's own message is no edit, and an empty one no answer but a no", async () => {
  const { approvals, answer, pass } = table({ preview: commit, arguments: { message: commit.message } });
  pass(inertMs);
  approvals.writeMessage("a1", " \n");
  assert.equal(approvals.answer("a1", { kind: "approve" }), "no-message");
  approvals.writeMessage("a1", (commit.message ?? "").trimEnd());
  assert.equal(only(approvals).isEdited, false);
  assert.equal(approvals.answer("a1", { kind: "approve" }), "taken");
  assert.deepEqual(await answer, { decision: "approve", decisionId: "approve", digest: "digest-1" });
  const another = table({ preview: commit, arguments: { message: commit.message } });
  another.pass(inertMs);
  another.approvals.writeMessage("a1", "");
  assert.equal(another.approvals.answer("a1", { kind: "reject" }), "taken");
});

test("what has no message of its own has none to edit", () => {
  for (const given of [{ preview: commit, arguments: {} }, { preview: { ...command, message: "x" }, arguments: { message: "x" } }, { preview: { ...commit, message: undefined }, arguments: { message: "x" } }]) {
    const { approvals } = table(given);
    approvals.writeMessage("a1", "mine");
    assert.deepEqual([only(approvals).message, only(approvals).isEdited], [undefined, false]);
  }
});

test("a command that one line would not show whole cannot be edited in one", () => {
  for (const hidden of ["make\nrm x", "make\ttest", "make \u200btest"]) {
    assert.equal(only(table({ preview: { ...command, command: hidden }, arguments: { command: hidden } }).approvals).editableCommand, undefined);
  }
});

test("coming to the front starts the half second anew", () => {
  const { approvals, pass } = table();
  pass(10_000);
  only(approvals).disarm();
  assert.equal(approvals.answer("a1", { kind: "approve" }), "too-soon");
});

test("while it is being opened no yes is taken, however long that takes, nor in the half second after that", async () => {
  const { approvals, pass } = table();
  const approval = only(approvals);
  for (const fails of [false, true]) {
    let shown: (() => void) | undefined;
    const opening = approval.opens(new Promise<void>((resolve, reject) => {
      shown = (): void => { (fails ? reject : resolve)(); };
    })).catch(() => undefined);
    pass(60 * inertMs);
    assert.equal(approval.isArmed, false);
    shown?.();
    await opening;
    assert.equal(approval.isArmed, false);
    pass(inertMs - 1);
    assert.equal(approval.isArmed, false);
    pass(1);
    assert.equal(approval.isArmed, true);
  }
});

test("while anything holds it no yes is taken, however much time has passed", async () => {
  const { approvals, pass } = table();
  const approval = only(approvals);
  const release: (() => void)[] = [];
  const holds = [0, 1].map(() => approval.hold(new Promise<void>((resolve) => release.push(resolve))));
  pass(60 * inertMs);
  for (const [index, hold] of holds.entries()) {
    assert.equal(approvals.answer("a1", { kind: "approve" }), "too-soon");
    release[index]?.();
    await hold;
  }
  assert.equal(approvals.answer("a1", { kind: "approve" }), "taken");
});

test("a change starts the half second anew and is answered with its own digest", async () => {
  const { approvals, answer, pass } = table();
  pass(10_000);
  approvals.change(moved);
  assert.equal(only(approvals).beneath, "moved");
  assert.equal(approvals.answer("a1", { kind: "approve" }), "too-soon");
  pass(inertMs);
  approvals.answer("a1", { kind: "approve" });
  assert.equal((await answer).digest, "digest-2");
});

test("what the user edited goes back with the yes", async () => {
  const { approvals, answer, pass } = table();
  approvals.edit("a1", "src/app.py", "mine\n");
  pass(inertMs);
  approvals.answer("a1", { kind: "approve" });
  assert.deepEqual(await answer, {
    decision: "edit",
    decisionId: "approve",
    after: { "src/app.py": "mine\n" },
    digest: "digest-1",
  });
});

test("the others hear that the user edits, not of every key", () => {
  const { approvals, heard } = table();
  ["m", "mi", "mine"].forEach((text) => {
    approvals.edit("a1", "src/app.py", text);
  });
  approvals.edit("a1", "src/app.py", undefined);
  assert.deepEqual(heard, ["added a1", "changed a1", "changed a1"]);
});

test("an edit that was taken back is no edit", async () => {
  const { approvals, answer, pass } = table();
  approvals.edit("a1", "src/app.py", "mine\n");
  approvals.edit("a1", "src/app.py", undefined);
  pass(inertMs);
  approvals.answer("a1", { kind: "approve" });
  assert.equal((await answer).decision, "approve");
});

test("a change beneath an edit leaves the edit, its text and its digest on show", async () => {
  const { approvals, answer, pass } = table();
  approvals.edit("a1", "src/app.py", "mine\n");
  approvals.change(moved);
  const approval = only(approvals);
  assert.equal(approval.beneath, "conflict");
  assert.equal(approval.files[0]?.before, "old\n");
  pass(inertMs);
  approvals.answer("a1", { kind: "approve" });
  const { digest, after } = await answer;
  assert.equal(digest, "digest-1");
  assert.deepEqual(after, { "src/app.py": "mine\n" });
});

test("taking the edit back then shows the change", () => {
  const { approvals, pass } = table();
  approvals.edit("a1", "src/app.py", "mine\n");
  approvals.change(moved);
  pass(10_000);
  approvals.edit("a1", "src/app.py", undefined);
  const approval = only(approvals);
  assert.equal(approval.beneath, "moved");
  assert.equal(approval.request.digest, "digest-2");
  assert.equal(approval.isArmed, false);
});

test("typing into a text that a change was about to replace keeps the older text's digest", async () => {
  const { approvals, answer, pass } = table();
  approvals.change(moved);
  approvals.edit("a1", "src/app.py", "old, mine\n", true);
  assert.equal(only(approvals).beneath, "conflict");
  pass(inertMs);
  approvals.answer("a1", { kind: "approve" });
  assert.equal((await answer).digest, "digest-1");
});

test("a remembered yes names the choice", async () => {
  const { approvals, answer, pass } = table();
  pass(inertMs);
  assert.deepEqual(only(approvals).remembering.map((decision) => decision.rule), ["edit_file(src/**)"]);
  approvals.answer("a1", { kind: "remember", decisionId: "session-1" });
  assert.deepEqual(await answer, { decision: "approve", decisionId: "session-1", digest: "digest-1" });
});

test("a no carries its reason; cancel carries none", async () => {
  const no = table();
  no.pass(inertMs);
  no.approvals.answer("a1", { kind: "reject", feedback: "keep the name" });
  assert.deepEqual(await no.answer, { decision: "reject", decisionId: "reject", digest: "digest-1", feedback: "keep the name" });
  const cancel = table();
  cancel.pass(inertMs);
  cancel.approvals.answer("a1", { kind: "cancel" });
  assert.deepEqual(await cancel.answer, { decision: "cancel", digest: "digest-1" });
});

test("an agent that gave up, or a sidecar that ended, leaves nothing to answer", async () => {
  const { approvals, answer, heard, pass } = table();
  approvals.remove("a1", "withdrawn");
  await assert.rejects(answer, /withdrawn/);
  pass(inertMs);
  assert.equal(approvals.answer("a1", { kind: "approve" }), "gone");
  assert.deepEqual(heard, ["added a1", "removed a1 withdrawn"]);
  const other = table();
  other.approvals.end("sidecar stopped");
  await assert.rejects(other.answer, /sidecar stopped/);
});

test("a sidecar that offers no decisions is still answered", async () => {
  const { approvals, answer, pass } = table({ decisions: null, reasons: null });
  pass(inertMs);
  approvals.answer("a1", { kind: "approve" });
  assert.deepEqual(await answer, { decision: "approve", digest: "digest-1" });
});

test("a plan is approved, rejected or cancelled: nothing of it is remembered, edited or chosen", async () => {
  const plan = { ...commit, kind: "plan" as const, message: undefined, unsaved: [] };
  const decisions = (request().decisions ?? []).slice(0, 2);
  const { approvals, answer, pass } = table({ preview: plan, decisions, digest: "" });
  const approval = only(approvals);
  assert.deepEqual([approval.remembering, approval.editableCommand, approval.message, approval.files, approval.hasPage], [[], undefined, undefined, [], true]);
  pass(inertMs);
  approvals.answer("a1", { kind: "reject", feedback: "tests first" });
  assert.deepEqual(await answer, { decision: "reject", decisionId: "reject", digest: "", feedback: "tests first" });
});

test("a review waits as an approval does", () => {
  const bytes = { ...file, path: "b.bin", text: false, before: "", after: "" };
  const approval = only(table({ preview: diff([file, bytes], { kind: "review" }) }).approvals);
  assert.deepEqual([approval.isReview, approval.hasPage, approval.texts.map(({ path }) => path)], [true, true, ["src/app.py"]]);
});

test("an answer for what was listed does nothing to what it became", () => {
  const { approvals, pass } = table();
  pass(10_000);
  approvals.change(moved);
  pass(inertMs);
  assert.equal(approvals.answer("a1", { kind: "approve" }, "digest-1"), "changed");
  assert.equal(approvals.answer("a1", { kind: "approve" }, "digest-2"), "taken");
});

test("it was seen when all of it was on the screen, as it is now", () => {
  const { approvals } = table({ preview: diff([file, { ...file, path: "b.py" }]) });
  const approval = only(approvals);
  approval.see("src/app.py");
  assert.equal(approval.wasSeen, false);
  approval.see("b.py");
  assert.equal(approval.wasSeen, true);
  approvals.change(moved);
  assert.equal(approval.wasSeen, false);
});

test("a yes that had files saved first counts although that changed the dialog; any other waits", async () => {
  const { approvals, answer, pass } = table({ preview: command });
  pass(10_000);
  approvals.change({ ...moved, preview: command });
  assert.equal(only(approvals).note, undefined, "what the user saved is no news to them");
  assert.equal(approvals.answer("a1", { kind: "approve" }), "too-soon");
  assert.equal(approvals.answer("a1", { kind: "approve", saved: true }), "taken");
  assert.equal((await answer).digest, "digest-2");
});

test("who stops listening hears no more", () => {
  const { approvals } = table();
  const heard: string[] = [];
  const stop = approvals.listen({ changed: ({ id }) => heard.push(id) });
  approvals.change(moved);
  stop();
  approvals.change(moved);
  assert.deepEqual(heard, ["a1"]);
});
