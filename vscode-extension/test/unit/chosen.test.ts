import assert from "node:assert/strict";
import { test } from "node:test";
import { Approvals, inertMs } from "../../src/approvals";
import type { ApprovalAnswer, FilePreview } from "../../src/protocol";
import { diff, file, hunk, request, whole } from "./samples";

/** A file of nine lines of which two change, far apart. */
function two(path: string, first: number): FilePreview {
  const lines = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
  return {
    ...file,
    path,
    before: `${lines.join("\n")}\n`,
    after: `ONE\n${lines.slice(1, 8).join("\n")}\nNINE\n`,
    hunks: [hunk(String(first), [0, 1], [0, 1], { tail: 1 }), hunk(String(first + 1), [8, 9], [8, 9], { head: 1 })],
  };
}

interface Table {
  approvals: Approvals;
  answer: Promise<ApprovalAnswer>;
  heard: string[];
}

function table(files: FilePreview[]): Table {
  let clock = 0;
  const approvals = new Approvals(() => clock);
  const heard: string[] = [];
  approvals.listen({ changed: ({ chosen }) => heard.push(chosen.taken.map(({ id }) => id).join()) });
  const answer = approvals.open(request(diff(files)), (outcome) => new Error(outcome));
  answer.catch(() => undefined);
  clock += inertMs;
  return { approvals, answer, heard };
}

const chosen = ({ approvals }: Table): NonNullable<ReturnType<Approvals["get"]>>["chosen"] => {
  const approval = approvals.get("a1");
  assert.ok(approval);
  return approval.chosen;
};

const files = [two("a.txt", 1), two("b.txt", 3)];

test("all is taken at first, and then a yes says nothing of hunks", async () => {
  const it = table(files);
  assert.equal(chosen(it).isOpen, true);
  assert.equal(chosen(it).right("a.txt"), files[0]?.after);
  it.approvals.answer("a1", { kind: "approve" });
  assert.deepEqual(await it.answer, { decision: "approve", decisionId: "approve", digest: "digest-1" });
});

test("what is unticked goes from the right side and from the answer", async () => {
  const it = table(files);
  assert.equal(it.approvals.take("a1", "a.txt", ["2"], false), 0);
  it.approvals.take("a1", "b.txt", ["3", "4"], false);
  assert.equal(chosen(it).right("a.txt"), "ONE\n2\n3\n4\n5\n6\n7\n8\n9\n");
  assert.equal(chosen(it).right("b.txt"), files[1]?.before);
  it.approvals.take("a1", "b.txt", ["4"], true);
  assert.deepEqual(it.heard, ["1,3,4", "1", "1,4"]);
  it.approvals.answer("a1", { kind: "remember", decisionId: "session-1" });
  assert.deepEqual(await it.answer, { decision: "approve", decisionId: "session-1", selected: ["1", "4"], digest: "digest-1" });
});

test("a yes to nothing is no answer; a no is", () => {
  const it = table([two("a.txt", 1)]);
  it.approvals.take("a1", "a.txt", ["1", "2"], false);
  assert.equal(it.approvals.answer("a1", { kind: "approve" }), "nothing");
  assert.equal(it.approvals.answer("a1", { kind: "reject" }), "taken");
});

test("a tick puts its hunk into what the user wrote, and takes it out again", async () => {
  const it = table(files);
  it.approvals.edit("a1", "a.txt", "mine\nONE\n2\n3\n4\n5\n6\n7\n8\nNINE\n");
  assert.equal(it.approvals.take("a1", "a.txt", ["2"], false), 0);
  assert.equal(chosen(it).right("a.txt"), "mine\nONE\n2\n3\n4\n5\n6\n7\n8\n9\n");
  it.approvals.answer("a1", { kind: "approve" });
  const { decision, after, selected } = await it.answer;
  assert.deepEqual([decision, after, selected], ["edit", { "a.txt": "mine\nONE\n2\n3\n4\n5\n6\n7\n8\n9\n" }, ["1", "3", "4"]]);
});

test("a hunk that the user wrote over stays as it is, and so does their text", () => {
  const it = table(files);
  const own = "ONE, by hand\n2\n3\n4\n5\n6\n7\n8\nNINE\n";
  it.approvals.edit("a1", "a.txt", own);
  assert.equal(it.approvals.take("a1", "a.txt", ["1", "2"], false), 1);
  assert.equal(chosen(it).right("a.txt"), own.replace("NINE", "9"));
  assert.deepEqual(chosen(it).hunksOf("a.txt").map((hunk) => [chosen(it).takes(hunk), chosen(it).isStuck("a.txt", hunk)]), [[true, true], [false, false]]);
});

