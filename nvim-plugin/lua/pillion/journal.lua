-- What agents changed, as the sidecars' journals have it (`journal/list`), in words. Nothing of it is kept here: whoever shows it
-- asks anew, and hears from `listen` when that is worth it.

local announce = require("pillion.announce")
local escape = require("pillion.escape")
local words = require("pillion.words")

local M = {}

--- So many changes are asked for.
M.limit = 200

---@class pillion.AgentChange
---@field id string
---@field callId string
---@field sessionId string
---@field agent {name: string, via: string}
---@field tool string
---@field title string
---@field turn integer
---@field prompt? string how what the user wrote begins that the turn came of
---@field time string RFC 3339
---@field why? string of one that was interrupted, what became of it
---@field state "done"|"undone"|"interrupted"|"reverted"|"partly_reverted"
---@field files {path: string, to?: string, operation: string, additions: integer, deletions: integer, note?: string}[]
---@field client any

M.changed = require("pillion.events").listeners(M)

--- What became of a change that is not simply done.
M.states = {
  undone = "failed and undone",
  interrupted = "interrupted by a crash",
  reverted = "reverted",
  partly_reverted = "partly reverted",
}

---@param change pillion.AgentChange
function M.is_revertible(change)
  return change.state == "done" or change.state == "partly_reverted" or change.state == "interrupted"
end

--- The files that a revert is or would be of.
---@param result pillion.RevertResult?
---@return pillion.FilePreview[]
function M.files_of(result)
  return result and result.preview and result.preview.files or {}
end

--- Asks every sidecar that runs.
---@param callback fun(changes: pillion.AgentChange[]) newest first
function M.ask(callback)
  require("pillion.client").ask_all(function(client, answered)
    client.request("journal/list", { limit = M.limit }, function(err, result)
      if err then
        announce.tell("Pillion: the journal cannot be read: " .. escape.short(err.message, 200), vim.log.levels.ERROR)
      end
      local changes = not err and result.entries or {}
      for _, change in ipairs(changes) do
        change.client = client
      end
      answered(changes)
    end)
  end, function(journals)
    local all = vim.iter(journals):flatten():totable()
    if #journals > 1 then
      table.sort(all, function(one, other)
        return M.seconds(one) > M.seconds(other)
      end)
    end
    callback(all)
  end)
end

--- When it was, in seconds since 1970; 0 where that is not told.
---@param change {time: string}
function M.seconds(change)
  local year, month, day, hour, minute, second, fraction, zone = (change.time or ""):match(
    "^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)(%.?%d*)([Z+-].*)$"
  )
  if not year then
    return 0
  end
  local told = { year = year, month = month, day = day, hour = hour, min = minute, sec = second, isdst = false }
  local as_local = os.time(told)
  local utc = os.date("!*t", as_local) ---@cast utc osdate
  utc.isdst = false
  local sign, hours, minutes = zone:match("^([+-])(%d%d):?(%d%d)$")
  local east = sign and (tonumber(sign .. hours) * 3600 + tonumber(sign .. minutes) * 60) or 0
  return as_local + os.difftime(as_local, os.time(utc)) - east + (tonumber("0" .. fraction) or 0)
end

--- `14:05` today, else with the day.
---@param change {time: string}
function M.clock(change)
  local at = math.floor(M.seconds(change))
  if at == 0 then
    return ""
  end
  local is_today = os.date("%Y-%m-%d", at) == os.date("%Y-%m-%d")
  return os.date(is_today and "%H:%M" or "%Y-%m-%d %H:%M", at) --[[@as string]]
end

--- No agent can ask for one: it was the user, or a setting of theirs.
---@param change {tool: string}
local function is_revert(change)
  return change.tool == "journal/revert"
end

---@param change {tool: string, agent: {name: string, via: string}}
function M.who(change)
  if is_revert(change) then
    return change.agent.via == "setting" and "Pillion (setting unusual)" or "you"
  end
  return escape.short(change.agent.name ~= "" and change.agent.name or "somebody", 40)
end

--- ` · turn 2 · Mend the kettle`
---@param change {turn?: integer, prompt?: string}
function M.turn(change)
  local turn = (change.turn or 0) > 0 and (" · turn %d"):format(change.turn) or ""
  return turn .. (change.prompt and " · " .. escape.short(change.prompt, 70) or "")
end

--- `Edit app.py`, as the call was called.
---@param change {title: string, tool: string, files?: {path: string}[]}
function M.title(change)
  if is_revert(change) then
    local paths = words.paths(change.files or {})
    return escape.short("Revert " .. (#paths == 1 and paths[1] or words.count(#paths, "file")), 80)
  end
  return escape.short(change.title ~= "" and change.title or change.tool, 80)
end

--- What else comes of it while it stands: `Makefile runs when you next use make`.
---@param change pillion.AgentChange
function M.note(change)
  local notes = {}
  for _, file in ipairs(M.is_revertible(change) and change.files or {}) do
    if file.note then
      notes[#notes + 1] = escape.short(file.to or file.path, 60) .. " " .. escape.short(file.note, 80)
    end
  end
  return table.concat(notes, ", ")
end

--- `+3 −1`; nothing where no line is counted, as of a move.
---@param change pillion.AgentChange
function M.size(change)
  local size = words.size(change.files or {})
  return size == "+0 −0" and "" or size
end

return M
