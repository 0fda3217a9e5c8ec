-- `:Pillion journal`: a buffer that lists what agents changed, newest first, a turn of an agent under a line of its own. It
-- follows while it is on show. Its keys show a change, or what reverting it would do; nothing is done from here.

local bar = require("pillion.bar")
local journal = require("pillion.journal")
local keys = require("pillion.keys")
local page = require("pillion.page")

local api = vim.api

local M = {}

local name = "pillion://journal"
--- Changes come in bursts.
local settle_ms = 60
local title_width = 44
local minimum_height = 8

local buffer = -1
local asking = false
---@type table<integer, pillion.AgentChange> by line, from 1; of a turn's own line the newest in it
local change_at = {}
---@type table<integer, pillion.AgentChange> by the buffer of its page
local page_of = {}

---@param text string
local function pad(text, width)
  return text .. (" "):rep(width - vim.fn.strdisplaywidth(text))
end

---@param change pillion.AgentChange
local function turn_of(change)
  return journal.who(change) .. journal.turn(change)
end

---@param changes pillion.AgentChange[]
---@return pillion.Sheet
local function sheet(changes)
  local lines, marks, turn = {}, {}, nil
  local function line(text)
    lines[#lines + 1] = text
  end
  local function mark(paint, from, to)
    marks[#marks + 1] = { paint = paint, line = #lines - 1, from = from, to = to }
  end
  change_at = {}
  for _, change in ipairs(changes) do
    local own = change.sessionId .. " " .. turn_of(change)
    if own ~= turn then
      turn = own
      line(turn_of(change))
      mark("Heading", 0, #lines[#lines])
      change_at[#lines] = change
    end
    local head = ("  %s  "):format(journal.clock(change))
    local size, state = journal.size(change), journal.states[change.state] or ""
    local note = journal.note(change)
    state = state == "" and note or note == "" and state or state .. ", " .. note
    local title = pad(journal.title(change), title_width)
    local text = head .. title .. "  " .. pad(size, 8)
    line(vim.trim(state) == "" and (text:gsub("%s+$", "")) or text .. "  " .. state)
    mark("Muted", 0, #head)
    if state ~= "" then
      mark("Warning", #text + 2, #text + 2 + #state)
    end
    change_at[#lines] = change
  end
  if #lines == 0 then
    line("The journal has no changes by agents here.")
  end
  return { lines = lines, marks = marks, answer_width = 0 }
end

---@return integer? a window in which the list is on show
local function window_of()
  return api.nvim_buf_is_loaded(buffer) and vim.fn.win_findbuf(buffer)[1] or nil
end

--- The cursor stays on its change, wherever that is listed now.
---@param changes pillion.AgentChange[]
local function draw(changes)
  local window = window_of()
  if not window then
    return
  end
  local at = api.nvim_win_get_cursor(window)[1]
  local before, offset = change_at[at], change_at[at - 1] ~= change_at[at] and change_at[at + 1] == change_at[at]
  page.put(buffer, sheet(changes))
  for line, change in vim.spairs(change_at) do
    if before and change.id == before.id then
      at = line
      if offset then
        break
      end
    end
  end
  api.nvim_win_set_cursor(window, { math.min(at, api.nvim_buf_line_count(buffer)), 0 })
  for _, each in ipairs(vim.fn.win_findbuf(buffer)) do
    bar.put(each, bar.journal())
  end
end

--- Asks anew, once for all that happens together.
function M.refresh()
  if asking or not window_of() then
    return
  end
  asking = true
  vim.defer_fn(function()
    asking = false
    journal.ask(draw)
  end, settle_ms)
end

--- The change that the cursor stands on, or whose page it is in.
---@return pillion.AgentChange?
function M.here()
  local here = api.nvim_get_current_buf()
  return here == buffer and change_at[api.nvim_win_get_cursor(0)[1]] or page_of[here]
end

--- A page in a window of its own, which the user asked for.
---@param change pillion.AgentChange
local function show(change)
  require("pillion.revert").plan_of(change, function(result)
    local shown = page.scratch(("pillion://journal/%s"):format(change.id), "nofile")
    vim.bo[shown].bufhidden = "wipe"
    page.put(shown, require("pillion.change_sheet")(change, result, keys.configured()))
    page_of = { [shown] = change }
    keys.bind_changes(shown)
    vim.cmd(("keepalt tab sbuffer %d"):format(shown))
    require("pillion.dialog").dress_page(api.nvim_get_current_win())
    bar.put(api.nvim_get_current_win(), bar.change())
  end)
end

local function make()
  buffer = page.scratch(name, "nofile")
  vim.bo[buffer].filetype = "pillion-journal"
  keys.bind_changes(buffer, function()
    local change = M.here()
    if change then
      show(change)
    end
  end)
  api.nvim_create_autocmd({ "BufReadCmd", "BufWinEnter" }, {
    buffer = buffer,
    callback = function()
      page.seclude(buffer, "nofile")
      M.refresh()
    end,
  })
end

--- The user asked for it: it gets the cursor.
function M.open()
  if not api.nvim_buf_is_loaded(buffer) then
    make()
  end
  local window = vim.fn.bufwinid(buffer)
  local is_new = window == -1
  if is_new then
    vim.cmd(("botright sbuffer %d"):format(buffer))
    window = api.nvim_get_current_win()
    local options = vim.wo[window][0]
    options.number, options.relativenumber, options.wrap, options.signcolumn, options.cursorline = false, false, false, "no", true
  end
  api.nvim_set_current_win(window)
  journal.ask(function(changes)
    draw(changes)
    if not is_new or not window_of() or not api.nvim_win_is_valid(window) then
      return
    end
    local most = math.max(minimum_height, math.floor(vim.o.lines / 3))
    api.nvim_win_set_height(window, math.max(minimum_height, math.min(api.nvim_buf_line_count(buffer) + 2, most)))
    api.nvim_win_set_cursor(window, { change_at[2] and 2 or 1, 0 })
  end)
end

journal.listen(M.refresh)

return M
