-- `:Pillion journal`: a buffer that lists what agents changed, newest first, a turn of an agent under a line of its own. It
-- follows while it is on show. Its keys show a change, or what reverting it would do; nothing is done from here.

local bar = require("pillion.bar")
local escape = require("pillion.escape")
local journal = require("pillion.journal")
local keys = require("pillion.keys")
local page = require("pillion.page")
local sheets = require("pillion.sheet")
local words = require("pillion.words")

local api = vim.api
local visible = escape.visible

local M = {}

--- Changes come in bursts.
local settle_ms = 60
local title_width = 44

---@type pillion.AgentChange[]? as they were last told; nil before that
local changes
---@type table<integer, pillion.AgentChange> by the buffer of its page
local page_of = {}

---@param change pillion.AgentChange
local function turn_of(change)
  return journal.who(change) .. journal.turn(change)
end

---@return pillion.Sheet
---@return table<integer, pillion.AgentChange> by line; of a turn's own line the newest in it
local function draw()
  local sheet, at, turn = sheets.new(), {}, nil
  for _, change in ipairs(changes or {}) do
    local own = change.sessionId .. " " .. turn_of(change)
    if own ~= turn then
      turn = own
      sheet:line(turn_of(change), "Heading")
      at[#sheet.lines] = change
    end
    local state = words.joined({ journal.states[change.state] or "", journal.note(change) }, ", ")
    local text = words.pad(journal.title(change), title_width) .. "  " .. words.pad(journal.size(change), 8)
    sheet:parts({
      { ("  %s  "):format(journal.clock(change)), "Muted" },
      { state == "" and text:gsub("%s+$", "") or text .. "  " },
      { state, "Warning" },
    })
    at[#sheet.lines] = change
  end
  if changes and #changes == 0 then
    sheet:line("The journal has no changes by agents here.")
  end
  return sheet, at
end

--- What a change was, read backwards from what reverting it would do.
---@param change pillion.AgentChange
---@param result pillion.RevertResult? nil where it is not known any more
local function page_for(change, result)
  local found, files = sheets.new(), journal.files_of(result)
  local function fact(label, text, tone)
    found:fact({ code = "", label = label, text = text, tone = tone })
  end
  found:line(journal.title(change), "Heading")
  fact("By", journal.who(change) .. journal.turn(change))
  fact("When", journal.clock(change))
  local state, why = journal.states[change.state], change.why and change.why ~= "" and ": " .. visible(change.why) or ""
  if state then
    fact("State", state .. why, "warning")
  end
  for _, file in ipairs(files) do
    found:gap()
    found:line("  " .. file.name .. (file.text and ("  +%d −%d"):format(file.deletions, file.additions) or ""), "Rule")
    if file.text then
      found:diff(vim.diff(file.after, file.before, { result_type = "unified", ctxlen = 3 }) --[[@as string]])
    end
  end
  for _, path in ipairs(result and result.conflicts or {}) do
    found:gap()
    local because = (result.reasons or {})[path]
    found:line(("  %s  changed since%s"):format(visible(path), because and ": " .. visible(because) or ""), "Warning")
  end
  if not result or #files + #(result.conflicts or {}) == 0 then
    found:gap()
    for _, file in ipairs(change.files or {}) do
      local note = file.note and "  " .. visible(file.note) or ""
      found:line(("  %s %s  %s%s"):format(visible(file.operation), visible(file.path), words.size({ file }), note), "Rule")
    end
  end
  found:gap()
  local key = keys.of("revert")
  if key and journal.is_revertible(change) then
    found:line(key .. " previews reverting it", "Muted")
  end
  return found
end

local listing ---@type pillion.Listing

---@param done? fun()
local function ask(done)
  journal.ask(function(found)
    changes = found
    listing:refresh()
    if done then
      done()
    end
  end)
end

M.refresh = require("pillion.events").settled(settle_ms, function()
  if listing:window() then
    ask()
  end
end)

--- The change that the cursor stands on, or whose page it is in.
---@return pillion.AgentChange?
function M.here()
  return listing:here() or page_of[api.nvim_get_current_buf()]
end

--- A page in a window of its own, which the user asked for.
---@param change pillion.AgentChange
local function show(change)
  local function present(result)
    local shown = page.open(("pillion://journal/%s"):format(change.id), page_for(change, result))
    page_of = { [shown] = change }
    keys.bind_doings(shown, keys.reverting())
    bar.put(api.nvim_get_current_win(), bar.listing("A change", { { "revert", "revert" }, { "close", "close" } }))
  end
  if not journal.is_revertible(change) then
    present(nil)
    return
  end
  change.client.request("journal/revert", { callId = change.callId, dryRun = true }, function(err, result)
    present(not err and result or nil)
  end)
end

listing = require("pillion.listing").new({
  name = "pillion://journal",
  filetype = "pillion-journal",
  title = "Changes by agents",
  keys = {
    { "show", "show" },
    { "revert", "revert" },
    { "revert_turn", "its turn" },
    { "revert_since", "restore to here" },
    { "revert_agent", "all by its agent" },
  },
  draw = draw,
  renew = M.refresh,
  has_columns = true,
  doings = vim.tbl_extend("error", keys.reverting(), {
    show = function(change)
      if change then
        show(change)
      end
    end,
  }),
})

function M.open()
  local window, is_new = listing:open()
  ask(function()
    if is_new and listing:window() and api.nvim_win_is_valid(window) then
      listing:fit(window)
      api.nvim_win_set_cursor(window, { changes[1] and 2 or 1, 0 })
    end
  end)
end

journal.listen(M.refresh)

return M
