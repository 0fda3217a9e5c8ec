-- Everything that a person sees, tied to the wire: which message goes where, highlight groups, `User` autocommands, and the
-- redrawing of status lines.

local activity = require("pillion.activity")
local announce = require("pillion.announce")
local approvals = require("pillion.approvals")
local changes = require("pillion.changes")
local client = require("pillion.client")
local config = require("pillion.config")
local conversation = require("pillion.conversation")
local drafts = require("pillion.drafts")
local escape = require("pillion.escape")
local front = require("pillion.front")
local processes = require("pillion.processes")
local prompts = require("pillion.prompts")
local rules_list = require("pillion.rules_list")
local sessions = require("pillion.sessions")
local todos = require("pillion.todos")
local tracking = require("pillion.tracking")
local trust = require("pillion.trust")
local unusual = require("pillion.unusual")
local words = require("pillion.words")

local api = vim.api

local M = {}

--- A cancellation overtakes the `approval/resolved` that was sent before it and says why; that one gets its chance first.
local resolved_ms = 100
--- Many calls end in one moment; status lines are drawn at most this often.
local redraw_ms = 100

local highlights = {
  PillionTitle = "Title",
  PillionKey = "Special",
  PillionNote = "Comment",
  PillionHeading = "Title",
  PillionCode = "CursorLine",
  PillionPrompt = "NonText",
  PillionLabel = "Identifier",
  PillionRule = "String",
  PillionWarning = "WarningMsg",
  PillionMuted = "Comment",
  PillionWaiting = "WarningMsg",
  PillionAdded = "Added",
  PillionRemoved = "Removed",
  PillionSignAdded = "Added",
  PillionSignChanged = "Changed",
  PillionSignRemoved = "Removed",
  PillionLineAdded = "DiffAdd",
  PillionLineChanged = "DiffChange",
  PillionOutputBlack = "NonText",
  PillionOutputRed = "DiagnosticError",
  PillionOutputGreen = "DiagnosticOk",
  PillionOutputYellow = "DiagnosticWarn",
  PillionOutputBlue = "DiagnosticInfo",
  PillionOutputMagenta = "Statement",
  PillionOutputCyan = "Special",
  PillionOutputWhite = "Normal",
  PillionOutputBold = "Bold",
  PillionOutputUnderlined = "Underlined",
}

local function highlight()
  for name, link in pairs(highlights) do
    api.nvim_set_hl(0, name, { link = link, default = true })
  end
end

--- Announces requests, and what changed beneath them. An announcement answers nothing.
local news = {}

