-- Which request has a tab, and which is in front. Nothing here moves the cursor unless the user asked for it or has just
-- answered the request before; a tab opens in the background, and only while nobody types. A tab that the user closed
-- stays closed until they ask for it, and one that floats over their windows opens only when they do.

local Approval = require("pillion.approval")
local Dialog = require("pillion.dialog")
local announce = require("pillion.announce")
local approvals = require("pillion.approvals")
local config = require("pillion.config")
local idle = require("pillion.idle")
local page = require("pillion.page")
local proposal = require("pillion.proposal")
local words = require("pillion.words")

local api = vim.api

local M = {}

---@type table<string, pillion.Dialog>
local dialogs = {}
---@type table<string, boolean> those that had their tab once
local offered = {}
---@type string? the request that has the cursor
local active
local active_since = 0

local answers = { approve = true, remember = true, reject = true, cancel = true }

--- A request that comes into sight accepts no answer at first.
local function look()
  if api.nvim_win_get_config(0).relative ~= "" and not vim.b.pillion_approval then
    return -- a list or a message over it; the user comes back
  end
  local id = vim.b.pillion_approval
  id = approvals.get(id) and id or nil
  if id == active then
    return
  end
  active, active_since = id, Approval.now()
  announce.in_time()
  if id then
    approvals.get(id):disarm()
  end
end

--- The request whose tab is the current one. It may have come into sight without an event: not every autocommand lets
--- others run.
function M.focused()
  look()
  return active
end

--- A key that was meant for another window must not answer a request that has just got the cursor.
function M.takes_keys()
  return Approval.now() >= active_since + Approval.inert_ms
end

---@param approval pillion.Approval
local function open(approval)
  offered[approval.id] = true
  local dialog = dialogs[approval.id]
  if dialog and dialog:is_open() and dialog:is_whole() then
    dialog:restore()
  else
    local broken = dialog
    dialog = Dialog.open(approval, broken and not broken:is_open() and broken.panel or nil)
    if broken and broken.tab ~= dialog.tab then
      broken:close()
    end
    dialogs[approval.id] = dialog
  end
  approval:disarm() -- only now are its keys on show
  return dialog
end

--- Brings the oldest one that was never offered to the front, unless one is there already.
---@param enter boolean
---@return boolean whether the user is in it now
local function open_next(enter)
  local approval = vim.iter(approvals.all()):find(function(one)
    return not offered[one.id]
  end)
  local some_in_sight = vim.iter(dialogs):any(function(id, dialog)
    return approvals.get(id) and dialog:is_open()
  end)
  local covers = config.current.layout == "float" and not (approval and approval:is_own())
  if not approval or some_in_sight or (covers and not enter) then
    return false
  end
  local dialog = open(approval)
  if enter then
    dialog:enter()
  end
  return enter
end

function M.added()
  idle.run(function()
    open_next(false)
  end)
end

---@param approval pillion.Approval
function M.changed(approval)
  local dialog = dialogs[approval.id]
  if dialog and dialog:is_open() then
    dialog:refresh()
    if dialog:is_current() then
      dialog:entered() -- what is new of it is before the user
    end
  end
end

---@param approval pillion.Approval
function M.typed(approval)
  local dialog = dialogs[approval.id]
  if dialog and dialog:is_open() then
    dialog:pointed()
  end
end

--- Nobody's any more but the user's.
---@param buffer integer
local function give_away(buffer)
  require("pillion.keys").unbind(buffer)
  vim.b[buffer].pillion_approval = nil
  api.nvim_clear_autocmds({ buffer = buffer })
  vim.bo[buffer].buftype, vim.bo[buffer].buflisted, vim.bo[buffer].modified = "nofile", true, false
  local old = api.nvim_buf_get_name(buffer)
  local name = old:gsub("%(proposed%)$", "(yours)"):gsub("/command$", "/command.sh (yours)"):gsub("/message$", "/message (yours)")
  if pcall(api.nvim_buf_set_name, buffer, name) then -- else the old name is no less theirs
    page.wipe_named(old)
  end
