-- The keys that go from mark to mark. They are bound in a buffer while it has marks, and never over a mapping of its own.

local keys = require("pillion.keys")

local api = vim.api

local M = {}

local steps = { next_mark = 1, prev_mark = -1 }

---@param buffer integer
---@param key string
---@return vim.api.keyset.keymap?
local function mapping(buffer, key)
  return vim.iter(api.nvim_buf_get_keymap(buffer, "n")):find(function(one)
    return vim.keycode(one.lhs) == vim.keycode(key)
  end)
end

---@param buffer integer
---@param rows fun(): integer[] of the lines that have a mark, from 0, in order
function M.bind(buffer, rows)
  for action, step in pairs(steps) do
    local key = keys.configured()[action]
    if key and key ~= "" and not mapping(buffer, key) then
      vim.keymap.set("n", key, function()
        M.go(rows(), step)
      end, { buffer = buffer, desc = keys.descriptions[action] })
    end
  end
end

---@param buffer integer
function M.unbind(buffer)
  for action in pairs(steps) do
    local key = keys.configured()[action]
    local found = key and key ~= "" and mapping(buffer, key)
    if found and found.desc == keys.descriptions[action] then
      vim.keymap.del("n", key, { buffer = buffer })
    end
  end
end

--- To the first line of the next stretch of marked lines, or of the one before; from the last to the first.
---@param rows integer[]
---@param step 1|-1
function M.go(rows, step)
  local starts = {}
  for index, row in ipairs(rows) do
    if rows[index - 1] ~= row - 1 then
      starts[#starts + 1] = row + 1
    end
  end
  if #starts == 0 then
    require("pillion.announce").tell("Pillion: this file has no marks")
    return
  end
  local here = api.nvim_win_get_cursor(0)[1]
  local place ---@type integer?
  for index, line in ipairs(starts) do
    if step > 0 and line > here then
      place = place or index
    elseif step < 0 and line < here then
      place = index
    end
  end
  vim.cmd("normal! m'")
  api.nvim_win_set_cursor(0, { starts[place or step > 0 and 1 or #starts], 0 })
  vim.cmd("normal! zv^")
end

return M
