-- The conversation with an agent that comes by a gateway, as the sidecar tells it: the newest of each sidecar. `:Pillion conversation`
-- shows what was said and done in a read-only window, and below it a small one to write in.

local announce = require("pillion.announce")
local escape = require("pillion.escape")
local page = require("pillion.page")
local view = require("pillion.view")

local api = vim.api

local M = {}

---@class pillion.ConversationEntry
---@field entryId string
---@field kind "user"|"agent"|"call"|"error"|"notice"
---@field text string
---@field done boolean
---@field call? pillion.Call

---@class pillion.Conversation
---@field conversationId string
---@field title string
---@field agent {name: string, via: string}
---@field status string
---@field message string
---@field connection "disconnected"|"connecting"|"connected"|"reconnecting"
---@field entries pillion.ConversationEntry[]
---@field context {path: string, content?: boolean, lines?: integer, by: string}[]

---@type table<any, pillion.Conversation>
local conversations = {}
---@type table<any, {state: string, url: string, error?: {message: string, hint?: string}}>
local gateways = {}
---@type table<string, integer>
local buffers = { talk = -1, message = -1 }
local message_lines = 4

--- The one of the current workspace, else any; and how its gateway is connected.
---@return pillion.Conversation?, {state: string, url: string, error?: {message: string, hint?: string}}?
local function current()
  local here = require("pillion.client").current() or false
  return conversations[here] or select(2, next(conversations)), gateways[here] or select(2, next(gateways))
end

local statuses = {
  thinking = "thinking",
  executing_tool = "at work",
  waiting_approval = "waiting for your answer",
  error = "failed",
}