end

--- It ended by itself. The user's own text is kept, and whoever was looking sees why.
---@param approval pillion.Approval
---@param outcome string
---@param dialog pillion.Dialog?
---@return integer[] kept
local function bury(approval, outcome, dialog)
  local kept = vim.list_extend(proposal.edited(approval), page.edited(approval))
  local looking = dialog and dialog:is_open() and dialog:is_current() or false
  if #kept > 0 or looking then
    if not dialog or not dialog:is_open() then
      dialog = Dialog.open(approval)
    end
    dialog:become_ended(outcome, kept)
    vim.tbl_map(give_away, kept)
  elseif dialog then
    dialog:close()
  end
  if not looking then
    local what = ("%s: %s"):format(words.ending(outcome), words.wish(approval.request, 80))
    announce.say(#kept > 0 and what .. "; your text is kept in a tab" or what)
  end
  return kept
end

--- What the user answered makes room for the next; what died while they looked at it says so.
---@param approval pillion.Approval
---@param outcome string
function M.removed(approval, outcome)
  local dialog, was_active = dialogs[approval.id], active == approval.id
  dialogs[approval.id], offered[approval.id] = nil, nil
  idle.run(function()
    local kept = {}
    if answers[outcome] then
      local entered = open_next(was_active and not approval:is_own()) -- from what they asked themself they go back
      if dialog then
        if entered and dialogs[M.focused()] then
          dialogs[M.focused()].from, dialogs[M.focused()].before = dialog.from, dialog.before
        end
        dialog:close()
      end
    else
      kept = bury(approval, outcome, dialog)
      open_next(false)
    end
    proposal.forget(approval, kept)
    page.forget(approval, kept)
    look()
  end)
end

--- The user asked to see it.
---@param id string
---@param path string? which of its files
function M.show(id, path)
  local approval = approvals.get(id)
  if not approval then
    return false
  end
  local dialog = open(approval)
  for index, file in ipairs(approval:files()) do
    if file.path == path then
      dialog:show_file(index)
    end
  end
  dialog:enter()
  dialog:entered()
  return true
end

---@param id string
---@param step integer
function M.turn(id, step)
  local dialog, approval = dialogs[id], approvals.get(id)
  local count = approval and #approval:files() or 0
  if dialog and count > 1 then
    dialog:show_file((dialog.file - 1 + step) % count + 1)
    dialog:entered()
  end
end

--- Selects the hunk that the user points at, or leaves it out; or all hunks of its file.
---@param id string
---@param whole boolean
---@return string? problem
function M.choose_hunks(id, whole)
  local dialog, approval = dialogs[id], approvals.get(id)
  if not dialog or not approval or not approval.chosen:is_open() then
    return "there are no hunks to select here: approve or reject it as a whole"
  end
  proposal.changing(approval) -- else what they typed last is not known yet
  local hunk, path = dialog:hunk()
  if not hunk then
    return "this file has no hunks to select"
  end
  local chosen = approval.chosen
  local selected, all = chosen:count(path)
  local hunks, select = { hunk }, not chosen:has(hunk)
  if whole then
    hunks, select = chosen:of(path), selected < all
  end
  local stuck = approvals.select(approval, path, hunks, select)
  dialog:go_to_hunk(hunk)
  if stuck > 0 then
    return ("you edited %s: change the text itself"):format(words.count(stuck, "hunk"))
  end
end

--- The line of a proposed text that the user points at.
---@param id string
---@return string? path
---@return integer line from 1
function M.line(id)
  if dialogs[id] then
    return dialogs[id]:line()
  end
  return nil, 0
end

--- To the hunk after or before this one, in whichever file.
---@param id string
---@param step integer
function M.step_hunk(id, step)
  local dialog, approval = dialogs[id], approvals.get(id)
  local hunk = dialog and approval and dialog:hunk()
  local all, place = {}, step > 0 and 0 or 1 ---@type { file: integer, hunk: pillion.Hunk }[], integer
  for index, file in ipairs(approval and approval:files() or {}) do
    for _, one in ipairs(approval.chosen:of(approval.chosen:key(file))) do
      all[#all + 1] = { file = index, hunk = one }
      place = one == hunk and #all or place
    end
  end
  if not dialog or #all == 0 then
    return false
  end
  local next = all[(place - 1 + step) % #all + 1]
  if hunk and dialog:side_of(hunk) == -step then
    next = all[place]
  end
  if next.file ~= dialog.file then
    dialog:show_file(next.file)
    dialog:entered()
  end
  dialog:go_to_hunk(next.hunk)
  return true
end

--- To the request after or before this one.
---@param step integer
function M.step(step)
  local all = approvals.all()
  local place = step > 0 and 0 or 1
  for index, approval in ipairs(all) do
    if approval.id == active then
      place = index
    end
  end
  return #all > 0 and M.show(all[(place - 1 + step) % #all + 1].id)
end

---@param id string
function M.dialog(id)
  return dialogs[id]
end

--- Puts it away. That is no answer.
---@param id string
function M.put_away(id)
  if dialogs[id] then
    dialogs[id]:close()
  end
end

--- Neovim draws nothing anew while a command line is typed, so an approval that is typed there is meant for what stood on the screen at its
--- beginning.
---@type { id?: string, digest?: string, all?: string }? nil when no command line is at work
local seen

--- Whether what is run now may count as an approval of this: it did not change since the user began to type.
---@param approval pillion.Approval
function M.is_meant(approval)
  return not seen or seen.id == approval.id and seen.digest == approval.request.digest
end

--- The same for the page with all that waits.
function M.is_meant_for_all()
  return not seen or seen.all == require("pillion.together").digest()
end

--- Floating windows that the user has left cover what they went to: closed, they wait.
local function uncover()
  if api.nvim_win_get_config(0).relative ~= "" then
    return
  end
  for _, dialog in pairs(dialogs) do
    if dialog.layout == "float" then
      dialog:close()
    end
  end
end

--- Once, by `ui`.
function M.attach()
  local on = require("pillion.events").on("front")
  on({ "BufEnter", "WinEnter", "TabEnter" }, look)
  on({ "CursorMoved", "CursorMovedI" }, function()
    if dialogs[active] and dialogs[active]:is_current() then
      dialogs[active]:pointed()
    end
  end, { pattern = "pillion://*" })
  on({ "TabEnter", "WinEnter" }, function(event)
    local dialog = dialogs[active]
    if dialog and dialog:is_current() then
      local before = event.event == "TabEnter" and api.nvim_list_tabpages()[vim.fn.tabpagenr("#")]
      if before then -- where the user goes back to; from one request to another that stays the same
        for _, other in pairs(dialogs) do
          if other ~= dialog and other.tab == before then
            before = other.from
          end
        end
        dialog.from = before
      end
      dialog:entered()
    end
    vim.schedule(uncover) -- not while a window is being closed
  end, { nested = true }) -- a filetype has plugins
  on("VimResized", function()
    for _, dialog in pairs(dialogs) do
      dialog:fit()
    end
  end)
  on("QuitPre", function() -- nothing of ours may hold up a `:qa`
    for _, approval in ipairs(approvals.all()) do
      proposal.changing(approval)
      page.changing(approval)
    end
  end)
  on("CmdlineEnter", function()
    local approval = approvals.get(vim.b.pillion_approval) -- also before the first request comes, which nobody can mean then
    local all = next(approvals.all()) and require("pillion.together").digest()
    seen = { id = approval and approval.id, digest = approval and approval.request.digest, all = all }
  end)
  on(
    "CmdlineLeave",
    vim.schedule_wrap(function() -- the command runs before this does
      seen = nil
    end)
  )
  approvals.listen({ changing = proposal.changing, changed = proposal.changed })
  approvals.listen({ changing = page.changing, changed = page.changed })
  approvals.listen(M)
end

return M
