-- A buffer that lists things in a window at the bottom: read-only, with keys for what the cursor is on, and up to date while
-- it is on show. Drawn again it leaves the cursor on the thing it was on; at first that is the first one, below any heading.

local bar = require("pillion.bar")
local keys = require("pillion.keys")
local page = require("pillion.page")

local api = vim.api

local M = {}

local minimum_height = 8

---@class pillion.Listed
---@field id string

---@class pillion.Listing
---@field name string of its buffer
---@field filetype string
---@field title string
---@field keys {[1]: pillion.Action, [2]: string, [3]: string?}[] as the line above the list shows them, unless there is no word for it, and the help
---@field doings table<pillion.Action, fun(thing: any)> what they do; the thing that the cursor is on, if it is on one
---@field draw fun(): pillion.Sheet, table<integer, pillion.Listed> things by line, from 1
---@field renew? fun() asks for the things anew, where they are not known here
---@field has_columns? boolean its lines are not wrapped
---@field private buffer integer
---@field private at table<integer, pillion.Listed>
local Listing = {}
Listing.__index = Listing

---@param options table
---@return pillion.Listing
function M.new(options)
  options.buffer, options.at = -1, {}
  options.doings.help = function()
    options:help()
  end
  vim.list_extend(options.keys, { { "help", "keys" }, { "close", "close", "close this window" } })
  return setmetatable(options, Listing)
end

---@return integer? a window in which it is on show
function Listing:window()
  return api.nvim_buf_is_loaded(self.buffer) and vim.fn.win_findbuf(self.buffer)[1] or nil
end

--- The thing that the cursor is on.
---@return any
function Listing:here()
  return api.nvim_get_current_buf() == self.buffer and self.at[api.nvim_win_get_cursor(0)[1]] or nil
end

---@param at table<integer, pillion.Listed>
---@param id string
---@return integer? the line on which it begins
local function line_of(at, id)
  for line, thing in vim.spairs(at) do
    if thing.id == id then
      return line
    end
  end
end

function Listing:refresh()
  local window = self:window()
  if not window then
    return
  end
  local line = api.nvim_win_get_cursor(window)[1]
  local before = self.at[line]
  local offset = before and line - line_of(self.at, before.id) or 0
  local sheet
  sheet, self.at = self.draw()
  page.put(self.buffer, sheet)
  local now = before and line_of(self.at, before.id)
  if line == 1 and not now then
    line = math.max(1, vim.fn.min(vim.tbl_keys(self.at)))
  end
  line = now and now + (self.at[now + offset] == self.at[now] and offset or 0) or line
  api.nvim_win_set_cursor(window, { math.min(line, api.nvim_buf_line_count(self.buffer)), 0 })
  for _, each in ipairs(vim.fn.win_findbuf(self.buffer)) do
    bar.put(each, bar.listing(self.title, self:shown_keys()))
  end
end

--- Those that the line above the list has room for.
---@private
function Listing:shown_keys()
  return vim.tbl_filter(function(shown)
    return shown[2] ~= ""
  end, self.keys)
end

function Listing:help()
  keys.show_help(keys.help_rows(vim.tbl_map(function(shown)
    return { shown[3] or (keys.descriptions[shown[1]]:gsub("^Pillion: ", "")), actions = { shown[1] } }
  end, self.keys)))
end

--- As many lines as there are, within bounds.
---@param window integer
function Listing:fit(window)
  local most = math.max(minimum_height, math.floor(vim.o.lines / 3))
  api.nvim_win_set_height(window, math.max(minimum_height, math.min(api.nvim_buf_line_count(self.buffer) + 2, most)))
end

--- The user asked for it: it gets the cursor.
---@return integer window
---@return boolean is_new
function Listing:open()
  if not api.nvim_buf_is_loaded(self.buffer) then
    self.buffer = page.scratch(self.name, "nofile")
    vim.bo[self.buffer].filetype = self.filetype
    local doings = {}
    for action, doing in pairs(self.doings) do
      doings[action] = function()
        doing(self:here())
      end
    end
    keys.bind_doings(self.buffer, doings)
    api.nvim_create_autocmd({ "BufReadCmd", "BufWinEnter" }, {
      buffer = self.buffer,
      callback = function()
        page.seclude(self.buffer, "nofile")
        local refresh = self.renew or self.refresh
        refresh(self)
      end,
    })
  end
  local window, is_new = page.go_to(self.buffer)
  if is_new then
    local options, wraps = vim.wo[window][0], not self.has_columns
    options.number, options.relativenumber, options.signcolumn, options.cursorline = false, false, "no", true
    options.wrap, options.linebreak, options.breakindent, options.breakindentopt = wraps, wraps, wraps, "shift:4"
    self:fit(window)
  end
  self:refresh()
  return window, is_new
end

return M
