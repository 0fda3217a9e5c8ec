-- `:Pillion`: all requests, which agents are paused, and what happened lately, in one list.

local Process = require("pillion.process")
local activity = require("pillion.activity")
local announce = require("pillion.announce")
local approvals = require("pillion.approvals")
local choose = require("pillion.choose")
local escape = require("pillion.escape")
local front = require("pillion.front")
local processes = require("pillion.processes")
local prompts = require("pillion.prompts")
local tracking = require("pillion.tracking")
local sessions = require("pillion.sessions")
local trust = require("pillion.trust")
local unusual = require("pillion.unusual")
local words = require("pillion.words")

local M = {}

--- Of what happened lately; the log has the rest.
local recent = 10

local icons = { queued = "…", running = "▸", waiting = "?", done = "✓", failed = "✗" }

---@class pillion.Entry
---@field label string
---@field choose fun()

---@param parts string[]
local function joined(parts)
  return words.joined(parts, " · ")
end

---@param call pillion.Call
function M.call_line(call)
  local title = escape.short(activity.doing(call), 100)
  local came = call.summary ~= activity.doing(call) and call.summary or ""
  local details = joined({ escape.short(came, 120), words.duration(call.durationMs), escape.visible(call.agent.name) })
  return ("%s %s  %s"):format(icons[call.state] or " ", title, details)
end

---@generic T
---@param found pillion.Entry[]
---@param things T[]
---@param label fun(thing: T): string
---@param choose_it fun(thing: T)
local function list(found, things, label, choose_it)
  for _, thing in ipairs(things) do
    found[#found + 1] = {
      label = label(thing),
      choose = function()
        choose_it(thing)
      end,
    }
  end
end

function M.entries()
  local found = {} ---@type pillion.Entry[]
  list(found, approvals.of_agents(), function(approval)
    local files = approval:files()
    return joined({
      "? " .. words.wish(approval.request, 120),
      #files > 0 and words.size(files) or "",
      words.share(approval.chosen:count()),
      approval:is_edited() and "edited by you" or "",
      words.beneath[approval.beneath] or "",
    })
  end, function(approval)
    if not front.show(approval.id) then
      announce.say("That request is no longer waiting: it was answered or withdrawn.")
    end
  end)
  list(found, prompts.all(), function(prompt)
    return ("? %s asks: "):format(escape.visible(prompt.agent.name)) .. escape.short(prompt.message, 120)
  end, function(prompt)
    prompts.pick(prompt.promptId)
  end)
  list(found, unusual.all(), function(one)
    return "! " .. unusual.line(one)
  end, unusual.act)
  list(found, sessions.paused(), function(session)
    local name = escape.visible(session.agent.name)
    return joined({ ("‖ %s is paused until you resume it"):format(name), escape.visible(session.pauseReason) })
  end, sessions.resume)
  list(found, sessions.full_access(), function(session)
    local name = escape.visible(session.agent.name)
    return ("! %s has FULL ACCESS: its commands and edits run without asking; choose this to end that"):format(name)
  end, function(session)
    require("pillion.session_list").change_mode("default " .. session.sessionId)
  end)
  list(found, trust.all(), function(one)
    return "! " .. trust.line(one)
  end, trust.show)
  list(found, processes.running(), Process.line, Process.show)
  list(found, tracking.lines(), function(line)
    return "· " .. line
  end, function()
    vim.cmd.checkhealth("pillion")
  end)
  local late = vim.tbl_filter(function(call)
    return call.state ~= "waiting" -- it is above already
  end, vim.list_slice(activity.entries(), 1, recent))
  list(found, late, M.call_line, function(call)
    require("pillion.log").open(call.callId)
  end)
  return found
end

function M.open()
  local entries = M.entries()
  if #entries == 0 then
    announce.say("Pillion: no requests, and no calls yet")
    return
  end
  local count = #approvals.of_agents() + #prompts.all()
  local prompt = count == 0 and "Pillion: no requests are waiting" or ("Pillion: %d waiting for your answer"):format(count)
  choose(entries, { prompt = prompt, kind = "pillion" }, function(entry)
    entry.choose()
  end)
end

---@param session pillion.Session
function M.session_line(session)
  local at = activity.status_of(session.client, session.sessionId)
  return joined({
    sessions.name(session),
    session.mode,
    session.paused and "paused" or "",
    at and escape.short(at.message ~= "" and at.message or at.status, 80) or "",
    escape.short(session.sessionId, 40),
  })
end

return M
