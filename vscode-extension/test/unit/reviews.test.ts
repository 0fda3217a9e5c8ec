import assert from "node:assert/strict";
import { test } from "node:test";
import { Approval } from "../../src/approvals";
import { commandPage } from "../../src/command-page";
import { besideFirstChange, deed } from "../../src/deeds";
import { leftOut, hunkSize, hunkTitle, yes } from "../../src/hunk-words";
import type { PatchReview } from "../../src/protocol-review";
import { answerToReview, reviewQuestion } from "../../src/reviews";
import { file, request } from "./samples";

const sides = { uri: "file:///project/a.py", language: "python", openInEditor: false, dirty: false };
const review: PatchReview = {
  reviewId: "r1",
  sessionId: "s1",
  agent: { name: "claude", via: "mcp" },
  message: "two ways to round;\ntake one",
  files: [
    {
      ...sides,
      path: "a.py",
      operation: "overwrite",
      hunks: [
        { id: "1", header: "@@ -1 +1 @@", lines: ["-old", "+new"] },
        { id: "2", header: "@@ -3,0 +4 @@ def f():", lines: ["+more"] },
      ],
      before: "old\n2\n3\n",
      after: "new\n2\n3\nmore\n",
      additions: 2,
      deletions: 1,
    },
    { ...sides, path: "b.bin", operation: "overwrite", note: "binary, 3 kB", hunks: [{ id: "3", header: "binary", lines: null }], before: "", after: "", additions: 0, deletions: 0 },
    { ...sides, path: "d.py", from: "c.py", operation: "move", hunks: [{ id: "4", header: "@@ -1 +1 @@", lines: ["-c", "+d"] }], before: "c\n", after: "d\n", additions: 1, deletions: 1 },
  ],
};

function approval(): Approval {
  return new Approval(reviewQuestion(review), () => 0, () => undefined, () => undefined);
}

test("a review waits as an approval does, and says what it is", () => {
  const { request, isReview, texts, chosen } = approval();
  assert.equal(deed(request), "have 3 files reviewed");
  assert.deepEqual(request.reasons, ["two ways to round; take one"], "what happens to each of several files, its own row says");
  assert.deepEqual(reviewQuestion({ ...review, message: "", files: (review.files ?? []).slice(-1) }).reasons, ["moved from c.py"]);
  assert.equal(isReview, true);
  assert.deepEqual(texts.map(({ path }) => path), ["a.py", "d.py"]);
  assert.deepEqual(chosen.all.map(({ id }) => id), ["1", "2", "3", "4"]);
});

test("the right side shows what the choice gives", () => {
  const { chosen } = approval();
  chosen.take("a.py", ["1"], false);
  assert.equal(chosen.right("a.py"), "old\n2\n3\nmore\n");
});

test("apply names what is taken, all of it when nothing was left out, and the human's own text", () => {
  assert.deepEqual(answerToReview(review, { decision: "approve" }), { action: "apply", selected: ["1", "2", "3", "4"] });
  assert.deepEqual(answerToReview(review, { decision: "approve", selected: ["2"] }), { action: "apply", selected: ["2"] });
  assert.deepEqual(answerToReview(review, { decision: "edit", selected: ["2"], after: { "a.py": "x" } }), { action: "apply", selected: ["2"], edited: { "a.py": "x" } });
});

test("whatever is no clear yes takes nothing", () => {
  assert.deepEqual(answerToReview(review, { decision: "reject", feedback: "not now" }), { action: "cancel", selected: [], feedback: "not now" });
  assert.deepEqual(answerToReview(review, { decision: "cancel", selected: ["1"] }), { action: "cancel", selected: [] });
});

test("its page offers what can be answered", () => {
  const { text } = commandPage(approval());
  assert.match(text, /^claude wants to have a patch reviewed\n/);
  assert.match(text, /\nApply +the agent is given what is ticked\nCancel +it is given nothing, and goes on\n/);
  assert.doesNotMatch(text, /Approve|Reject/);
});

