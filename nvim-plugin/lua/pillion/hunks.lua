-- The hunks of a proposed file, and the text that some of them make: what is taken is put in, the rest stays as it is. Pure.
-- A line has its line feed with it, so that a last line without one is a line like any other.

local M = {}

---@class pillion.Hunk what can be taken or left
---@field ids string[] one; all of the file's where it goes as a whole
---@field header string
---@field has_text boolean else it is in no text: a file that is moved, a folder that is made
---@field start integer where it begins in the text before, from 0
---@field before string[] its lines there, those around the change among them
---@field after string[] the lines that replace them
---@field head integer how many lines at its start are only there for being around it
---@field tail integer and at its end

---@alias pillion.Takes fun(hunk: pillion.Hunk): boolean

---@class pillion.Stretch lines of a text, from 0; without the one at `to`
---@field from integer
---@field to integer

---@param text string
---@return string[]
function M.lines(text)
  local found, at = {}, 1
  while at <= #text do
    local feed = text:find("\n", at, true) or #text
    found[#found + 1] = text:sub(at, feed)
    at = feed + 1
  end
  return found
end

---@param header string
---@return {start: integer, before: integer, from: integer, after: integer}? nil of a header that is words
local function span(header)
  local start, before, from, after = header:match("^@@ %-(%d+),?(%d*) %+(%d+),?(%d*) @@")
  if not start then
    return nil
  end
  local function place(line, count) -- of no lines it names the one before
    return tonumber(line) - (count == 0 and 0 or 1)
  end
  local counts = { tonumber(before) or 1, tonumber(after) or 1 }
  return { start = place(start, counts[1]), before = counts[1], from = place(from, counts[2]), after = counts[2] }
end

---@param one string[]
---@param other string[]
---@return integer head, integer tail how many lines they have in common at both ends
local function around(one, other)
  local shorter, head, tail = math.min(#one, #other), 0, 0
  while head < shorter and one[head + 1] == other[head + 1] do
    head = head + 1
  end
  while tail < shorter - head and one[#one - tail] == other[#other - tail] do
    tail = tail + 1
  end
  return head, tail
end

---@param ids string[]
---@param header string
---@param start integer
---@param before string[]
---@param after string[]
---@return pillion.Hunk
local function hunk(ids, header, start, before, after)
  local head, tail = around(before, after)
  local has_text = #before > 0 or #after > 0
  return { ids = ids, header = header, has_text = has_text, start = start, before = before, after = after, head = head, tail = tail }
end

---@param file pillion.FilePreview
---@param named {id: string, header: string}[]
---@return pillion.Hunk
local function whole(file, named)
  local ids = vim.tbl_map(function(one)
    return one.id
  end, named)
  local is_text = (named[1].header or ""):sub(1, 2) == "@@"
  return hunk(ids, named[1].header or "", 0, is_text and M.lines(file.before) or {}, is_text and M.lines(file.after) or {})
end

--- Those that the preview names. Where they do not make its text, the file is one: taken or left as a whole.
---@param file pillion.FilePreview
---@return pillion.Hunk[] none where it names none
function M.of(file)
  local named, found = file.hunks or {}, {}
  if #named == 0 then
    return {}
  end
  local before, after = M.lines(file.before or ""), M.lines(file.after or "")
  for _, one in ipairs(named) do
    local place = span(one.header or "")
    if not place then
      return { whole(file, named) }
    end
    local old = vim.list_slice(before, place.start + 1, place.start + place.before)
    local new = vim.list_slice(after, place.from + 1, place.from + place.after)
    found[#found + 1] = hunk({ one.id }, one.header, place.start, old, new)
  end
  local made = M.text(file.before, found, function()
    return true
  end)
  return made == file.after and found or { whole(file, named) }
end

--- `before` with those made that are taken.
---@param before string
---@param hunks pillion.Hunk[]
---@param takes pillion.Takes
---@return string
function M.text(before, hunks, takes)
  local lines, out, at = M.lines(before), {}, 0
  for _, one in ipairs(hunks) do
    vim.list_extend(out, lines, at + 1, one.start)
    vim.list_extend(out, takes(one) and one.after or one.before)
    at = one.start + #one.before
  end
  return table.concat(vim.list_extend(out, lines, at + 1))
end

---@param lines string[]
---@param at integer from 0
---@param wanted string[]
---@return boolean
local function stands(lines, at, wanted)
  for index, line in ipairs(wanted) do
    if lines[at + index] ~= line then
      return false
    end
  end
  return true
end

--- Which of the hunks a text has, if it is nothing else than `before` with some of them.
---@param text string
---@param before string
---@param hunks pillion.Hunk[]
---@return table<pillion.Hunk, boolean>? takes
function M.read(text, before, hunks)
  local lines, old = M.lines(text), M.lines(before)
  local takes, failed = {}, {} ---@type table<pillion.Hunk, boolean>, table<string, boolean>

  ---@param index integer the hunk that is next
  ---@param at integer in the text
  ---@param from integer in `before`
  local function fits(index, at, from)
    local one = hunks[index]
    local gap = vim.list_slice(old, from + 1, one and one.start or #old)
    local key = index .. ":" .. at
    if failed[key] or not stands(lines, at, gap) then
      return false
    elseif not one then
      return at + #gap == #lines
    end
    for _, take in ipairs({ true, false }) do
      local side = take and one.after or one.before
      takes[one] = take
      if stands(lines, at + #gap, side) and fits(index + 1, at + #gap + #side, one.start + #one.before) then
        return true
      end
    end
    failed[key] = true
    return false
  end
  return fits(1, 0, 0) and takes or nil
end

--- Where a hunk stands in the text that the taken ones make; without the lines around it.
---@param hunks pillion.Hunk[]
---@param wanted pillion.Hunk
---@param takes pillion.Takes
---@return pillion.Stretch
function M.place(hunks, wanted, takes)
  local line = wanted.start
  for _, one in ipairs(hunks) do
    if one == wanted then
      break
    end
    line = line + (takes(one) and #one.after - #one.before or 0)
  end
  local length = #(takes(wanted) and wanted.after or wanted.before)
  return { from = line + wanted.head, to = line + length - wanted.tail }
end

--- Finds one side of a hunk in a text that somebody wrote in: with as many of the lines around it as fit, nearest to where
--- it is expected. Without any of them it must be the only place.
---@param lines string[]
---@param one pillion.Hunk
---@param side "before"|"after"
---@param near integer
---@return pillion.Stretch?
local function find(lines, one, side, near)
  local all = one[side]
  for margin = math.max(one.head, one.tail), 0, -1 do
    local cut = math.max(0, one.head - margin)
    local wanted = vim.list_slice(all, cut + 1, #all - math.max(0, one.tail - margin))
    local best, count = nil, 0
    for at = 0, #wanted > 0 and #lines - #wanted or -1 do
      if stands(lines, at, wanted) then
        local place = at + one.head - cut
        best, count = best and math.abs(best - near) <= math.abs(place - near) and best or place, count + 1
      end
    end
    if best and (margin > 0 or count == 1) then
      return { from = best, to = best + #all - one.head - one.tail }
    end
  end
end

local split, split_lines = nil, {} ---@type string?, string[]

--- The same of a whole text, which is mostly that of the hunk before.
---@param text string
---@param one pillion.Hunk
---@param side "before"|"after"
---@param near integer
---@return pillion.Stretch?
function M.find(text, one, side, near)
  if text ~= split then
    split, split_lines = text, M.lines(text)
  end
  return find(split_lines, one, side, near)
end

--- The text with a hunk put in, or taken out again; nil where what somebody wrote stands in the way.
---@param text string
---@param one pillion.Hunk
---@param take boolean
---@param near integer
---@return string?
function M.swap(text, one, take, near)
  local lines = M.lines(text)
  local place = find(lines, one, take and "before" or "after", near)
  if not place then
    return nil
  end
  local side = take and one.after or one.before
  local out = vim.list_slice(lines, 1, place.from)
  vim.list_extend(out, side, one.head + 1, #side - one.tail)
  return table.concat(vim.list_extend(out, lines, place.to + 1))
end

--- How many lines it adds and removes.
---@param one pillion.Hunk
---@return integer additions, integer deletions
function M.size(one)
  local additions, deletions = 0, 0
  local indices = vim.diff(table.concat(one.before), table.concat(one.after), { result_type = "indices" })
  for _, change in
    ipairs(indices --[[@as integer[][] ]])
  do
    additions, deletions = additions + change[4], deletions + change[2]
  end
  return additions, deletions
end

return M
