-- `:Pillion mode`, `pause` and `resume`: what an agent may do before it has to ask, for its session alone and until that ends; nothing
-- of it is kept anywhere. `:Pillion sessions`: the agents, what each did and what it may do, in a small window with keys to change that.

local announce = require("pillion.announce")
local approvals = require("pillion.approvals")
local choose = require("pillion.choose")
local drafts = require("pillion.drafts")
local escape = require("pillion.escape")
local journal = require("pillion.journal")
local keys = require("pillion.keys")
local sessions = require("pillion.sessions")
local sheets = require("pillion.sheet")
local view = require("pillion.view")
local words = require("pillion.words")

local M = {}

M.modes = { "plan", "draft", "default", "auto_edit", "auto", "full_access" }

--- What a line has room for.
local short = {
  plan = "only reads",
  draft = "works on a draft",
  default = "asks first",
  auto_edit = "edits freely",
  auto = "edits and runs",
  full_access = "FULL ACCESS",
}

local meanings = {
  plan = "it only reads",
  draft = "it edits and runs commands on a draft that nobody else sees, and you review it once",
  default = "it reads without asking; changes and commands ask",
  auto = "edits run without asking, and commands that the sandbox holds; where it cannot hold them, commands ask",
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

--- The user chooses a mode for it.
---@param session pillion.Session
local function choose_mode(session)
  choose(M.modes, {
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
function M.change_mode(rest)
  local wanted, session_id = rest:match("^(%S*)%s*(.-)$")
  if wanted ~= "" and not vim.tbl_contains(M.modes, wanted) then
    announce.tell("Pillion: the modes are " .. table.concat(M.modes, ", "))
    return
  end
  sessions.ask(function(all)
    local named = vim.tbl_filter(function(session)
      return session_id == "" and session.connected or session.sessionId == session_id
    end, all)
    choose_session(named, "Whose mode?", function(session)
      if wanted == "" then
        choose_mode(session)
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

---@class pillion.ListedSession: pillion.Listed
---@field session? pillion.Session
---@field draft? pillion.Draft
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
---@param draft pillion.Draft
---@param indent string
---@param session? pillion.Session none of a session that is over
local function add_draft(sheet, at, draft, indent, session)
  local whose = session and "" or ("  of %s, whose session is over"):format(escape.short(draft.agent, 40))
  local hint = ("  %s review  %s discard"):format(
    keys.of("show") or ":Pillion draft review",
    keys.of("discard") or ":Pillion draft discard"
  )
  sheet:parts({ { indent }, { drafts.line(draft), "Label" }, { whose }, { hint, "Muted" } })
  at[#sheet.lines] = { id = "draft " .. draft.sessionId, session = session, draft = draft }
  for _, line in ipairs(drafts.file_lines(draft)) do
    sheet:parts({ { indent .. "  " }, { line[1] }, { "  " .. line[2], "Muted" } })
    at[#sheet.lines] = { id = "draft " .. draft.sessionId .. line[1], session = session, draft = draft }
  end
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
  local mode = session.connected and short[session.mode] or ""
  line({
    { sessions.name(session), "Heading" },
    { state ~= "" and "  " .. state or "", session.connected and "Warning" or "Muted" },
    { mode ~= "" and "  " .. mode or "", session.mode == "full_access" and "Warning" or "Label" },
  })
  line({ { "  " .. record(session), "Muted" } })
  for _, rule in ipairs(session.grants or {}) do
    line({ { "  remembers  ", "Muted" }, { escape.visible(rule), "Rule" } }, rule)
  end
  local draft = session.connected and drafts.of(session)
  if draft then
    add_draft(sheet, at, draft, indent .. "  ", session)
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
  for _, draft in ipairs(drafts.all()) do
    local session = sessions.find(draft)
    if not (session and session.connected) then
      add_draft(sheet, at, draft, "")
    end
  end
  if #sheet.lines == 0 then
    sheet:line("No agent is connected; :Pillion connect connects one.", "Muted")
  end
  return sheet, at
end

---@param act fun(session: pillion.Session, listed: pillion.ListedSession)
local function of_session(act)
  ---@param listed? pillion.ListedSession
  return function(listed)
    local session = listed and listed.session and sessions.find(listed.session)
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

---@param act fun(draft: pillion.Draft)
local function of_draft(act)
  ---@param listed? pillion.ListedSession
  return function(listed)
    local draft = listed and (listed.draft or drafts.of(listed.session))
    if draft then
      act(draft)
    end
  end
end

local listing = require("pillion.listing").new({
  name = "pillion://sessions",
  filetype = "pillion-sessions",
  title = "Sessions",
  keys = {
    { "pause", "pause, resume" },
    { "mode", "mode" },
    { "rule", "forget a rule" },
    { "finish", "end" },
    { "show", "", "review the draft" },
    { "discard", "" },
  },
  draw = draw,
  doings = {
    pause = of_session(function(session)
      local act = session.paused and sessions.resume or sessions.pause
      act(session)
    end),
    mode = of_session(choose_mode),
    rule = of_session(forget),
    finish = of_session(finish),
    show = of_draft(drafts.review),
    discard = of_draft(drafts.discard),
  },
})

function M.open()
  listing:open()
end

local function refresh()
  listing:refresh()
end

sessions.listen(refresh)
drafts.listen(refresh)
approvals.listen({ added = refresh, removed = refresh })

return M
