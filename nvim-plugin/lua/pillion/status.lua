-- What a status line says: is the sidecar there, does anything wait for the user, what runs.

local activity = require("pillion.activity")
local approvals = require("pillion.approvals")
local client = require("pillion.client")
local escape = require("pillion.escape")
local processes = require("pillion.processes")
local prompts = require("pillion.prompts")
local tracking = require("pillion.tracking")
local words = require("pillion.words")

local M = {}

--- How many questions wait for the user.
---@return integer
function M.waiting()
  return #approvals.of_agents() + #prompts.all()
end

---@return "failed"|"starting"|"ready"|"stopped"
local function state()
  local seen = {}
  client.each(function(one)
    seen[one.state] = true
  end)
  return seen.failed and "failed" or seen.starting and "starting" or seen.ready and "ready" or "stopped"
end

---@return string of the calls that run, the newest
local function running()
  local calls = activity.running()
  local newest = calls[#calls]
  if not newest then
    return ""
  end
  local doing = vim.iter({ newest.summary, newest.title, newest.tool }):find(function(text)
    return text ~= nil and text ~= "" -- the summary of a call that runs says what it does
  end)
  local title = escape.short(doing, 40)
  return #calls == 1 and title or ("%s (+%d)"):format(title, #calls - 1)
end

--- `Pillion 2?` while two questions wait, `Pillion: Run make` while a call runs, `Pillion` when it is there, `Pillion!` when
--- it could not be started, nothing when it is stopped; `Pillion FULL ACCESS` in front of it while some agent has that, and
--- ` · 1 process` behind it while one runs, ` · indexing 40 %` while the search index is built. Plain text: a per cent sign is doubled, as a status line wants it.
---@return string
function M.line()
  local waiting, now = M.waiting(), state()
  if now == "failed" then
    return "Pillion!"
  elseif now == "stopped" then
    return ""
  end
  local name = #activity.full_access() > 0 and "Pillion FULL ACCESS" or "Pillion"
  local left = #processes.running()
  local behind = left > 0 and " · " .. words.count(left, "process") or ""
  local percent = tracking.indexing()
  if percent then
    behind = ("%s · indexing %d %%%%"):format(behind, percent)
  end
  if waiting > 0 then
    return ("%s %d?%s"):format(name, waiting, behind)
  elseif now == "starting" then
    return name .. "…"
  end
  local title = running()
  return (title == "" and name or name .. ": " .. (title:gsub("%%", "%%%%"))) .. behind
end

return M
