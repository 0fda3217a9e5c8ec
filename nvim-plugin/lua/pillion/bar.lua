-- The line above each window of a dialog: who proposes what, what the human should know of it, and the keys.

local escape = require("pillion.escape")
local keys = require("pillion.keys")
local words = require("pillion.words")

local M = {}

---@param text string
---@param limit integer
local function plain(text, limit)
  return (escape.short(text, limit):gsub("%%", "%%%%"))
end

---@param highlight string
---@param text string as a status line wants it
local function painted(highlight, text)
  return text == "" and "" or ("%%#%s#%s%%*"):format(highlight, text)
end

---@param approval pillion.Approval
---@return string
local function key_line(approval)
  local shown =
    { { "approve", "approve" }, { "session", "session" }, { "reject", "reject" }, { "reason", "reason" }, { "cancel", "cancel" } }
  if #approval:files() > 1 then
    table.insert(shown, 1, { "next_file", "next file" })
  end
  local configured = keys.configured()
  local parts = {}
  for _, entry in ipairs(shown) do
    local key = configured[entry[1]]
    if key and key ~= "" and (entry[1] ~= "session" or #approval:remembering() > 0) then
      parts[#parts + 1] = painted("PillionKey", plain(key, 20)) .. " " .. entry[2]
    end
  end
  return table.concat(parts, "  ")
end

--- Above the current text: who, what, why.
---@param approval pillion.Approval
---@param index integer which of its files
---@return string
function M.current(approval, index)
  local files = approval:files()
  local file = files[index]
  local place = #files > 1 and ("  %s (%d of %d)"):format(plain(vim.fs.basename(file.path), 40), index, #files) or ""
  local reasons = #(approval.request.reasons or {})
  local why = reasons > 0 and "  " .. words.count(reasons, "reason") or ""
  local name = painted("PillionTitle", plain(approval.request.agent.name, 30))
  return (" %s: %s%s %s%s%%<"):format(name, plain(approval.request.title or "", 60), place, words.size({ file }), why)
end

--- Above the proposal: what became of it, and the keys.
---@param approval pillion.Approval
---@return string
function M.proposed(approval)
  local notes = vim.tbl_map(function(note)
    return plain(note, 80)
  end, words.not_shown(approval:files()))
  if approval:is_edited() then
    notes[#notes + 1] = "edited by you"
  end
  notes[#notes + 1] = words.beneath_short[approval.beneath]
  local note = painted("PillionWarning", table.concat(notes, "; "))
  return " " .. (note == "" and "" or note .. "  ") .. key_line(approval) .. "%<"
end

---@param approval pillion.Approval
---@return string
function M.page(approval)
  local title = painted("PillionTitle", plain(approval.request.agent.name, 30)) .. " " .. plain(approval.request.title or "", 60)
  return (" %s %s"):format(title, M.proposed(approval))
end

---@param outcome string
---@return string
function M.ended(outcome)
  return " " .. painted("PillionWarning", plain(words.ending(outcome), 100))
end

return M
