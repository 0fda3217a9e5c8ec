-- `:Pillion rules`: what runs, asks or is denied here, in a small window: what you had remembered for a session or for this workspace,
-- which can be forgotten, and what stands in settings (`rules/changed`).

local announce = require("pillion.announce")
local escape = require("pillion.escape")
local sessions = require("pillion.sessions")
local sheets = require("pillion.sheet")
local trust = require("pillion.trust")

local M = {}

---@class pillion.ListedRule: pillion.Listed
---@field rule string
---@field session? pillion.Session whose rule it is
---@field from "session"|"remembered"|"user"|"project"|"untrusted"
---@field folder? string that it is for
---@field untrusted? pillion.Untrusted whose it is

---@type table<any, {rules: table[], untrusted: pillion.Untrusted[]}> by client
local known = {}

local function current()
  return known[require("pillion.client").current() or false] or { rules = {}, untrusted = {} }
end

local headings = { remembered = "Remembered for this workspace", user = "Your settings", project = "The project's settings" }

---@param sheet pillion.Sheet
---@param at table<integer, pillion.ListedRule>
---@param from string
local function add_known(sheet, at, from)
  local found = vim.tbl_filter(function(one)
    return one.from == from
  end, current().rules)
  if #found == 0 then
    return
  end
  sheet:line(headings[from], "Heading")
  for _, one in ipairs(found) do
    local effect = one.effect == "allow" and "" or one.effect .. "  "
    local note = one.since and "  since " .. one.since:sub(1, 10) or one.why and "  " .. escape.short(one.why, 80) or ""
    sheet:parts({ { "  " }, { effect, "Warning" }, { escape.visible(one.rule), "Rule" }, { note, "Muted" } })
    at[#sheet.lines] = { id = from .. one.effect .. one.rule, rule = one.rule, from = from, folder = one.folder }
  end
end

---@return pillion.Sheet
---@return table<integer, pillion.ListedRule>
local function draw()
  local sheet, at = sheets.new(), {}
  for _, session in ipairs(vim.list_extend(sessions.connected(), sessions.earlier())) do
    if #(session.grants or {}) > 0 then
      sheet:line("Remembered for this session of " .. sessions.name(session), "Heading")
      for _, rule in ipairs(session.grants) do
        sheet:parts({ { "  " }, { escape.visible(rule), "Rule" } })
        at[#sheet.lines] = { id = session.sessionId .. rule, rule = rule, session = session, from = "session" }
      end
    end
  end
  for _, from in ipairs({ "remembered", "user", "project" }) do
    add_known(sheet, at, from)
  end
  for _, one in ipairs(current().untrusted) do
    sheet:line("The project's settings that do not count: not trusted", "Heading")
    for _, rule in ipairs(one.rules) do
      sheet:parts({ { "  " }, { escape.visible(rule), "Rule" } })
      at[#sheet.lines] = { id = one.path .. rule, rule = rule, from = "untrusted", untrusted = one }
    end
  end
  if #sheet.lines == 0 then
    sheet:line("There are no rules here: what asks, asks each time.", "Muted")
  end
  return sheet, at
end

local listing ---@type pillion.Listing

---@param listed? pillion.ListedRule
local function forget(listed)
  local session = listed and listed.session and sessions.find(listed.session)
  if session then
    sessions.revoke(session, listed.rule)
  elseif listed and listed.from == "remembered" then
    local client = assert(require("pillion.client").current())
    client.request("rules/forget", { folder = listed.folder, rule = listed.rule }, function(err)
      local said = err and escape.short(err.message, 200) or "agents ask again for " .. escape.short(listed.rule, 80)
      announce.tell("Pillion: " .. said, err and vim.log.levels.ERROR or nil)
    end)
  elseif listed and listed.untrusted then
    trust.show(vim.tbl_extend("force", listed.untrusted, { client = require("pillion.client").current() }))
  elseif listed and headings[listed.from] then
    announce.tell("Pillion: this rule is in settings: change it there")
  end
end

listing = require("pillion.listing").new({
  name = "pillion://rules",
  filetype = "pillion-rules",
  title = "Rules",
  keys = { { "rule", "forget", "forgets a remembered rule: its calls ask again; on one that is not trusted: asks whether you do" } },
  draw = draw,
  doings = { rule = forget },
})

function M.open()
  listing:open()
end

--- A `rules/changed` notification; nil when the sidecar has gone.
---@param params? {rules: table[], untrusted: pillion.Untrusted[]}
---@param client any
function M.receive(params, client)
  known[client] = params
  listing:refresh()
end

sessions.listen(function()
  listing:refresh()
end)

return M