---@param approval pillion.Approval
function news.added(approval)
  if approval:is_own() then
    return
  end
  local parts = { words.wish(approval.request, 120) }
  if approval:is_review() and approval.request.description ~= "" then
    parts[2] = escape.short(approval.request.description:gsub("%s+", " "), 160)
  end
  for _, reason in ipairs(approval.request.reasons) do
    parts[#parts + 1] = reason.code ~= "class" and escape.short(reason.text, 160) or nil
  end
  announce.waiting(table.concat(parts, "; ") .. "  (:Pillion show)", function() -- not of what they are looking at
    return approvals.get(approval.id) == approval and front.focused() ~= approval.id
  end)
end

---@type table<pillion.Approval, string>
local reported = setmetatable({}, { __mode = "k" })

---@param approval pillion.Approval
function news.changed(approval)
  local files, state = approval:files(), approval.beneath .. approval.request.digest
  if reported[approval] == state then
    return -- only the user's own edit came or went
  end
  reported[approval] = state
  local name = escape.short(files[1] and files[1].name or approval.request.preview.deed, 80)
  if approval.beneath == "moved" then
    announce.waiting(name .. ": lines moved on disk; the proposal is updated")
  elseif approval.beneath == "conflict" then
    announce.waiting(name .. " changed on disk; your text will be merged and shown again")
  end
end

--- The user's doings are told at most this often.
local quiet_ms = 5000

local told_at = -quiet_ms

--- Tells sidecars which window the user used last (`window/focused`): agents prefer it where two have one folder open.
--- Not every terminal says when it has the focus, so what the user does counts as well.
local function report_focus()
  told_at = vim.uv.now()
  client.each(function(one)
    one.notify("window/focused", {})
  end)
end

local function follow_focus()
  local on = require("pillion.events").on("focus")
  on({ "FocusGained", "VimResume", "UIEnter", "TermEnter" }, report_focus)
  on({ "CursorMoved", "CursorMovedI", "CmdlineEnter", "ModeChanged" }, function()
    if vim.uv.now() - told_at > quiet_ms then
      report_focus()
    end
  end)
  on("FocusLost", function()
    if config.current.notify then
      told_at = -quiet_ms -- what the user does next says that they are back
      client.each(function(one)
        one.notify("window/focused", { focused = false })
      end)
    end
  end)
  client.on_state(function(one)
    if one.state == "ready" and #api.nvim_list_uis() > 0 then
      one.notify("window/focused", {})
    end
  end)
end

local redraw = require("pillion.events").settled(redraw_ms, function()
  vim.cmd.redrawstatus({ bang = true })
end)

---@param pattern string
---@param data table
local function fire(pattern, data)
  local fine, problem = pcall(api.nvim_exec_autocmds, "User", { pattern = pattern, modeline = false, data = data })
  if not fine then
    announce.trouble(problem) -- the user's own autocommand; the wire goes on
  end
end

--- Of a notification: only what it says, and which sidecar says it.
---@param hear fun(params: table, from: any)
local function heard(hear)
  return function(params, _, from)
    hear(params, from)
  end
end

local function wire()
  client.on("approval/request", function(params, reply, from, cancelled)
    approvals.open(params, reply, from)
    cancelled(function()
      vim.defer_fn(function()
        approvals.remove(params.approvalId, "withdrawn")
      end, resolved_ms)
    end)
  end)
  client.on("approval/changed", approvals.change)
  client.on("approval/resolved", function(params)
    approvals.remove(params.approvalId, params.outcome)
  end)
  client.on("prompt/user", prompts.open)
  client.on("activity/changed", function(params, _, from)
    local sent = vim.tbl_extend("force", {}, params) -- what is recorded holds its client, which no event can carry
    activity.record(params, from)
    fire("PillionActivity", sent)
  end)
  client.on("agent/status", heard(activity.status))
  client.on("settings/untrusted", heard(trust.receive))
  client.on("rules/changed", heard(rules_list.receive))
  client.on("journal/changed", function(params, _, from)
    changes.receive(params, from)
    fire("PillionChange", params)
  end)
  client.on("workspace/changed", changes.seen)
  client.on("workspace/tracking", heard(tracking.receive))
  client.on("workspace/index", heard(tracking.index))
  client.on("session/changed", heard(sessions.receive))
  client.on("draft/changed", heard(drafts.receive))
  client.on("session/unusual", heard(unusual.receive))
  client.on("window/logMessage", function(params)
    if params.type <= vim.lsp.protocol.MessageType.Warning then -- the log has it already, with all the rest
      announce.say("Pillion: " .. escape.short(params.message, 300), vim.log.levels.WARN)
    end
  end)
  client.on("process/output", heard(processes.output))
  client.on("conversation/changed", heard(conversation.change))
  client.on("conversation/appended", heard(conversation.append))
  client.on("gateway/changed", heard(conversation.connected))
  client.on_state(function(one)
    if one.state == "ready" then
      sessions.refresh(one)
      drafts.refresh(one)
    else
      rules_list.receive(nil, one)
      approvals.abandon(one, "sidecar stopped")
      for _, part in ipairs({ sessions, drafts, processes, trust, prompts, activity, unusual, tracking, conversation }) do
        part.abandon(one)
      end
    end
    redraw()
  end)
end

--- Once; before the first client is started.
function M.attach()
  highlight()
  api.nvim_create_autocmd("ColorScheme", { group = api.nvim_create_augroup("pillion.ui", {}), callback = highlight })
  front.attach()
  approvals.listen(news)
  approvals.listen({
    added = function(approval)
      redraw()
      if not approval:is_own() then
        fire("PillionApproval", approval.request)
      end
    end,
    removed = function(approval, outcome)
      redraw()
      if not approval:is_own() then
        fire("PillionResolved", { approvalId = approval.id, outcome = outcome })
      end
    end,
  })
  prompts.listen(redraw)
  activity.listen(redraw)
  processes.listen(redraw)
  todos.listen(redraw) -- and what changes of their sessions
  wire()
  follow_focus()
end

return M
