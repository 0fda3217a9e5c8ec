-- The line above each window of a dialog: who wants what, what to know about it, and the keys.

local answers = require("pillion.answers")
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

---@param shown {[1]: pillion.Action, [2]: string}[]
---@return string
local function key_line(shown)
  local configured = keys.configured()
  local parts = {}
  for _, entry in ipairs(shown) do
    local key = configured[entry[1]]
    if key and key ~= "" then
      parts[#parts + 1] = painted("PillionKey", plain(key, 20)) .. " " .. entry[2]
    end
  end
  return table.concat(parts, "  ")
end

--- What this request can be answered with.
---@param approval pillion.Approval
---@return {[1]: pillion.Action, [2]: string}[]
local function keys_of(approval)
  local selected, all = approval.chosen:count()
  local found, last = {}, nil
  for _, one in ipairs(answers(approval)) do
    local share = one.action == "approve" and selected < all and (" %d of %d"):format(selected, all) or ""
    found[#found + 1] = one.action ~= last and { one.action, (one.word or one.title:lower()) .. share } or nil -- a scope may have several rules
    last = one.action
  end
  found[#found + 1] = #approval:files() > 1 and { "next_file", "next file" } or nil
  return found
end

--- Which hunk the user points at, with the key for it, and whether it is selected: `gh hunk 2 of 5 left out · `.
---@param approval pillion.Approval
---@param path string
---@param hunk? pillion.Hunk
---@return string empty where there is nothing to choose
function M.hunk(approval, path, hunk)
  local chosen = approval.chosen
  if not hunk or not chosen:is_open() then
    return ""
  end
  local _, all = chosen:count()
  local is_stuck = chosen:is_stuck(path, hunk)
  local state = is_stuck and "changed by you" or chosen:has(hunk) and "selected" or "left out"
  local paint = chosen:has(hunk) and not is_stuck and "PillionKey" or "PillionWarning"
  local key = key_line({ { "hunk", "hunk" } })
  return ("%s %d of %d %s · "):format(key == "" and "hunk" or key, chosen:number(hunk), all, painted(paint, state))
end

--- Above the current text: which hunk, who, what.
---@param approval pillion.Approval
---@param index integer which of its files
---@param hunk? pillion.Hunk
---@return string
function M.current(approval, index, hunk)
  local files = approval:files()
  local file = files[index]
  local name_of_file = plain(vim.fs.basename(file.path), 40)
  local choice = M.hunk(approval, file.path, hunk)
  if choice ~= "" then
    return (" %s%s%s  %s%%<"):format(
      choice,
      name_of_file,
      words.place(files, file),
      painted("PillionTitle", plain(approval.request.agent.name, 30))
    )
  end
  local place = #files > 1 and ("  %s%s"):format(name_of_file, words.place(files, file)) or ""
  local name = painted("PillionTitle", plain(approval.request.agent.name, 30))
  return (" %s: %s%s %s%%<"):format(name, plain(approval.request.title, 60), place, words.size({ file }))
end

--- Above the proposal: what became of it, and the keys.
---@param approval pillion.Approval
---@return string
function M.proposed(approval)
  local notes = vim.tbl_map(function(note)
    return plain(note, 80)
  end, words.not_shown(approval:files()))
  if vim.iter(approval:files()):any(function(file)
    return file.merged
  end) then
    notes[#notes + 1] = "merged"
  end
  if approval:is_edited() then
    notes[#notes + 1] = "edited by you"
  end
  notes[#notes + 1] = words.beneath[approval.beneath]
  local note = painted("PillionWarning", table.concat(notes, "; "))
  return " " .. (note == "" and "" or note .. "  ") .. key_line(keys_of(approval)) .. "%<"
end

---@param approval pillion.Approval
---@param index integer which of its files, where it has some
---@param hunk? pillion.Hunk
---@return string
function M.page(approval, index, hunk)
  if approval:is_own() then -- the page itself says the rest
    return (" %s %s"):format(painted("PillionTitle", "Preview"), M.proposed(approval))
  end
  local title = painted("PillionTitle", plain(approval.request.agent.name, 30)) .. " " .. plain(approval.request.title, 26)
  local file = approval:files()[index]
  local choice = file and M.hunk(approval, file.path, hunk) or ""
  if choice ~= "" then -- who and what, the page itself says; the keys need the room
    title = ("%s%s%s "):format(choice, plain(vim.fs.basename(file.path), 40), words.place(approval:files(), file))
  end
  return (" %s %s"):format(title, M.proposed(approval))
end

--- Above the list of all that waits.
---@param title string
---@param note string
---@return string
function M.together(title, note)
  local shown = { { "approve", "approve all" }, { "reject", "reject all" }, { "cancel", "stop agents" }, { "close", "close" } }
  local warning = note == "" and "" or painted("PillionWarning", plain(note, 80)) .. "  "
  return (" %s  %s%s%%<"):format(painted("PillionTitle", title), warning, key_line(shown))
end

--- Above what a process prints: nothing that it prints gets here.
---@param process pillion.Process
---@return string
function M.process(process)
  local shown = process.running and { { "write", "type a line" }, { "kill", "stop" } } or {}
  shown[#shown + 1] = { "close", "close" }
  local name = painted("PillionTitle", plain(process:name(), 40))
  local gone = process.output.first - 1
  local older = gone > 0 and (" · %s dropped"):format(words.count(gone, "earlier line")) or ""
  local agent = process.agent and plain(process.agent.name, 30) .. " · " or ""
  return (" %s  %s  %s%s%s  %s%%<"):format(name, plain(process.command, 60), agent, process:state(), older, key_line(shown))
end

--- Above a list.
---@param title string
---@param shown {[1]: pillion.Action, [2]: string}[]
---@return string
function M.listing(title, shown)
  return (" %s  %s%%<"):format(painted("PillionTitle", title), key_line(shown))
end

--- Above the list of what agents changed.
---@return string
function M.journal()
  local shown = { { "show", "show" }, { "revert", "revert" }, { "revert_turn", "its turn" }, { "revert_agent", "all by its agent" } }
  return M.listing("Changes by agents", vim.list_extend(shown, { { "close", "close" } }))
end

--- Above what one of them was.
---@return string
function M.change()
  return M.listing("A change", { { "revert", "revert" }, { "close", "close" } })
end

---@param outcome string
---@return string
function M.ended(outcome)
  return " " .. painted("PillionWarning", plain(words.ending(outcome), 100))
end

return M
