-- The two sides of a proposed file: the current text, read-only, and the proposal, which the user may edit in place. The
-- proposal is never on a disk: `:w` says that it is kept, and `:e!` discards the user's changes.

local approvals = require("pillion.approvals")
local escape = require("pillion.escape")
local keys = require("pillion.keys")
local page = require("pillion.page")
local text = require("pillion.text")
local words = require("pillion.words")

local api = vim.api
local space = api.nvim_create_namespace("pillion.proposal")

local M = {}

---@class pillion.Sides
---@field left integer the buffer with the current text
---@field right integer the buffer with the proposal
---@field preview? pillion.Preview what it was filled with
---@field put? string what the right side was last given
---@field back? string and as the buffer gives it back
---@field filetype? string until it is set

---@type table<string, table<string, pillion.Sides>> by approval and path
local shown = {}

---@param approval pillion.Approval
---@param path string
---@return pillion.Sides?
local function sides_of(approval, path)
  local sides = (shown[approval.id] or {})[path]
  return sides and api.nvim_buf_is_loaded(sides.left) and api.nvim_buf_is_loaded(sides.right) and sides or nil
end

---@param approval pillion.Approval
---@param side string
---@param file pillion.FilePreview
---@param buftype string
local function make(approval, side, file, buftype)
  return page.of_request(approval, ("%s (%s)"):format(escape.visible(file.path), side), buftype)
end

---@param sides pillion.Sides
---@return string what stands on the right side
local function standing(sides)
  local now = text.get(sides.right)
  return now == sides.back and sides.put or now -- not every text is the same in a buffer: one empty line is none
end

---@param sides pillion.Sides
---@param right string
---@param put fun(buffer: integer, text: string)
local function give(sides, right, put)
  put(sides.right, right)
  sides.put, sides.back = right, text.get(sides.right)
end

---@param approval pillion.Approval
---@param file pillion.FilePreview
---@param sides pillion.Sides
local function sync(approval, file, sides)
  if not api.nvim_buf_is_loaded(sides.right) then
    return
  end
  vim.bo[sides.right].modified = false -- so that nothing asks to save it
  approvals.edit(approval, file.path, standing(sides))
end

--- Beside the place of each hunk that is left out.
---@param approval pillion.Approval
---@param file pillion.FilePreview
---@param sides pillion.Sides
local function annotate_left_out(approval, file, sides)
  local last = api.nvim_buf_line_count(sides.right) - 1
  for _, hunk in ipairs(approval.chosen:of(file.path)) do
    if hunk.has_text and not approval.chosen:has(hunk) then
      local place = approval.chosen:place(file.path, hunk)
      local line = math.max(0, math.min(place.to > place.from and place.from or place.from - 1, last))
      local note = { { "   left out: " .. words.size({ hunk }), "PillionWarning" } }
      api.nvim_buf_set_extmark(sides.right, space, line, 0, { virt_text = note, virt_text_pos = "eol" })
    end
  end
end

---@param approval pillion.Approval
---@param file pillion.FilePreview
---@param sides pillion.Sides
local function annotate_comments(approval, file, sides)
  local last = api.nvim_buf_line_count(sides.right)
  for _, one in ipairs(approval.comments) do
    if one.path == file.path then
      local note = { { "   " .. escape.visible(one.text), "PillionNote" } }
      api.nvim_buf_set_extmark(sides.right, space, math.min(one.line, last) - 1, 0, { virt_text = note, virt_text_pos = "eol" })
    end
  end
end

