-- What a status line says: is the sidecar there, does anything wait for the user, what runs.

local activity = require("pillion.activity")
local approvals = require("pillion.approvals")
local client = require("pillion.client")
local escape = require("pillion.escape")
local processes = require("pillion.processes")
local prompts = require("pillion.prompts")
local sessions = require("pillion.sessions")
local todos = require("pillion.todos")
local tracking = require("pillion.tracking")
local words = require("pillion.words")

local M = {}

--- Of a text, where it is the only one and where there are others: a status line has more to show than this.
local alone, beside = 32, 20

--- How many questions wait for the user.
function M.waiting()
  return #approvals.of_agents() + #prompts.all()
end

---@param limit integer
---@return string of the calls that run, the newest
local function running(limit)
  local calls = activity.running()
  local newest = calls[#calls]
  if not newest then
    return ""
  end
  local title = escape.short(activity.doing(newest), limit)
  return #calls == 1 and title or ("%s (+%d)"):format(title, #calls - 1)
end

---@param text string
local function plain(text)
  return (text:gsub("%%", "%%%%"))
end

--- Who is paused, how far the newest to-do list is, how many processes run, how much is indexed.
---@param progress string?
local function details(progress)
  local paused, left, percent = sessions.paused(), #processes.running(), tracking.indexing()
  local parts = { "" }
  if #paused > 0 then
    parts[#parts + 1] = #paused == 1 and escape.short(sessions.name(paused[1]), 20) .. " paused" or ("%d paused"):format(#paused)
  end
  parts[#parts + 1] = progress
  parts[#parts + 1] = left > 0 and words.count(left, "process") or nil
  parts[#parts + 1] = percent and ("indexing %d %%"):format(percent) or nil
  return plain(table.concat(parts, " · "))
end

--- `Pillion 2?` while two questions wait, `Pillion: Run make` while a call runs, `Pillion` when it is there, `Pillion!` when
--- it could not be started, nothing when it is stopped; `Pillion FULL ACCESS` in front of it while some agent has that. Behind
--- it ` · claude paused`, ` · 2/5 Fix the clock` of a to-do list, ` · 1 process` while one runs, ` · indexing 40 %` while the
--- search index is built. Plain text: a per cent sign is doubled, as a status line wants it.
function M.line()
  local waiting, seen = M.waiting(), {} ---@type integer, table<pillion.State, boolean>
  client.each(function(one)
    seen[one.state] = true
  end)
  if seen.failed then
    return "Pillion!"
  elseif not seen.starting and not seen.ready then
    return ""
  end
  local name = #sessions.full_access() > 0 and "Pillion FULL ACCESS" or "Pillion"
  local busy = waiting > 0 or #activity.running() > 0 or #sessions.paused() > 0
  local progress = todos.progress(busy and beside or alone)
  local behind = details(progress)
  if waiting > 0 then
    return ("%s %d?%s"):format(name, waiting, behind)
  elseif seen.starting then
    return name .. "…"
  end
  local title = running(progress and beside or alone)
  return (title == "" and name or name .. ": " .. plain(title)) .. behind
end

return M
