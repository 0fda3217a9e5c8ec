-- `:Pillion log`: a buffer with what sidecars wrote and with the last calls, the newest last, that follows while it is on
-- show.

local activity = require("pillion.activity")
local escape = require("pillion.escape")
local view = require("pillion.view")

local api = vim.api

local M = {}

local name = "pillion://log"
local buffer = -1
---@type table<string, integer> by call
local line_of = {}
---@type table<integer, pillion.Call> by line, from 1
local call_at = {}

--- What sidecars said of themselves, and what of the talk with them is traced.
---@return string[]
local function said()
  local found = vim.tbl_map(escape.visible, require("pillion.client").log())
  if #found > 0 then
    table.insert(found, 1, "Output of the sidecar:")
    found[#found + 1] = ""
  end
  return found
end

---@return string[]
local function lines()
  line_of, call_at = {}, {}
  local found = said()
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
  if not api.nvim_buf_is_loaded(buffer) or vim.fn.bufwinid(buffer) == -1 then
    return
  end
  local options = vim.bo[buffer]
  local last = api.nvim_buf_line_count(buffer)
  options.modifiable = true
  api.nvim_buf_set_lines(buffer, 0, -1, false, lines())
  options.modifiable, options.modified = false, false
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    if api.nvim_win_get_cursor(window)[1] == last then
      api.nvim_win_set_cursor(window, { api.nvim_buf_line_count(buffer), 0 })
    end
  end
end

local function make()
  buffer = require("pillion.page").scratch(name, "nofile")
  vim.bo[buffer].filetype = "pillion-log"
  vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = buffer, nowait = true, desc = "Pillion: close the log" })
  require("pillion.keys").bind_doings(buffer, {
    show = function()
      local call = call_at[api.nvim_win_get_cursor(0)[1]]
      if call then
        require("pillion.call").open(call)
      end
    end,
  })
  vim.keymap.set("n", "gf", function()
    local call = call_at[api.nvim_win_get_cursor(0)[1]]
    if call then
      require("pillion.call").edit(call)
    end
  end, { buffer = buffer, nowait = true, desc = "Pillion: open the file, at a problem that the call caused" })
  api.nvim_create_autocmd({ "BufReadCmd", "BufWinEnter" }, {
    buffer = buffer,
    callback = function()
      vim.bo[buffer].buftype = "nofile"
      draw()
    end,
  })
end

--- The user asked for it: it gets the cursor, at one call or at the end.
---@param call_id string?
function M.open(call_id)
  if not api.nvim_buf_is_loaded(buffer) then
    make()
  end
  local window = vim.fn.bufwinid(buffer)
  if window == -1 then
    vim.cmd(("botright sbuffer %d"):format(buffer))
    window = api.nvim_get_current_win()
    vim.wo[window][0].number, vim.wo[window][0].wrap = false, false
  end
  api.nvim_set_current_win(window)
  draw()
  api.nvim_win_set_cursor(window, { line_of[call_id] or api.nvim_buf_line_count(buffer), 0 })
end

activity.listen(draw)

return M
