-- What keys do, in a small window that cannot be entered, until the next key.

local keys = require("pillion.keys")

local api = vim.api

local M = {}

---@class pillion.KeyRow
---@field [1] string keys
---@field [2] string what they do
---@field [3] string? what that means

--- Rows of what has a key.
---@param wanted {actions: pillion.Action[], [1]: string, [2]: string?}[]
---@return pillion.KeyRow[]
function M.rows(wanted)
  local configured, rows = keys.configured(), {}
  for _, one in ipairs(wanted) do
    local found = vim.tbl_filter(
      function(key)
        return key and key ~= ""
      end,
      vim.tbl_map(function(action)
        return configured[action]
      end, one.actions)
    )
    rows[#rows + 1] = #found > 0 and { table.concat(found, " "), one[1], one[2] } or nil
  end
  return rows
end

---@param rows pillion.KeyRow[]
---@return string[]
local function lines_of(rows)
  local function widest(column, counts)
    return vim.iter(rows):filter(counts):fold(0, function(width, row)
      return math.max(width, vim.fn.strdisplaywidth(row[column]))
    end)
  end
  local first = widest(1, function()
    return true
  end)
  local second = widest(2, function(row)
    return row[3] ~= nil
  end)
  local function pad(text, width)
    return text .. (" "):rep(width - vim.fn.strdisplaywidth(text))
  end
  return vim.tbl_map(function(row)
    local text = row[3] and pad(row[2], second) .. "  " .. row[3] or row[2]
    return (" %s  %s "):format(pad(row[1], first), text)
  end, rows)
end

--- Until the next key.
---@param rows pillion.KeyRow[]
function M.show(rows)
  local lines, width = lines_of(rows), 1
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  local buffer = api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = "wipe"
  api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  for index, row in ipairs(rows) do
    api.nvim_buf_add_highlight(buffer, -1, "PillionKey", index - 1, 1, 1 + #row[1])
  end
  local window = api.nvim_open_win(buffer, false, {
    relative = "editor",
    anchor = "SE",
    row = vim.o.lines - vim.o.cmdheight - 1,
    col = vim.o.columns,
    width = math.min(width, vim.o.columns - 2),
    height = math.min(#lines, vim.o.lines - vim.o.cmdheight - 3),
    style = "minimal",
    border = "rounded",
    title = " Keys ",
    focusable = false,
    noautocmd = true,
  })
  local listening ---@type integer
  listening = vim.on_key(function()
    vim.on_key(nil, listening)
    vim.schedule(function()
      pcall(api.nvim_win_close, window, true)
    end)
  end)
end

--- The keys of a request: what it can be answered with, and how to go around in it.
---@param approval pillion.Approval
---@param is_page boolean
function M.of(approval, is_page)
  local wanted, last = {}, nil
  for _, one in ipairs(require("pillion.answers")(approval)) do
    if one.action ~= last and keys.is_bound(one.action, is_page) then
      wanted[#wanted + 1] = { one.title, one.meaning, actions = { one.action } }
    end
    last = one.action
  end
  if approval.chosen:is_open() then
    vim.list_extend(wanted, {
      { "toggle this hunk, or all hunks of the file", actions = { "hunk", "file" } },
      { "next or previous hunk", actions = { "next_hunk", "prev_hunk" } },
    })
  end
  if #approval:files() > 1 then
    wanted[#wanted + 1] = { "next or previous file", actions = { "next_file", "prev_file" } }
  end
  wanted[#wanted + 1] = { "next or previous request", actions = { "next", "prev" } }
  wanted[#wanted + 1] = is_page and { "close this; the request keeps waiting", actions = { "close" } } or nil
  M.show(M.rows(wanted))
end

return M
