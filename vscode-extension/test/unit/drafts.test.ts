import assert from "node:assert/strict";
import { test } from "node:test";
import { Approvals, inertMs } from "../../src/approvals";
import { Drafts } from "../../src/drafts";
import { requestPage, yes } from "../../src/request-page";
import type { Session } from "../../src/session";
import type { DraftInfo } from "../../src/session-protocol";
import { draftFileWords, draftWords } from "../../src/session-words";
import { diff, file, hunk, request } from "./samples";

const draft: DraftInfo = {
  sessionId: "s1",
  agent: "claude",
  files: [
    { path: "src/app.py", kind: "changed", added: 3, removed: 1 },
    { path: ".envrc\u202e", kind: "created", added: 1, removed: 0, protected: true },
    { path: "out/app", kind: "created", added: 0, removed: 0, ignored: true },
  ],
  bytes: 12_345,
  started: "2026-11-28T16:00:00Z",
  commands: true,
};
const decisions = [
  { id: "reject", title: "Leave", scope: "once" as const, meaning: "all of it stays in the draft" },
  { id: "approve", title: "Apply", scope: "once" as const, meaning: "it is in the workspace then" },
  { id: "discard", title: "Discard the Draft", scope: "once" as const, meaning: "all of it is gone" },
];
const preview = diff([{ ...file, before: "a\nb\nc\n", after: "A\nb\nC\n", hunks: [hunk("1", [0, 1], [0, 1]), hunk("2", [2, 3], [2, 3])] }], { kind: "review", draft: true, act: "apply its draft" });

interface Table {
  drafts: Drafts;
  approvals: Approvals;
  asked: string[];
}

function table(): Table {
  let clock = 0;
  const approvals = new Approvals(() => clock);
  const asked: string[] = [];
  const session = {
    request: (method: string, { sessionId = "" }: { sessionId?: string }) => {
      asked.push(`${method} ${sessionId}`.trim());
      return Promise.resolve(method === "draft/list" ? { drafts: [draft] } : null);
    },
  };
  approvals.listen({ added: () => (clock += inertMs) });
  return { drafts: new Drafts(() => session as unknown as Session, approvals, () => undefined), approvals, asked };
}

test("drafts are listed at the start, and each is as it was reported last", async () => {
  const { drafts, asked } = table();
  await drafts.look();
  assert.deepEqual(drafts.all.map(draftWords), ["Draft: 3 files, +4 −1, 12 kB"]);
  assert.deepEqual(draft.files.map(draftFileWords), ["src · +3 −1", "+1 −0 · protected", "out · +0 −0 · ignored by git"]);
  drafts.hear({ ...draft, files: draft.files.slice(0, 1) });
  assert.equal(drafts.size("s1"), 1);
  await drafts.ask("s1");
  await drafts.discard("s1");
  assert.deepEqual(asked, ["draft/list", "draft/review s1", "draft/discard s1"]);
  drafts.hear({ ...draft, ended: true });
  assert.deepEqual(drafts.all, []);
});

test("a draft whose review waits is discarded by the answer to that", async () => {
  const { drafts, approvals, asked } = table();
  const answer = approvals.open(request(preview, { decisions }), (outcome) => new Error(outcome));
  assert.equal(drafts.size("s1"), 1);
  await drafts.discard("s1");
  assert.deepEqual(await answer, { decision: "reject", decisionId: "discard", digest: "digest-1" });
  assert.deepEqual(asked, []);
});

test("its review says what it is, and the choice and the comments go with the approval", async () => {
  const { approvals } = table();
  const answer = approvals.open(request(preview, { decisions }), (outcome) => new Error(outcome));
  const [approval] = approvals.all;
  assert.ok(approval);
  assert.deepEqual([approval.isDraft, approval.isReview, yes(approval)], [true, false, "Apply All 2 Hunks"]);
  const { text } = requestPage(approval);
  for (const words of ["claude wants to apply its draft", "Apply", "Leave with Reason…", "Discard Draft…", "Stop Agent"]) {
    assert.ok(text.includes(words), words);
  }
  approvals.take("a1", file.path, ["2"], false);
  approvals.comment("a1", { path: file.path, line: 3, text: "keep c" });
  assert.equal(approvals.answer("a1", { kind: "approve" }), "taken");
  assert.deepEqual(await answer, { decision: "approve", decisionId: "approve", selected: ["1"], digest: "digest-1", comments: [{ path: file.path, line: 3, text: "keep c" }] });
});
