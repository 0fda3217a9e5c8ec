-- The requests that wait for the user: what they show, what the user edited, whether an answer counts yet. Knows nothing
-- of windows. An answer counts once, never within `inert_ms` of what it answers, and closing a window is no answer.

local Approval = require("pillion.approval")
local announce = require("pillion.announce")

local M = {}

---@alias pillion.Verdict "taken"|"too-soon"|"nothing"|"no-message"|"comments"|"gone"

---@class pillion.ApprovalListener
---@field added? fun(approval: pillion.Approval)
---@field changing? fun(approval: pillion.Approval) before a change or an answer counts: say now what the user edited
---@field changed? fun(approval: pillion.Approval)
---@field typed? fun(approval: pillion.Approval) the user typed in a text that was theirs already
---@field removed? fun(approval: pillion.Approval, outcome: string) answered here, or dead: `outcome` says which

---@type pillion.Approval[] in order of arrival
local waiting = {}
---@type pillion.ApprovalListener[]
local listeners = {}

--- What fails in one listener does not concern the others, nor the request.
---@param event string
local function notify(event, ...)
  for _, listener in ipairs(listeners) do
    if listener[event] then
      announce.guard(listener[event], ...)
    end
  end
end

--- Listeners hear of everything in the order in which they came.
---@param listener pillion.ApprovalListener
function M.listen(listener)
  listeners[#listeners + 1] = listener
end

---@return pillion.Approval[] in order of arrival
function M.all()
  return vim.list_slice(waiting)
end

---@return pillion.Approval[] without those that the user started
function M.of_agents()
  return vim.tbl_filter(function(approval)
    return not approval:is_own()
  end, waiting)
end

---@param id string?
---@return pillion.Approval?
function M.get(id)
  return vim.iter(waiting):find(function(approval)
    return approval.id == id
  end)
end

---@param approval pillion.Approval
local function drop(approval)
  waiting = vim.tbl_filter(function(other)
    return other ~= approval
  end, waiting)
end

---@param request pillion.ApprovalRequest
---@param reply pillion.Reply answers on the wire, or says that nobody can
---@param client any who asks: what it asked dies with it
function M.open(request, reply, client)
  M.remove(request.approvalId, "replaced")
  local approval = Approval.new(request, reply, client)
  waiting[#waiting + 1] = approval
  notify("added", approval)
end

---@param changed pillion.ApprovalChanged
function M.change(changed)
  local approval = M.get(changed.approvalId)
  if approval then
    notify("changing", approval)
    approval:change(changed)
    notify("changed", approval)
  end
end

--- What stands on the right side of one file; nil: what the selected hunks make.
---@param approval pillion.Approval
---@param path string
---@param text string?
function M.edit(approval, path, text)
  local edited, beneath, selected = approval:is_edited(), approval.beneath, approval.chosen:count()
  approval:edit(path, text)
  local same = approval:is_edited() == edited and approval.beneath == beneath and approval.chosen:count() == selected
  if M.get(approval.id) == approval then
    notify(same and "typed" or "changed", approval)
  end
end

--- Selects hunks of one file, or leaves them out.
---@param approval pillion.Approval
---@param path string
---@param hunks pillion.Hunk[]
---@param select boolean
---@return integer stuck how many could not be changed, because the user wrote over them
function M.select(approval, path, hunks, select)
  local stuck = 0
  for _, hunk in ipairs(hunks) do
    stuck = stuck + (approval.chosen:select(path, hunk, select) and 0 or 1)
  end
  notify("changed", approval)
  return stuck
end

--- Says something of a line of what is proposed, or no longer.
---@param approval pillion.Approval
---@param path string
---@param line integer from 1
---@param text string
function M.comment(approval, path, line, text)
  approval:comment(path, line, text)
  notify("changed", approval)
end

---@param id string?
---@param choice pillion.Choice
---@return pillion.Verdict
function M.answer(id, choice)
  local approval = M.get(id)
  if not approval then
    return "gone"
  end
  notify("changing", approval)
  local answer, problem = approval:answer(choice)
  if not answer then
    return problem or "too-soon"
  end
  drop(approval)
  approval.reply(answer)
  notify("removed", approval, choice.kind)
  return "taken"
end

--- Somebody else settled it: the agent that gave up, an expiry, a new plan.
---@param id string
---@param outcome string
function M.remove(id, outcome)
  local approval = M.get(id)
  if approval then
    notify("changing", approval)
    drop(approval)
    -- Nobody's answer: not a rejection, which the user would have had to give. -32800 is LSP's RequestCancelled.
    approval.reply(nil, { code = -32800, message = "the dialog was closed: " .. outcome })
    notify("removed", approval, outcome)
  end
end

--- Nobody can answer what this client asked any more.
---@param client any
---@param outcome string
function M.abandon(client, outcome)
  for _, approval in ipairs(M.all()) do
    if approval.client == client then
      M.remove(approval.id, outcome)
    end
  end
end

return M
