-- Plans that an agent in plan mode wants to carry out (`plan/review`): each waits as a question like any other, on a page.

local approvals = require("pillion.approvals")

local M = {}

---@class pillion.PlanReview
---@field planId string
---@field plan string markdown
---@field sessionId? string
---@field agent? {name: string, via: string}

---@class pillion.PlanAnswer
---@field decision "approve"|"reject"|"cancel"
---@field feedback? string

---@param review pillion.PlanReview
---@return pillion.ApprovalRequest
local function question(review)
  return {
    approvalId = review.planId,
    sessionId = review.sessionId or "",
    agent = review.agent or { name = "an agent", via = "" },
    tool = "exit_plan_mode",
    title = "Carry out this plan?",
    reasons = { "it would leave plan mode" },
    preview = { kind = "text", markdown = review.plan },
    decisions = {
      { id = "reject", title = "Reject", scope = "once" },
      { id = "approve", title = "Approve", scope = "once" },
    },
    digest = review.planId,
  }
end

---@param review pillion.PlanReview
---@param reply pillion.Reply
---@param client any
---@param cancelled? fun(callback: fun())
function M.open(review, reply, client, cancelled)
  approvals.open(question(review), function(answer, err)
    reply(answer and { decision = answer.decision, feedback = answer.feedback }, err)
  end, client)
  if cancelled then
    cancelled(function()
      approvals.remove(review.planId, "withdrawn")
    end)
  end
end

return M
