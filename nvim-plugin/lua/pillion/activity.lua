-- What the agents did lately, newest first, what they are at, and which of their sessions stand still.

local M = {}

M.limit = 200
--- Several calls fail in one moment when an agent is paused; one question is enough.
local settle_ms = 100
--- Nobody tells when a session ends; while one has full access it is looked after this often.
M.watch_ms = 2000

---@class pillion.Call
---@field callId string
---@field sessionId string
---@field agent {name: string, via: string}
---@field tool string
---@field title string
---@field state "queued"|"running"|"waiting"|"done"|"failed"
---@field summary string
---@field durationMs integer
---@field client any
---@field time integer seconds, when it was first heard of

---@class pillion.Session
---@field sessionId string
---@field agent {name: string, via: string}
---@field mode string
---@field turn integer
---@field paused? boolean
---@field pauseReason? string
---@field client any

---@type pillion.Call[] the oldest first
local calls = {}
---@type table<any, pillion.Session[]>
local paused = {}
---@type table<any, pillion.Session[]>
local unbound = {}
---@type table<any, table<string, {status: string, message: string}>>
local statuses = {}
---@type table<any, boolean>
local checking = {}
---@type table<any, boolean>
local watching = {}

local changed
---@type fun(listener: fun())
M.listen, changed = require("pillion.listeners").new()

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

---@return pillion.Session[]
function M.paused()
  local all = {}
  for _, sessions in pairs(paused) do
    vim.list_extend(all, sessions)
  end
  return all
end

--- The sessions that have full access.
---@return pillion.Session[]
function M.full_access()
  local all = {}
  for _, sessions in pairs(unbound) do
    vim.list_extend(all, sessions)
  end
  return all
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
      return M.after(entry)
    end
  end
  calls[#calls + 1] = entry
  if #calls > M.limit then
    table.remove(calls, 1)
  end
  M.after(entry)
end

---@private
---@param entry pillion.Call
function M.after(entry)
  if entry.state == "failed" then
    M.check(entry.client) -- which is how a pause begins and shows
  end
  changed()
end

--- Once, after a while: whoever asks for it meanwhile means the same.
---@param client any
---@param pending table<any, boolean>
---@param ms integer
local function ask_later(client, pending, ms)
  if pending[client] then
    return
  end
  pending[client] = true
  vim.defer_fn(function()
    pending[client] = nil
    M.sessions(client)
  end, ms)
end

--- Asks the sidecar which sessions are paused or have full access.
---@param client any
function M.check(client)
  ask_later(client, checking, settle_ms)
end

---@param client any
---@param callback? fun(sessions: pillion.Session[]?, problem?: string)
function M.sessions(client, callback)
  callback = callback or function() end
  client.request("session/list", vim.empty_dict(), function(err, result)
    if err then
      callback(nil, err.message)
      return
    end
    local sessions = vim.tbl_map(function(session)
      session.client = client
      return session
    end, result.sessions or {})
    paused[client] = vim.tbl_filter(function(session)
      return session.paused == true
    end, sessions)
    unbound[client] = vim.tbl_filter(function(session)
      return session.mode == "full_access"
    end, sessions)
    if #unbound[client] > 0 then
      ask_later(client, watching, M.watch_ms)
    end
    changed()
    callback(sessions)
  end)
end

--- All its calls are refused from now on.
---@param session {sessionId: string, agent: {name: string}, client: any}
function M.pause(session)
  local announce, escape = require("pillion.announce"), require("pillion.escape")
  session.client.request("session/pause", { sessionId = session.sessionId }, function(err)
    local name = escape.visible(session.agent.name)
    M.sessions(session.client, function() -- :Pillion shows it when the user reads it
      if err then
        announce.tell(("Pillion: %s is not paused: %s"):format(name, escape.short(err.message, 200)), vim.log.levels.ERROR)
      else
        announce.tell(("Pillion: %s is paused until :Pillion resume"):format(name))
      end
    end)
  end)
end

---@param session pillion.Session
function M.resume(session)
  session.client.request("session/newTurn", { sessionId = session.sessionId }, function()
    M.sessions(session.client)
  end)
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
---@return {status: string, message: string}?
function M.status_of(client, session_id)
  return (statuses[client] or {})[session_id]
end

--- Nothing runs any more: the sidecar is gone.
---@param client any
function M.abandon(client)
  paused[client], unbound[client], statuses[client] = nil, nil, nil
  for _, call in ipairs(calls) do
    if call.client == client and call.state ~= "done" and call.state ~= "failed" then
      call.state, call.summary = "failed", "the sidecar stopped"
    end
  end
  changed()
end

return M
