-- What an agent may do before it has to ask: for its session alone, and until that ends. Nothing of it is kept anywhere.

local activity = require("pillion.activity")
local announce = require("pillion.announce")
local choose = require("pillion.choose")
local escape = require("pillion.escape")
local view = require("pillion.view")

local M = {}

M.names = { "plan", "default", "auto_edit", "full_access" }

local meanings = {
  plan = "it only reads",
  default = "it reads without asking; changes and commands ask",
  auto_edit = "edits in the workspace run without asking; commands ask",
  full_access = "commands and edits run without asking; only protected paths and your own rules ask",
}

---@param sessions pillion.Session[]
---@param prompt string
---@param callback fun(session: pillion.Session)
local function choose_session(sessions, prompt, callback)
  if #sessions == 1 then
    callback(sessions[1])
  elseif #sessions > 1 then
    choose(sessions, { prompt = prompt, kind = "pillion.session", format_item = view.session_line }, callback)
  else
    announce.tell("Pillion: no such agent is connected; :Pillion connect connects one")
  end
end

---@param session pillion.Session
---@param mode string
local function set(session, mode)
  session.client.request("session/setMode", { sessionId = session.sessionId, mode = mode }, function(err, result)
    if err then
      announce.tell("Pillion: " .. escape.short(err.message, 200), vim.log.levels.ERROR)
    else
      announce.tell("Pillion: " .. view.session_line(vim.tbl_extend("force", session, { mode = result.mode })))
      activity.sessions(session.client)
    end
  end)
end

--- Full access is asked about once more, by itself: no half-typed name and no wrong number leads there.
---@param session pillion.Session
---@param mode string
local function agree(session, mode)
  if mode ~= "full_access" or session.mode == mode then
    set(session, mode)
    return
  end
  local name = escape.short(session.agent and session.agent.name or session.sessionId, 40)
  vim.ui.select({ "No, keep asking", "Yes, full access until " .. name .. " disconnects" }, {
    prompt = ("Full access for %s: its commands run as you, unseen. Only protected paths and your own rules ask."):format(name),
    kind = "pillion.full_access",
  }, function(_, choice)
    vim.cmd.redraw() -- else what is said next goes on in the line in which the number was typed
    if choice == 2 then
      set(session, mode)
    else
      announce.tell("Pillion: " .. view.session_line(session))
    end
  end)
end

---@param session pillion.Session
local function choose_mode(session)
  choose(M.names, {
    prompt = ("Mode (now %s):"):format(session.mode),
    kind = "pillion.mode",
    format_item = function(name)
      return ("%s: %s"):format(name, meanings[name])
    end,
  }, function(chosen)
    agree(session, chosen)
  end)
end

--- `:Pillion mode [mode] [session]`: what is left out is asked for.
---@param rest string
function M.change(rest)
  local wanted, session_id = rest:match("^(%S*)%s*(.-)$")
  if wanted ~= "" and not vim.tbl_contains(M.names, wanted) then
    announce.tell("Pillion: the modes are " .. table.concat(M.names, ", "))
    return
  end
  view.sessions(function(sessions)
    local named = session_id == "" and sessions
      or vim.tbl_filter(function(session)
        return session.sessionId == session_id
      end, sessions)
    choose_session(named, "Whose mode?", function(session)
      if wanted == "" then
        choose_mode(session)
      else
        agree(session, wanted)
      end
    end)
  end)
end

--- The agents that are connected; choosing one leads to its mode.
function M.sessions()
  view.sessions(function(all)
    choose_session(all, "Sessions (choose one to set its mode):", choose_mode)
  end)
end

--- `:Pillion pause`
function M.pause()
  view.sessions(function(all)
    local busy = vim.tbl_filter(function(session)
      return not session.paused and session.agent ~= nil and session.agent.name ~= ""
    end, all)
    choose_session(busy, "Pause which agent?", activity.pause)
  end)
end

--- Lets a paused agent go on.
function M.resume()
  view.sessions(function()
    local paused = activity.paused()
    if #paused == 0 then
      announce.tell("Pillion: no agent is paused")
    else
      choose_session(paused, "Resume which agent?", activity.resume)
    end
  end)
end

return M
