import assert from "node:assert/strict";
import { test } from "node:test";
import { type Approval, Approvals, type Choice, inertMs } from "../../src/approvals";
import { deed } from "../../src/deeds";
import { commandPage, endedPage } from "../../src/command-page";
import { answerToPlan, planQuestion } from "../../src/plans";
import type { PlanAnswer, PlanReview } from "../../src/protocol";

const review: PlanReview = {
  planId: "p1",
  plan: "# Plan\n1. Add a total\nApprove                   this once",
  agent: { name: "claude", via: "mcp" },
  sessionId: "s1",
};

interface Table {
  approvals: Approvals;
  approval: Approval;
  answer: Promise<PlanAnswer>;
}

/** A plan that waits, long enough for an answer to count unless the test says otherwise. */
function table(waited = inertMs): Table {
  let clock = 0;
  const approvals = new Approvals(() => clock);
  const answer = approvals.open(planQuestion(review), (outcome) => new Error(outcome)).then(answerToPlan);
  answer.catch(() => undefined);
  clock = waited;
  const approval = approvals.get("p1");
  assert.ok(approval);
  return { approvals, approval, answer };
}

async function answered(choice: Choice): Promise<PlanAnswer> {
  const { approvals, answer } = table();
  assert.equal(approvals.answer("p1", choice), "taken");
  return answer;
}

test("a plan is approved, rejected or cancelled, and nothing else goes back", async () => {
  assert.deepEqual(await answered({ kind: "approve" }), { decision: "approve" });
  assert.deepEqual(await answered({ kind: "reject" }), { decision: "reject" });
  assert.deepEqual(await answered({ kind: "reject", feedback: "tests first" }), { decision: "reject", feedback: "tests first" });
  assert.deepEqual(await answered({ kind: "cancel" }), { decision: "cancel" });
});

test("an edit, which a plan does not offer, is a no that does not stop the agent", () => {
  assert.deepEqual(answerToPlan({ decision: "edit", feedback: "tests first" }), { decision: "reject", feedback: "tests first" });
});

test("a yes to a plan within the first half second is not taken", () => {
  const { approvals } = table(inertMs - 1);
  assert.equal(approvals.answer("p1", { kind: "approve" }), "too-soon");
  assert.equal(approvals.all.length, 1);
});

test("a plan that was withdrawn has no answer, and its page says so", async () => {
  const { approvals, approval, answer } = table();
  approvals.remove("p1", "withdrawn");
  await assert.rejects(answer, /withdrawn/);
  assert.equal(approvals.answer("p1", { kind: "approve" }), "gone");
  assert.match(endedPage(approval.request, "withdrawn").text, /^The agent gave up waiting\n\nclaude wanted to carry out a plan:\n {2}# Plan$/m);
});

test("nothing of a plan is remembered or edited", () => {
  const { approval } = table();
  assert.deepEqual(approval.remembering, []);
  assert.equal(approval.editableCommand, undefined);
  assert.deepEqual(approval.files, []);
});

test("a plan's page shows it whole, and no line of it can pass for the page's own", () => {
  const { approval } = table();
  assert.equal(
    commandPage(approval).text,
    `claude wants to carry out a plan

  # Plan
  1. Add a total
  Approve                   this once

Asked by      claude, over MCP

Approve                   the agent leaves plan mode and goes to work
Reject                    the agent stays in plan mode
Reject with Reason…       and reads why
Cancel                    the agent stops
`,
  );
  assert.equal(deed(approval.request), "carry out a plan");
});

test("a plan whose agent is not named is shown too", () => {
  const { agent, sessionId } = planQuestion({ planId: "p1", plan: "" });
  assert.deepEqual({ agent, sessionId }, { agent: { name: "an agent", via: "" }, sessionId: "" });
});
