-- What an agent may do before it has to ask: for its session alone, and until that ends. Nothing of it is kept anywhere.

local announce = require("pillion.announce")
local choose = require("pillion.choose")
local sessions = require("pillion.sessions")
local view = require("pillion.view")

local M = {}

M.names = { "plan", "default", "auto_edit", "full_access" }

--- What a line has room for.
M.short = { plan = "only reads", default = "asks first", auto_edit = "edits freely", full_access = "FULL ACCESS" }

local meanings = {
  plan = "it only reads",
  default = "it reads without asking; changes and commands ask",
  auto_edit = "edits in the workspace run without asking; commands ask",
  full_access = "commands and edits run without asking; only protected paths and your own rules ask",
}

---@param found pillion.Session[]
---@param prompt string
---@param callback fun(session: pillion.Session)
local function choose_session(found, prompt, callback)
  if #found == 1 then
    callback(found[1])
  elseif #found > 1 then
    choose(found, { prompt = prompt, kind = "pillion.session", format_item = view.session_line }, callback)
  else
    announce.tell("Pillion: no such agent is connected; :Pillion connect connects one")
  end
end

---@param session pillion.Session
---@param mode string
local function set(session, mode)
  sessions.set_mode(session, mode, function(now)
    announce.tell("Pillion: " .. view.session_line(now))
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
  local name = sessions.name(session)
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

--- The user chooses one for it.
---@param session pillion.Session
function M.choose(session)
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
  sessions.ask(function(all)
    local named = vim.tbl_filter(function(session)
      return session_id == "" and session.connected or session.sessionId == session_id
    end, all)
    choose_session(named, "Whose mode?", function(session)
      if wanted == "" then
        M.choose(session)
      else
        agree(session, wanted)
      end
    end)
  end)
end

--- `:Pillion pause`
function M.pause()
  sessions.ask(function(all)
    local busy = vim.tbl_filter(function(session)
      return session.connected and not session.paused and session.agent ~= nil and session.agent.name ~= ""
    end, all)
    choose_session(busy, "Pause which agent?", sessions.pause)
  end)
end

--- Lets a paused agent go on.
function M.resume()
  sessions.ask(function()
    local paused = sessions.paused()
    if #paused == 0 then
      announce.tell("Pillion: no agent is paused")
    else
      choose_session(paused, "Resume which agent?", sessions.resume)
    end
  end)
end

return M
