-- `:Pillion log`: a buffer with what sidecars wrote and with the last calls, the newest last, that follows while it is on
-- show.

local activity = require("pillion.activity")
local announce = require("pillion.announce")
local approvals = require("pillion.approvals")
local escape = require("pillion.escape")
local front = require("pillion.front")
local keys = require("pillion.keys")
local page = require("pillion.page")
local sheet = require("pillion.sheet")
local view = require("pillion.view")

local api = vim.api

local M = {}

local name = "pillion://log"
local buffer = -1
---@type table<string, integer> by call
local line_of = {}
---@type table<integer, pillion.Call> by line, from 1
local call_at = {}

---@return string[]
local function lines()
  line_of, call_at = {}, {}
  local found = vim.tbl_map(escape.visible, require("pillion.client").log())
  if #found > 0 then
    table.insert(found, 1, "Output of the sidecar:")
    found[#found + 1] = ""
  end
  local calls = vim.iter(activity.entries()):rev():totable()
  if #calls == 0 then
    found[#found + 1] = "No agent has called a tool yet."
  end
  for _, call in ipairs(calls) do
    found[#found + 1] = os.date("%H:%M:%S  ", call.time) .. view.call_line(call)
    line_of[call.callId], call_at[#found] = #found, call
  end
  return found
end

local function draw()
  if api.nvim_buf_is_loaded(buffer) and vim.fn.bufwinid(buffer) ~= -1 then
    page.follow(buffer, function()
      api.nvim_buf_set_lines(buffer, 0, -1, false, lines())
    end)
  end
end

---@class pillion.ActivityShown
---@field kind "diff"|"command"|"markdown"
---@field text? string
---@field preview? pillion.Preview

---@param call pillion.Call
---@param shown pillion.ActivityShown
local function sheet_of(call, shown)
  local found = sheet.new()
  found:line(escape.visible(call.title), "Heading")
  for _, file in ipairs(shown.preview and shown.preview.files or {}) do
    found:gap()
    found:file(file)
  end
  if shown.text then
    found:gap()
    for line in vim.gsplit(shown.text:gsub("\n$", ""), "\n") do
      found:line(escape.visible(line))
    end
  end
  return found
end

--- Opens its file, at the first problem that the call caused.
---@param call pillion.Call
local function edit(call)
  local problem = call.problem
  local path = problem and problem.path or call.path
  if not path then
    announce.say("Pillion: this call is about no file")
    return
  end
  vim.cmd.wincmd("p") -- the log stays where it is
  vim.cmd.edit(vim.fn.fnameescape(vim.fs.joinpath(call.client.root, path)))
  if problem then
    local last = api.nvim_buf_line_count(0)
    api.nvim_win_set_cursor(0, { math.min(problem.range.start.line + 1, last), problem.range.start.character })
  end
end

--- What it is about: the request while it waits, then what it changed or printed, else its file.
---@param call pillion.Call
local function show(call)
  local waiting = vim.iter(approvals.of_agents()):find(function(approval)
    return approval.request.callId == call.callId and approval.request.sessionId == call.sessionId
  end)
  if waiting then
    front.show(waiting.id)
  elseif call.shows then
    call.client.request("activity/show", { sessionId = call.sessionId, callId = call.callId }, function(err, result)
      if err then
        announce.say("Pillion: " .. escape.short(err.message, 200))
      else
        page.open(("pillion://call/%s"):format(call.callId), sheet_of(call, result))
      end
    end)
  else
    edit(call)
  end
end

---@param doing fun(call: pillion.Call)
local function of_call(doing)
  return function()
    local call = call_at[api.nvim_win_get_cursor(0)[1]]
    if call then
      doing(call)
    end
  end
end

--- The user asked for it: it gets the cursor, at one call or at the end.
---@param call_id string?
function M.open(call_id)
  if not api.nvim_buf_is_loaded(buffer) then
    buffer = page.scratch(name, "nofile")
    vim.bo[buffer].filetype = "pillion-log"
    vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = buffer, nowait = true, desc = "Pillion: close the log" })
    keys.bind_doings(buffer, { show = of_call(show) })
    local description = "Pillion: open the file, at a problem that the call caused"
    vim.keymap.set("n", "gf", of_call(edit), { buffer = buffer, nowait = true, desc = description })
    api.nvim_create_autocmd({ "BufReadCmd", "BufWinEnter" }, {
      buffer = buffer,
      callback = function()
        vim.bo[buffer].buftype = "nofile"
        draw()
      end,
    })
  end
  local window, is_new = page.go_to(buffer)
  if is_new then
    vim.wo[window][0].number, vim.wo[window][0].wrap = false, false
  end
  draw()
  api.nvim_win_set_cursor(window, { line_of[call_id] or api.nvim_buf_line_count(buffer), 0 })
end

activity.listen(draw)

return M
