-- The tab of one request, or its windows below or above the user's own: what they show. Making it disturbs nothing: the user's window, cursor and mode
-- are the same afterwards, and none of their autocommands runs.

local bar = require("pillion.bar")
local config = require("pillion.config")
local page = require("pillion.page")
local Panel = require("pillion.panel")
local proposal = require("pillion.proposal")

local api = vim.api

---@class pillion.Dialog
---@field approval pillion.Approval
---@field tab integer
---@field layout "tab"|"split"|"float" with the last two, its windows are in a tab of the user's
---@field before? integer the window from which the user came, there
---@field file integer which of its files is on show
---@field from? integer the tab from which the user came
---@field panel pillion.Panel above the rest, where there are several files
---@field private named? pillion.Hunk the one that the line above names
---@field private named_stuck? boolean and that the user wrote over it
local Dialog = {}
Dialog.__index = Dialog

-- With `layout = "float"` the windows of a request are over the editor, in rows that fill one frame.

--- What a border takes, in both directions.
local edge = 2
--- Where there is no more room than this, all of it is used.
local least = { columns = 100, lines = 30 }
local share = 0.9

--- What such a window is opened with; `arrange_floats` gives it its place.
---@return vim.api.keyset.win_config
local function float()
  return { relative = "editor", row = 0, col = 0, width = 2, height = 2, border = "rounded", zindex = 40 } -- below lists to choose from
end

---@param all integer
---@param enough integer
---@return integer size
---@return integer before it
local function frame(all, enough)
  local size = all <= enough and all or math.max(enough, math.floor(all * share))
  return size, math.floor((all - size) / 2)
end

--- The windows of a row have one line between them.
---@param is_first boolean
---@param is_last boolean
---@return string[] clockwise from the top left
local function border(is_first, is_last)
  local left, right = is_first and { "╭", "╰", "│" } or { "", "", "" }, is_last and { "╮", "╯" } or { "┬", "┴" }
  return { left[1], "─", right[1], "│", right[2], "─", left[2], left[3] }
end