test("what was written and taken back again is the choice's own text", () => {
  const it = table(files);
  it.approvals.take("a1", "a.txt", ["2"], false);
  it.approvals.edit("a1", "a.txt", "mine\n");
  assert.equal(it.approvals.get("a1")?.isEdited, true);
  it.approvals.edit("a1", "a.txt", "ONE\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\n");
  assert.equal(it.approvals.get("a1")?.isEdited, false);
});

test("when the text beneath changes, a hunk that says the same stays left out", () => {
  const it = table([two("a.txt", 1)]);
  it.approvals.take("a1", "a.txt", ["2"], false);
  const { before, after, ...rest } = two("a.txt", 1);
  const hunks = [hunk("1", [1, 2], [1, 2], { tail: 1 }), hunk("2", [9, 10], [9, 10], { head: 1 })];
  const moved = { ...rest, before: `0\n${before}`, after: `0\n${after}`, hunks };
  it.approvals.change({ approvalId: "a1", digest: "digest-2", reasons: [], preview: diff([moved]), moved: true });
  assert.equal(chosen(it).right("a.txt"), "0\nONE\n2\n3\n4\n5\n6\n7\n8\n9\n");
});

test("the hunk at a line, on either side", () => {
  const it = table([two("a.txt", 1)]);
  it.approvals.take("a1", "a.txt", ["1"], false);
  assert.deepEqual([0, 3, 6, 8].map((line) => chosen(it).nearest("a.txt", line)?.id), ["1", "1", "2", "2"]);
  assert.equal(chosen(it).nearest("a.txt", 8, true)?.id, "2");
});

test("a file whose text is changed and which is moved as well, or made executable: each by itself", async () => {
  const move: FilePreview = { ...file, path: "a.txt", to: "c.txt", operation: "move", before: "", after: "", text: false, hunks: [whole("3", "moved to c.txt")] };
  const both = [two("a.txt", 1), move];
  const it = table(both);
  assert.deepEqual(both.map((one) => chosen(it).key(one)), ["a.txt", "a.txt\nmove"]);
  assert.equal(chosen(it).all.length, 3);
  assert.equal(chosen(it).right("a.txt"), both[0]?.after);
  it.approvals.take("a1", chosen(it).key(move), ["3"], false);
  it.approvals.take("a1", "a.txt", ["2"], false);
  it.approvals.answer("a1", { kind: "approve" });
  assert.deepEqual((await it.answer).selected, ["1"]);
});

test("a file that is deleted is taken or left by itself, though its diff has lines", async () => {
  const gone: FilePreview = {
    ...file,
    path: "old.txt",
    operation: "delete",
    before: "x\ny\n",
    after: "",
    hunks: [whole("3", "deleted")],
  };
  const it = table([two("a.txt", 1), gone]);
  it.approvals.take("a1", "a.txt", ["2"], false);
  assert.deepEqual(chosen(it).ids, ["1", "3"]);
  assert.equal(chosen(it).right("old.txt"), "");
  it.approvals.take("a1", "old.txt", ["3"], false);
  assert.equal(chosen(it).right("old.txt"), gone.before);
  it.approvals.answer("a1", { kind: "approve" });
  assert.deepEqual((await it.answer).selected, ["1"]);
});

test("a block that is put back in the diff is left out, and an undo takes it again", async () => {
  const it = table(files);
  it.approvals.edit("a1", "a.txt", "1\n2\n3\n4\n5\n6\n7\n8\nNINE\n");
  assert.deepEqual([chosen(it).edited.size, chosen(it).taken.map(({ id }) => id).join(), chosen(it).size()], [0, "2,3,4", "+3 −3"]);
  it.approvals.edit("a1", "a.txt", files[0]?.before);
  it.approvals.edit("a1", "a.txt", "1\n2\n3\n4\n5\n6\n7\n8\nNINE\n");
  assert.deepEqual(it.heard, ["2,3,4", "3,4", "2,3,4"]);
  it.approvals.answer("a1", { kind: "approve" });
  assert.deepEqual(await it.answer, { decision: "approve", decisionId: "approve", selected: ["2", "3", "4"], digest: "digest-1" });
});
