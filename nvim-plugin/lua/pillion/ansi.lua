-- What a program prints for a terminal, read as text: of its escape sequences only those that colour text, or clear the line
-- that is being written, mean anything. All others (titles, clipboards, links, questions to the terminal, cursor moves, other
-- screens) are passed over, and what cannot be seen is written out. Pure; nothing that is fed in here acts.

local escape = require("pillion.escape")

local M = {}

--- A sequence that is longer than this is none: its beginning is dropped, and the rest of it is text.
local longest = 4096

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
---@field private rest string the beginning of a sequence, or of a character, that has not ended yet
---@field private style pillion.Style
---@field private sink pillion.Sink
local Ansi = {}
Ansi.__index = Ansi

---@param sink pillion.Sink
---@return pillion.Ansi
function M.new(sink)
  return setmetatable({ rest = "", style = {}, sink = sink }, Ansi)
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
  if final == "m" and not parameters:find("[^%d;:]") then
    self.style = restyled(self.style, parameters)
  elseif final == "K" and (parameters == "" or parameters == "0" or parameters == "2") then
    self.sink.clear(parameters == "2")
  end
end

--- The end of a string for the terminal: a title, a link, the clipboard. A line feed ends it too, so that none swallows what follows.
---@param text string
---@param at integer
---@return integer? after
local function string_end(text, at)
  local from, to = text:find("[\7\n\24\26\27]", at)
  if not from then
    return nil
  elseif text:byte(from) == 27 then
    if from == #text then
      return nil
    end
    return text:byte(from + 1) == 92 and from + 2 or from -- ESC \ ends it; another sequence begins
  end
  return text:byte(from) == 10 and from or to + 1
end

--- A sequence that begins at `at`.
---@private
---@param text string
---@param at integer
---@return integer? after it; nil while it is incomplete
function Ansi:sequence(text, at)
  local kind = text:sub(at + 1, at + 1)
  if kind == "" then
    return nil
  elseif kind == "[" then
    local from, to = text:find("^[\48-\63]*[\32-\47]*", at + 2)
    local final = text:sub(to + 1, to + 1)
    if final == "" then
      return nil
    elseif not final:find("[\64-\126]") then
      return to + 1 -- broken off: what follows is text
    end
    self:control(text:sub(from, to), final)
    return to + 2
  elseif kind:find("[%]PX^_]") then
    return string_end(text, at + 2)
  elseif kind:find("[\32-\47]") then
    local _, to = text:find("^[\32-\47]+", at + 1)
    if to == #text then
      return nil
    end
    return text:find("^[\48-\126]", to + 1) and to + 2 or to + 1
  end
  return text:find("^[\48-\126]", at + 1) and at + 2 or at + 1
end

--- Everything that is no plain text: controls, and ESC.
local special = "[%z\1-\8\10-\31\127]"

---@private
---@param code integer
function Ansi:character(code)
  if code == 10 or code == 11 or code == 12 then
    self.sink.line_feed()
  elseif code == 13 then
    self.sink.carriage_return()
  elseif code == 8 then
    self.sink.backspace()
  elseif code ~= 7 and code ~= 0 and code ~= 127 then
    self.sink.text(escape.visible(string.char(code)), self.style)
  end
end

--- A tab is one, and a variation selector only says how the character before it is drawn.
---@param text string
---@return string
local function shown(text)
  return (text:gsub("\239\184[\142\143]", ""):gsub("[^\t]+", escape.visible))
end

--- Where a character begins that has not come whole.
---@param text string
---@return integer? at
local function broken_off(text)
  local at = text:find("[\192-\247][\128-\191]*$")
  local lead = at and text:byte(at)
  local length = lead and (lead >= 240 and 4 or lead >= 224 and 3 or 2)
  return lead and #text - at + 1 < length and at or nil
end

---@param text string whatever came, cut anywhere
function Ansi:feed(text)
  text, self.rest = self.rest .. text, ""
  local at = 1
  while at <= #text do
    local from = text:find(special, at)
    local run = text:sub(at, (from or #text + 1) - 1)
    local cut = not from and broken_off(run) or nil
    if cut then
      run, self.rest = run:sub(1, cut - 1), run:sub(cut)
    end
    if run ~= "" then
      self.sink.text(shown(run), self.style)
    end
    if not from then
      return
    elseif text:byte(from) ~= 27 then
      self:character(text:byte(from))
      at = from + 1
    else
      at = self:sequence(text, from) or #text - from >= longest and from + 2
      if not at then
        self.rest = text:sub(from)
        return
      end
    end
  end
end

return M
