-- Keeps what each window shows of a buffer, and its cursor, on the same text while the buffer changes.

local api = vim.api

local M = {}

local namespace = api.nvim_create_namespace("pillion.views")

---@param buffer integer
---@param row integer from 0
---@param column integer
local function mark(buffer, row, column)
  local line = api.nvim_buf_get_lines(buffer, row, row + 1, false)[1] or ""
  return api.nvim_buf_set_extmark(buffer, namespace, row, math.min(column, #line), {})
end

--- Neovim moves the cursor along with a selection's text, but not the selection's other end.
---@param buffer integer
---@return fun()
local function keep_selection(buffer)
  local mode = api.nvim_get_mode().mode
  if buffer ~= api.nvim_get_current_buf() or not mode:match("^[vV\22]$") then
    return function() end
  end
  local start = vim.fn.getpos("v")
  local id = mark(buffer, start[2] - 1, start[3] - 1)
  return function()
    local now = api.nvim_buf_get_extmark_by_id(buffer, namespace, id, {})
    if now[1] + 1 ~= start[2] or now[2] + 1 ~= start[3] then
      local view = vim.fn.winsaveview()
      vim.cmd("normal! \27")
      vim.fn.cursor(now[1] + 1, now[2] + 1)
      vim.cmd("normal! " .. mode)
      vim.fn.winrestview(view)
    end
  end
end

--- Call the result when the change is made.
---@param buffer integer
---@return fun()
function M.keep(buffer)
  local reselect = keep_selection(buffer)
  local kept = {} ---@type { window: integer, view: table, top: integer, cursor: integer }[]
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    local view = api.nvim_win_call(window, vim.fn.winsaveview)
    kept[#kept + 1] = {
      window = window,
      view = view,
      top = mark(buffer, view.topline - 1, 0),
      cursor = mark(buffer, view.lnum - 1, view.col),
    }
  end
  return function()
    for _, one in ipairs(kept) do
      local top = api.nvim_buf_get_extmark_by_id(buffer, namespace, one.top, {})
      local cursor = api.nvim_buf_get_extmark_by_id(buffer, namespace, one.cursor, {})
      if api.nvim_win_is_valid(one.window) and api.nvim_win_get_buf(one.window) == buffer and top[1] and cursor[1] then
        local moved = cursor[1] + 1 ~= one.view.lnum or cursor[2] ~= one.view.col
        one.view.topline, one.view.lnum, one.view.col = top[1] + 1, cursor[1] + 1, cursor[2]
        one.view.curswant = not moved and one.view.curswant or cursor[2]
        api.nvim_win_call(one.window, function()
          vim.fn.winrestview(one.view)
        end)
      end
    end
    reselect()
    api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  end
end

return M
