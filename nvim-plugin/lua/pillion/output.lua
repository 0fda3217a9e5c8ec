-- What a process printed for a terminal, as lines of a bounded length and number: the oldest go first. Read of it are colours, and
-- clearing the line that is being written. The sidecar lets those pass, and moves of the cursor, which mean nothing here; a
-- sequence always comes whole. Pure; process.lua shows the lines.

local escape = require("pillion.escape")

local M = {}

M.most_lines = 10000
--- Of all lines together.
M.most_bytes = 2 * 1024 * 1024
--- A longer line goes on in the next.
M.longest_line = 2000

---@class pillion.Style
---@field colour? string one of eight; never the background's, so nothing is painted out of sight
---@field bold? boolean
---@field underline? boolean

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
---@field private style pillion.Style
local Output = {}
Output.__index = Output

---@return pillion.Output
function M.new()
  return setmetatable({ first = 1, last = 1, changed = 1, lines = { { text = "", paint = {} } }, bytes = 0, style = {} }, Output)
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
function Output:write_over(text)
  local line, count = self.lines[self.last], vim.fn.strchars(text)
  local head = vim.fn.strcharpart(line.text, 0, self.column)
  local tail = vim.fn.strcharpart(line.text, self.column + count)
  local paint = {}
  copy(paint, line.paint, 0, #head, 0)
  painted(paint, #head, #head + #text, self.style)
  copy(paint, line.paint, #line.text - #tail, #line.text, #head + #text - (#line.text - #tail))
  self.column = tail ~= "" and self.column + count or nil
  self:set(head .. text .. tail, paint)
end

---@private
---@param text string
function Output:put(text)
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
        self:write_over(piece)
      else
        local from = #line.text
        painted(line.paint, from, from + #piece, self.style)
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

local colours = { "Black", "Red", "Green", "Yellow", "Blue", "Magenta", "Cyan", "White" }

--- The nearest of the eight colours.
---@param red integer
---@param green integer
---@param blue integer
local function nearest(red, green, blue)
  local brightest = math.max(red, green, blue)
  if brightest < 64 then
    return colours[1]
  end
  local half = brightest / 2
  return colours[1 + (red > half and 1 or 0) + (green > half and 2 or 0) + (blue > half and 4 or 0)]
end

--- One of 256: sixteen names, a cube of six by six by six, and greys.
---@param index integer
local function of_palette(index)
  if index < 16 then
    return colours[index % 8 + 1]
  elseif index < 232 then
    local place = index - 16
    return nearest(math.floor(place / 36) * 51, math.floor(place / 6) % 6 * 51, place % 6 * 51)
  end
  return nearest((index - 232) * 10 + 8, (index - 232) * 10 + 8, (index - 232) * 10 + 8)
end

--- What follows 38 or 48: `5;N` or `2;R;G;B`.
---@param codes integer[]
---@param at integer of the 38 or 48
---@return string? colour
---@return integer last the last code that belongs to it
local function extended(codes, at)
  if codes[at + 1] == 5 then
    return of_palette(codes[at + 2] or 0), at + 2
  elseif codes[at + 1] == 2 then
    return nearest(codes[at + 2] or 0, codes[at + 3] or 0, codes[at + 4] or 0), at + 4
  end
  return nil, #codes
end

local sets = { [1] = "bold", [4] = "underline" }
local clears = { [22] = "bold", [24] = "underline", [39] = "colour" }

--- Select Graphic Rendition, as far as it makes text stand out. What hides text (concealed, the background's colour) is not among it.
---@param style pillion.Style
---@param parameters string
---@return pillion.Style
local function restyled(style, parameters)
  style = vim.deepcopy(style)
  local codes = {}
  for code in (parameters .. ";"):gsub(":", ";"):gmatch("(%d*);") do
    codes[#codes + 1] = math.min(tonumber(code) or 0, 255)
  end
  local at = 1
  while at <= #codes do
    local code = codes[at]
    if code == 0 then
      style = {}
    elseif sets[code] then
      style[sets[code]] = true
    elseif clears[code] then
      style[clears[code]] = nil
    elseif code == 38 or code == 48 then
      local colour
      colour, at = extended(codes, at)
      style.colour = code == 38 and colour or style.colour
    elseif code >= 30 and code <= 37 then
      style.colour = colours[code - 29]
    elseif code >= 90 and code <= 97 then
      style.colour = colours[code - 89]
    end
    at = at + 1
  end
  return style
end

---@param text string as it came
function Output:write(text)
  local at = 1
  while at <= #text do
    local from = text:find("[\n\r\b\27]", at) or #text + 1
    if from > at then
      -- A tab is one, and a variation selector only says how the character before it is drawn.
      self:put((text:sub(at, from - 1):gsub("\239\184[\142\143]", ""):gsub("[^\t]+", escape.visible)))
    end
    local _, to, parameters, final = text:find("^\27%[([%d;:]*)(%a)", from)
    local character = text:sub(from, from)
    if final == "m" then
      self.style = restyled(self.style, parameters)
    elseif final == "K" and (parameters == "" or parameters == "0" or parameters == "2") then
      self:clear(parameters == "2")
    elseif character == "\n" then
      self:feed_line()
    elseif character == "\r" then
      self.column = 0
    elseif character == "\b" then
      self.column = math.max(0, (self.column or vim.fn.strchars(self.lines[self.last].text)) - 1)
    end
    at = (to or from) + 1
  end
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
