-- The line above each window of a dialog: who wants what, what to know about it, and the keys.

local escape = require("pillion.escape")
local keys = require("pillion.keys")
local words = require("pillion.words")

local api = vim.api

local M = {}

---@class pillion.BarPart
---@field [1] string
---@field paint? string a highlight group
---@field action? pillion.Action a click presses its key

---@class pillion.Bar
---@field heads pillion.BarPart[][] what stands before the keys, from long to short: the first that leaves room for the keys is shown
---@field keys {[1]: pillion.Action, [2]: string}[] those that come first and the very last one are always shown

--- How many keys are shown in the narrowest window.
local least = 3

---@type table<integer, {bar: pillion.Bar, buffer: integer}> by window
local shown = {}
---@type pillion.Action[] by the number that a click gives
local clickable = {}

---@param action pillion.Action
---@return integer
local function number_of(action)
  for index, one in ipairs(clickable) do
    if one == action then
      return index
    end
  end
  clickable[#clickable + 1] = action
  return #clickable
end

--- Called by a click: the key is pressed in the window that has the label.
---@param number integer
---@param clicks integer
---@param button string
function M.click(number, clicks, button)
  local key, window = keys.of(clickable[number]), vim.fn.getmousepos().winid
  if key and clicks == 1 and button == "l" and api.nvim_win_is_valid(window) then
    api.nvim_set_current_win(window)
    api.nvim_feedkeys(vim.keycode("<C-Bslash><C-n>"), "n", false)
    api.nvim_feedkeys(vim.keycode(key), "m", false)
  end
end

---@param text string
---@param limit integer
---@param paint? string
---@return pillion.BarPart
local function plain(text, limit, paint)
  return { escape.short(text, limit), paint = paint }
end

---@param wanted {[1]: pillion.Action, [2]: string}[]
---@return pillion.BarPart[][] of each that has a key, the key and what it does
local function key_parts(wanted)
  local found = {}
  for _, entry in ipairs(wanted) do
    local key = keys.of(entry[1])
    if key then
      local name = plain(key, 20, "PillionKey")
      name.action = entry[1]
      found[#found + 1] = { name, { " " .. entry[2], action = entry[1] } }
    end
  end
  return found
end

---@param groups pillion.BarPart[][]
---@return pillion.BarPart[] with a gap between them
local function joined(groups)
  local parts = {}
  for _, group in ipairs(groups) do
    if #group > 0 then
      parts[#parts + 1] = { #parts == 0 and " " or "  " }
      vim.list_extend(parts, group)
    end
  end
  return parts
end

---@param parts pillion.BarPart[]
local function width_of(parts)
  local width = 0
  for _, part in ipairs(parts) do
    width = width + vim.fn.strdisplaywidth(part[1])
  end
  return width
end

--- Keys matter more than titles: the title gets shorter, then the last keys go, then what cannot be left out is cut.
---@param bar pillion.Bar
---@param width integer
---@return pillion.BarPart[]
local function fitting(bar, width)
  local groups, head = key_parts(bar.keys), bar.heads[#bar.heads]
  for _, one in ipairs(bar.heads) do
    local parts = joined({ one, unpack(groups) })
    if width_of(parts) <= width then
      return parts
    end
  end
  while #groups > least and width_of(joined({ head, unpack(groups) })) > width do
    table.remove(groups, #groups - 1)
  end
  local excess = width_of(joined({ head, unpack(groups) })) - width
  if #head == 1 and excess > 0 then
    local room = vim.fn.strchars(head[1][1]) - excess
    head = room < 4 and {} or { { escape.short(head[1][1], room), paint = head[1].paint } }
  end
  return joined({ head, unpack(groups) })
end

--- The line above a window, which follows its width.
---@param window integer
---@param bar pillion.Bar
function M.put(window, bar)
  shown[window] = { bar = bar, buffer = api.nvim_win_get_buf(window) }
  local out = {}
  for index, part in ipairs(fitting(bar, api.nvim_win_get_width(window))) do
    local text = part[1]:gsub("%%", "%%%%")
    text = part.paint and ("%%#%s#%s%%*"):format(part.paint, text) or text
    out[index] = part.action and ("%%%d@v:lua.require'pillion.bar'.click@%s%%X"):format(number_of(part.action), text) or text
  end
  vim.wo[window][0].winbar = table.concat(out) .. "%<"
end

local on = require("pillion.events").on("bar")
on("WinResized", function()
  for _, window in ipairs(vim.v.event.windows) do
    local one = shown[window]
    if one and api.nvim_win_is_valid(window) and api.nvim_win_get_buf(window) == one.buffer then
      M.put(window, one.bar)
    end
  end
end)
on("WinClosed", function(event)
  shown[tonumber(event.match)] = nil
end)

--- What this request can be answered with here.
---@param approval pillion.Approval
---@param is_page boolean? where some keys have no meaning of their own
---@return {[1]: pillion.Action, [2]: string}[]
local function keys_of(approval, is_page)
  local selected, all = approval.chosen:count()
  local files = #words.paths(approval:files())
  local share = selected < all and (" %d of %d"):format(selected, all) or files > 1 and (" %d files"):format(files) or ""
  local found = vim.tbl_map(function(one)
    return { one.action, (one.word or one.title:lower()) .. (one.action == "approve" and share or "") }
  end, keys.answers(approval, is_page))
  if #approval:files() > 1 then
    found[#found + 1] = { "next_file", "next file" }
  end
  found[#found + 1] = { "help", "keys" }
  return found
end

--- Which hunk the user points at, with the key for it, and whether it is selected: `gh hunk 2 of 5 left out`.
---@param approval pillion.Approval
---@param path string
---@param hunk? pillion.Hunk
---@return pillion.BarPart[] empty where there is nothing to choose
local function choice_of(approval, path, hunk)
  local chosen = approval.chosen
  if not hunk or not chosen:is_open() then
    return {}
  end
  local _, all = chosen:count()
  local is_stuck = chosen:is_stuck(path, hunk)
  local state = is_stuck and "changed by you" or chosen:has(hunk) and "selected" or "left out"
  local key = key_parts({ { "hunk", "hunk" } })[1] or { { "hunk" } }
  key[#key + 1] = { (" %d of %d "):format(chosen:number(hunk), all) }
  key[#key + 1] = { state, paint = chosen:has(hunk) and not is_stuck and "PillionKey" or "PillionWarning" }
  return key
end

---@param approval pillion.Approval
local function agent_of(approval)
  local name = plain(approval.request.agent.name, 30, "PillionTitle")
  name[1] = (approval:is_draft() and "Draft of " or "") .. name[1]
  return name
end

--- Above the current text: which hunk, who, what.
---@param approval pillion.Approval
---@param index integer which of its files
---@param hunk? pillion.Hunk
---@return pillion.Bar
function M.current(approval, index, hunk)
  local files = approval:files()
  local file = files[index]
  local name = vim.fs.basename(file.path)
  local which = plain(name .. words.place(files, file), 50)
  local choice = choice_of(approval, file.path, hunk)
  local agent = agent_of(approval)
  if #choice > 0 then
    local here = vim.list_extend(vim.list_slice(choice), { { " · " }, which })
    return { heads = { vim.list_extend(vim.list_slice(here), { { "  " }, agent }), here, choice }, keys = {} }
  end
  local size = { " " .. words.size({ file }) }
  local title = plain(approval.request.title, 60)
  local place = #files > 1 and { "  " .. which[1] } or { "" }
  return { heads = { { agent, { ": " }, title, place, size }, { agent, { ": " }, which, size }, { which, size } }, keys = {} }
end

--- What became of the proposal.
---@param approval pillion.Approval
---@param edited? string what it says of the user's own text
---@return pillion.BarPart[]
local function note_of(approval, edited)
  local notes = vim.tbl_map(function(note)
    return escape.short(note, 80)
  end, words.not_shown(approval:files()))
  if vim.iter(approval:files()):any(function(file)
    return file.merged
  end) then
    notes[#notes + 1] = "merged"
  end
  if approval:is_edited() then
    notes[#notes + 1] = edited or "edited by you"
  end
  notes[#notes + 1] = words.beneath[approval.beneath]
  return #notes > 0 and { { table.concat(notes, "; "), paint = "PillionWarning" } } or {}
end

--- Above the proposal, or what the user writes: what became of it, and the keys.
---@param approval pillion.Approval
---@return pillion.Bar
function M.proposed(approval)
  return { heads = { note_of(approval), note_of(approval, "edited") }, keys = keys_of(approval) }
end

---@param approval pillion.Approval
---@param index integer which of its files, where it has some
---@param hunk? pillion.Hunk
---@return pillion.Bar
function M.page(approval, index, hunk)
  local note = note_of(approval)
  local function noted(head)
    return #note > 0 and vim.list_extend(head, { { #head > 0 and "  " or "" }, note[1] }) or head
  end
  local file = approval:files()[index]
  local choice = file and choice_of(approval, file.path, hunk) or {}
  local heads
  if approval:is_own() then -- the page itself says the rest
    heads = { { { "Preview", paint = "PillionTitle" } } }
  elseif #choice > 0 then
    local which = plain(vim.fs.basename(file.path) .. words.place(approval:files(), file), 50)
    heads = { vim.list_extend(vim.list_slice(choice), { { " · " }, which }), choice }
  else
    heads = { { agent_of(approval), { " " }, plain(approval.request.title, 60) }, { agent_of(approval) }, {} }
  end
  return { heads = vim.tbl_map(noted, heads), keys = keys_of(approval, true) }
end

--- Above a list.
---@param title string
---@param shown_keys {[1]: pillion.Action, [2]: string}[]
---@param note? string "" too where there is none
---@return pillion.Bar
function M.listing(title, shown_keys, note)
  local short = { { title, paint = "PillionTitle" } }
  local long = (note or "") ~= "" and { short[1], { "  " }, plain(note, 80, "PillionWarning") } or short
  return { heads = { long, short, {} }, keys = shown_keys }
end

--- Above what a process prints: nothing that it prints gets here.
---@param process pillion.Process
---@return pillion.Bar
function M.process(process)
  local found = process.running and { { "write", "type a line" }, { "kill", "stop" } } or {}
  found[#found + 1] = { "close", "close" }
  local name = plain(process:name(), 40, "PillionTitle")
  local gone = process.output.first - 1
  local older = gone > 0 and (" · %s dropped"):format(words.count(gone, "earlier line")) or ""
  local agent = process.agent and escape.short(process.agent.name, 30) .. " · " or ""
  local state = { ("  %s%s"):format(process:state(), older) }
  local long = { name, { "  " }, plain(process.command, 60), { "  " .. agent .. vim.trim(state[1]) } }
  return { heads = { long, { name, state } }, keys = found }
end

---@param outcome string
---@return pillion.Bar
function M.ended(outcome)
  return { heads = { { plain(words.ending(outcome), 100, "PillionWarning") } }, keys = {} }
end

return M