test("its page says of which file the human's own text counts", () => {
  const edited = approval();
  edited.chosen.write("a.py", "mine\n");
  assert.match(commandPage(edited).text, /\n {2}a\.py .*\n {2}You wrote in this: your text counts, and not what stands here; its diff shows it\.\n {2}@@/);
  assert.equal(commandPage(edited).text.match(/You wrote/g)?.length, 1);
});

test("of what has no lines its page says what becomes of it, and of a text what happens beside its lines", () => {
  const bytes = { ...sides, before: "", after: "", additions: 0, deletions: 0, whole: "binary, 4 bytes", hunks: [{ id: "1", header: "deleted, binary, 4 bytes", lines: null }] };
  const files = [
    { ...bytes, path: "old.bin", operation: "delete" as const },
    { ...bytes, path: "empty.txt", operation: "delete" as const, whole: "", hunks: [{ id: "2", header: "deleted", lines: null }] },
    { ...bytes, path: "pot.png", operation: "create" as const, whole: "binary, 88 bytes", hunks: [{ id: "3", header: "whatever", lines: null }] },
    { ...bytes, path: "b.png", from: "a.png", operation: "move" as const, whole: "made executable, binary, 3 bytes", note: "made executable", hunks: [{ id: "5", header: "whatever", lines: null }] },
    { ...bytes, path: "run.sh", operation: "overwrite" as const, note: "made executable", before: "a\n", after: "b\n", additions: 1, deletions: 1, hunks: [{ id: "4", header: "@@ -1 +1 @@", lines: ["-a", "+b"] }] },
  ];
  const { text } = commandPage(new Approval(reviewQuestion({ ...review, files }), () => 0, () => undefined, () => undefined));
  const told = ["old.bin  deleted, binary, 4 bytes", "empty.txt  deleted", "pot.png  new file, binary, 88 bytes", "b.png  moved from a.png, made executable, binary, 3 bytes", "run.sh  +1 -1, made executable"];
  assert.deepEqual(text.split("\n").filter((line) => /^ {2}[a-z]/.test(line)).map((line) => line.trim()), told);
  assert.match(text, /\nIt says +two ways to round;\n +take one\nAsked by/);
});

test("beside the diff of a file stands what is about it, or that more than it is meant", () => {
  const sure = (changed: Partial<(typeof file)>): typeof file => ({ ...file, ...changed });
  const [one, other] = [sure({ path: "run.sh", note: "made executable" }), sure({ path: "b.py", merged: true })];
  const beside = (more: Parameters<typeof request>[1], ...files: (typeof file)[]): string[] => {
    const shown = request({ kind: "diff", files }, more);
    return files.map((each) => besideFirstChange({ request: shown, note: undefined, files, isReview: shown.tool === "apply_patch_review" }, each));
  };
  const reasons = ["this tool changes files", "run.sh is made a program", "it was merged"];
  assert.deepEqual(beside({ reasons }, one), ["asks because run.sh is made a program; it was merged"]);
  assert.deepEqual(beside({ reasons }, one, other), [
    "this change of 2 files asks because run.sh is made a program; it was merged",
    "merged: the file changed since the agent read it, and this has both · this change of 2 files asks because run.sh is made a program",
  ]);
  assert.deepEqual(beside({ tool: "apply_patch_review", description: "take\none", reasons: ["take one", "run.sh: made executable"] }, one, sure({})), ["take one; made executable", "take one"]);
  assert.deepEqual(beside({ reasons: ["this tool changes files"] }, one, file), ["", ""]);
});

test("a hunk in words", () => {
  const { chosen } = approval();
  const [first, second, whole] = chosen.all;
  assert.ok(first && second && whole);
  assert.deepEqual([first, second, whole].map(hunkTitle), ["1: new", "4: more", "binary"]);
  assert.deepEqual([first, second, whole].map(hunkSize), ["+1 −1", "+1 −0", ""]);
  assert.equal(leftOut(second), "left out: +1 −0");
});

test("the yes says of how much", () => {
  const one = approval();
  one.take("a.py", ["1"], false);
  assert.equal(yes(one), "Apply 3 of 4");
  one.chosen.files.forEach(({ path }) => one.take(path, ["1", "2", "3", "4"], false));
  assert.equal(yes(one), "Nothing is ticked");
});
