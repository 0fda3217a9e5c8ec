-- What a request can be answered with: on its page in full, in the line above it in a word.

---@class pillion.PossibleAnswer
---@field action pillion.Action
---@field title string
---@field meaning string
---@field word? string in place of the title where there is little room
---@field rule? string what choosing it saves

---@param approval pillion.Approval
---@return pillion.PossibleAnswer[]
return function(approval)
  local list = {} ---@type pillion.PossibleAnswer[]
  local function add(action, title, meaning, word, rule)
    list[#list + 1] = { action = action, title = title, meaning = meaning, word = word, rule = rule }
  end
  local refusal, consent = approval.request.decisions[1], approval.request.decisions[2]
  if consent then
    add("approve", consent.title, consent.meaning)
  end
  add("reject", refusal.title, refusal.meaning) -- where there is little room, no is not what is cut
  if #approval:unsaved() > 0 and approval.request.preview.kind == "command" then
    add("save", "Save and Run", "once, after saving")
  elseif #approval:unsaved() > 0 then
    add("save", "Save First", "then review it again")
  end
  if approval:editable() == "message" then
    add("edit", "Edit Message", "your text is committed")
  end
  for _, scope in ipairs({ "session", "workspace" }) do
    for _, decision in ipairs(not approval.own and approval:remembering(scope) or {}) do -- a rule is about the agent's command
      add(scope, decision.title, decision.meaning, scope, decision.rule)
    end
  end
  if approval:has_agent() then
    add("reason", refusal.title .. " with Reason…", "the agent gets your reason", "reason")
    if not approval:is_review() then
      add("cancel", "Stop Agent", "rejects this and pauses the agent")
    end
  end
  if approval:editable() == "command" then
    add("edit", "Edit", "your command runs")
  end
  return list
end
