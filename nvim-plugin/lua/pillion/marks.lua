-- Which lines an agent changed (`journal/changed`): a sign beside each, until the user saves the file themself, accepts, or
-- reverts. The signs are extmarks, so they move with the text and go with their line. Of a file that no buffer holds the lines are
-- kept, and shown when it is read, if it is still the file that the agent left.

local client = require("pillion.client")
local config = require("pillion.config")
local documents = require("pillion.documents")
local escape = require("pillion.escape")
local keys = require("pillion.keys")
local words = require("pillion.words")

local api = vim.api
local space = api.nvim_create_namespace("pillion.marks")

local M = {}

--- Of one file; what is beyond that is not marked.
M.limit = 10000

---@class pillion.Maker
---@field callId string
---@field sessionId string
---@field agent {name: string, via: string}
---@field title string
---@field tool string
---@field time string
---@field client any

---@alias pillion.MarkKind "added"|"changed"|"removed"

---@class pillion.LineMark
---@field row integer from 0
---@field kind pillion.MarkKind
---@field by pillion.Maker
---@field seq? integer the undo state of the buffer that has it
---@field hidden? integer the user has undone it; the newest undo state then

---@type table<integer, table<integer, pillion.LineMark>> by buffer and extmark
local shown = {}
---@type table<integer, {newest: integer, some_hidden: boolean}> by buffer, so that not every key looks at every mark
local undoable = {}
---@type table<string, {looks: string, marks: pillion.LineMark[]}> by path
local kept = {}
---@type table<integer, boolean> buffers that are being saved for an agent
local saving = {}
---@type table<integer, {seq: integer, since: integer[][]}> by buffer, of an agent's last edit: the undo state that it made, and what
--- was changed since: lines first to last became first to now
local edited = {}
--- More than that is typed by nobody before the sidecar tells which lines it was.
local most_since = 200

local signs = { added = "▌", changed = "▌", removed = "▁" }
local names = { added = "Added", changed = "Changed", removed = "Removed" }

---@param buffer integer
---@param mark pillion.LineMark
---@param id integer?
local function put(buffer, mark, id)
  local options, visible = config.current.marks, not mark.hidden
  local has_sign, has_line = visible and options.signs, visible and options.lines and mark.kind ~= "removed"
  local placed = api.nvim_buf_set_extmark(buffer, space, mark.row, 0, {
    id = id,
    sign_text = has_sign and signs[mark.kind] or nil,
    sign_hl_group = has_sign and "PillionSign" .. names[mark.kind] or nil,
    line_hl_group = has_line and "PillionLine" .. names[mark.kind] or nil,
    priority = 8, -- above a version control's, below what is wrong with a line
    invalidate = true,
    undo_restore = true,
  })
  shown[buffer][placed] = mark
end

--- Those that stand in a buffer, where they stand now.
---@param buffer integer
---@return table<integer, pillion.LineMark> by extmark
local function standing(buffer)
  local found = {}
  for _, extmark in ipairs(shown[buffer] and api.nvim_buf_get_extmarks(buffer, space, 0, -1, { details = true }) or {}) do
    local mark = shown[buffer][extmark[1]]
    if mark and not extmark[4].invalid then
      mark.row = extmark[2]
      found[extmark[1]] = mark
    end
  end
  return found
end

local steps = { next_mark = 1, prev_mark = -1 }

---@param buffer integer
---@param key string
---@return vim.api.keyset.keymap?
local function mapping(buffer, key)
  return vim.iter(api.nvim_buf_get_keymap(buffer, "n")):find(function(one)
    return vim.keycode(one.lhs) == vim.keycode(key)
  end)
end

