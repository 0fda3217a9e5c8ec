-- What is said about a call, in the same words in every place: winbars, pages, lists, announcements.

local escape = require("pillion.escape")

local M = {}

--- Of a proposal that rests on more than the agent has read.
M.merged = "merged with what changed since the agent read it"
M.merged_short = "merged"

--- What the human should know of what lies beneath a dialog.
M.beneath = {
  updated = "updated, look again: what it rests on changed",
  moved = "moved on disk, updated: the same change, elsewhere",
  conflict = "changed on disk: your text will be merged and shown again",
}

--- The same where there is little room.
M.beneath_short = { updated = "updated: look again", moved = "moved, updated", conflict = "changed on disk" }

local endings = {
  withdrawn = "The agent gave up waiting",
  expired = "Nobody answered in time",
  superseded = "This is asked again, because what it showed has changed",
  stale = "What this showed cannot be done any more",
  settled = "There is nothing more to trust in these settings",
  ["sidecar stopped"] = "Pillion stopped, so this request is void",
}

---@param outcome string
---@return string
function M.ending(outcome)
  return endings[outcome] or ("This question was closed: " .. escape.visible(outcome))
end

---@param number integer
---@param noun string
function M.count(number, noun)
  return ("%d %s%s"):format(number, noun, number == 1 and "" or noun:find("s$") and "es" or "s")
end

--- What the human calls what they take or leave.
---@param taken integer
---@param all integer
---@return string
function M.share(taken, all)
  return taken == all and "" or ("%d of %s"):format(taken, M.count(all, "hunk"))
end

