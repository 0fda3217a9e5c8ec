-- A text from the wire as a buffer holds it, and back, with its line ends and the one at its very end.

local api = vim.api

local M = {}

---@param text string
---@return string[] lines
---@return {fileformat: string, endofline: boolean}
local function split(text)
  local _, feeds = text:gsub("\n", "")
  local _, pairs_of_both = text:gsub("\r\n", "")
  local dos = feeds > 0 and feeds == pairs_of_both
  local lines = vim.split(text, dos and "\r\n" or "\n", { plain = true })
  local ended = text == "" or lines[#lines] == ""
  if ended and #lines > 1 then
    lines[#lines] = nil
  end
  return lines, { fileformat = dos and "dos" or "unix", endofline = ended }
end

--- Puts lines in the place of those that differ, so that cursor, marks and folds elsewhere stay where they are.
---@param buffer integer
---@param new string[]
function M.replace(buffer, new)
  local old = api.nvim_buf_get_lines(buffer, 0, -1, false)
  local from, old_end, new_end = 0, #old, #new
  while from < old_end and from < new_end and old[from + 1] == new[from + 1] do
    from = from + 1
  end
  while old_end > from and new_end > from and old[old_end] == new[new_end] do
    old_end, new_end = old_end - 1, new_end - 1
  end
  if from < old_end or from < new_end then
    api.nvim_buf_set_lines(buffer, from, old_end, false, vim.list_slice(new, from + 1, new_end))
  end
end

--- Makes the text all that the buffer holds. The user's `u` does not go back before it.
---@param buffer integer
---@param text string
function M.put(buffer, text)
  local options = vim.bo[buffer]
  local lines, kind = split(text)
  local modifiable, undolevels = options.modifiable, options.undolevels
  options.modifiable, options.undolevels = true, -1
  M.replace(buffer, lines)
  options.fileformat, options.endofline = kind.fileformat, kind.endofline
  options.modifiable, options.undolevels, options.modified = modifiable, undolevels, false
end

--- As `put`, as a change that `u` takes back. What no `u` could take back, other line ends, is put.
---@param buffer integer
---@param text string
function M.change(buffer, text)
  local options = vim.bo[buffer]
  local lines, kind = split(text)
  if kind.fileformat ~= options.fileformat or kind.endofline ~= options.endofline then
    M.put(buffer, text)
  else
    local modifiable = options.modifiable
    options.modifiable = true
    M.replace(buffer, lines)
    options.modifiable, options.modified = modifiable, false
  end
end

--- A line in parts of at most so many columns, broken at blanks where there are some.
---@param line string
---@param width integer
---@return string[]
function M.wrapped(line, width)
  local parts, rest = {}, line
  while vim.fn.strdisplaywidth(rest) > width do
    local count = width
    while count > 1 and vim.fn.strdisplaywidth(vim.fn.strcharpart(rest, 0, count)) > width do
      count = count - 1
    end
    local cut = #vim.fn.strcharpart(rest, 0, count)
    local blank = rest:sub(1, cut + 1):match("^.*() ")
    local last = blank and blank > 1 and blank - 1 or cut
    parts[#parts + 1], rest = rest:sub(1, last), (rest:sub(last + 1):gsub("^ ", ""))
  end
  parts[#parts + 1] = rest
  return parts
end

---@param buffer integer
function M.get(buffer)
  local lines = api.nvim_buf_get_lines(buffer, 0, -1, false)
  if #lines == 1 and lines[1] == "" then
    return ""
  end
  local feed = vim.bo[buffer].fileformat == "dos" and "\r\n" or "\n"
  return table.concat(lines, feed) .. (vim.bo[buffer].endofline and feed or "")
end

return M
