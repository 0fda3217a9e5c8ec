-- What of a proposal the user selects: which hunks, and what they wrote themselves. Pure. The right side shows exactly what the
-- choice gives. A text that they wrote stays theirs: selecting a hunk puts it in there, leaving it out removes it again, where it
-- still finds its place.

local hunks = require("pillion.hunks")

---@class pillion.Chosen
---@field private files table<string, pillion.FilePreview> by path
---@field private order string[] keys
---@field private hunks table<string, pillion.Hunk[]> by key
---@field private left table<pillion.Hunk, boolean>
---@field private own table<string, string> what the user wrote, by path
---@field private seen table<string, table<string, table<pillion.Hunk, boolean>>> what was left when a text of theirs came about, by path
local Chosen = {}
Chosen.__index = Chosen

---@param one pillion.Hunk
local function content(one)
  return table.concat(one.before) .. "\0" .. table.concat(one.after) .. (one.has_text and "" or one.title)
end

--- `former` is what was chosen of the same proposal before the text beneath it changed: a hunk that says the same stays as it was.
---@param files pillion.FilePreview[]
---@param former? pillion.Chosen
---@return pillion.Chosen
function Chosen.new(files, former)
  local self = setmetatable({ files = {}, order = {}, hunks = {}, left = {}, own = {}, seen = {} }, Chosen)
  for _, file in ipairs(files) do
    self.files[file.path] = self.files[file.path] or file
    local key = self:key(file)
    self.hunks[key] = hunks.of(file)
    self.order[#self.order + 1] = key
    local rest = vim.list_slice(former and former:of(key) or {})
    for _, one in ipairs(self.hunks[key]) do
      for index, other in ipairs(rest) do
        if content(one) == content(other) then
          self.left[one] = not former:has(other) or nil
          table.remove(rest, index)
          break
        end
      end
    end
  end
  return self
end

--- What its hunks are found by: its path. What is done to a file as a whole beside its text, such as a move, comes after that,
--- under a name of its own.
---@param file pillion.FilePreview
function Chosen:key(file)
  local first = self.files[file.path]
  return first and first.operation ~= file.operation and ("%s\n%s"):format(file.path, file.operation) or file.path
end

---@param path string
---@return pillion.Hunk[]
function Chosen:of(path)
  return self.hunks[path] or {}
end

---@param one pillion.Hunk
function Chosen:has(one)
  return not self.left[one]
end

---@private
function Chosen:selection()
  return function(one)
    return self:has(one)
  end
end

---@param path? string of all files without it
---@return pillion.Hunk[]
function Chosen:all(path)
  return vim
    .iter(path and { path } or self.order)
    :map(function(name)
      return self:of(name)
    end)
    :flatten()
    :totable()
end

---@param path? string of all files without it
function Chosen:selected(path)
  return vim.tbl_filter(self:selection(), self:all(path))
end

---@param path? string of all files without it
---@return integer selected, integer all
function Chosen:count(path)
  local all = self:all(path)
  return #vim.tbl_filter(self:selection(), all), #all
end

--- Which one of all files it is, from 1.
---@param wanted pillion.Hunk
function Chosen:number(wanted)
  local all = self:all()
  for number, one in ipairs(all) do
    if one == wanted then
      return number
    end
  end
  return #all
end

--- Whether there is anything to choose: a single hunk is approved or not.
function Chosen:is_open()
  return #self:all() > 1
end

function Chosen:is_whole()
  return next(self.left) == nil
end

--- Whether approving would do nothing.
function Chosen:is_nothing()
  local without_hunks = vim.iter(self.order):any(function(path)
    return #self:of(path) == 0
  end)
  return not self:is_whole() and self:count() == 0 and not self:is_edited() and not without_hunks
end

--- What is selected, by its ids.
---@return string[]
function Chosen:ids()
  return vim.tbl_map(function(one)
    return one.id
  end, self:selected())
end

function Chosen:is_edited()
  return next(self.own) ~= nil
end

function Chosen:edited()
  return vim.deepcopy(self.own)
end

---@param path string
---@return string? the user's own text
function Chosen:edit_of(path)
  return self.own[path]
end

--- Whether a text of the right side is the user's own.
---@param path string
---@param now string
function Chosen:is_own(path, now)
  return now ~= self:given(path) and not self:reads(path, now)
end

---@private
---@param path string
---@param now string
---@return table<pillion.Hunk, boolean>?
function Chosen:reads(path, now)
  local has_text = vim.iter(self:of(path)):any(function(one)
    return one.has_text
  end)
  return has_text and hunks.read(now, self.files[path].before, self:of(path)) or nil
end

--- The text that the hunks make, without what the user wrote.
---@param path string
function Chosen:given(path)
  local file = self.files[path]
  if not file then
    return ""
  end
  local selected, all = self:count(path)
  return selected == all and file.after or hunks.text(file.before, self:of(path), self:selection())
end

--- What the right side shows.
---@param path string
function Chosen:right(path)
  return self.own[path] or self:given(path)
end

--- What stands on the right side now. It may be no text of the user's own: they took or left a hunk with an editor's means,
--- or undid that.
---@param path string
---@param now string? nil: what the hunks make
function Chosen:write(path, now)
  local file = self.files[path]
  if not now or not file or now == self:given(path) then
    self.own[path] = nil
    return
  end
  local selected = self:reads(path, now)
  local left = (self.seen[path] or {})[now]
  self.own[path] = not selected and now or nil
  for _, one in ipairs((selected or left) and self:of(path) or {}) do
    if selected then
      self.left[one] = not selected[one] or nil
    else
      self.left[one] = left[one]
    end
  end
end

---@private
---@param path string
---@param now string
function Chosen:remember(path, now)
  local left = {}
  for _, one in ipairs(self:of(path)) do
    left[one] = self.left[one]
  end
  self.seen[path] = self.seen[path] or {}
  self.seen[path][now] = left
end

---@param path string
---@param one pillion.Hunk
---@param select boolean
---@return boolean whether it is so now; not where what the user wrote stands in the way
function Chosen:select(path, one, select)
  if self:has(one) == select then
    return true
  end
  local own = self.own[path]
  local swapped = own and one.has_text and hunks.swap(own, one, select, self:place(path, one).from) or own
  if own and one.has_text and swapped == own then
    return false
  end
  if own then
    self:remember(path, own)
  end
  self.left[one] = not select or nil
  if swapped then
    self:remember(path, swapped)
    self:write(path, swapped)
  end
  return true
end

--- Where a hunk stands on the right side, or on the left one.
---@param path string
---@param one pillion.Hunk
---@param left? boolean
---@return pillion.Stretch
function Chosen:place(path, one, left)
  if left then
    return { from = one.start, to = one.start + #one.before }
  end
  local expected = hunks.place(self:of(path), one, self:selection())
  local own = self.own[path]
  return own and hunks.find(own, one, self:has(one) and "after" or "before", expected.from) or expected
end

--- Whether the user wrote over it, so that it can be neither taken nor left.
---@param path string
---@param one pillion.Hunk
function Chosen:is_stuck(path, one)
  local own = self.own[path]
  local side = self:has(one) and "after" or "before"
  return own ~= nil and one.has_text and not hunks.find(own, one, side, 0)
end

--- The hunk at a line, else the nearest one.
---@param path string
---@param line integer from 0
---@param left? boolean on the left side
---@return pillion.Hunk?
---@return integer? index
function Chosen:nearest(path, line, left)
  local best, best_index, least = nil, nil, math.huge
  for index, one in ipairs(self:of(path)) do
    local place = self:place(path, one, left)
    local far = line < place.from and place.from - line or math.max(0, line - math.max(place.from, place.to - 1))
    if far < least then
      best, best_index, least = one, index, far
    end
  end
  return best, best_index
end

return Chosen