--- The paths of files, each once, though there may be more to do to one than one thing.
---@param files pillion.FilePreview[]
---@return string[]
function M.paths(files)
  local found = {}
  for _, file in ipairs(files) do
    if not vim.tbl_contains(found, file.path) then
      found[#found + 1] = file.path
    end
  end
  return found
end

--- Which of several files it is: ` (2 of 8)`; empty of the only one.
---@param files pillion.FilePreview[]
---@param file pillion.FilePreview
---@return string
function M.place(files, file)
  local paths = M.paths(files)
  for index, path in ipairs(#paths > 1 and paths or {}) do
    if path == file.path then
      return (" (%d of %d)"):format(index, #paths)
    end
  end
  return ""
end

--- What the call would do, in a few words: `src/app.py`, `3 files`, `pytest -q`.
---@param preview pillion.Preview
---@return string
function M.subject(preview)
  if preview.kind == "diff" then
    local paths = M.paths(preview.files or {})
    return #paths == 1 and paths[1] or M.count(#paths, "file")
  end
  return preview.command or preview.url or ""
end

local tree_verbs = { delete = "delete", move = "move", create_directory = "create folder" }

--- Whether this is done to a file or a folder as a whole: there is no text of it to be compared.
---@param file pillion.FilePreview|pillion.ReviewedFile
---@return boolean
function M.is_tree_change(file)
  return tree_verbs[file.operation] ~= nil or file.deed ~= nil or file.whole ~= nil
end

--- `delete old.py`, `move a.py to b.py`, `create folder src`: what is done to a file or folder as a whole.
---@param file pillion.FilePreview|pillion.ReviewedFile
---@return string
function M.tree_deed(file)
  if file.deed then
    return file.deed
  end
  if file.whole then
    local whole = file.whole ~= "" and (" (%s)"):format(file.whole) or ""
    return ("%s %s%s"):format(file.operation == "create" and "create" or tree_verbs[file.operation] or "edit", file.path, whole)
  end
  local to = file.operation == "move" and file.to and " to " .. file.to or ""
  return ("%s %s%s"):format(tree_verbs[file.operation], file.path, to)
end

---@param files pillion.FilePreview[]
---@param tool string
local function verb(files, tool)
  local operations = {}
  for _, file in ipairs(files) do
    operations[file.operation] = true
  end
  if operations.overwrite and vim.tbl_count(operations) == 1 and tool == "write_file" then
    return "overwrite"
  end
  local only = vim.tbl_count(operations) == 1 and next(operations) or nil
  return only == "create" and only or tree_verbs[only] or "edit"
end

--- Under this name the question waits whether a project's settings are trusted; no agent can call it.
M.trust = "settings.trust"

--- And under this one what they are about to revert themself.
M.revert = "journal.revert"

--- By this tool an agent has a patch reviewed; nothing is changed by it.
M.review = "apply_patch_review"

local uses = { [M.revert] = "revert what an agent changed", exit_plan_mode = "carry out a plan", [M.trust] = "loosen what needs asking" }

--- What a call does that shows no files, command or address.
---@param tool string
---@param deed? string as the sidecar says it
---@return string
function M.use(tool, deed)
  return uses[tool] or deed or "use " .. tool
end

--- `edit src/app.py`, `create notes.md`, `run pytest -q`: completes “claude wants to …”.
---@param request pillion.ApprovalRequest
---@return string
function M.deed(request)
  local preview = request.preview
  if preview.kind == "revert" then
    return "revert " .. preview.name
  elseif request.tool == M.review then
    return "have a patch of " .. M.subject(preview) .. " reviewed"
  end
  local files = preview.kind == "diff" and preview.files or {}
  if #files == 1 and M.is_tree_change(files[1]) then
    return M.tree_deed(files[1])
  elseif preview.kind == "diff" then
    return verb(preview.files or {}, request.tool) .. " " .. M.subject(preview)
  elseif preview.kind == "command" then
    return (request.tool == "run_persistent" and "start " or "run ") .. preview.command
  elseif preview.kind == "url" then
    return "fetch " .. preview.url
  end
  return M.use(request.tool, preview.deed)
end

--- What an agent says of a patch, if that is no one line.
---@param request pillion.ApprovalRequest
---@return string? text
function M.long_message(request)
  local said = request.tool == M.review and request.description or ""
  return (#said > 120 or said:find("\n", 1, true)) and said or nil
end

--- Why this very call asks; not what holds for every call of its tool. Of a patch, what the agent says of it.
---@param request pillion.ApprovalRequest
---@return string[]
function M.particulars(request)
  if request.tool == M.review then
    local said = request.description ~= "" and { (request.description:gsub("%s*\n%s*", " ")) } or {}
    return vim.list_extend(said, request.reasons or {})
  end
  return vim.tbl_filter(function(reason)
    return not vim.startswith(reason, "this tool ")
  end, request.reasons or {})
end

--- The same beside the diff of one file: of a patch to review what it does to that file; that others are meant as well.
---@param request pillion.ApprovalRequest
---@param file pillion.FilePreview|pillion.ReviewedFile
---@return string empty where there is nothing to say
function M.beside(request, file)
  local paths, lead = #M.paths(request.preview.files or {}), "asks because "
  local reasons = M.particulars(request)
  if request.tool == M.review then
    local said = not M.long_message(request) and request.description or ""
    reasons, lead = { (said:gsub("%s*\n%s*", " ")), file.operation ~= "create" and file.told or "" }, ""
  elseif paths > 1 then
    lead = ("this change of %d files asks because "):format(paths)
  end
  reasons = vim.tbl_map(
    function(reason)
      return escape.short(reason, 160)
    end,
    vim.tbl_filter(function(reason)
      return reason ~= ""
    end, reasons)
  )
  return #reasons > 0 and lead .. table.concat(reasons, "; ") or ""
end

--- `+3 −1` over all files.
---@param files pillion.FilePreview[]
---@return string
function M.size(files)
  local additions, deletions = 0, 0
  for _, file in ipairs(files) do
    additions, deletions = additions + file.additions, deletions + file.deletions
  end
  return ("+%d −%d"):format(additions, deletions)
end

---@param text string
local function line_end(text)
  return text:find("\r\n", 1, true) and "\r\n" or text:find("\n", 1, true) and "\n" or nil
end

---@param file pillion.FilePreview
---@return string?
local function ends(file)
  local before, after = line_end(file.before), line_end(file.after)
  if before and after and before ~= after then
    return vim.fs.basename(file.path) .. ": its line ends change"
  elseif file.before:sub(-1) == "\n" and file.after ~= "" and file.after:sub(-1) ~= "\n" then
    return vim.fs.basename(file.path) .. ": the newline at its end goes"
  end
end

--- What of a change a diff does not show: it compares lines, and leaves out what the human's 'diffopt' says.
---@param files pillion.FilePreview[]
---@return string[]
function M.not_shown(files)
  local found, compared = {}, false
  for _, file in ipairs(files) do
    found[#found + 1] = not M.is_tree_change(file) and ends(file) or nil
    compared = compared or not M.is_tree_change(file)
  end
  for _, option in ipairs(compared and vim.opt.diffopt:get() or {}) do
    if option:match("^iwhite") or option == "iblank" or option == "icase" then
      found[#found + 1] = ("your 'diffopt' has %s, which hides changes"):format(option)
    end
  end
  return found
end

---@param request pillion.ApprovalRequest
---@param limit integer
---@return string
function M.wish(request, limit)
  local wants = request.tool == M.revert and " want to " or " wants to "
  return escape.visible(request.agent.name) .. wants .. escape.short(M.deed(request), limit)
end

--- `0.4 s`, `12 s`, `3 min`; nothing below a tenth of a second.
---@param ms number?
---@return string
function M.duration(ms)
  if not ms or ms < 100 then
    return ""
  elseif ms < 9950 then
    return ("%.1f s"):format(ms / 1000)
  elseif ms < 120000 then
    return ("%.0f s"):format(ms / 1000)
  end
  return ("%.0f min"):format(ms / 60000)
end

return M
