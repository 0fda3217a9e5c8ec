-- What a process printed, as lines of a bounded length and number: the oldest go first. Pure; process.lua shows them.

local ansi = require("pillion.ansi")

local M = {}

M.most_lines = 10000
--- Of all lines together.
M.most_bytes = 2 * 1024 * 1024
--- A longer line goes on in the next.
M.longest_line = 2000

---@class pillion.Paintwork
---@field from integer bytes, zero-based
---@field to integer
---@field style pillion.Style

---@class pillion.OutputLine
---@field text string
---@field paint pillion.Paintwork[]
---@field note? boolean said by us, not by the process

---@class pillion.Output
---@field first integer number of the oldest line that is kept; lines are counted from 1 on, for good
---@field last integer number of the line that is being written
---@field changed integer number of the first line that is not as it was when `settle` was called last
---@field private lines table<integer, pillion.OutputLine>
---@field private bytes integer
---@field private column? integer characters before which the last line is written over; nil: at its end
---@field private parser pillion.Ansi
local Output = {}
Output.__index = Output

---@return pillion.Output
function M.new()
  local self = setmetatable({ first = 1, last = 1, changed = 1, lines = { { text = "", paint = {} } }, bytes = 0 }, Output)
  self.parser = ansi.new({
    text = function(text, style)
      self:put(text, style)
    end,
    line_feed = function()
      self:feed_line()
    end,
    carriage_return = function()
      self.column = 0
    end,
    backspace = function()
      self.column = math.max(0, (self.column or vim.fn.strchars(self:line(self.last).text)) - 1)
    end,
    clear = function(whole)
      self:clear(whole)
    end,
  })
  return self
end

---@param number integer
---@return pillion.OutputLine
function Output:line(number)
  return self.lines[number]
end

--- From now on `changed` tells of what comes.
function Output:settle()
  self.changed = self.last + 1
end

---@private
---@param text string
---@param paint pillion.Paintwork[]
function Output:set(text, paint)
  local line = self.lines[self.last]
  self.bytes = self.bytes + #text - #line.text
  line.text, line.paint = text, paint
  self.changed = math.min(self.changed, self.last)
end

---@private
function Output:feed_line()
  self.column = nil
  self.last = self.last + 1
  self.lines[self.last] = { text = "", paint = {} }
  self.changed = math.min(self.changed, self.last)
  while self.last - self.first >= M.most_lines or self.bytes > M.most_bytes and self.first < self.last do
    self.bytes = self.bytes - #self.lines[self.first].text
    self.lines[self.first] = nil
    self.first = self.first + 1
  end
end

---@param paint pillion.Paintwork[]
---@param from integer
---@param to integer
---@param style pillion.Style
local function painted(paint, from, to, style)
  if to > from and next(style) then
    local before = paint[#paint]
    if before and before.to == from and vim.deep_equal(before.style, style) then
      before.to = to
    else
      paint[#paint + 1] = { from = from, to = to, style = style }
    end
  end
end

--- What of some paint lies between two places, moved.
---@param into pillion.Paintwork[]
---@param paint pillion.Paintwork[]
---@param from integer
---@param to integer
---@param by integer
local function copy(into, paint, from, to, by)
  for _, one in ipairs(paint) do
    painted(into, math.max(one.from, from) + by, math.min(one.to, to) + by, one.style)
  end
end

--- Writes over what a carriage return or a backspace went back to.
---@private
---@param text string
---@param style pillion.Style
function Output:write_over(text, style)
  local line, count = self.lines[self.last], vim.fn.strchars(text)
  local head = vim.fn.strcharpart(line.text, 0, self.column)
  local tail = vim.fn.strcharpart(line.text, self.column + count)
  local paint = {}
  copy(paint, line.paint, 0, #head, 0)
  painted(paint, #head, #head + #text, style)
  copy(paint, line.paint, #line.text - #tail, #line.text, #head + #text - (#line.text - #tail))
  self.column = tail ~= "" and self.column + count or nil
  self:set(head .. text .. tail, paint)
end

---@private
---@param text string
---@param style pillion.Style
function Output:put(text, style)
  while text ~= "" do
    local line = self.lines[self.last]
    local room = M.longest_line - (self.column and 0 or #line.text)
    if room <= 0 then
      self:feed_line()
    else
      local piece = #text <= room and text or text:sub(1, room + vim.str_utf_start(text, room + 1))
      piece = piece ~= "" and piece or text:sub(1, 4)
      text = text:sub(#piece + 1)
      if self.column then
        self:write_over(piece, style)
      else
        local from = #line.text
        painted(line.paint, from, from + #piece, style)
        self:set(line.text .. piece, line.paint)
      end
    end
  end
end

---@private
---@param whole boolean
function Output:clear(whole)
  local line = self.lines[self.last]
  if whole then
    self.column = 0
    self:set("", {})
  elseif self.column then
    local head, paint = vim.fn.strcharpart(line.text, 0, self.column), {}
    copy(paint, line.paint, 0, #head, 0)
    self.column = nil
    self:set(head, paint)
  end
end

---@param text string as it came
function Output:write(text)
  self.parser:feed(text)
end

--- A line of our own, between what the process prints.
---@param text string
function Output:note(text)
  if self.lines[self.last].text ~= "" then
    self:feed_line()
  end
  self:set(text, {})
  self.lines[self.last].note = true
  self:feed_line()
end

return M
