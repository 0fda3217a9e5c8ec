// A plan that an agent wants to carry out (`plan/review`), as one of the approvals: it waits, shows and is answered as they
// are. It is answered for itself alone; nothing of it can be remembered or edited.

import type { ApprovalAnswer, ApprovalRequest, PlanAnswer, PlanReview } from "./protocol";

/** What an agent calls to leave plan mode. */
export const planTool = "exit_plan_mode";

export function planQuestion({ planId, plan, agent, sessionId }: PlanReview): ApprovalRequest {
  return {
    approvalId: planId,
    callId: "",
    sessionId: sessionId ?? "",
    agent: agent ?? { name: "an agent", via: "" },
    tool: planTool,
    title: "Carry out this plan?",
    description: "",
    reasons: null,
    arguments: {},
    preview: { kind: "text", markdown: plan },
    decisions: [
      { id: "reject", title: "Reject", scope: "once" },
      { id: "approve", title: "Approve", scope: "once" },
    ],
    digest: "",
  };
}

/** A plan is taken whole or not: an edit, which its page does not offer, is a no, and the agent stays in plan mode and goes on. */
export function answerToPlan({ decision, feedback }: ApprovalAnswer): PlanAnswer {
  return { decision: decision === "edit" ? "reject" : decision, ...(feedback ? { feedback } : {}) };
}