--- How it stands, in one line.
local function heading()
  local one, gateway = current()
  if not one then
    return "no agent is connected"
  end
  local parts = { escape.visible(one.agent.name), one.connection }
  if one.connection ~= "connected" and gateway and gateway.error then
    parts[#parts + 1] = escape.short(gateway.error.message, 120)
  elseif statuses[one.status] then
    parts[#parts + 1] = statuses[one.status] .. (one.message ~= "" and ": " .. escape.short(one.message, 80) or "")
  end
  return table.concat(parts, " · ")
end

--- What the agent was given to read.
local function context()
  local one = current()
  local files = vim.tbl_map(function(file)
    local part = file.content and (" (%d lines)"):format(file.lines or 0) or ""
    return escape.visible(file.path) .. part .. (file.by == "agent" and ", by the agent" or "")
  end, one and one.context or {})
  return #files == 0 and "no files as context" or "context: " .. table.concat(files, " · ")
end

--- An agent's words as lines of which each is marked: none can pass for a heading or row of ours.
---@param text string
---@param mark string
local function marked(text, mark)
  return vim.split((mark .. text):gsub("\n", "\n" .. mark), "\n", { plain = true })
end

---@param one pillion.Conversation
---@param entry pillion.ConversationEntry
---@param before? pillion.ConversationEntry
---@return string[]
local function lines_of(one, entry, before)
  if entry.call then
    local row = vim.tbl_extend("force", { durationMs = 0, agent = { name = "" } }, entry.call)
    local gap = before and not before.call and { "" } or {}
    return vim.list_extend(gap, { view.call_line(row) })
  end
  local found = before and { "" } or {}
  if entry.kind == "user" or entry.kind == "agent" then
    local who = entry.kind == "user" and "You" or escape.visible(one.agent.name)
    vim.list_extend(found, { "## " .. who, "" })
    return vim.list_extend(found, marked(entry.text, entry.kind == "agent" and "> " or ""))
  end
  local sign = entry.kind == "error" and "✗ " or "! "
  return vim.list_extend(found, marked(entry.text, sign))
end

---@return string[]
local function lines()
  local one = current()
  if not one then
    return {
      "No agent is connected.",
      "",
      ":Pillion gateway URL connects one, or :Pillion gateway with the setting gateway.url.",
      "The token is what the setting gateway.tokenCommand prints, or $PILLION_GATEWAY_TOKEN.",
    }
  end
  local found = {} ---@type string[]
  for index, entry in ipairs(one.entries) do
    vim.list_extend(found, lines_of(one, entry, one.entries[index - 1]))
  end
  return #found > 0 and found or { "" }
end

local function is_open()
  return api.nvim_buf_is_loaded(buffers.talk)
end

local function draw()
  if not is_open() then
    return
  end
  page.follow(buffers.talk, function()
    require("pillion.text").replace(buffers.talk, lines())
  end)
  vim.cmd.redrawstatus({ bang = true })
end

---@param entries pillion.ConversationEntry[]
---@param entry pillion.ConversationEntry
local function put(entries, entry)
  for index, old in ipairs(entries) do
    if old.entryId == entry.entryId then
      entries[index] = entry
      return
    end
  end
  entries[#entries + 1] = entry
end

---@param params table
---@param client any
function M.change(params, client)
  local one = conversations[client]
  if params.closed then
    if one and one.conversationId == params.conversationId then
      conversations[client] = nil
      draw()
    end
    return
  end
  if not one or one.conversationId ~= params.conversationId then
    if not params.title then
      return -- of an older one, which is not shown
    end
    one = { conversationId = params.conversationId, status = "idle", message = "", connection = "disconnected", entries = {}, context = {} }
    conversations[client] = one
  end
  for _, field in ipairs({ "title", "agent", "status", "message", "connection", "context" }) do
    if params[field] ~= nil then
      one[field] = params[field]
    end
  end
  for _, entry in ipairs(params.entries or {}) do
    put(one.entries, entry)
  end
  if params.removed then
    one.entries = vim.tbl_filter(function(entry)
      return not vim.tbl_contains(params.removed, entry.entryId)
    end, one.entries)
  end
  draw()
end

---@param params {conversationId: string, entryId: string, text: string}
---@param client any
function M.append(params, client)
  local one = conversations[client]
  local last = one and one.entries[#one.entries]
  if one and last and one.conversationId == params.conversationId and last.entryId == params.entryId then
    last.text = last.text .. params.text
    if is_open() then
      page.follow(buffers.talk, function()
        local mark = last.kind == "agent" and "> " or ""
        local row = api.nvim_buf_line_count(buffers.talk) - 1
        local column = #api.nvim_buf_get_lines(buffers.talk, row, row + 1, false)[1]
        api.nvim_buf_set_text(
          buffers.talk,
          row,
          column,
          row,
          column,
          vim.split((params.text:gsub("\n", "\n" .. mark)), "\n", { plain = true })
        )
      end)
    end
  end
end

---@param state {state: string, url: string, error?: {message: string, hint?: string}}
---@param client any
function M.connected(state, client)
  gateways[client] = state
  draw()
end

---@param client any
function M.abandon(client)
  conversations[client], gateways[client] = nil, nil
  draw()
end

---@param method string
---@param params table
---@param done? fun(result: any)
local function ask(method, params, done)
  local client = require("pillion.client")
  local here = client.current() or client.ready()[1]
  if not here then
    announce.say("Pillion: pillion is not running; start it with :Pillion start")
    return
  end
  here.request(method, params, function(err, result)
    if err then
      announce.say("Pillion: " .. escape.short(err.message, 300), vim.log.levels.WARN)
    elseif done then
      done(result)
    end
  end)
end

--- The sidecar has the token from the setting gateway.tokenCommand, or from PILLION_GATEWAY_TOKEN.
---@param url string "" for the setting gateway.url
function M.connect(url)
  ask("gateway/connect", { url = url })
end

function M.disconnect()
  ask("gateway/disconnect", {})
end

---@param text string
---@param sent? fun()
function M.send(text, sent)
  local one = current()
  if not one then
    announce.say("Pillion: no agent is connected: :Pillion gateway URL")
  elseif vim.trim(text) ~= "" then
    ask("conversation/send", { conversationId = one.conversationId, text = text }, sent)
  end
end

---@param action "add_file"|"remove_file"|"clear"
---@param data? {path: string, content?: string}
function M.context(action, data)
  local one = current()
  if not one then
    announce.say("Pillion: no agent is connected: :Pillion gateway URL")
    return
  end
  ask("context/update", { conversationId = one.conversationId, action = action, data = data })
end

local function send()
  local text = table.concat(api.nvim_buf_get_lines(buffers.message, 0, -1, false), "\n")
  vim.bo[buffers.message].modified = false
  M.send(text, function()
    if table.concat(api.nvim_buf_get_lines(buffers.message, 0, -1, false), "\n") == text then
      api.nvim_buf_set_lines(buffers.message, 0, -1, false, {})
      vim.bo[buffers.message].modified = false
    else
      announce.tell("Pillion: the message was sent; what you wrote since is still here")
    end
  end)
end

local bar = " %%{%%v:lua.require'pillion.conversation'.bar('%s')%%}"
local bars = { heading = heading, context = context }

--- For a window's bar: text of others is no format.
---@param which "heading"|"context"
function M.bar(which)
  return (bars[which]():gsub("%%", "%%%%"))
end

--- Opens it, or goes there, ready to write.
function M.open()
  local window = is_open() and vim.fn.bufwinid(buffers.talk) or -1
  if window == -1 then
    buffers.talk = page.scratch("pillion://conversation", "nofile")
    vim.bo[buffers.talk].syntax = "markdown" -- colours alone, no plugins of a filetype
    vim.bo[buffers.talk].modifiable = false
    if not api.nvim_buf_is_loaded(buffers.message) then -- what was being written stays
      buffers.message = page.scratch("pillion://conversation/message", "acwrite")
      vim.keymap.set("n", "<CR>", send, { buffer = buffers.message, desc = "Pillion: send the message" })
      vim.keymap.set({ "n", "i" }, "<C-s>", send, { buffer = buffers.message, desc = "Pillion: send the message" })
      api.nvim_create_autocmd("BufWriteCmd", { buffer = buffers.message, callback = send })
    end
    vim.cmd("botright vsplit")
    window = api.nvim_get_current_win()
    api.nvim_win_set_buf(window, buffers.talk)
    vim.wo[window].winbar, vim.wo[window].wrap, vim.wo[window].linebreak = bar:format("heading"), true, true
    vim.wo[window].breakindent, vim.wo[window].breakindentopt, vim.wo[window].showbreak = true, "shift:4", "NONE"
    vim.wo[window].number, vim.wo[window].relativenumber, vim.wo[window].signcolumn = false, false, "no"
    draw()
    api.nvim_win_set_cursor(window, { api.nvim_buf_line_count(buffers.talk), 0 })
  end
  local writing = vim.fn.bufwinid(buffers.message)
  if writing == -1 then
    api.nvim_set_current_win(window)
    vim.cmd(("belowright %dsplit"):format(message_lines))
    writing = api.nvim_get_current_win()
    api.nvim_win_set_buf(writing, buffers.message)
    vim.wo[writing].winbar, vim.wo[writing].winfixheight = bar:format("context"), true
  end
  api.nvim_set_current_win(writing)
end

return M
