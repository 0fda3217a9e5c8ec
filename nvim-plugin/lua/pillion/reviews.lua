-- Patches that an agent shows (`patch/review`): each waits as a question like any other, of which the human takes what they
-- want. Whatever they answer, no file changes by it.

local approvals = require("pillion.approvals")
local words = require("pillion.words")

local M = {}

---@class pillion.ReviewFile
---@field path string
---@field from? string of a file that is moved or copied
---@field uri string
---@field operation "create"|"overwrite"|"delete"|"move"|"copy"
---@field language string
---@field note? string what else happens to it
---@field whole? string what there is to say of it where there are no lines, beside operation and names; with the note
---@field hunks {id: string, header: string, lines: string[]}[]
---@field before string
---@field after string
---@field additions integer
---@field deletions integer
---@field openInEditor boolean
---@field dirty boolean

--- A file of it as a proposal has it.
---@class pillion.ReviewedFile : pillion.FilePreview
---@field deed? string what is done to it, where there are no lines to look at
---@field told? string what is done to it beside its lines

---@class pillion.PatchReview
---@field reviewId string
---@field sessionId? string
---@field agent? {name: string, via: string}
---@field message string
---@field files pillion.ReviewFile[]

---@class pillion.ReviewAnswer
---@field action "apply"|"cancel"
---@field selected string[]
---@field edited? table<string, string>
---@field feedback? string

local verbs = { create = "create", delete = "delete", move = "move", copy = "copy" }

---@param file pillion.ReviewFile
---@return string? deed nil where only its lines change
local function bare_deed(file)
  if file.from and file.from ~= file.path then
    return ("%s %s to %s"):format(verbs[file.operation] or "move", file.from, file.path)
  end
  return verbs[file.operation] and verbs[file.operation] .. " " .. file.path
end

--- What the patch does to a file beside its lines: `move old.py to app.py, mode 100644 → 100755`; nothing where that is all.
---@param file pillion.ReviewFile
---@return string
local function deed(file)
  local parts = { bare_deed(file) }
  if file.note and file.note ~= "" then
    parts[#parts + 1] = #parts > 0 and file.note or file.path .. ": " .. file.note
  end
  return table.concat(parts, ", ")
end

--- The same behind its name on the page: `moved from old.py, mode 100644 → 100755`.
---@param file pillion.ReviewFile
---@return string
local function beside_lines(file)
  local fates = { delete = "deleted", create = "new file" }
  local origin = file.from and ("%s from %s"):format(file.operation == "copy" and "copied" or "moved", file.from)
  return table.concat(
    vim.tbl_filter(function(words_of_it)
      return words_of_it ~= ""
    end, { fates[file.operation] or "", origin or "", file.note or "" }),
    ", "
  )
end

---@param file pillion.ReviewFile
---@return boolean
local function has_lines(file)
  return vim.iter(file.hunks or {}):any(function(hunk)
    return #(hunk.lines or {}) > 0
  end)
end

--- Where there are no lines to look at, it is told in words.
---@param file pillion.ReviewFile
---@return pillion.ReviewedFile
local function preview(file)
  local lines = {}
  for _, hunk in ipairs(file.hunks or {}) do
    vim.list_extend(lines, { hunk.header })
    vim.list_extend(lines, hunk.lines or {})
  end
  local is_text = has_lines(file)
  local whole = file.whole or ""
  return {
    path = file.path,
    uri = file.uri,
    operation = is_text and file.operation ~= "create" and "overwrite" or file.operation,
    language = file.language,
    before = file.before,
    after = file.after,
    diff = #lines > 0 and table.concat(lines, "\n") .. "\n" or "",
    hunks = file.hunks,
    additions = file.additions,
    deletions = file.deletions,
    dirty = file.dirty,
    deed = not is_text and file.from and bare_deed(file) .. (whole ~= "" and (" (%s)"):format(whole) or "") or nil,
    told = is_text and deed(file) or nil,
    note = is_text and beside_lines(file) or nil,
    whole = not is_text and not file.from and whole or nil,
  }
end

--- What its diffs do not show.
---@param review pillion.PatchReview
---@return string[]
local function reasons(review)
  local found = {}
  for _, file in ipairs(review.files or {}) do
    local told = deed(file)
    if told ~= "" and has_lines(file) and file.operation ~= "create" then
      found[#found + 1] = told
    end
  end
  return found
end

---@param review pillion.PatchReview
---@return pillion.ApprovalRequest
local function question(review)
  return {
    approvalId = review.reviewId,
    sessionId = review.sessionId or "",
    agent = review.agent or { name = "an agent", via = "" },
    tool = words.review,
    title = "Review a patch",
    description = vim.trim(review.message or ""),
    reasons = reasons(review),
    arguments = {},
    preview = { kind = "diff", files = vim.tbl_map(preview, review.files or {}) },
    decisions = {
      { id = "reject", title = "Cancel", scope = "once" },
      { id = "approve", title = "Apply", scope = "once" },
    },
    digest = review.reviewId,
  }
end

---@param review pillion.PatchReview
---@param answer pillion.ApprovalAnswer
---@return pillion.ReviewAnswer
local function answered(review, answer)
  if answer.decision ~= "approve" and answer.decision ~= "edit" then
    return { action = "cancel", selected = {}, feedback = answer.feedback }
  end
  local all = {}
  for _, file in ipairs(review.files or {}) do
    for _, hunk in ipairs(file.hunks or {}) do
      all[#all + 1] = hunk.id
    end
  end
  return { action = "apply", selected = answer.selected or all, edited = answer.after }
end

---@param review pillion.PatchReview
---@param reply pillion.Reply
---@param client any
---@param cancelled? fun(callback: fun())
function M.open(review, reply, client, cancelled)
  approvals.open(question(review), function(answer, err)
    reply(answer and answered(review, answer), err)
  end, client)
  if cancelled then
    cancelled(function()
      approvals.remove(review.reviewId, "withdrawn")
    end)
  end
end

return M
