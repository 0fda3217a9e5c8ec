import assert from "node:assert/strict";
import { test } from "node:test";
import type { CommentController, TextDocument } from "vscode";
import { Approvals, inertMs } from "../../src/approvals";
import { type Drawn, LineComments } from "../../src/line-comments";
import type { ApprovalAnswer, FilePreview, Preview } from "../../src/protocol";
import { no } from "../../src/request-page";
import { address, original, proposal } from "../../src/schemes";
import { comments, Range, Thread, threads } from "../vscode";
import { command, diff, file, hunk, request } from "./samples";

/** Two lines come in at the top, and the last of nine changes. */
const long: FilePreview = {
  ...file,
  before: "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
  after: "a\nb\n1\n2\n3\n4\n5\n6\n7\n8\nNINE\n",
  hunks: [hunk("1", [0, 0], [0, 2], { tail: 1 }), hunk("2", [8, 9], [10, 11], { head: 1 })],
};

interface Table {
  approvals: Approvals;
  answer: Promise<ApprovalAnswer>;
  /** As the button beneath the box of a new thread does, or that of one that is there. */
  write: (line: number, text: string, thread?: Thread) => void;
  remove: (index: number) => void;
  ranges: (scheme: string, path?: string) => number;
  title: () => string;
}

function table(preview: Preview = diff([long])): Table {
  threads.clear();
  let clock = 0;
  const approvals = new Approvals(() => clock);
  const lineComments = new LineComments(approvals);
  let provider: (() => CommentController["commentingRangeProvider"]) | undefined;
  const create = comments.createCommentController;
  comments.createCommentController = () => {
    const made = create();
    provider = (): CommentController["commentingRangeProvider"] => ("commentingRangeProvider" in made ? (made.commentingRangeProvider as CommentController["commentingRangeProvider"]) : undefined);
    return made;
  };
  approvals.listen(lineComments);
  const answer = approvals.open(request(preview), (outcome) => new Error(outcome));
  answer.catch(() => undefined);
  comments.createCommentController = create;
  clock += inertMs;
  const right = address(proposal, "a1", file.path);
  return {
    approvals,
    answer,
    write: (line, text, thread = new Thread(right, new Range(line, 0, line, 0))) => lineComments.add({ thread: thread as never, text }),
    remove: (index) => lineComments.remove([...threads].flatMap((thread) => thread.comments)[index] as Drawn),
    ranges: (scheme, path = file.path) => {
      const document = { uri: address(scheme, "a1", path), lineCount: 12 } as TextDocument;
      const given = provider?.()?.provideCommentingRanges(document, undefined as never);
      return Array.isArray(given) ? given.length : 0;
    },
    title: () => no(approvals.all[0] ?? assert.fail()),
  };
}

const drawn = (): string[] => [...threads].map(({ range, comments }) => `${String(range.start.line)}: ${comments.map(({ body }) => body).join(", ")}`);

test("lines of the proposal of a change can be commented on, and nothing else", () => {
  const it = table();
  assert.deepEqual([it.ranges(proposal), it.ranges(original), it.ranges(proposal, "other.py")], [1, 0, 0]);
  it.approvals.answer("a1", { kind: "reject" });
  assert.equal(it.ranges(proposal), 0);
  assert.equal(table({ ...diff([long]), kind: "review" }).ranges(proposal), 0);
  assert.equal(table({ ...diff([long]), kind: "review", draft: true }).ranges(proposal), 1);
  assert.equal(table(command).ranges(proposal), 0);
});

test("of a draft the comments go with an approval too", async () => {
  const it = table({ ...diff([long]), kind: "review", draft: true });
  it.write(0, "why two?");
  assert.equal(it.approvals.answer("a1", { kind: "approve" }), "taken");
  const { decision, comments: said } = await it.answer;
  assert.deepEqual([decision, said], ["approve", [{ path: file.path, line: 1, text: "why two?" }]]);
});

test("comments go with a rejection, with or without a reason, and their threads go with the request", async () => {
  for (const feedback of [undefined, "not yet"]) {
    const it = table();
    it.write(4, " why three?\n");
    it.write(10, "\u202enine");
    assert.deepEqual(drawn(), ["4: why three?", "10: \\u{202e}nine"]);
    assert.equal(it.title(), "Reject with 2 Comments");
    assert.equal(it.approvals.answer("a1", { kind: "reject", ...(feedback === undefined ? {} : { feedback }) }), "taken");
    const sent = [{ path: "src/app.py", line: 5, text: "why three?" }, { path: "src/app.py", line: 11, text: "\u202enine" }];
    assert.deepEqual(await it.answer, { decision: "reject", decisionId: "reject", digest: "digest-1", ...(feedback === undefined ? {} : { feedback }), comments: sent });
    assert.deepEqual(drawn(), []);
  }
});

test("a yes waits until the comments are deleted", async () => {
  const it = table();
  it.write(4, "why?");
  for (const choice of [{ kind: "approve" }, { kind: "remember", decisionId: "session-1" }] as const) {
    assert.equal(it.approvals.answer("a1", choice), "commented");
  }
  it.remove(0);
  assert.deepEqual([drawn(), it.title()], [[], "Reject"]);
  assert.equal(it.approvals.answer("a1", { kind: "approve" }), "taken");
  assert.deepEqual(await it.answer, { decision: "approve", decisionId: "approve", digest: "digest-1" });
});

test("several on a line stand in one thread, wherever they were written; one of them can go", () => {
  const it = table();
  it.write(4, "one");
  it.write(4, "two");
  it.write(4, "three", [...threads][0]);
  it.write(4, " ");
  assert.deepEqual(drawn().filter((line) => !line.endsWith(": ")), ["4: one, two, three"]);
  it.remove(1);
  assert.equal(drawn()[0], "4: one, three");
});

test("a comment keeps its line of the proposal, whatever is taken or written above it", async () => {
  const it = table();
  it.write(4, "three");
  it.write(10, "nine");
  it.approvals.take("a1", file.path, ["1"], false);
  assert.deepEqual(drawn(), ["2: three", "8: nine"]);
  it.write(1, "two");
  it.approvals.edit("a1", file.path, "mine\n1\n2\n3\n4\n5\n6\n7\n8\nNINE\n");
  it.approvals.answer("a1", { kind: "reject" });
  assert.deepEqual((await it.answer).comments?.map(({ line, text }) => `${String(line)} ${text}`), ["5 three", "11 nine", "4 two"]);
});

test("a change of the proposal leaves comments on their lines, or on the last one", async () => {
  const it = table();
  it.write(1, "two");
  it.write(10, "nine");
  it.approvals.change({ approvalId: "a1", digest: "digest-2", reasons: [], preview: diff([{ ...file, after: "new\nand\nmore\n" }]), moved: false });
  assert.deepEqual(drawn(), ["1: two", "2: nine"]);
  it.remove(0);
  assert.equal(it.approvals.answer("a1", { kind: "reject" }), "too-soon");
  assert.equal(it.approvals.answer("a1", { kind: "reject", feedback: "no" }), "taken");
  assert.deepEqual((await it.answer).comments, [{ path: file.path, line: 3, text: "nine" }]);
});
