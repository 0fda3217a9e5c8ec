-- The sidecar's edits of open files (`document/edit`): made only if the buffer is exactly what the sidecar knows, as an undo step
-- of their own, with cursors and views where they were, and saved if nothing was unsaved. Nothing here may ask the user
-- anything: a prompt would stop Neovim, so what would raise one is looked for first, and refused.

local announce = require("pillion.announce")
local client = require("pillion.client")
local documents = require("pillion.documents")
local idle = require("pillion.idle")
local marks = require("pillion.marks")
local position = require("pillion.position")
local reload = require("pillion.reload")
local save = require("pillion.save")
local views = require("pillion.views")

local api = vim.api

local M = {}

---@class pillion.Change
---@field first integer offset in bytes
---@field last integer
---@field text string

--- Undo and redo stop here, also while the user inserts text.
---@param buffer integer
local function undo_stop(buffer)
  vim.bo[buffer].undolevels = vim.bo[buffer].undolevels
end

--- LSP's edits as offsets, the last one first. Those at one place keep their order.
---@param text string
---@param edits table[]
---@return pillion.Change[]
local function changes_of(text, edits)
  local starts = position.line_starts(text)
  local changes = {} ---@type (pillion.Change | { order: integer })[]
  for order, edit in ipairs(edits) do
    local first, last = position.offset(text, starts, edit.range.start), position.offset(text, starts, edit.range["end"])
    changes[order] = { first = math.min(first, last), last = math.max(first, last), text = edit.newText, order = order }
  end
  table.sort(changes, function(a, b)
    if a.first ~= b.first then
      return a.first > b.first
    end
    return a.order > b.order
  end)
  return changes
end

--- New text as the buffer's lines. In a buffer of DOS lines no other line end can be kept.
---@param text string
---@param ending string
---@return string[]
local function split(text, ending)
  local lines = vim.split(text, ending == "\r" and "\r" or "\n", { plain = true })
  if ending == "\r\n" then
    for i = 1, #lines - 1 do
      lines[i] = lines[i]:gsub("\r$", "")
    end
  end
  return lines
end

