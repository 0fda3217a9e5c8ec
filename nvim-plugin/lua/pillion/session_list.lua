-- `:Pillion sessions`: the agents, what each did and what it may do, in a small window with keys to change that.

local announce = require("pillion.announce")
local approvals = require("pillion.approvals")
local choose = require("pillion.choose")
local escape = require("pillion.escape")
local journal = require("pillion.journal")
local modes = require("pillion.modes")
local sessions = require("pillion.sessions")
local sheets = require("pillion.sheet")
local words = require("pillion.words")

local M = {}

---@class pillion.ListedSession: pillion.Listed
---@field session pillion.Session
---@field rule? string the remembered rule that stands on the line

---@param session pillion.Session
---@return string what there is to know at first sight; empty while it simply works
local function standing(session)
  if not session.connected then
    return "not connected"
  elseif session.paused then
    return "paused"
  end
  local waits = vim.iter(approvals.of_agents()):any(function(approval)
    return approval.request.sessionId == session.sessionId and approval.client == session.client
  end)
  return waits and "waiting for you" or ""
end

--- `12 calls, 3 changes, 1 rejected · since 14:05`: what there is none of is left out.
---@param session pillion.Session
local function record(session)
  local parts = {}
  for _, noun in ipairs({ "call", "change" }) do
    local number = session[noun .. "s"] or 0
    parts[#parts + 1] = number > 0 and words.count(number, noun) or nil
  end
  for _, outcome in ipairs({ "rejected", "refused" }) do
    local number = session[outcome] or 0
    parts[#parts + 1] = number > 0 and ("%d %s"):format(number, outcome) or nil
  end
  local counts = (session.calls or 0) == 0 and "no calls yet" or table.concat(parts, ", ")
  local time = journal.clock({ time = session.connected and session.started or session.lastCall or session.started or "" })
  return words.joined({ counts, time == "" and "" or (session.connected and "since " or "last seen ") .. time }, " · ")
end

---@param sheet pillion.Sheet
---@param at table<integer, pillion.ListedSession>
---@param session pillion.Session
---@param indent string
local function add(sheet, at, session, indent)
  local function line(parts, rule)
    sheet:parts(vim.list_extend({ { indent } }, parts))
    at[#sheet.lines] = { id = session.sessionId, session = session, rule = rule }
  end
  local state = standing(session)
  local mode = session.connected and modes.short[session.mode] or ""
  line({
    { sessions.name(session), "Heading" },
    { state ~= "" and "  " .. state or "", session.connected and "Warning" or "Muted" },
    { mode ~= "" and "  " .. mode or "", session.mode == "full_access" and "Warning" or "Label" },
  })
  line({ { "  " .. record(session), "Muted" } })
  for _, rule in ipairs(session.grants or {}) do
    line({ { "  remembers  ", "Muted" }, { escape.visible(rule), "Rule" } }, rule)
  end
end

--- Each with its sub-agents below it.
---@return pillion.Sheet
---@return table<integer, pillion.ListedSession>
local function draw()
  local sheet, at = sheets.new(), {}
  local function add_below(parent, indent)
    for _, session in ipairs(vim.list_extend(sessions.connected(), sessions.earlier())) do
      local above = session.parent and sessions.find({ sessionId = session.parent, client = session.client })
      if above == parent then
        add(sheet, at, session, indent)
        add_below(session, indent .. "    ")
      end
    end
  end
  add_below(nil, "")
  if #sheet.lines == 0 then
    sheet:line("No agent is connected; :Pillion connect connects one.", "Muted")
  end
  return sheet, at
end

---@param act fun(session: pillion.Session, listed: pillion.ListedSession)
local function of_session(act)
  ---@param listed? pillion.ListedSession
  return function(listed)
    local session = listed and sessions.find(listed.session)
    if listed and session then
      act(session, listed)
    end
  end
end

--- The one that the cursor is on, or one that they choose.
---@param session pillion.Session
---@param listed pillion.ListedSession
local function forget(session, listed)
  local rules = session.grants or {}
  if listed.rule then
    sessions.revoke(session, listed.rule)
  elseif #rules == 0 then
    announce.tell(("Pillion: no rules are remembered for this session of %s"):format(sessions.name(session)))
  else
    choose(
      rules,
      { prompt = "Forget which rule? Its calls ask again:", kind = "pillion.rule", format_item = escape.visible },
      function(rule)
        sessions.revoke(session, rule)
      end
    )
  end
end

---@param session pillion.Session
local function finish(session)
  local choices = {
    { label = "No, keep it", ends = false },
    { label = "Yes, end it: its calls, processes, to-do list and remembered rules", ends = true },
  }
  choose(choices, { prompt = ("End the session of %s?"):format(sessions.name(session)), kind = "pillion.end" }, function(choice)
    if choice.ends then
      sessions.close(session)
    end
  end)
end

local listing = require("pillion.listing").new({
  name = "pillion://sessions",
  filetype = "pillion-sessions",
  title = "Sessions",
  keys = { { "pause", "pause, resume" }, { "mode", "mode" }, { "rule", "forget a rule" }, { "finish", "end" } },
  draw = draw,
  doings = {
    pause = of_session(function(session)
      local act = session.paused and sessions.resume or sessions.pause
      act(session)
    end),
    mode = of_session(modes.choose),
    rule = of_session(forget),
    finish = of_session(finish),
  },
})

function M.open()
  listing:open()
end

local function refresh()
  listing:refresh()
end

sessions.listen(refresh)
approvals.listen({ added = refresh, removed = refresh })

return M