--- What a diff cannot say by itself: that it was updated, why it asks, or the agent's message, and what happens beside the lines.
---@param approval pillion.Approval
---@param file pillion.FilePreview
---@return string[]
local function remarks(approval, file)
  local found = { words.beneath[approval.beneath] }
  if approval:is_review() or approval:is_draft() then
    local message = vim.iter(approval.request.preview.facts):find(function(fact)
      return fact.code == "message"
    end)
    vim.list_extend(found, message and (message.items or { message.text }) or {})
  else
    found[#found + 1] = file.banner
  end
  found[#found + 1] = file.summary
  return vim.tbl_filter(function(line)
    return line ~= ""
  end, found)
end

--- The same above the first change. The other side gets as much room.
---@param approval pillion.Approval
---@param file pillion.FilePreview
---@param sides pillion.Sides
local function annotate(approval, file, sides)
  for _, buffer in ipairs({ sides.left, sides.right }) do
    api.nvim_buf_clear_namespace(buffer, space, 0, -1)
  end
  annotate_left_out(approval, file, sides)
  annotate_comments(approval, file, sides)
  local right, left = {}, {}
  for _, remark in ipairs(remarks(approval, file)) do
    for _, part in ipairs(text.wrapped(remark, math.min(72, math.floor(vim.o.columns / 2) - 4))) do
      right[#right + 1], left[#left + 1] = { { "  " .. part, "PillionNote" } }, { { "", "PillionNote" } }
    end
  end
  local chosen = approval.chosen
  local first = chosen:of(file.path)[1]
  for buffer, lines in pairs({ [sides.left] = left, [sides.right] = right }) do
    local line = first and chosen:place(file.path, first, buffer == sides.left).from or 0
    local row = math.min(line, api.nvim_buf_line_count(buffer) - 1)
    api.nvim_buf_set_extmark(buffer, space, row, 0, { virt_lines = lines, virt_lines_above = row > 0 }) -- above the first line nothing is seen
  end
end

local foldexpr = "v:lua.require'pillion.proposal'.fold(v:lnum)"
---@type table<integer, table<integer, boolean>> by buffer, the lines that are not folded away, from 1
local unfolded = {}

---@param line integer
function M.fold(line)
  local open = unfolded[vim.api.nvim_get_current_buf()]
  return open and not open[line] and 1 or 0
end

--- What is around a hunk is to be seen, whether it is selected or left out; so is what the user changed. In a diff, Neovim would fold
--- what is left out away, and open all up to the next hunk with it.
---@param approval pillion.Approval
---@param file pillion.FilePreview
---@param sides pillion.Sides
local function fold(approval, file, sides)
  local margin = tonumber(vim.o.diffopt:match("context:(%d+)")) or 6
  local own = approval.chosen:edit_of(file.path)
  local edits = own and vim.diff(file.before, own, { result_type = "indices" }) or {} --[[@as integer[][] ]]
  for buffer, column in pairs({ [sides.left] = 1, [sides.right] = 3 }) do
    local open = {}
    local function see(from, to)
      for line = from - margin, to + margin do
        open[line] = true
      end
    end
    for _, hunk in ipairs(approval.chosen:of(file.path)) do
      local place = approval.chosen:place(file.path, hunk, column == 1)
      see(place.from + 1, math.max(place.from + 1, place.to))
    end
    for _, edit in ipairs(edits) do
      see(edit[column], edit[column] + math.max(1, edit[column + 1]) - 1)
    end
    unfolded[buffer] = open
    for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
      vim.wo[window][0].foldexpr = foldexpr -- it is asked for again
    end
  end
end

--- Fills both sides. Selecting hunks is a change that `u` undoes; another proposal is not.
---@param approval pillion.Approval
---@param file pillion.FilePreview
---@param sides pillion.Sides
local function fill(approval, file, sides)
  local right = approval.chosen:right(file.path)
  local is_other = sides.preview ~= approval.request.preview
  if is_other then
    text.put(sides.left, file.before)
    vim.bo[sides.left].modifiable = false
    sides.preview = approval.request.preview
  end
  if is_other or standing(sides) ~= right then
    give(sides, right, is_other and text.put or text.change)
  end
  vim.bo[sides.right].modifiable = file.operation ~= "delete" -- a file that goes has no other text
  annotate(approval, file, sides)
  fold(approval, file, sides)
end

---@param approval pillion.Approval
---@param path string
---@return pillion.FilePreview?
local function file_of(approval, path)
  return vim.iter(approval:files()):find(function(file)
    return file.path == path
  end)
end

---@param approval pillion.Approval
---@param path string
---@param sides pillion.Sides
local function attend(approval, path, sides)
  local function typed()
    local file = file_of(approval, path)
    if file then
      sync(approval, file, sides)
    end
  end
  api.nvim_create_autocmd({ "TextChanged", "TextChangedI", "TextChangedP" }, { buffer = sides.right, callback = typed })
  page.keep_writing(sides.right)
  page.refill(sides.left, "nofile", function()
    text.put(sides.left, (file_of(approval, path) or { before = "" }).before)
    vim.bo[sides.left].modifiable = false
  end)
  page.refill(sides.right, "acwrite", function()
    give(sides, vim.v.cmdbang ~= 1 and approval.chosen:right(path) or approval.chosen:given(path), text.put)
    typed()
  end)
end

--- Whether the user has wiped neither side.
---@param approval pillion.Approval
---@param file pillion.FilePreview
function M.is_whole(approval, file)
  return sides_of(approval, file.path) ~= nil
end

--- Both buffers, made when they are first asked for.
---@param approval pillion.Approval
---@param file pillion.FilePreview
---@return pillion.Sides
function M.ready(approval, file)
  local sides = sides_of(approval, file.path)
  if sides then
    return sides
  end
  M.changing(approval)
  sides = { left = make(approval, "current", file, "nofile"), right = make(approval, "proposed", file, "acwrite") }
  shown[approval.id] = shown[approval.id] or {}
  shown[approval.id][file.path] = sides
  fill(approval, file, sides)
  -- Colours at once; the filetype with all that hangs on it (indenting, plugins, a search for Python that takes a second) when
  -- the user comes to look: see `entered`.
  sides.filetype = vim.filetype.match({ filename = file.path, buf = sides.right }) or file.language or ""
  for _, buffer in ipairs({ sides.left, sides.right }) do
    pcall(function() -- a syntax file that fails leaves it without colours
      vim.bo[buffer].syntax = sides.filetype
    end)
    keys.bind(buffer, approval)
  end
  attend(approval, file.path, sides)
  return sides
end

--- A diff, in which all that is asked about is to be seen: lines are not wrapped in one, so it says where they go on.
---@param window integer
function M.dress(window)
  api.nvim_win_call(window, function()
    vim.cmd.diffthis()
    vim.wo[0][0].foldexpr = foldexpr
    vim.cmd("setlocal foldmethod=expr conceallevel=0 list listchars=tab:\\ \\ ,extends:>,precedes:<")
  end)
end

--- The user looks at it. What a filetype sets for windows is not for a diff, and its keys are not for a request.
---@param approval pillion.Approval
---@param file pillion.FilePreview
function M.entered(approval, file)
  local sides = sides_of(approval, file.path)
  local filetype = sides and sides.filetype
  if not sides or not filetype then
    return
  end
  sides.filetype = nil
  for _, buffer in ipairs({ sides.left, sides.right }) do
    api.nvim_buf_call(buffer, function()
      vim.cmd(("silent! let &l:filetype = %s"):format(vim.fn.string(filetype))) -- what fails in a plugin would wait for a key
    end)
    if api.nvim_buf_is_loaded(buffer) then
      keys.bind(buffer, approval)
      for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
        M.dress(window)
      end
    end
  end
end

--- Something wants to know what the user edited, now.
---@param approval pillion.Approval
function M.changing(approval)
  for _, file in ipairs(approval:files()) do
    local sides = (shown[approval.id] or {})[file.path]
    if sides then
      sync(approval, file, sides)
    end
  end
end

---@param approval pillion.Approval
function M.changed(approval)
  for _, file in ipairs(approval:files()) do
    local sides = sides_of(approval, file.path)
    if sides then
      fill(approval, file, sides) -- a text of the user's own stays
    end
  end
end

--- The buffers in which the user changed something, whatever has become of the request.
---@param approval pillion.Approval
---@return integer[]
function M.edited(approval)
  local found = {}
  for path, sides in pairs(shown[approval.id] or {}) do
    local now = api.nvim_buf_is_loaded(sides.right) and standing(sides)
    if now and approval.chosen:is_own(path, now) then
      found[#found + 1] = sides.right
    end
  end
  return found
end

--- Wipes the buffers, but for those named.
---@param approval pillion.Approval
---@param but integer[]
function M.forget(approval, but)
  for _, sides in pairs(shown[approval.id] or {}) do
    for _, buffer in ipairs({ sides.left, sides.right }) do
      if api.nvim_buf_is_valid(buffer) and not vim.tbl_contains(but, buffer) then
        api.nvim_buf_delete(buffer, { force = true })
      end
      unfolded[buffer] = nil
    end
  end
  shown[approval.id] = nil
end

return M
