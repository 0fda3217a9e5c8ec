-- A project's own settings that ask for more than the user trusts (`settings/untrusted`). A notification says so;
-- what counts is an answer on a page that shows exactly which rules would count, for exactly these bytes of the file.

local announce = require("pillion.announce")
local approvals = require("pillion.approvals")
local choose = require("pillion.choose")
local escape = require("pillion.escape")
local front = require("pillion.front")
local words = require("pillion.words")

local M = {}

---@class pillion.Untrusted
---@field path string the settings file
---@field hash string of its bytes
---@field rules string[] what it would loosen; empty when nothing is asked any more
---@field problems? string[] what of it has no effect, trusted or not
---@field client any

---@type pillion.Untrusted[]
local asking = {}

function M.all()
  return vim.list_slice(asking)
end

---@param one pillion.Untrusted
local function id_of(one)
  return "trust-" .. one.hash:sub(1, 16)
end

---@param one pillion.Untrusted
function M.line(one)
  local rules = words.count(#one.rules, "rule")
  return ("%s would loosen %s if you trusted it"):format(escape.short(vim.fn.fnamemodify(one.path, ":~:."), 80), rules)
end

---@param one pillion.Untrusted
---@param why string
local function drop(one, why)
  asking = vim.tbl_filter(function(other)
    return other ~= one
  end, asking)
  approvals.remove(id_of(one), why)
end

--- A `settings/untrusted` notification.
---@param params {path: string, hash: string, rules?: string[], problems?: string[]}
---@param client any
function M.receive(params, client)
  local rules = params.rules or {}
  for _, one in ipairs(M.all()) do
    if one.client == client and one.path == params.path then
      if one.hash == params.hash and #rules > 0 then
        return
      end
      drop(one, #rules > 0 and "superseded" or "settled")
    end
  end
  if #rules == 0 then
    return
  end
  local one = { path = params.path, hash = params.hash, rules = rules, problems = params.problems, client = client }
  asking[#asking + 1] = one
  announce.waiting("Pillion: " .. M.line(one) .. "  (:Pillion trust)", function()
    return vim.tbl_contains(asking, one)
  end)
end

---@param client any
function M.abandon(client)
  for _, one in ipairs(M.all()) do
    if one.client == client then
      drop(one, "sidecar stopped")
    end
  end
end

---@param one pillion.Untrusted
---@return pillion.ApprovalRequest
local function question(one)
  return {
    approvalId = id_of(one),
    sessionId = "",
    agent = { name = "This project", via = "" },
    tool = "settings.trust",
    title = "Trust these settings?",
    reasons = {},
    arguments = { path = one.path },
    preview = {
      kind = "trust",
      act = "allow more without asking",
      deed = "allow more without asking",
      lines = vim.tbl_map(escape.visible, one.rules),
      facts = vim.list_extend(one.problems and {
        { code = "problems", label = "No effect", text = "", items = vim.tbl_map(escape.visible, one.problems), tone = "warning" },
      } or {}, {
        { code = "file", label = "File", text = escape.visible(one.path) },
        { code = "reasons", label = "Asks because", text = "a project's settings only restrict, unless you trust exactly this text" },
      }),
    },
    decisions = {
      {
        id = "reject",
        title = "Ignore",
        scope = "once",
        meaning = "these rules have no effect, and you are not asked again until the file changes",
      },
      { id = "approve", title = "Trust", scope = "once", meaning = "these rules count until the file changes" },
    },
    digest = one.hash,
  }
end

---@param one pillion.Untrusted
function M.show(one)
  if not approvals.get(id_of(one)) then
    approvals.open(question(one), function(answer)
      local decision = answer and answer.decision
      if decision ~= "approve" and decision ~= "reject" then
        return -- to stop is no answer
      end
      local method = decision == "approve" and "settings/trust" or "settings/ignore"
      one.client.request(method, { path = one.path, hash = one.hash }, function(err)
        if err then
          announce.tell("Pillion: " .. escape.short(err.message, 200), vim.log.levels.ERROR)
        else
          announce.tell(("Pillion: %s until the file changes"):format(decision == "approve" and "trusted" or "ignored"))
        end
      end)
    end, one.client)
  end
  front.show(id_of(one))
end

--- `:Pillion trust`
function M.open()
  if #asking == 0 then
    announce.tell("Pillion: no project's settings need your trust")
  elseif #asking == 1 then
    M.show(asking[1])
  else
    choose(asking, { prompt = "Which settings?", kind = "pillion.trust", format_item = M.line }, M.show)
  end
end

return M
