-- From LSP's positions to Neovim's: LSP counts UTF-16 units in lines that "\n", "\r\n" or a lone "\r" ends, in a text that has a
-- last, empty line after its final newline; Neovim counts bytes in its own lines. Pure.

local M = {}

--- Where each line of LSP's begins, in bytes from 0.
---@param text string
---@return integer[]
function M.line_starts(text)
  local starts, at = { 0 }, 1
  while true do
    local found = text:find("[\r\n]", at)
    if not found then
      return starts
    end
    at = found + (text:sub(found, found + 1) == "\r\n" and 2 or 1)
    starts[#starts + 1] = at - 1
  end
end

--- Bytes of a character by its first byte, and the UTF-16 units that it takes.
---@param byte integer
local function width(byte)
  if byte < 0xc0 then
    return 1, 1
  elseif byte < 0xe0 then
    return 2, 1
  elseif byte < 0xf0 then
    return 3, 1
  end
  return 4, 2
end

---@param encoding string
---@param bytes integer
---@param wide integer
local function units(encoding, bytes, wide)
  return encoding == "utf-8" and bytes or encoding == "utf-16" and wide or 1
end

--- A character of a line, counted in other units. Beyond the line's end it is the end.
---@param line string
---@param character integer
---@param from "utf-8"|"utf-16"|"utf-32"
---@param to "utf-8"|"utf-16"|"utf-32"
---@return integer
function M.recode(line, character, from, to)
  local at, seen, counted = 0, 0, 0
  while at < #line and seen < character do
    local byte = line:byte(at + 1)
    if byte == 10 or byte == 13 then
      break
    end
    local bytes, wide = width(byte)
    at, seen, counted = at + bytes, seen + units(from, bytes, wide), counted + units(to, bytes, wide)
  end
  return counted
end

--- The offset of a position: beyond a line's end it is the end, beyond the text the text's end.
---@param text string
---@param starts integer[]
---@param position { line: integer, character: integer }
---@return integer
function M.offset(text, starts, position)
  local at = starts[position.line + 1]
  if not at then
    return #text
  end
  local line = text:sub(at + 1, starts[position.line + 2] or #text)
  return at + math.min(#line, M.recode(line, position.character, "utf-16", "utf-8"))
end

--- The row and column of an offset; the row after the last when it lies behind the final newline.
---@param rows integer[] where each of the buffer's lines begins, and, last, what would begin the next
---@param lines string[]
---@param offset integer
---@return integer row, integer column
function M.place(rows, lines, offset)
  local low, high = 1, #rows
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if rows[middle] <= offset then
      low = middle
    else
      high = middle - 1
    end
  end
  return low - 1, math.min(offset - rows[low], #(lines[low] or ""))
end

---@param lines string[]
---@param ending string
---@return integer[]
function M.rows(lines, ending)
  local rows, at = {}, 0
  for i, line in ipairs(lines) do
    rows[i] = at
    at = at + #line + #ending
  end
  rows[#lines + 1] = at
  return rows
end

return M
