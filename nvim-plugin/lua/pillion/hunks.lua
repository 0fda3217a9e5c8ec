-- The hunks of a proposed file, and the text that some of them make: what is selected is put in, the rest stays as it is. Pure.
-- A line has its line feed with it, so that a last line without one is a line like any other.

local M = {}

---@class pillion.Hunk what can be selected or left out
---@field id string
---@field title string
---@field additions integer
---@field deletions integer
---@field has_text boolean else it is in no text: a file that is moved, a folder that is made
---@field start integer where it begins in the text before, from 0
---@field before string[] the lines that it changes
---@field after string[] the lines that replace them
---@field above string[] unchanged lines around it, by which it is found again in a text that somebody wrote in
---@field below string[]

---@alias pillion.Selection fun(hunk: pillion.Hunk): boolean

---@class pillion.Stretch lines of a text, from 0; without the one at `to`
---@field from integer
---@field to integer

---@param text string
---@return string[]
function M.lines(text)
  local found = {}
  for line in text:gmatch("[^\n]*\n?") do
    found[#found + 1] = line ~= "" and line or nil -- it matches once more at the end
  end
  return found
end

---@param lines string[]
---@param from integer from 0
---@param to integer not among them
local function slice(lines, from, to)
  return vim.list_slice(lines, from + 1, to)
end

---@param file pillion.FilePreview
---@return pillion.Hunk[]
function M.of(file)
  local before, after = M.lines(file.before), M.lines(file.after)
  return vim.tbl_map(function(one)
    local old, new = one.before or { start = 0, ["end"] = 0 }, one.after or { start = 0, ["end"] = 0 }
    return {
      id = one.id,
      title = one.title,
      additions = one.additions,
      deletions = one.deletions,
      has_text = one.before ~= nil,
      start = old.start,
      before = slice(before, old.start, old["end"]),
      after = slice(after, new.start, new["end"]),
      above = slice(before, old.start - one.head, old.start),
      below = slice(before, old["end"], old["end"] + one.tail),
    }
  end, file.hunks)
end

--- `before` with those made that are selected.
---@param before string
---@param hunks pillion.Hunk[]
---@param has pillion.Selection
function M.text(before, hunks, has)
  local lines, out, at = M.lines(before), {}, 0
  for _, one in ipairs(hunks) do
    vim.list_extend(out, lines, at + 1, one.start)
    vim.list_extend(out, has(one) and one.after or one.before)
    at = one.start + #one.before
  end
  return table.concat(vim.list_extend(out, lines, at + 1))
end

---@param lines string[]
---@param at integer from 0
---@param wanted string[]
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
---@return table<pillion.Hunk, boolean>? selected
function M.read(text, before, hunks)
  local lines, old = M.lines(text), M.lines(before)
  local selected, failed = {}, {} ---@type table<pillion.Hunk, boolean>, table<string, boolean>

  ---@param index integer the hunk that is next
  ---@param at integer in the text
  ---@param from integer in `before`
  local function fits(index, at, from)
    local one = hunks[index]
    local gap = slice(old, from, one and one.start or #old)
    local key = index .. ":" .. at
    if failed[key] or not stands(lines, at, gap) then
      return false
    elseif not one then
      return at + #gap == #lines
    end
    for _, select in ipairs({ true, false }) do
      local side = select and one.after or one.before
      selected[one] = select
      if stands(lines, at + #gap, side) and fits(index + 1, at + #gap + #side, one.start + #one.before) then
        return true
      end
    end
    failed[key] = true
    return false
  end
  return fits(1, 0, 0) and selected or nil
end

--- Where a hunk stands in the text that the selected ones make.
---@param hunks pillion.Hunk[]
---@param wanted pillion.Hunk
---@param has pillion.Selection
---@return pillion.Stretch
function M.place(hunks, wanted, has)
  local line = wanted.start
  for _, one in ipairs(hunks) do
    if one == wanted then
      break
    end
    line = line + (has(one) and #one.after - #one.before or 0)
  end
  return { from = line, to = line + #(has(wanted) and wanted.after or wanted.before) }
end

local split, split_lines = nil, {} ---@type string?, string[] the text that was searched last, which is mostly that of the hunk before

--- Finds one side of a hunk in a text that somebody wrote in: with as many of the lines around it as fit, nearest to where
--- it is expected. Without any of them it must be the only place.
---@param text string
---@param one pillion.Hunk
---@param side "before"|"after"
---@param near integer
---@return pillion.Stretch?
function M.find(text, one, side, near)
  if text ~= split then
    split, split_lines = text, M.lines(text)
  end
  local lines = split_lines
  for margin = math.max(#one.above, #one.below), 0, -1 do
    local above = slice(one.above, math.max(0, #one.above - margin), #one.above)
    local wanted = vim.list_extend(vim.list_extend(vim.list_slice(above), one[side]), slice(one.below, 0, margin))
    local best, count = nil, 0
    for at = 0, #wanted > 0 and #lines - #wanted or -1 do
      if stands(lines, at, wanted) then
        local place = at + #above
        best, count = best and math.abs(best - near) <= math.abs(place - near) and best or place, count + 1
      end
    end
    if best and (margin > 0 or count == 1) then
      return { from = best, to = best + #one[side] }
    end
  end
end

--- The text with a hunk put in, or taken out again; nil where what somebody wrote stands in the way.
---@param text string
---@param one pillion.Hunk
---@param select boolean
---@param near integer
---@return string?
function M.swap(text, one, select, near)
  local place = M.find(text, one, select and "before" or "after", near)
  if not place then
    return nil
  end
  local lines = M.lines(text)
  local out = slice(lines, 0, place.from)
  vim.list_extend(out, select and one.after or one.before)
  return table.concat(vim.list_extend(out, lines, place.to + 1))
end

return M
