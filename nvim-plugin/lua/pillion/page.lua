-- Shows the pages of sheet.lua in read-only buffers, and the small buffer in which the user changes a command or a message.

local announce = require("pillion.announce")
local escape = require("pillion.escape")
local keys = require("pillion.keys")
local sheet = require("pillion.sheet")
local text = require("pillion.text")

local api = vim.api
local space = api.nvim_create_namespace("pillion.page")

local M = {}

---@class pillion.PageBuffers
---@field page integer
---@field places? table<string, integer> the line on which a file stands, by the file's key
---@field own? integer in which the user writes
---@field agents_own? string the agent's command or message, as a buffer gives it back

---@type table<string, pillion.PageBuffers>
local shown = {}

--- Wipes what has a name: Neovim keeps the old one of a renamed buffer as a buffer of its own.
---@param name string
function M.wipe_named(name)
  for _, buffer in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_get_name(buffer) == name then
      pcall(api.nvim_buf_delete, buffer, { force = true }) -- one that stays is unlisted and empty
    end
  end
end

--- A buffer that is nobody's file, asks to be saved by nobody, and outlives its window.
---@param name string
---@param buftype string
function M.scratch(name, buftype)
  local ignored = vim.o.eventignore
  vim.o.eventignore = "all" -- this is no file that anybody's autocommands should look after
  M.wipe_named(name)
  local buffer = api.nvim_create_buf(false, false)
  api.nvim_buf_set_name(buffer, name)
  M.seclude(buffer, buftype)
  vim.o.eventignore = ignored
  return buffer
end

---@param name string
---@param id string of a request
---@return boolean whether something else that is shown has this name
local function is_taken(name, id)
  return vim.iter(api.nvim_list_bufs()):any(function(buffer)
    return api.nvim_buf_is_loaded(buffer) and api.nvim_buf_get_name(buffer) == name and vim.b[buffer].pillion_approval ~= id
  end)
end

--- A buffer of a request. Statuslines show its name, so it is one for you to read: where two would have the same, the later gets a number.
---@param approval pillion.Approval
---@param what string
---@param buftype string
function M.of_request(approval, what, buftype)
  local name, number = "pillion://" .. what, 1
  while is_taken(name, approval.id) do
    number = number + 1
    name = ("pillion://%d/%s"):format(number, what)
  end
  local buffer = M.scratch(name, buftype)
  vim.b[buffer].pillion_approval = approval.id
  return buffer
end

--- What an agent wrote sets no option by a modeline, and nothing of it goes to a disk. Set again whenever the buffer is read again:
--- one that was unloaded comes back with the options of a file.
---@param buffer integer
---@param buftype string
function M.seclude(buffer, buftype)
  local options = vim.bo[buffer]
  options.buftype, options.bufhidden, options.buflisted = buftype, "hide", false
  options.modeline, options.swapfile, options.undofile = false, false, false
end

--- Has a buffer filled again when it is read again.
---@param buffer integer
---@param buftype string
---@param fill fun()
function M.refill(buffer, buftype, fill)
  api.nvim_create_autocmd("BufReadCmd", {
    buffer = buffer,
    callback = function()
      M.seclude(buffer, buftype)
      fill()
    end,
  })
end

--- What the user writes in a buffer of ours is on no disk.
---@param buffer integer
function M.keep_writing(buffer)
  api.nvim_create_autocmd("BufWriteCmd", {
    buffer = buffer,
    callback = function()
      vim.bo[buffer].modified = false
      announce.say("Pillion: kept. It is your answer that counts: " .. keys.hint("approve"))
    end,
  })
end

---@param buffer integer
---@param page pillion.Sheet
function M.put(buffer, page)
  local options = vim.bo[buffer]
  options.modifiable = true
  api.nvim_buf_set_lines(buffer, 0, -1, false, page.lines)
  options.modifiable, options.modified = false, false
  api.nvim_buf_clear_namespace(buffer, space, 0, -1)
  for _, mark in ipairs(page.marks) do
    api.nvim_buf_set_extmark(buffer, space, mark.line, mark.from, {
      end_col = mark.to,
      hl_group = "Pillion" .. mark.paint,
      priority = mark.paint == "Code" and 100 or 110,
    })
  end
end

--- A page, of which all that is asked about is to be seen.
---@param window integer
function M.dress(window)
  api.nvim_win_call(window, function()
    vim.cmd("setlocal nonumber norelativenumber signcolumn=no nospell nolist nofoldenable conceallevel=0")
    vim.cmd("setlocal wrap linebreak breakindent breakindentopt=shift:4,list:-1 showbreak=NONE") -- only a line of the page's own begins at its edge
    vim.bo.formatlistpat = "^\\S.\\{-}\\s\\{2,}" -- a long fact goes on below its text
  end)
end

--- A page in a tab of its own, which the user asked for.
---@param name string
---@param page pillion.Sheet
---@return integer buffer
function M.open(name, page)
  local buffer = M.scratch(name, "nofile")
  vim.bo[buffer].bufhidden = "wipe"
  M.put(buffer, page)
  vim.cmd(("keepalt tab sbuffer %d"):format(buffer))
  M.dress(api.nvim_get_current_win())
  return buffer
end

--- The window that shows a buffer, or a new one at the bottom. The user asked for it: it gets the cursor.
---@param buffer integer
---@return integer window
---@return boolean is_new
function M.go_to(buffer)
  local window = vim.fn.bufwinid(buffer)
  if window ~= -1 then
    api.nvim_set_current_win(window)
    return window, false
  end
  vim.cmd(("botright sbuffer %d"):format(buffer))
  return api.nvim_get_current_win(), true
