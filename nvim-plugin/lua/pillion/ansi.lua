-- What a program prints for a terminal, read as text: colours, and clearing the line that is being written. The sidecar lets
-- those pass, and moves of the cursor, which mean nothing here; a sequence always comes whole. Pure.

local escape = require("pillion.escape")

local M = {}

local colours = { "Black", "Red", "Green", "Yellow", "Blue", "Magenta", "Cyan", "White" }

---@class pillion.Style
---@field colour? string one of eight; never the background's, so nothing is painted out of sight
---@field bold? boolean
---@field underline? boolean

---@class pillion.Sink what text and line ends become
---@field text fun(text: string, style: pillion.Style)
---@field line_feed fun()
---@field carriage_return fun()
---@field backspace fun()
---@field clear fun(whole: boolean) the line that is being written: all of it, or from where it is written on

---@class pillion.Ansi
---@field private style pillion.Style
---@field private sink pillion.Sink
local Ansi = {}
Ansi.__index = Ansi

---@param sink pillion.Sink
---@return pillion.Ansi
function M.new(sink)
  return setmetatable({ style = {}, sink = sink }, Ansi)
end

--- The nearest of the eight colours.
---@param red integer
---@param green integer
---@param blue integer
---@return string
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
---@return string
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

local plain = {
  [0] = function(style)
    style.colour, style.bold, style.underline = nil, nil, nil
  end,
  [1] = function(style)
    style.bold = true
  end,
  [4] = function(style)
    style.underline = true
  end,
  [22] = function(style)
    style.bold = nil
  end,
  [24] = function(style)
    style.underline = nil
  end,
  [39] = function(style)
    style.colour = nil
  end,
}

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
    if plain[code] then
      plain[code](style)
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

---@private
---@param parameters string
---@param final string
function Ansi:control(parameters, final)
  if final == "m" then
    self.style = restyled(self.style, parameters)
  elseif final == "K" and (parameters == "" or parameters == "0" or parameters == "2") then
    self.sink.clear(parameters == "2")
  end
end

--- A tab is one, and a variation selector only says how the character before it is drawn.
---@param text string
---@return string
local function shown(text)
  return (text:gsub("\239\184[\142\143]", ""):gsub("[^\t]+", escape.visible))
end

---@type table<string, fun(sink: pillion.Sink)>
local acts = {
  ["\n"] = function(sink)
    sink.line_feed()
  end,
  ["\r"] = function(sink)
    sink.carriage_return()
  end,
  ["\b"] = function(sink)
    sink.backspace()
  end,
}

---@param text string
function Ansi:feed(text)
  local at = 1
  while at <= #text do
    local from = text:find("[\n\r\b\27]", at) or #text + 1
    if from > at then
      self.sink.text(shown(text:sub(at, from - 1)), self.style)
    end
    local _, to, parameters, final = text:find("^\27%[([%d;:]*)(%a)", from)
    if to then
      self:control(parameters, final)
    elseif from <= #text then
      (acts[text:sub(from, from)] or function() end)(self.sink)
    end
    at = (to or from) + 1
  end
end

return M
