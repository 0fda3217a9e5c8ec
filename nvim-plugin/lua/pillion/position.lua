-- From LSP's positions to Neovim's: LSP counts UTF-16 units in lines that "\n", "\r\n" or a lone "\r" ends, in a text that has a
-- last, empty line after its final newline; Neovim counts bytes in its own lines. Also from and to the
-- positions of language servers that count otherwise than in UTF-16. What such a position means depends on its line: that is the
-- buffer's, or the file's where none is loaded, which is read without anybody waiting.

local documents = require("pillion.documents")

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

--- What a character of so many bytes counts.
---@param encoding string
---@param bytes integer
local function units(encoding, bytes)
  return encoding == "utf-8" and bytes or encoding == "utf-16" and bytes == 4 and 2 or 1
end

--- A character of a line, counted in other units. Beyond the line's end it is the end.
---@param line string
---@param character integer
---@param from "utf-8"|"utf-16"|"utf-32"
---@param to "utf-8"|"utf-16"|"utf-32"
local function recode(line, character, from, to)
  local at, seen, counted = 0, 0, 0
  while at < #line and seen < character do
    local byte = line:byte(at + 1)
    if byte == 10 or byte == 13 then
      break
    end
    local bytes = byte < 0xc0 and 1 or byte < 0xe0 and 2 or byte < 0xf0 and 3 or 4
    at, seen, counted = at + bytes, seen + units(from, bytes), counted + units(to, bytes)
  end
  return counted
end

--- The offset of a position: beyond a line's end it is the end, beyond the text the text's end.
---@param text string
---@param starts integer[]
---@param position { line: integer, character: integer }
function M.offset(text, starts, position)
  local at = starts[position.line + 1]
  if not at then
    return #text
  end
  local line = text:sub(at + 1, starts[position.line + 2] or #text)
  return at + math.min(#line, recode(line, position.character, "utf-16", "utf-8"))
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

--- In a larger file positions stay as they are.
local maximum_bytes = 8 * 1024 * 1024

---@alias pillion.Encoding "utf-8"|"utf-16"|"utf-32"
---@alias pillion.Place { line: integer, character: integer }

---@param text string
---@return fun(place: pillion.Place, from: pillion.Encoding, to: pillion.Encoding): integer character
local function reader(text)
  local starts = M.line_starts(text)
  return function(place, from, to)
    local first = starts[place.line + 1]
    if not first then
      return place.character
    end
    local line = text:sub(first + 1, starts[place.line + 2] or #text)
    return recode(line, place.character, from, to)
  end
end

--- A place of the wire, as a server counts.
---@param buffer integer
---@param place pillion.Place
---@param encoding pillion.Encoding
---@return pillion.Place
function M.to_server(buffer, place, encoding)
  if encoding == "utf-16" then
    return place
  end
  return { line = place.line, character = reader((documents.text(buffer)))(place, "utf-16", encoding) }
end

---@param path string
---@param callback fun(text: string?)
local function read(path, callback)
  callback = vim.schedule_wrap(callback)
  vim.uv.fs_stat(path, function(_, stat)
    if not stat or stat.type ~= "file" or stat.size > maximum_bytes then
      return callback(nil)
    end
    vim.uv.fs_open(path, "r", 0, function(_, file)
      if not file then
        return callback(nil)
      end
      vim.uv.fs_read(file, stat.size, 0, function(_, text)
        vim.uv.fs_close(file, function() end)
        callback(text)
      end)
    end)
  end)
end

--- The texts of some files; those that cannot be read are missing.
---@param uris string[]
---@param callback fun(readers: table<string, fun(place: pillion.Place, from: pillion.Encoding, to: pillion.Encoding): integer>)
local function texts(uris, callback)
  local buffers, found, left = {}, {}, #uris
  for _, buffer in ipairs(vim.tbl_filter(vim.api.nvim_buf_is_loaded, vim.api.nvim_list_bufs())) do
    buffers[vim.api.nvim_buf_get_name(buffer)] = buffer
  end
  local function one(uri, text)
    found[uri] = text and reader(text)
    left = left - 1
    if left == 0 then
      callback(found)
    end
  end
  for _, uri in ipairs(uris) do
    local fine, path = pcall(vim.uri_to_fname, uri)
    local buffer = fine and buffers[path]
    if buffer then
      one(uri, (documents.text(buffer)))
    elseif fine and vim.startswith(uri, "file:") then
      read(path, function(text)
        one(uri, text)
      end)
    else
      one(uri, nil)
    end
  end
end

--- Every position in what a server said, with the file that it is in.
---@param node any
---@param uri string of the document that was asked about
---@param visit fun(uri: string, place: pillion.Place)
local function each_place(node, uri, visit)
  if type(node) ~= "table" then
    return
  end
  local its = type(node.uri) == "string" and node.uri or uri
  local target = type(node.targetUri) == "string" and node.targetUri or its
  for key, value in pairs(node) do
    local is_range = type(value) == "table" and type(value.start) == "table" and type(value["end"]) == "table"
    if is_range then
      local file = (key == "targetRange" or key == "targetSelectionRange") and target or its
      visit(file, value.start)
      visit(file, value["end"])
    else
      each_place(value, its, visit)
    end
  end
end

--- What a server said, counted as the wire counts: `node` is changed.
---@generic T
---@param node T
---@param encoding pillion.Encoding
---@param uri string of the document that was asked about; "" if none was
---@param callback fun(node: T) at once where there is nothing to do
function M.from_server(node, encoding, uri, callback)
  local places = {} ---@type { uri: string, place: pillion.Place }[]
  local uris = {} ---@type table<string, boolean>
  if encoding ~= "utf-16" then
    each_place(node, uri, function(file, place)
      places[#places + 1] = { uri = file, place = place }
      uris[file] = true
    end)
  end
  if #places == 0 then
    callback(node)
    return
  end
  texts(vim.tbl_keys(uris), function(readers)
    for _, one in ipairs(places) do
      local count = readers[one.uri]
      one.place.character = count and count(one.place, encoding, "utf-16") or one.place.character
    end
    callback(node)
  end)
end

return M
