-- `:Pillion together`: one answer for all that waits. What came or was updated after the list was shown is not in it.

local announce = require("pillion.announce")
local approvals = require("pillion.approvals")
local words = require("pillion.words")

local M = {}

local choices = {
  { label = "Reject all of them", choice = { kind = "reject", deliberate = true } },
  { label = "Approve all of them", choice = { kind = "approve", deliberate = true } },
  { label = "Cancel all of them: the agents stop", choice = { kind = "cancel", deliberate = true } },
}

---@param listed { id: string, digest: string }[]
---@param choice pillion.Choice
local function answer(listed, choice)
  local left = 0
  for _, one in ipairs(listed) do
    local approval = approvals.get(one.id)
    if approval and approval.request.digest == one.digest then
      approvals.answer(one.id, choice)
    elseif approval then
      left = left + 1
    end
  end
  if left > 0 then
    announce.say(("Pillion: %s was updated while you chose, and still waits"):format(words.count(left, "question")))
  end
end

function M.run()
  local all = approvals.all()
  if #all == 0 then
    announce.say("Pillion: nothing waits for you")
    return
  end
  local listed, lines = {}, {}
  for index, approval in ipairs(all) do
    listed[index] = { id = approval.id, digest = approval.request.digest }
    lines[index] = "  " .. words.wish(approval.request, 120)
  end
  vim.ui.select(choices, {
    prompt = ("%s:\n%s\n"):format(words.count(#all, "question"), table.concat(lines, "\n")),
    kind = "pillion.together",
    format_item = function(item)
      return item.label
    end,
  }, function(item)
    if item then
      answer(listed, item.choice)
    end
  end)
end

return M
