-- What one call of the log is about: the request while it waits, then what it changed or printed, else its file.

local announce = require("pillion.announce")
local approvals = require("pillion.approvals")
local escape = require("pillion.escape")
local front = require("pillion.front")
local page = require("pillion.page")
local sheet = require("pillion.sheet")

local api = vim.api

local M = {}

---@class pillion.ActivityShown
---@field kind "diff"|"command"|"markdown"
---@field text? string
---@field preview? pillion.Preview

---@param call pillion.Call
---@param shown pillion.ActivityShown
---@return pillion.Sheet
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

---@param call pillion.Call
---@param shown pillion.ActivityShown
local function present(call, shown)
  local buffer = page.scratch(("pillion://call/%s"):format(call.callId), "nofile")
  vim.bo[buffer].bufhidden = "wipe"
  page.put(buffer, sheet_of(call, shown))
  vim.cmd(("keepalt tab sbuffer %d"):format(buffer))
  require("pillion.dialog").dress_page(api.nvim_get_current_win())
end

--- Opens its file, at the first problem that the call caused.
---@param call pillion.Call
function M.edit(call)
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

---@param call pillion.Call
function M.open(call)
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
        present(call, result)
      end
    end)
  else
    M.edit(call)
  end
end

return M
