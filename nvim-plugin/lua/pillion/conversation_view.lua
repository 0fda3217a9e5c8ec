-- `:Pillion conversation`: what was said and done in a read-only window, and below it a small one to write in.

local announce = require("pillion.announce")
local conversation = require("pillion.conversation")
local escape = require("pillion.escape")
local page = require("pillion.page")
local view = require("pillion.view")

local api = vim.api

local M = {}

local names = { talk = "pillion://conversation", message = "pillion://conversation/message" }
---@type table<string, integer>
local buffers = { talk = -1, message = -1 }
local message_lines = 4

local statuses = {
  thinking = "thinking",
  executing_tool = "at work",
  waiting_approval = "waiting for your answer",
  error = "failed",
}

--- How it stands, in one line.
---@return string
function M.heading()
  local one, gateway = conversation.current(), conversation.gateway()
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
---@return string
function M.context()
  local one = conversation.current()
  local files = vim.tbl_map(function(file)
    local part = file.content and (" (%d lines)"):format(file.lines or 0) or ""
    return escape.visible(file.path) .. part .. (file.by == "agent" and ", by the agent" or "")
  end, one and one.context or {})
  return #files == 0 and "no files as context" or "context: " .. table.concat(files, " · ")
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
    return vim.list_extend(found, vim.split(entry.text, "\n", { plain = true }))
  end
  local sign = entry.kind == "error" and "✗ " or "! "
  return vim.list_extend(found, vim.split(sign .. entry.text, "\n", { plain = true }))
end

---@return string[]
local function lines()
  local one = conversation.current()
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
    local before, now = api.nvim_buf_get_lines(buffers.talk, 0, -1, false), lines()
    local same = 0
    while same < #before and same < #now and before[same + 1] == now[same + 1] do
      same = same + 1
    end
    api.nvim_buf_set_lines(buffers.talk, same, -1, false, vim.list_slice(now, same + 1)) -- cursors above stay
  end)
  vim.cmd.redrawstatus({ bang = true })
end

---@param text string
local function add(text)
  if is_open() then
    page.follow(buffers.talk, function()
      local row = api.nvim_buf_line_count(buffers.talk) - 1
      local column = #api.nvim_buf_get_lines(buffers.talk, row, row + 1, false)[1]
      api.nvim_buf_set_text(buffers.talk, row, column, row, column, vim.split(text, "\n", { plain = true }))
    end)
  end
end

local function send()
  local text = table.concat(api.nvim_buf_get_lines(buffers.message, 0, -1, false), "\n")
  vim.bo[buffers.message].modified = false
  conversation.send(text, function()
    if table.concat(api.nvim_buf_get_lines(buffers.message, 0, -1, false), "\n") == text then
      api.nvim_buf_set_lines(buffers.message, 0, -1, false, {})
      vim.bo[buffers.message].modified = false
    else
      announce.tell("Pillion: the message was sent; what you wrote since is still here")
    end
  end)
end

local function make()
  buffers.talk = page.scratch(names.talk, "nofile")
  vim.bo[buffers.talk].syntax = "markdown" -- colours alone, no plugins of a filetype
  vim.bo[buffers.talk].modifiable = false
  if not api.nvim_buf_is_loaded(buffers.message) then -- what was being written stays
    buffers.message = page.scratch(names.message, "acwrite")
    vim.keymap.set("n", "<CR>", send, { buffer = buffers.message, desc = "Pillion: send the message" })
    vim.keymap.set({ "n", "i" }, "<C-s>", send, { buffer = buffers.message, desc = "Pillion: send the message" })
    api.nvim_create_autocmd("BufWriteCmd", { buffer = buffers.message, callback = send })
  end
end

local bar = " %%{%%v:lua.require'pillion.conversation_view'.bar('%s')%%}"

--- For a window's bar: text of others is no format.
---@param which "heading"|"context"
function M.bar(which)
  return (M[which]():gsub("%%", "%%%%"))
end

--- Opens it, or goes there, ready to write.
function M.open()
  local window = is_open() and vim.fn.bufwinid(buffers.talk) or -1
  if window == -1 then
    make()
    vim.cmd("botright vsplit")
    window = api.nvim_get_current_win()
    api.nvim_win_set_buf(window, buffers.talk)
    vim.wo[window].winbar, vim.wo[window].wrap, vim.wo[window].linebreak = bar:format("heading"), true, true
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

conversation.listen(draw)
conversation.on_words(function(_, text)
  add(text)
end)

return M
