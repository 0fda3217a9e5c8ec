-- `:Pillion rules`: what runs, asks or is denied here, in a small window: what you had remembered for a session or for this workspace,
-- which can be taken back, and what stands in settings. The program lists and forgets the workspace's (`pillion rules`).

local announce = require("pillion.announce")
local escape = require("pillion.escape")
local sessions = require("pillion.sessions")
local sheets = require("pillion.sheet")

local M = {}

---@class pillion.ListedRule: pillion.Listed
---@field rule string
---@field session? pillion.Session whose rule it is
---@field from "session"|"remembered"|"user"|"project"

---@type {effect: string, rule: string, from: string, since?: string, why?: string}[] of the workspace, as they were last read
local known = {}

local headings = { remembered = "Remembered for this workspace", user = "Your settings", project = "The project's settings" }

---@param sheet pillion.Sheet
---@param at table<integer, pillion.ListedRule>
---@param from string
local function add_known(sheet, at, from)
  local found = vim.tbl_filter(function(one)
    return one.from == from
  end, known)
  if #found == 0 then
    return
  end
  sheet:line(headings[from], "Heading")
  for _, one in ipairs(found) do
    local effect = one.effect == "allow" and "" or one.effect .. "  "
    local note = one.since and "  since " .. one.since:sub(1, 10) or one.why and "  " .. escape.short(one.why, 80) or ""
    sheet:parts({ { "  " }, { effect, "Warning" }, { escape.visible(one.rule), "Rule" }, { note, "Muted" } })
    at[#sheet.lines] = { id = from .. one.effect .. one.rule, rule = one.rule, from = from }
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
  if #sheet.lines == 0 then
    sheet:line("There are no rules here: what asks, asks each time.", "Muted")
  end
  return sheet, at
end

--- Runs `pillion rules …` for the current workspace.
---@param arguments string[]
---@param done fun(output: string)
local function run(arguments, done)
  local client = require("pillion.client").current()
  if not client or not client.path then
    return
  end
  vim.system(vim.list_extend({ client.path, "rules" }, arguments), { cwd = client.root, text = true }, function(result)
    vim.schedule(function()
      if result.code == 0 then
        done(result.stdout)
      else
        announce.tell("Pillion: " .. escape.short(vim.trim(result.stderr), 200), vim.log.levels.ERROR)
      end
    end)
  end)
end

local listing ---@type pillion.Listing

local function read()
  run({ "--json" }, function(output)
    known = vim.json.decode(output).rules
    listing:refresh()
  end)
end

---@param listed? pillion.ListedRule
local function take_back(listed)
  local session = listed and listed.session and sessions.find(listed.session)
  if session then
    sessions.revoke(session, listed.rule)
  elseif listed and listed.from == "remembered" then
    run({ "forget", listed.rule }, function()
      announce.tell(("Pillion: agents ask again for %s"):format(escape.short(listed.rule, 80)))
      read()
    end)
  elseif listed and headings[listed.from] then
    announce.tell("Pillion: this rule is in settings: change it there")
  end
end

listing = require("pillion.listing").new({
  name = "pillion://rules",
  filetype = "pillion-rules",
  title = "Rules",
  keys = { { "rule", "take back", "takes back a remembered rule: its calls ask again" } },
  draw = draw,
  doings = { rule = take_back },
})

function M.open()
  listing:open()
  read()
end

sessions.listen(function()
  listing:refresh()
end)

return M