--- Gives all windows their places. Those of a row share its width; the rows with a height get it, the one without has the rest.
---@param rows { windows: integer[], height?: integer }[]
local function arrange_floats(rows)
  local width, left = frame(vim.o.columns, least.columns)
  local height, top = frame(vim.o.lines - vim.o.cmdheight, least.lines)
  local rest = height
  for _, row in ipairs(rows) do
    rest = rest - (row.height and row.height + edge or 0)
  end
  for _, row in ipairs(rows) do
    local column, high = left, (row.height or math.max(2, rest - edge))
    for index, window in ipairs(row.windows) do
      local wide = math.floor((left + width - column) / (#row.windows - index + 1))
      api.nvim_win_set_config(window, {
        relative = "editor",
        row = top,
        col = column,
        width = wide - (index == 1 and edge or 1),
        height = high,
        border = border(index == 1, index == #row.windows),
      })
      column = column + wide
    end
    top = top + high + edge
  end
end

--- Does something with windows as if nothing had happened: no events, and the user is where they were.
---@param work fun()
local function unseen(work)
  local window, ignored = api.nvim_get_current_win(), vim.o.eventignore
  vim.o.eventignore = "all"
  local fine, problem = xpcall(work, debug.traceback)
  if api.nvim_win_is_valid(window) then
    api.nvim_set_current_win(window)
  end
  vim.o.eventignore = ignored
  if not fine then
    error(problem, 0)
  end
end

--- Of the window in which the user changes a command or a message.
---@param buffer integer
local function own_height(buffer)
  return math.min(10, api.nvim_buf_line_count(buffer) + 1)
end

---@param approval pillion.Approval
---@param panel? pillion.Panel of when it was open before: it knows what they have looked at
---@return pillion.Dialog
function Dialog.open(approval, panel)
  local self = setmetatable({ approval = approval, file = 1, panel = panel or Panel.new(approval) }, Dialog)
  local first = self:buffers()[1]
  self.layout = approval:is_own() and "tab" or config.current.layout
  unseen(function()
    if self.layout == "tab" then
      vim.cmd(("keepalt $tab sbuffer %d"):format(first))
    else
      self:window(first, true, { split = "below", win = -1, height = math.floor(vim.o.lines / 2) })
    end
    self.tab = api.nvim_get_current_tabpage()
    self:arrange()
    self:list_files()
  end)
  return self
end

function Dialog:is_open()
  return self.tab ~= nil and api.nvim_tabpage_is_valid(self.tab) and (self.layout == "tab" or #self:windows() > 0)
end

function Dialog:is_current()
  local is_ours = self.layout == "tab" or vim.b.pillion_approval == self.approval.id
  return is_ours and self.tab == api.nvim_get_current_tabpage()
end

--- Whether all that it shows is still there: making one side again makes both, and would close this tab's last window.
function Dialog:is_whole()
  local file = self.approval:files()[self.file]
  return not file or not file.text or proposal.is_whole(self.approval, file)
end

---@private
---@return integer[] from left to right
function Dialog:buffers()
  local file = self.approval:files()[self.file]
  if not file or not file.text then
    return { page.ready(self.approval) }
  end
  local sides = proposal.ready(self.approval, file)
  return { sides.left, sides.right }
end

--- The windows of this tab that show a buffer of Pillion's, but for the list of files; the user may have put others there.
---@return integer[] from left to right, then what is below
function Dialog:windows()
  local panel = self.panel:shown()
  local found = vim.tbl_filter(function(window)
    return window ~= panel and vim.b[api.nvim_win_get_buf(window)].pillion_approval == self.approval.id
  end, api.nvim_tabpage_list_wins(self.tab))
  if self.layout == "float" then
    table.sort(found) -- as they were opened; Neovim lists those the other way round
  end
  return found
end

--- Opens a window of this request.
---@private
---@param buffer integer
---@param enter boolean
---@param beside vim.api.keyset.win_config where it is, unless it floats
---@return integer window
function Dialog:window(buffer, enter, beside)
  return api.nvim_open_win(buffer, enter, self.layout == "float" and float() or beside)
end

--- Floating windows get their places, in the editor as it is now.
function Dialog:fit()
  if self.layout ~= "float" or not self:is_open() then
    return
  end
  local panel, rows, middle = self.panel:shown(), {}, {}
  for _, window in ipairs(self:windows()) do
    local buffer = api.nvim_win_get_buf(window)
    if page.is_own(self.approval, buffer) then
      rows[1] = { windows = { window }, height = own_height(buffer) }
    else
      middle[#middle + 1] = window
    end
  end
  table.insert(rows, 1, { windows = middle })
  if panel then
    table.insert(rows, 1, { windows = { panel }, height = self.panel:height() })
  end
  arrange_floats(rows)
end

--- Whether a window shows the text as it is.
---@param window integer
local function is_left(window)
  return vim.endswith(api.nvim_buf_get_name(api.nvim_win_get_buf(window)), "(current)")
end

--- Closes a window of a diff. Else its buffer would stay in the diffs of this tab, unseen: the next one would be compared with it.
---@param window integer
local function put_away(window)
  api.nvim_win_call(window, function()
    vim.cmd.diffoff()
  end)
  api.nvim_win_close(window, true)
end

--- Shows the buffers side by side in the current tab, whatever the user has closed there.
---@private
function Dialog:arrange()
  local buffers, windows = self:buffers(), self:windows()
  if #windows == 0 then
    windows = { self:window(buffers[1], false, { split = "right", win = -1 }) }
  end
  for index, buffer in ipairs(buffers) do
    local window = windows[index] or self:window(buffer, false, { split = "right", win = windows[index - 1] })
    windows[index] = window
    self:dress(window, buffer, #buffers == 2)
  end
  for index = #windows, #buffers + 1, -1 do -- from a diff to a page
    put_away(windows[index])
  end
  self:fit()
  if #buffers == 2 then
    local first = self.approval.chosen:of(self.approval:files()[self.file].path)[1]
    if first then
      self:go_to_hunk(first)
    end
    for _, window in ipairs(windows) do
      api.nvim_win_call(window, function()
        vim.cmd("normal! zz")
      end)
    end
    api.nvim_set_current_win(windows[#windows])
  else
    local files = self.approval:files()
    local line = #files > 1 and page.place(self.approval, self.approval.chosen:key(files[self.file])) -- where the page has this file
    if line then
      api.nvim_win_set_cursor(windows[1], { line, 0 })
      api.nvim_win_call(windows[1], function()
        vim.cmd("normal! zz")
      end)
    end
  end
  self:refresh()
end

--- Which files there are, if it is more than one.
---@private
function Dialog:list_files()
  if #self.approval:files() > 1 and not self.panel:shown() then
    local side = self.layout == "tab" and "above" or "below"
    self.panel:open(self.layout == "float" and float() or { split = side, win = -1 }, function(index)
      self:show_file(index)
      self:entered()
    end)
    self:fit()
    self:refresh()
  end
end

---@private
function Dialog:dress(window, buffer, is_diff)
  vim.wo[window].winfixbuf = false
  api.nvim_win_call(window, function()
    vim.cmd.diffoff()
    api.nvim_win_set_buf(window, buffer)
  end)
  if is_diff then
    proposal.dress(window)
  else
    page.dress(window)
  end
end

--- The window in which the user points at something: theirs, or else the proposal's.
---@private
---@return integer? window
---@return boolean left it shows the text as it is
function Dialog:pointing()
  local windows = self:windows()
  local current = api.nvim_get_current_win()
  local window = vim.tbl_contains(windows, current) and current or windows[#windows]
  if not window then
    return nil, false
  end
  return window, is_left(window)
end

--- The hunk that the user points at: the one under the cursor, or the nearest.
---@return pillion.Hunk?
---@return string path
function Dialog:hunk()
  local file = self.approval:files()[self.file]
  local window, left = self:pointing()
  if not file or not window then
    return nil, ""
  elseif not file.text then
    local key = self.approval.chosen:key(file)
    return self.approval.chosen:of(key)[1], key
  end
  local line = api.nvim_win_get_cursor(window)[1] - 1
  return (self.approval.chosen:nearest(file.path, line, left)), file.path
end

--- The line of the proposed text that the user points at; of the text as it is, that beside it.
---@return string? path nil where there is none
---@return integer line from 1
function Dialog:line()
  local file = self.approval:files()[self.file]
  local window, left = self:pointing()
  if not file or not file.text or not window then
    return nil, 0
  end
  local line = api.nvim_win_get_cursor(window)[1]
  if left then
    local hunk = self.approval.chosen:nearest(file.path, line - 1, true)
    line = hunk and self.approval.chosen:place(file.path, hunk, false).from + 1 or line
  end
  return file.path, line
end

--- Whether the cursor stands before a hunk's first line, on it, or after it.
---@param hunk pillion.Hunk
---@return integer -1, 0 or 1
function Dialog:side_of(hunk)
  local window, left = self:pointing()
  local file = self.approval:files()[self.file]
  if not window or not file.text then
    return 0
  end
  local line = api.nvim_win_get_cursor(window)[1] - 1
  local from = math.min(self.approval.chosen:place(file.path, hunk, left).from, api.nvim_buf_line_count(api.nvim_win_get_buf(window)) - 1)
  return line < from and -1 or line > from and 1 or 0
end

--- Puts the cursors on its first line.
---@param hunk pillion.Hunk
function Dialog:go_to_hunk(hunk)
  local file = self.approval:files()[self.file]
  if not file.text then
    return
  end
  for _, window in ipairs(self:windows()) do
    local line = self.approval.chosen:place(file.path, hunk, is_left(window)).from + 1
    api.nvim_win_set_cursor(window, { math.min(line, api.nvim_buf_line_count(api.nvim_win_get_buf(window))), 0 })
    api.nvim_win_call(window, function()
      vim.cmd("diffupdate | normal! zv")
    end)
  end
  self:refresh()
end

--- The user points at something else, or has written over it.
function Dialog:pointed()
  local hunk, path = self:hunk()
  local is_stuck = hunk ~= nil and self.approval.chosen:is_stuck(path, hunk)
  if hunk ~= self.named or is_stuck ~= self.named_stuck then
    self.named_stuck = is_stuck
    self:refresh()
  end
end

--- The lines above the windows say what holds now.
function Dialog:refresh()
  if not self:is_open() then
    return
  end
  local windows = self:windows()
  self.named = self:hunk()
  self.panel:draw(self.file)
  for _, window in ipairs(windows) do
    local name = api.nvim_buf_get_name(api.nvim_win_get_buf(window))
    local text = is_left(window) and bar.current(self.approval, self.file, self.named)
      or vim.endswith(name, " (request)") and bar.page(self.approval, self.file, self.named)
      or bar.proposed(self.approval)
    bar.put(window, text)
  end
end

---@param index integer
function Dialog:show_file(index)
  self.file = index
  unseen(function()
    api.nvim_set_current_tabpage(self.tab)
    self:arrange()
  end)
end

--- For a tab whose windows the user has closed or filled with something else.
function Dialog:restore()
  unseen(function()
    api.nvim_set_current_tabpage(self.tab)
    self:arrange()
    self:list_files()
  end)
end

--- The user has it before them.
function Dialog:entered()
  local file = self.approval:files()[self.file]
  if file then
    proposal.entered(self.approval, file)
    self.panel:look(file)
  end
  self:refresh()
end

--- The user asked to go there.
function Dialog:enter()
  if self:is_current() then
    return
  end
  api.nvim_set_current_tabpage(self.tab)
  if self.layout ~= "tab" then
    self.before = api.nvim_get_current_win()
    local windows = self:windows()
    api.nvim_set_current_win(windows[#windows])
  end
end

--- A window below the page, for the user's own command or message. They asked for it, so it has the cursor.
function Dialog:edit_argument()
  local buffer = page.own(self.approval, function()
    self:refresh()
  end)
  local window = vim.fn.bufwinid(buffer)
  if window == -1 then
    window = self:window(buffer, true, { split = "below", height = own_height(buffer) })
    self:fit()
  end
  vim.wo[window][0].foldenable, vim.wo[window][0].conceallevel = false, 0
  api.nvim_set_current_win(window)
  self:refresh()
end

--- Closes what is Pillion's own in this tab; what the user opened there stays. They go back to where they came from, if they are here.
function Dialog:close()
  if not self:is_open() then
    return
  end
  if self.layout ~= "tab" and self:is_current() and self.before and api.nvim_win_is_valid(self.before) then
    api.nvim_set_current_win(self.before)
  elseif self.layout == "tab" and self:is_current() and self.from and api.nvim_tabpage_is_valid(self.from) then
    api.nvim_set_current_tabpage(self.from)
  end
  for _, window in ipairs(vim.list_extend({ self.panel:shown() }, self:windows())) do
    if not self:is_last(window) then
      api.nvim_win_close(window, true)
    elseif #api.nvim_list_tabpages() == 1 then
      api.nvim_win_call(window, function()
        vim.cmd("diffoff | enew") -- the last window of all: closing it would end Neovim
      end)
    else
      vim.cmd.tabclose({ api.nvim_tabpage_get_number(self.tab), bang = true })
      return
    end
  end
end

--- Whether closing a window leaves nothing in this tab but what floats: Neovim 0.10 crashes when that is a tab in the background.
---@private
---@param window integer
function Dialog:is_last(window)
  return vim.iter(api.nvim_tabpage_list_wins(self.tab)):all(function(other)
    return other == window or api.nvim_win_get_config(other).relative ~= ""
  end)
end

--- The request has ended, and this tab says so. What the user wrote stays beside it.
---@param outcome string
---@param kept integer[]
function Dialog:become_ended(outcome, kept)
  local ended = page.ended(self.approval, outcome, #kept > 0)
  unseen(function()
    api.nvim_set_current_tabpage(self.tab)
    if self.layout == "float" then -- what stays is a window like any other
      local floating = vim.list_extend({ self.panel:shown() }, self:windows())
      self.layout = "split"
      self:window(ended, true, { split = "below", win = -1 })
      vim.tbl_map(put_away, floating)
    end
    local windows = self:windows()
    for index = #windows, 2, -1 do
      put_away(windows[index])
    end
    local panel = self.panel:shown()
    if panel then
      api.nvim_win_close(panel, true)
    end
    self:dress(windows[1], ended, false)
    bar.put(windows[1], bar.ended(outcome))
    for _, buffer in ipairs(kept) do
      local window = api.nvim_open_win(buffer, true, { split = "right", win = windows[1] })
      vim.cmd.diffoff()
      bar.put(window, bar.ended(outcome))
    end
  end)
end

return Dialog