--- Replaces up to the very end, where the final newline is an option and no line.
---@param buffer integer
---@param lines string[] the buffer's
---@param row integer
---@param column integer
---@param new string
---@param ending string
local function replace_tail(buffer, lines, row, column, new, ending)
  local final = ending == "\r" and "\r" or "\n"
  local has_newline = new == "" and column == 0 or new:sub(-1) == final
  local inserted = split(has_newline and new:gsub((ending == "\r\n" and "\r?" or "") .. final .. "$", "") or new, ending)
  if row >= #lines then
    if new ~= "" then
      api.nvim_buf_set_lines(buffer, #lines, #lines, true, inserted)
    end
  elseif column == 0 and new == "" then
    api.nvim_buf_set_lines(buffer, row, -1, true, {})
  else
    api.nvim_buf_set_text(buffer, row, column, #lines - 1, #lines[#lines], inserted)
  end
  vim.bo[buffer].endofline = has_newline
end

---@param buffer integer
---@param edits table[]
local function apply(buffer, edits)
  local text, lines = documents.text(buffer)
  local ending = documents.line_end(buffer)
  local rows = position.rows(lines, ending)
  for _, change in ipairs(changes_of(text, edits)) do
    local row, column = position.place(rows, lines, change.first)
    if change.last == #text then
      replace_tail(buffer, lines, row, column, change.text, ending)
    else
      local last_row, last_column = position.place(rows, lines, change.last)
      api.nvim_buf_set_text(buffer, row, column, last_row, last_column, split(change.text, ending))
    end
  end
end

---@param problem string
local function short(problem)
  return (problem:gsub("^.-(E%d+:)", "%1"):match("[^\n]*"))
end

--- All of the edits or none.
---@param buffer integer
---@param edits table[]
---@return boolean applied, string? problem
local function apply_all(buffer, edits)
  local before = vim.b[buffer].changedtick
  undo_stop(buffer)
  local restore = views.keep(buffer)
  local ok, problem = pcall(apply, buffer, edits)
  problem = not ok and short(tostring(problem)) or nil
  if problem and vim.b[buffer].changedtick ~= before then
    local undone, why = pcall(api.nvim_buf_call, buffer, function()
      vim.cmd("silent undo")
    end)
    if not undone then
      problem = ("%s; a part of it is in the buffer and could not be undone: %s"):format(problem, short(tostring(why)))
    end
  end
  restore()
  return ok, problem
end

---@param document? pillion.Document
---@param reason string
local function refusal(document, reason)
  if not document then
    return { applied = false, version = 0, dirty = false, reason = reason }
  end
  return { applied = false, version = document.version, dirty = vim.bo[document.buffer].modified, reason = reason }
end

--- Neovim writes a question mark for a character that the file's encoding has not, and says so afterwards.
---@param buffer integer
---@param edits table[]
local function is_encodable(buffer, edits)
  local name = vim.bo[buffer].fileencoding
  if name == "" or name:match("^utf") or name:match("^ucs") then
    return true
  end
  return vim.iter(edits):all(function(edit)
    local bytes = vim.iconv(edit.newText, "utf-8", name)
    return bytes ~= nil and vim.iconv(bytes, name, "utf-8") == edit.newText
  end)
end

---@param document pillion.Document
---@param request table
---@return string? reason why it cannot be applied
local function obstacle(document, request)
  documents.flush(document)
  if document.version ~= request.version then
    return ("the buffer is at version %d, not %d"):format(document.version, request.version)
  end
  if document.tick ~= vim.b[document.buffer].changedtick then
    return "the buffer has just changed"
  end
  if documents.is_readonly(document.buffer, document.path) then
    return "the buffer is read-only"
  end
  if not is_encodable(document.buffer, request.edits or {}) then
    return ("the buffer's encoding, %s, has no bytes for a character of the edit"):format(vim.bo[document.buffer].fileencoding)
  end
end

---Buffers that hold an edit which could not be saved, and their changedtick then: nothing in them is the user's.
local unsaved = {} ---@type table<integer, integer>

---How long the sidecar may take to take a change of several files back, one of which could not be saved.
local TAKEN_BACK_MS = 1000

---@param request { uri: string, version: integer, edits?: table[], save: boolean, label: string }
---@param owner pillion.Client
---@return { applied: boolean, version: integer, dirty: boolean, reason?: string }
function M.edit(request, owner)
  local document = documents.find(request.uri, owner)
  if not document or not api.nvim_buf_is_loaded(document.buffer) then
    return refusal(nil, "the document is not open")
  end
  local buffer = document.buffer
  local is_ours = unsaved[buffer] == api.nvim_buf_get_changedtick(buffer)
  unsaved[buffer] = nil
  local wants_save = request.save and (is_ours or not vim.bo[buffer].modified) -- what the user has not saved is theirs to save
  local reason ---@type string?
  if wants_save and not reload.check(buffer) then -- writing over what somebody else has just written would ask
    reason = "the file changed on disk, and the buffer was not reloaded"
  end
  reason = reason or obstacle(document, request)
  if reason then
    return refusal(document, reason)
  end
  local applied, problem = apply_all(buffer, request.edits or {})
  documents.suspect(document)
  if not applied then
    documents.flush(document)
    return refusal(document, "Neovim did not apply the edit: " .. problem)
  end
  local saved, trouble = true, nil ---@type boolean, string?
  if wants_save then
    marks.during_save(buffer, function()
      saved, trouble = save.write(buffer)
    end)
  end
  undo_stop(buffer)
  marks.edited(buffer)
  documents.flush(document)
  local result = { applied = true, version = document.version, dirty = vim.bo[buffer].modified }
  if not saved then
    local why = trouble and ": " .. short(trouble) or ""
    result.reason = "the edit was applied but could not be saved" .. why
    unsaved[buffer] = api.nvim_buf_get_changedtick(buffer)
    vim.defer_fn(function()
      -- Else it was taken back, or the user went on.
      if api.nvim_buf_is_loaded(buffer) and unsaved[buffer] == api.nvim_buf_get_changedtick(buffer) then
        local text = "Pillion: %s has a change that could not be saved%s"
        announce.say(text:format(vim.fs.basename(document.path), why), vim.log.levels.WARN)
      end
    end, TAKEN_BACK_MS)
  end
  return result
end

--- As `edit`, when the user is not in the middle of what an edit would spoil.
---@param request { uri: string, version: integer, edits?: table[], save: boolean, label: string }
---@param reply fun(result: any)
---@param owner pillion.Client
---@param cancelled fun(callback: fun())
function M.edit_in_time(request, reply, owner, cancelled)
  local document = documents.find(request.uri, owner)
  idle.edit(document and document.buffer or -1, function(through)
    if through or not document then
      reply(M.edit(request, owner))
    else
      documents.flush(document)
      reply(refusal(document, "the user is in the middle of a completion or a block insert there; try again later"))
    end
  end, cancelled)
end

function M.setup()
  client.on("document/edit", M.edit_in_time)
end

return M
