-- What the agents did lately, newest first, and what they are at.

local M = {}

M.limit = 200

---@class pillion.Call
---@field callId string
---@field sessionId string
---@field agent {name: string, via: string}
---@field tool string
---@field title string
---@field state "queued"|"running"|"waiting"|"done"|"failed"
---@field path? string the file that it is about
---@field summary string
---@field shows? "diff"|"command"|"markdown" what activity/show has of it
---@field problem? {path: string, range: {start: {line: integer, character: integer}}, severity: integer} that it caused
---@field durationMs integer
---@field client any
---@field time integer seconds, when it was first heard of

---@type pillion.Call[] the oldest first
local calls = {}
---@type table<any, table<string, {status: string, message: string}>>
local statuses = {}

local changed = require("pillion.events").listeners(M)

---@return pillion.Call[] newest first
function M.entries()
  return vim.iter(calls):rev():totable()
end

---@return pillion.Call[] the oldest first
function M.running()
  return vim.tbl_filter(function(call)
    return call.state == "running"
  end, calls)
end

--- What it does, in particular.
---@param call pillion.Call
---@return string
function M.doing(call)
  return call.title ~= "" and call.title or call.tool
end

--- A call keeps its place in the list while its state changes.
---@param entry pillion.Call
---@param client any
function M.record(entry, client)
  entry.client, entry.time = client, os.time()
  for index, call in ipairs(calls) do
    if call.callId == entry.callId and call.client == client then
      entry.time = call.time
      calls[index] = entry
      changed()
      return
    end
  end
  calls[#calls + 1] = entry
  if #calls > M.limit then
    table.remove(calls, 1)
  end
  changed()
end

---@param status {sessionId: string, status: string, message: string}
---@param client any
function M.status(status, client)
  statuses[client] = statuses[client] or {}
  statuses[client][status.sessionId] = status.status ~= "idle" and status or nil
  changed()
end

--- What a session is at; nil while it is idle.
---@param client any
---@param session_id string
function M.status_of(client, session_id)
  return (statuses[client] or {})[session_id]
end

--- Nothing runs any more: the sidecar is gone.
---@param client any
function M.abandon(client)
  statuses[client] = nil
  for _, call in ipairs(calls) do
    if call.client == client and call.state ~= "done" and call.state ~= "failed" then
      call.state, call.summary = "failed", "the sidecar stopped"
    end
  end
  changed()
end

return M
