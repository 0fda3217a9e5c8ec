-- The files of a request, in a window above its diff: which is on show, what is chosen of each, and which you have not looked at.

local bar = require("pillion.bar")
local keys = require("pillion.keys")
local page = require("pillion.page")
local sheets = require("pillion.sheet")
local words = require("pillion.words")

local api = vim.api

local bar_keys = { { "show", "show" }, { "next_file", "next" }, { "prev_file", "previous" }, { "help", "keys" } }

---@class pillion.Panel
---@field approval pillion.Approval
---@field private buffer integer
---@field private window integer
---@field private looked table<string, {before: string, after: string}> what they have seen of each file, by its key
local Panel = {}
Panel.__index = Panel

---@param approval pillion.Approval
---@return pillion.Panel
function Panel.new(approval)
  return setmetatable({ approval = approval, buffer = -1, window = -1, looked = {} }, Panel)
end

--- The file is before the user, as it is now.
---@param file pillion.FilePreview
function Panel:look(file)
  self.looked[self.approval.chosen:key(file)] = { before = file.before, after = file.after }
end

---@return integer with the line above
function Panel:height()
  return 1 + math.min(#self.approval:files(), math.max(2, math.floor(vim.o.lines / 6)))
end

---@param config vim.api.keyset.win_config where its window opens
---@param show fun(index: integer)
function Panel:open(config, show)
  self.buffer = page.of_request(self.approval, "files", "nofile")
  vim.bo[self.buffer].bufhidden = "wipe"
  keys.bind(self.buffer, self.approval, true)
  keys.map(self.buffer, "show", function()
    show(api.nvim_win_get_cursor(0)[1])
  end, "Pillion: show this file")
  config.height = self:height()
  self.window = api.nvim_open_win(self.buffer, false, config)
  api.nvim_win_call(self.window, function()
    vim.cmd("diffoff | setlocal nonumber norelativenumber signcolumn=no nospell nolist nowrap nofoldenable cursorline winfixheight")
  end)
end

---@return integer? its window
function Panel:shown()
  return api.nvim_win_is_valid(self.window) and api.nvim_win_get_buf(self.window) == self.buffer and self.window or nil
end

---@param index integer the file that is on show
function Panel:draw(index)
  local window = self:shown()
  if not window then
    return
  end
  local files, sheet, width, unseen = self.approval:files(), sheets.new(), 0, 0
  for _, file in ipairs(files) do
    width = math.max(width, vim.fn.strdisplaywidth(file.name))
  end
  for number, file in ipairs(files) do
    local key = self.approval.chosen:key(file)
    local looked = self.looked[key]
    local seen = looked and looked.before == file.before and looked.after == file.after
    unseen = unseen + (seen and 0 or 1)
    local selected, all = self.approval.chosen:count(key)
    local note = selected == 0 and all > 0 and "left out" or words.share(selected, all)
    sheet:parts({
      { number == index and "▸ " or "  ", "Label" },
      { seen and "  " or "● ", "Warning" },
      { words.pad(file.name, width), "Rule" },
      { "  " .. (file.text and words.size({ file }) or file.summary), "Muted" },
      { note ~= "" and "  " .. note or "", "Warning" },
    })
  end
  page.put(self.buffer, sheet)
  if api.nvim_get_current_win() ~= window then
    api.nvim_win_set_cursor(window, { index, 0 })
  end
  local note = unseen > 0 and ("● %d not looked at"):format(unseen) or ""
  bar.put(window, bar.listing(words.count(#words.paths(files), "file"), bar_keys, note))
end

return Panel
