-- Announces requests, and what changed beneath them. An announcement answers nothing.

local announce = require("pillion.announce")
local approvals = require("pillion.approvals")
local escape = require("pillion.escape")
local front = require("pillion.front")
local words = require("pillion.words")

local M = {}

--- Nobody needs to be reported of what they are looking at.
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
  local parts = { words.wish(approval.request, 120) }
  if approval:is_review() and approval.request.description ~= "" then
    parts[2] = escape.short(approval.request.description:gsub("%s+", " "), 160)
  end
  for _, reason in ipairs(approval.request.reasons) do
    parts[#parts + 1] = reason.code ~= "class" and escape.short(reason.text, 160) or nil
  end
  announce.waiting(table.concat(parts, "; ") .. "  (:Pillion show)", unseen(approval))
end

---@type table<pillion.Approval, string>
local reported = setmetatable({}, { __mode = "k" })

---@param approval pillion.Approval
function M.changed(approval)
  local files, news = approval:files(), approval.beneath .. approval.request.digest
  if reported[approval] == news then
    return -- only the user's own edit came or went
  end
  reported[approval] = news
  local name = escape.short(files[1] and files[1].name or approval.request.preview.deed, 80)
  if approval.beneath == "moved" then
    announce.waiting(name .. ": lines moved on disk; the proposal is updated")
  elseif approval.beneath == "conflict" then
    announce.waiting(name .. " changed on disk; your text will be merged and shown again")
  end
end

return M