end

--- Changes a read-only buffer. Who reads at its end stays there, unless they select; nobody else is moved.
---@param buffer integer
---@param change fun()
function M.follow(buffer, change)
  local options, last, mode = vim.bo[buffer], api.nvim_buf_line_count(buffer), api.nvim_get_mode().mode
  local following = vim.tbl_filter(function(window)
    local selects = window == api.nvim_get_current_win() and mode:match("^[vVsS\22\19]") ~= nil
    return not selects and api.nvim_win_get_cursor(window)[1] == last
  end, vim.fn.win_findbuf(buffer))
  options.modifiable = true
  change()
  options.modifiable, options.modified = false, false
  for _, window in ipairs(following) do
    api.nvim_win_set_cursor(window, { api.nvim_buf_line_count(buffer), 0 })
  end
end

---@param approval pillion.Approval
---@param what string
local function name_of(approval, what)
  return ("%s (%s)"):format(escape.short(approval.request.preview.deed, 40):gsub("/", "∕"), what) -- so that the name of its tab is all of it
end

---@param approval pillion.Approval
---@return integer buffer
function M.ready(approval)
  local buffers = shown[approval.id]
  if buffers and api.nvim_buf_is_loaded(buffers.page) then
    return buffers.page
  end
  local buffer = M.of_request(approval, name_of(approval, "request"), "nofile")
  shown[approval.id] = { page = buffer, own = buffers and buffers.own }
  M.changed(approval)
  keys.bind(buffer, approval, true)
  M.refill(buffer, "nofile", function()
    M.changed(approval)
  end)
  return buffer
end

---@param approval pillion.Approval
function M.changed(approval)
  local buffers = shown[approval.id]
  if buffers and api.nvim_buf_is_loaded(buffers.page) then
    local question = sheet.question(approval, keys.configured())
    buffers.places = question.places
    M.put(buffers.page, question)
    local preview = approval.request.preview
    vim.bo[buffers.page].syntax = preview.kind == "plan" and "markdown" or "" -- colours alone, no plugins of a filetype
  end
end

---@param id string
---@return integer? buffer
function M.buffer(id)
  return shown[id] and shown[id].page
end

---@param approval pillion.Approval
---@param key string of a file
---@return integer? line
function M.place(approval, key)
  return ((shown[approval.id] or {}).places or {})[key]
end

---@param buffer integer
local function lines_of(buffer)
  return table.concat(api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
end

--- What stands in the user's own command or message, if it differs from the agent's.
---@param approval pillion.Approval
function M.changing(approval)
  local buffers = shown[approval.id] or {}
  if buffers.own and api.nvim_buf_is_loaded(buffers.own) then
    vim.bo[buffers.own].modified = false
    local own = lines_of(buffers.own)
    approval.own = own ~= buffers.agents_own and own or nil
    M.changed(approval)
  end
end

--- A buffer in which the user changes the command or the message. Approving then sends what it has.
---@param approval pillion.Approval
---@param changed fun() the user typed
---@return integer buffer
function M.own(approval, changed)
  local buffers = shown[approval.id]
  if buffers.own and api.nvim_buf_is_loaded(buffers.own) then
    return buffers.own
  end
  local name = approval:editable()
  local buffer = M.of_request(approval, name, "acwrite")
  buffers.own = buffer
  local agents_own = approval.request.arguments[name]
  text.put(buffer, name ~= "command" and agents_own:gsub("%s+$", "") or agents_own)
  buffers.agents_own = lines_of(buffer)
  if approval.own then
    text.put(buffer, approval.own) -- they had wiped the buffer that they typed it in
  end
  vim.bo[buffer].filetype = ({ command = "sh", message = "gitcommit", plan = "markdown" })[name]
  keys.bind(buffer, approval)
  api.nvim_create_autocmd({ "TextChanged", "TextChangedI", "TextChangedP" }, {
    buffer = buffer,
    callback = function()
      M.changing(approval)
      changed()
    end,
  })
  M.keep_writing(buffer)
  return buffer
end

---@param approval pillion.Approval
---@param buffer integer
---@return boolean whether it is the one in which the user writes
function M.is_own(approval, buffer)
  return shown[approval.id] ~= nil and shown[approval.id].own == buffer
end

---@param approval pillion.Approval
---@return integer[] buffers in which the user changed something
function M.edited(approval)
  M.changing(approval)
  return approval.own and { shown[approval.id].own } or {}
end

---@param approval pillion.Approval
---@param outcome string
---@param kept boolean
---@return integer buffer
function M.ended(approval, outcome, kept)
  local buffer = M.of_request(approval, name_of(approval, "closed"), "nofile")
  vim.bo[buffer].bufhidden = "wipe"
  M.put(buffer, sheet.ended(approval.request, outcome, kept))
  vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = buffer, nowait = true, desc = "Pillion: close this page" })
  return buffer
end

---@param approval pillion.Approval
---@param but integer[]
function M.forget(approval, but)
  local buffers = shown[approval.id] or {}
  for _, buffer in ipairs({ buffers.page or -1, buffers.own or -1 }) do
    if api.nvim_buf_is_valid(buffer) and not vim.tbl_contains(but, buffer) then
      api.nvim_buf_delete(buffer, { force = true })
    end
  end
  shown[approval.id] = nil
end

return M