--- To the first line of the next stretch of marked lines, or of the one before; from the last to the first.
---@param buffer integer the current one
---@param step 1|-1
local function go(buffer, step)
  local rows, starts = {}, {}
  for _, mark in pairs(standing(buffer)) do
    rows[#rows + 1] = not mark.hidden and mark.row or nil
  end
  table.sort(rows)
  for index, row in ipairs(rows) do
    if rows[index - 1] ~= row - 1 then
      starts[#starts + 1] = row + 1
    end
  end
  if #starts == 0 then
    require("pillion.announce").tell("Pillion: this file has no marks")
    return
  end
  local here = api.nvim_win_get_cursor(0)[1]
  local place ---@type integer?
  for index, line in ipairs(starts) do
    if step > 0 and line > here then
      place = place or index
    elseif step < 0 and line < here then
      place = index
    end
  end
  vim.cmd("normal! m'")
  api.nvim_win_set_cursor(0, { starts[place or step > 0 and 1 or #starts], 0 })
  vim.cmd("normal! zv^")
end

--- The keys that go from mark to mark, while a buffer has marks; never over a mapping of its own.
---@param buffer integer
local function bind(buffer)
  for action, step in pairs(steps) do
    local key = keys.of(action)
    if key and not mapping(buffer, key) then
      vim.keymap.set("n", key, function()
        go(buffer, step)
      end, { buffer = buffer, desc = keys.descriptions[action] })
    end
  end
end

---@param buffer integer
local function unbind(buffer)
  for action in pairs(steps) do
    local key = keys.of(action)
    local found = key and mapping(buffer, key)
    if found and found.desc == keys.descriptions[action] then
      vim.keymap.del("n", key, { buffer = buffer })
    end
  end
end

---@param buffer integer
---@param marks pillion.LineMark[]
local function place(buffer, marks)
  local fresh, last = {}, api.nvim_buf_line_count(buffer)
  for _, mark in ipairs(marks) do
    fresh[mark.row] = true
  end
  shown[buffer] = shown[buffer] or {}
  bind(buffer)
  for id, mark in pairs(standing(buffer)) do
    if fresh[mark.row] then
      api.nvim_buf_del_extmark(buffer, space, id)
      shown[buffer][id] = nil
    end
  end
  undoable[buffer] = undoable[buffer] or { newest = 0, some_hidden = false }
  for _, mark in ipairs(marks) do
    undoable[buffer].newest = math.max(undoable[buffer].newest, mark.seq or 0)
    if mark.row < last then
      put(buffer, mark)
    end
  end
end

--- The lines that a change set wrote, one by one.
---@param lines {start: integer, end: integer, removed?: integer}[]
---@param by pillion.Maker
---@param seq integer?
---@return pillion.LineMark[]
local function marks_of(lines, by, seq)
  local marks = {} ---@type pillion.LineMark[]
  for _, span in ipairs(lines) do
    local from, to = span.start, span["end"]
    if from == to then
      marks[#marks + 1] = { row = math.max(0, from - 1), kind = "removed", by = by, seq = seq }
    end
    for row = from, math.min(to - 1, from + M.limit - #marks) do
      marks[#marks + 1] = { row = row, kind = span.removed == 0 and "added" or "changed", by = by, seq = seq }
    end
  end
  return marks
end

--- Older marks of a file that was written on disk, as the lines lie there now.
---@param marks pillion.LineMark[]
---@param lines {start: integer, end: integer, removed?: integer}[]
---@return pillion.LineMark[]
local function shifted(marks, lines)
  local left = marks
  for _, span in ipairs(lines) do
    local length = span["end"] - span.start
    local removed = span.removed or length
    left = vim.tbl_filter(function(mark)
      if mark.row >= span.start + removed then
        mark.row = mark.row + length - removed
        return true
      end
      return mark.row < span.start
    end, left)
  end
  return left
end

--- Lines as they lie in a buffer now, if they were told of as they lay after an agent's last edit.
---@param buffer integer
---@param lines {start: integer, end: integer, removed?: integer}[]
---@return {start: integer, end: integer, removed?: integer}[]
local function followed(buffer, lines)
  local function follow(row)
    for _, change in ipairs(edited[buffer] and edited[buffer].since or {}) do
      local first, last, now = unpack(change)
      row = row >= last and row + now - last or math.min(row, math.max(first, now))
    end
    return row
  end
  local found = {}
  for _, span in ipairs(lines) do
    local from, to = follow(span.start), follow(span["end"])
    if from < to or span.start == span["end"] then -- else they are deleted again
      found[#found + 1] = { start = from, ["end"] = to, removed = span.removed }
    end
  end
  return found
end

--- Lines that an agent wrote.
---@param path string
---@param lines {start: integer, end: integer, removed?: integer}[]
---@param by pillion.Maker
function M.add(path, lines, by)
  local buffer = documents.buffers_on(path)[1]
  if buffer then
    local seq = edited[buffer] and edited[buffer].seq or vim.fn.undotree(buffer).seq_cur
    place(buffer, marks_of(followed(buffer, lines), by, seq))
  else
    local older = kept[path] and kept[path].marks or {}
    local marks = vim.list_extend(shifted(older, lines), marks_of(lines, by))
    kept[path] = { looks = documents.looks(path), marks = vim.list_slice(marks, 1, M.limit) }
  end
end

--- A file, or all below a folder, lies elsewhere now, or nowhere.
---@param path string
---@param to string?
function M.moved(path, to)
  for _, old in ipairs(vim.tbl_keys(kept)) do
    if client.is_below(old, path) then
      local marks = kept[old].marks
      kept[old] = nil
      if to then
        local now = to .. old:sub(#path + 1)
        kept[now] = { looks = documents.looks(now), marks = marks }
      end
    end
  end
end

---@param buffer integer
local function clear(buffer)
  shown[buffer], undoable[buffer] = nil, nil
  if api.nvim_buf_is_valid(buffer) then
    unbind(buffer)
    api.nvim_buf_clear_namespace(buffer, space, 0, -1)
    kept[vim.uv.fs_realpath(api.nvim_buf_get_name(buffer)) or ""] = nil
  end
end

--- What these calls changed is reverted.
---@param is_gone fun(by: pillion.Maker): boolean
function M.forget(is_gone)
  for buffer, marks in pairs(shown) do
    for id, mark in pairs(marks) do
      if is_gone(mark.by) then
        pcall(api.nvim_buf_del_extmark, buffer, space, id)
        marks[id] = nil
      end
    end
  end
  for path, file in pairs(kept) do
    file.marks = vim.tbl_filter(function(mark)
      return not is_gone(mark.by)
    end, file.marks)
    kept[path] = #file.marks > 0 and file or nil
  end
end

--- An agent's edit has just become the last step of the buffer's undo. Until the sidecar tells which lines it was, what the
--- user types moves them.
---@param buffer integer
function M.edited(buffer)
  if not edited[buffer] then
    api.nvim_buf_attach(buffer, false, {
      on_lines = function(_, _, _, first, last, now)
        local edit = edited[buffer]
        if edit and #edit.since < most_since then
          table.insert(edit.since, { first, last, now })
        end
        return edit == nil -- which ends this
      end,
    })
  end
  edited[buffer] = { seq = vim.fn.undotree(buffer).seq_cur, since = {} }
end

--- Saves for an agent: what it changed is no more seen by anybody than before.
---@param buffer integer
---@param save fun()
function M.during_save(buffer, save)
  saving[buffer] = true
  save()
  saving[buffer] = nil
end

--- The buffers and the files that have marks.
function M.count()
  local count = vim.tbl_count(kept)
  for buffer in pairs(shown) do
    count = count + (next(standing(buffer)) and 1 or 0)
  end
  return count
end

--- `:Pillion accept [all]`
---@param what string
function M.accept(what)
  local announce = require("pillion.announce")
  if what == "all" then
    local count = M.count()
    vim.tbl_map(clear, vim.tbl_keys(shown))
    kept = {}
    announce.tell(count == 0 and "Pillion: nothing is marked" or ("Pillion: accepted in %s"):format(words.count(count, "file")))
  elseif what ~= "" then
    announce.tell("Pillion: use accept, or accept all")
  else
    local buffer = api.nvim_get_current_buf()
    local any = next(standing(buffer)) ~= nil
    clear(buffer)
    announce.tell(any and "Pillion: accepted in this file" or "Pillion: nothing is marked in this file")
  end
end

--- Who changed the line of the cursor.
---@return pillion.Maker?, pillion.MarkKind?
function M.here()
  local buffer, row = api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1] - 1
  for _, mark in pairs(standing(buffer)) do
    if mark.row == row and not mark.hidden then
      return mark.by, mark.kind
    end
  end
end

--- `:Pillion who`
function M.who()
  local announce, journal = require("pillion.announce"), require("pillion.journal")
  local by, kind = M.here()
  if not by then
    announce.tell("Pillion: this line has no mark")
    return
  end
  local did = kind == "removed" and "removed lines here" or kind == "added" and "wrote this line" or "changed this line"
  local agent = escape.visible(by.agent.name)
  announce.tell(("%s %s at %s: %s  (:Pillion revert)"):format(agent, did, journal.clock(by), journal.title(by)))
end

--- After an undo or a redo a mark is seen while its change is in the text.
---@param buffer integer
local function follow_undo(buffer)
  local tree, state = vim.fn.undotree(buffer), undoable[buffer]
  if tree.seq_cur >= state.newest and not state.some_hidden then
    return
  end
  state.some_hidden = false
  for id, mark in pairs(standing(buffer)) do
    local is_undone = mark.seq ~= nil and mark.seq > tree.seq_cur
    if mark.hidden and tree.seq_last > mark.hidden then -- something else was written in its place
      api.nvim_buf_del_extmark(buffer, space, id)
      shown[buffer][id] = nil
    elseif is_undone ~= (mark.hidden ~= nil) then
      mark.hidden = is_undone and tree.seq_last or nil
      put(buffer, mark, id)
    end
    state.some_hidden = state.some_hidden or mark.hidden ~= nil
  end
end

--- Marks of a buffer that goes are kept with its file, if it holds the file's text.
---@param buffer integer
local function stow(buffer)
  local path = vim.uv.fs_realpath(api.nvim_buf_get_name(buffer))
  if path and not vim.bo[buffer].modified then
    local marks = vim.tbl_filter(function(mark)
      mark.seq = nil
      return not mark.hidden
    end, vim.tbl_values(standing(buffer)))
    kept[path] = #marks > 0 and { looks = documents.looks(path), marks = marks } or nil
  end
  shown[buffer], edited[buffer], undoable[buffer] = nil, nil, nil
  unbind(buffer)
  api.nvim_buf_clear_namespace(buffer, space, 0, -1) -- else they come back with the buffer
end

function M.setup()
  local on = require("pillion.events").on("marks")
  on("BufWritePost", function(event)
    if shown[event.buf] and not saving[event.buf] and not vim.bo[event.buf].modified then -- else a copy was written
      clear(event.buf)
    end
  end)
  on("TextChanged", function(event)
    if shown[event.buf] then
      follow_undo(event.buf)
    end
  end)
  on("BufUnload", function(event)
    if shown[event.buf] then
      stow(event.buf)
    end
  end)
  on("BufReadPost", function(event)
    local path = next(kept) and vim.uv.fs_realpath(api.nvim_buf_get_name(event.buf)) or ""
    local file = kept[path]
    kept[path] = nil
    if file and file.looks == documents.looks(path) then
      place(event.buf, file.marks)
    end
  end)
end

return M
