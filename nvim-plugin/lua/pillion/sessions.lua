-- The agents' sessions as the sidecars have them: what each did, what it may do without asking, and its to-do list. A sidecar is
-- asked for all of them when it starts; from then on it reports each that changes (`session/changed`).

local announce = require("pillion.announce")
local escape = require("pillion.escape")

local M = {}

---@class pillion.Session
---@field sessionId string
---@field agent {name: string, via: string}
---@field mode string
---@field turn integer
---@field paused? boolean
---@field pauseReason? string
---@field connected? boolean
---@field started? string RFC 3339
---@field lastCall? string RFC 3339
---@field calls? integer
---@field changes? integer
---@field rejected? integer
---@field refused? integer
---@field grants? string[] rules remembered for it
---@field todos? pillion.Todo[]
---@field todosRevision? integer
---@field parent? string the session whose sub-agent this is
---@field client any

---@class pillion.Todo
---@field id string
---@field content string
---@field status "pending"|"in_progress"|"completed"
---@field priority "high"|"medium"|"low"

---@type pillion.Session[] in the order in which they began
local all = {}

local changed = require("pillion.events").listeners(M)

function M.all()
  return all
end

--- Those whose agents are there.
---@param holds? fun(session: pillion.Session): boolean?
function M.connected(holds)
  return vim.tbl_filter(function(session)
    return session.connected and (not holds or holds(session))
  end, all)
end

--- Those whose agents are not, the one that was there last first.
---@return pillion.Session[]
function M.earlier()
  local gone = vim.tbl_filter(function(session)
    return not session.connected
  end, all)
  local function seen(session)
    return session.lastCall or session.started or ""
  end
  table.sort(gone, function(one, other)
    return seen(one) > seen(other) -- all are in UTC
  end)
  return gone
end

function M.paused()
  return M.connected(function(session)
    return session.paused
  end)
end

function M.full_access()
  return M.connected(function(session)
    return session.mode == "full_access"
  end)
end

--- As it is now; nil when it has ended.
---@param session {sessionId: string, client: any}
---@return pillion.Session?
function M.find(session)
  return vim.iter(all):find(function(one)
    return one.sessionId == session.sessionId and one.client == session.client
  end)
end

---@param client any
local function forget(client)
  all = vim.tbl_filter(function(session)
    return session.client ~= client
  end, all)
end

--- In the place of what it was before.
---@param session pillion.Session
---@param client any
local function know(session, client)
  session.client = client
  for index, one in ipairs(all) do
    if one.sessionId == session.sessionId and one.client == client then
      all[index] = session
      if (session.paused or false) ~= (one.paused or false) then
        announce.tell(M.name(session) .. (session.paused and " is paused: :Pillion resume" or " goes on"))
      end
      return
    end
  end
  all[#all + 1] = session
end

---@param session {sessionId: string, client: any}
local function lose(session)
  local gone = M.find(session)
  all = vim.tbl_filter(function(one)
    return one ~= gone
  end, all)
end

---@param params {session: pillion.Session, ended?: boolean}
---@param client any
function M.receive(params, client)
  if params.ended then
    lose({ sessionId = params.session.sessionId, client = client })
  else
    know(params.session, client)
  end
  changed()
end

--- Nothing of it runs any more; what lasts it says again when it is back.
---@param client any
function M.abandon(client)
  forget(client)
  changed()
end

--- Asks a sidecar for all of its sessions.
---@param client any
---@param callback? fun(sessions: pillion.Session[]?, problem?: string)
function M.refresh(client, callback)
  callback = callback or function() end
  client.request("session/list", vim.empty_dict(), function(err, result)
    if err then
      callback(nil, err.message)
      return
    end
    forget(client)
    local sessions = result.sessions or {}
    for _, session in ipairs(sessions) do
      know(session, client)
    end
    changed()
    callback(sessions)
  end)
end

--- All sessions of all sidecars that answer.
---@param callback fun(sessions: pillion.Session[]) not called if none of them does
function M.ask(callback)
  local trouble ---@type string?
  require("pillion.client").ask_all(function(client, answered)
    M.refresh(client, function(sessions, problem)
      trouble = problem or trouble
      answered(sessions)
    end)
  end, function(answers)
    if #answers > 0 then
      callback(vim.iter(answers):flatten():totable())
    else
      announce.tell("Pillion: could not list sessions: " .. escape.short(trouble or "", 200), vim.log.levels.ERROR)
    end
  end)
end

--- Has the sidecar do something to a session. What it becomes is known before `done`.
---@param session {sessionId: string, client: any}
---@param method string
---@param params table
---@param done fun(session: pillion.Session)
---@param failed? fun(err: {code: integer, message: string}) without it the user reads what went wrong
local function change(session, method, params, done, failed)
  params.sessionId = session.sessionId
  session.client.request(method, params, function(err, result)
    if err and failed then
      failed(err)
    elseif err then
      announce.tell("Pillion: " .. escape.short(err.message, 200), vim.log.levels.ERROR)
    else
      know(result, session.client)
      changed()
      done(result)
    end
  end)
end

---@param session pillion.Session
function M.name(session)
  local name = session.agent and session.agent.name or ""
  return name == "" and "this editor" or escape.short(name, 40)
end

--- All its calls are rejected from now on.
---@param session {sessionId: string, agent: {name: string}, client: any}
function M.pause(session)
  local name = escape.visible(session.agent.name)
  change(session, "session/pause", {}, function() end, function(err)
    announce.tell(("Pillion: %s is not paused: %s"):format(name, escape.short(err.message, 200)), vim.log.levels.ERROR)
  end)
end

---@param session pillion.Session
function M.resume(session)
  change(session, "session/newTurn", {}, function() end)
end

---@param session pillion.Session
---@param mode string
---@param done fun(session: pillion.Session)
function M.set_mode(session, mode, done)
  change(session, "session/setMode", { mode = mode }, done)
end

--- Calls that the rule allowed ask again.
---@param session pillion.Session
---@param rule string
function M.revoke(session, rule)
  change(session, "session/revoke", { rule = rule }, function()
    announce.tell(("Pillion: %s asks again for %s"):format(M.name(session), escape.short(rule, 80)))
  end)
end

---@param session pillion.Session
---@param list pillion.Todo[]
---@param done fun()
---@param failed fun(err: {code: integer, message: string})
function M.set_todos(session, list, done, failed)
  change(session, "session/todos", { todos = list, revision = session.todosRevision }, done, failed)
end

--- Ends it, with all that belongs to it.
---@param session pillion.Session
function M.close(session)
  session.client.request("session/close", { sessionId = session.sessionId }, function(err)
    if err then
      announce.tell("Pillion: " .. escape.short(err.message, 200), vim.log.levels.ERROR)
    else
      lose(session)
      changed()
      announce.tell(("Pillion: the session of %s has ended"):format(M.name(session)))
    end
  end)
end

return M
