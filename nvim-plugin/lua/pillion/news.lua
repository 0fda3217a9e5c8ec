-- Announces what waits, and what changed beneath it. An announcement answers nothing.

local announce = require("pillion.announce")
local approvals = require("pillion.approvals")
local escape = require("pillion.escape")
local front = require("pillion.front")
local words = require("pillion.words")

local M = {}

--- Nobody needs to be told of what they are looking at.
---@param approval pillion.Approval
local function unseen(approval)
  return function()
    return approvals.get(approval.id) == approval and front.focused() ~= approval.id
  end
end

---@param approval pillion.Approval
function M.added(approval)
  if approval:is_own() then
    return
  end
  local reasons = vim.tbl_map(function(reason)
    return escape.short(reason, 160)
  end, words.particulars(approval.request))
  local text = table.concat({ words.wish(approval.request, 120), unpack(reasons) }, "; ")
  announce.waiting(text .. "  (:Pillion show)", unseen(approval))
end

---@type table<pillion.Approval, string>
local told = setmetatable({}, { __mode = "k" })

---@param approval pillion.Approval
function M.changed(approval)
  local files, news = approval:files(), approval.beneath .. approval.request.digest
  if told[approval] == news then
    return -- only the human's own edit came or went
  end
  told[approval] = news
  local name = escape.short(files[1] and files[1].path or "what this rests on", 80)
  if approval.beneath == "moved" then
    announce.waiting(name .. " moved on disk; the proposal is updated")
  elseif approval.beneath == "conflict" then
    announce.waiting(name .. " changed on disk; your text will be merged with it and shown again")
  end
end

return M
