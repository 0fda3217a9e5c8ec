-- The pages about what an agent changed: what reverting it would do, before it is done, and what the change was. Pure, as
-- sheet.lua, whose paper they are written on.

local escape = require("pillion.escape")
local journal = require("pillion.journal")
local sheet = require("pillion.sheet")
local words = require("pillion.words")

local visible = escape.visible

local M = {}

local merged_note = "merged: later changes stay"

---@param page pillion.Sheet
---@param file pillion.FilePreview
---@param merged table<string, boolean>
local function file_of(page, file, merged)
  if file.operation == "create" and file.whole then
    page:line(("  %s comes back (%s)"):format(visible(file.path), visible(file.whole)), "Rule")
    return
  elseif words.is_tree_change(file) then
    page:tree_change(file, false)
    return
  end
  local verb = file.operation == "create" and "  (it comes back)" or ""
  page:line(("  %s  +%d −%d%s"):format(visible(file.path), file.additions or 0, file.deletions or 0, verb), "Rule")
  if file.entries then
    page:entries(file, file.entries == 1 and "comes back with it" or "come back with it")
    return
  end
  if merged[file.path] then
    page:line("  " .. merged_note, "Warning")
  end
  if file.dirty then
    page:line("  only in its buffer, which has unsaved changes", "Muted")
  end
  page:diff(file.diff, sheet.most)
end

---@param list string[]?
---@return table<string, boolean>
local function set(list)
  local found = {}
  for _, item in ipairs(list or {}) do
    found[item] = true
  end
  return found
end

---@param approval pillion.Approval
---@param keys table<string, string>
---@return pillion.Sheet
function M.question(approval, keys)
  local page, preview = sheet.new(), approval.request.preview
  local files, merged = preview.files, set(preview.merged)
  page:line("Revert " .. visible(preview.name) .. "?", "Heading")
  if approval.beneath ~= "unchanged" then
    page:line("This was updated since it first appeared: what it rests on changed.", "Warning")
  end
  for _, file in ipairs(files) do
    page:gap()
    file_of(page, file, merged)
  end
  page:gap()
  for _, path in ipairs(preview.conflicts or {}) do
    local why = (preview.reasons or {})[path]
    page:line(("  %s stays as it is%s"):format(visible(path), why and ": " .. visible(why) or ""), "Warning")
  end
  page:gap()
  local function title(text, key)
    return key and key ~= "" and ("%-3s  %s"):format(key, text) or text
  end
  page.answer_width = 18
  if #files > 0 then
    local what = ("%s as shown; it can be reverted in its turn"):format(words.count(#words.paths(files), "file"))
    page:answer(title("Revert", keys.approve), what)
    page:answer(title("Leave it", keys.reject), "nothing happens")
  else
    page:line("Nothing of it can be reverted.", "Label")
    page:answer(title("Leave it", keys.reject), "close this page")
  end
  return page
end

---@param before string
---@param after string
local function unified(before, after)
  return (vim.diff(before, after, { result_type = "unified", ctxlen = 3 })) --[[@as string]]
end

--- What a change was, read backwards from what reverting it would do.
---@param change pillion.AgentChange
---@param result pillion.RevertResult? nil where it can no longer be told
---@param keys table<string, string>
---@return pillion.Sheet
function M.change(change, result, keys)
  local page, files = sheet.new(), journal.files_of(result)
  page:line(journal.title(change), "Heading")
  local turn = (change.turn or 0) > 0 and (", turn %d"):format(change.turn) or ""
  page:fact("By", { journal.who(change) .. turn })
  page:fact("When", { journal.clock(change) })
  local state, why = journal.states[change.state], change.why and change.why ~= "" and ": " .. visible(change.why) or ""
  page:fact("It is", state and { state .. why } or {}, "Warning")
  for _, file in ipairs(files) do
    page:gap()
    if words.is_tree_change(file) then
      page:line("  " .. visible(file.path), "Rule")
    else
      page:line(("  %s  +%d −%d"):format(visible(file.path), file.deletions or 0, file.additions or 0), "Rule")
      page:diff(unified(file.after, file.before), sheet.most)
    end
  end
  for _, path in ipairs(result and result.conflicts or {}) do
    page:gap()
    local because = (result.reasons or {})[path]
    page:line(("  %s  was changed since%s"):format(visible(path), because and ": " .. visible(because) or ""), "Warning")
  end
  if not result or #files + #(result.conflicts or {}) == 0 then
    page:gap()
    for _, file in ipairs(change.files or {}) do
      page:line(
        ("  %s %s  +%d −%d"):format(visible(file.operation), visible(file.path), file.additions or 0, file.deletions or 0),
        "Rule"
      )
    end
  end
  page:gap()
  if keys.revert and keys.revert ~= "" and journal.is_revertible(change) then
    page:line(("%s shows what reverting it would do"):format(keys.revert), "Muted")
  end
  return page
end

return M
