-- Words that the plugin has of its own and says in several places. What there is to say of a request the sidecar composes.

local escape = require("pillion.escape")

local M = {}

--- What happened to a request's files while it waits.
M.beneath = {
  updated = "updated: check it again",
  moved = "updated: its lines moved",
  conflict = "changed on disk: your text will be merged and shown again",
}

local endings = {
  withdrawn = "The agent no longer waits for an answer",
  expired = "Nobody answered in time",
  superseded = "What this showed has changed; it is shown again",
  stale = "What this showed cannot be done any more",
  settled = "These settings no longer ask for trust",
  ["sidecar stopped"] = "Pillion stopped",
}

---@param outcome string
function M.ending(outcome)
  return endings[outcome] or ("This request was closed: " .. escape.visible(outcome))
end

---@param number integer
---@param noun string
function M.count(number, noun)
  return ("%d %s%s"):format(number, noun, number == 1 and "" or noun:sub(-1) == "s" and "es" or "s")
end

--- What there is to say, on one line.
---@param parts string[] "" where there is nothing
---@param separator string
function M.joined(parts, separator)
  return vim
    .iter(parts)
    :filter(function(part)
      return part ~= ""
    end)
    :join(separator)
end

---@param text string
---@param width integer in columns
function M.pad(text, width)
  return text .. (" "):rep(width - vim.fn.strdisplaywidth(text))
end

--- `2 of 3 hunks`; empty when all are selected.
---@param selected integer
---@param all integer
function M.share(selected, all)
  return selected == all and "" or ("%d of %s"):format(selected, M.count(all, "hunk"))
end

--- The paths of files, each once, though there may be more to do to one than one thing.
---@param files {path: string}[]
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

--- Which of several files it is: ` (2 of 8)`; empty for the only one.
---@param files pillion.FilePreview[]
---@param file pillion.FilePreview
function M.place(files, file)
  local paths = M.paths(files)
  for index, path in ipairs(#paths > 1 and paths or {}) do
    if path == file.path then
      return (" (%d of %d)"):format(index, #paths)
    end
  end
  return ""
end

--- `+3 −1` over all files.
---@param files {additions: integer, deletions: integer}[]
function M.size(files)
  local additions, deletions = 0, 0
  for _, file in ipairs(files) do
    additions, deletions = additions + file.additions, deletions + file.deletions
  end
  return ("+%d −%d"):format(additions, deletions)
end

--- By the kind of a choice.
M.answers = { approve = "Approved", remember = "Approved", reject = "Rejected", cancel = "Cancelled" }
local of_drafts = { approve = "Applied", reject = "Left in the draft", cancel = "Cancelled" }

--- `Approved: app.py +1 −1`: what the user has just answered, in a line.
---@param approval pillion.Approval
---@param choice pillion.Choice
function M.answered(approval, choice)
  local preview = approval.request.preview
  local text = ("%s: %s"):format(
    (approval:is_draft() and of_drafts or M.answers)[choice.kind],
    escape.short(preview.subject ~= "" and preview.subject or preview.deed, 60)
  )
  if choice.kind == "reject" or choice.kind == "cancel" then
    return text
  end
  local hunks = vim.tbl_filter(function(hunk)
    return hunk.has_text
  end, approval.chosen:selected())
  text = #hunks > 0 and text .. " " .. M.size(hunks) or text
  text = approval:is_edited() and text .. ", with your edits" or text
  local rule = vim.iter(approval.request.decisions):find(function(decision)
    return decision.id == choice.decisionId and decision.rule ~= nil
  end)
  return rule and ("%s; remembered %s"):format(text, escape.short(rule.rule, 60)) or text
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
    return vim.fs.basename(file.path) .. ": its line endings change"
  elseif file.before:sub(-1) == "\n" and file.after ~= "" and file.after:sub(-1) ~= "\n" then
    return vim.fs.basename(file.path) .. ": its last newline is removed"
  end
end

--- What of a change a diff window hides: it compares lines, and leaves out what the user's 'diffopt' says.
---@param files pillion.FilePreview[]
---@return string[]
function M.not_shown(files)
  local found, compared = {}, false
  for _, file in ipairs(files) do
    found[#found + 1] = file.text and ends(file) or nil
    compared = compared or file.text
  end
  for _, option in ipairs(compared and vim.opt.diffopt:get() or {}) do
    if vim.startswith(option, "iwhite") or option == "iblank" or option == "icase" then
      found[#found + 1] = ("your 'diffopt' has %s, which hides changes"):format(option)
    end
  end
  return found
end

--- `claude wants to edit src/app.py`
---@param request pillion.ApprovalRequest
---@param limit integer
function M.wish(request, limit)
  local wants = request.preview.kind == "revert" and " want to " or " wants to "
  return escape.visible(request.agent.name) .. wants .. escape.short(request.preview.deed, limit)
end

--- `0.4 s`, `12 s`, `3 min`; nothing below a tenth of a second.
---@param ms number?
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
