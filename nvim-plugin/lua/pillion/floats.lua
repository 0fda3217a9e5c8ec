-- Where the windows of a request are with `layout = "float"`: over the editor, in rows that fill one frame.

local api = vim.api

local M = {}

--- What a border takes, in both directions.
local edge = 2
--- Where there is no more room than this, all of it is used.
local least = { columns = 100, lines = 30 }
local share = 0.9

--- What such a window is opened with; `arrange` gives it its place.
---@return vim.api.keyset.win_config
function M.config()
  return { relative = "editor", row = 0, col = 0, width = 2, height = 2, border = "rounded", zindex = 40 } -- below lists to choose from
end

---@param all integer
---@param enough integer
---@return integer size
---@return integer before it
local function frame(all, enough)
  local size = all <= enough and all or math.max(enough, math.floor(all * share))
  return size, math.floor((all - size) / 2)
end

--- The windows of a row have one line between them.
---@param is_first boolean
---@param is_last boolean
---@return string[] clockwise from the top left
local function border(is_first, is_last)
  local left, right = is_first and { "╭", "╰", "│" } or { "", "", "" }, is_last and { "╮", "╯" } or { "┬", "┴" }
  return { left[1], "─", right[1], "│", right[2], "─", left[2], left[3] }
end

--- Gives all windows their places. Those of a row share its width; the rows with a height get it, the one without has the rest.
---@param rows { windows: integer[], height?: integer }[]
function M.arrange(rows)
  local width, left = frame(vim.o.columns, least.columns)
  local height, top = frame(vim.o.lines - vim.o.cmdheight, least.lines)
  local rest = height
  for _, row in ipairs(rows) do
    rest = rest - (row.height and row.height + edge or 0)
  end
  for _, row in ipairs(rows) do
    local column, high = left, (row.height or math.max(2, rest - edge))
    for index, window in ipairs(row.windows) do
      local wide = math.floor((left + width - column) / (#row.windows - index + 1))
      api.nvim_win_set_config(window, {
        relative = "editor",
        row = top,
        col = column,
        width = wide - (index == 1 and edge or 1),
        height = high,
        border = border(index == 1, index == #row.windows),
      })
      column = column + wide
    end
    top = top + high + edge
  end
end

return M
