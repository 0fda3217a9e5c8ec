-- The page of what an agent changed. Pure, as sheet.lua, whose paper it is written on.

local escape = require("pillion.escape")
local journal = require("pillion.journal")
local sheet = require("pillion.sheet")
local words = require("pillion.words")

local visible = escape.visible

--- What a change was, read backwards from what reverting it would do.
---@param change pillion.AgentChange
---@param result pillion.RevertResult? nil where it is not known any more
---@param keys table<string, string>
---@return pillion.Sheet
return function(change, result, keys)
  local page, files = sheet.new(), journal.files_of(result)
  local function fact(label, text, tone)
    page:fact({ code = "", label = label, text = text, tone = tone })
  end
  page:line(journal.title(change), "Heading")
  fact("By", journal.who(change) .. journal.turn(change))
  fact("When", journal.clock(change))
  local state, why = journal.states[change.state], change.why and change.why ~= "" and ": " .. visible(change.why) or ""
  if state then
    fact("State", state .. why, "warning")
  end
  for _, file in ipairs(files) do
    page:gap()
    page:line("  " .. file.name .. (file.text and ("  +%d −%d"):format(file.deletions, file.additions) or ""), "Rule")
    if file.text then
      page:diff(vim.diff(file.after, file.before, { result_type = "unified", ctxlen = 3 }) --[[@as string]])
    end
  end
  for _, path in ipairs(result and result.conflicts or {}) do
    page:gap()
    local because = (result.reasons or {})[path]
    page:line(("  %s  changed since%s"):format(visible(path), because and ": " .. visible(because) or ""), "Warning")
  end
  if not result or #files + #(result.conflicts or {}) == 0 then
    page:gap()
    for _, file in ipairs(change.files or {}) do
      local note = file.note and "  " .. visible(file.note) or ""
      page:line(("  %s %s  %s%s"):format(visible(file.operation), visible(file.path), words.size({ file }), note), "Rule")
    end
  end
  page:gap()
  if (keys.revert or "") ~= "" and journal.is_revertible(change) then
    page:line(keys.revert .. " previews reverting it", "Muted")
  end
  return page
end
