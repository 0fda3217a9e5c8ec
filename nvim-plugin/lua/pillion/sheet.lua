-- The read-only page of a request: what would happen, the facts, what each answer means, and the diff. All that it says of a
-- request is composed by the sidecar. Pure: it gives lines and the places to paint; page.lua shows them.

local escape = require("pillion.escape")
local words = require("pillion.words")

local visible = escape.visible

local M = {}

---@alias pillion.Paint "Heading"|"Code"|"Prompt"|"Label"|"Rule"|"Warning"|"Muted"|"Added"|"Removed"

---@class pillion.Mark
---@field paint pillion.Paint
---@field line integer zero-based
---@field from integer bytes
---@field to integer

---@class pillion.Sheet
---@field lines string[]
---@field marks pillion.Mark[]
---@field places table<string, integer> the line, from 1, on which a file stands, by its key
local Sheet = {}
Sheet.__index = Sheet

--- Where the text of facts begins.
local column = 14

---@return pillion.Sheet
function M.new()
  return setmetatable({ lines = {}, marks = {}, places = {} }, Sheet)
end

--- A text in a column; a longer one has two blanks behind it.
---@param text string
---@param width integer
local function pad(text, width)
  local room = width - vim.fn.strdisplaywidth(text)
  return text .. (" "):rep(room > 0 and room or 2)
end

---@private
function Sheet:mark(paint, from, to)
  if to > from then
    self.marks[#self.marks + 1] = { paint = paint, line = #self.lines - 1, from = from, to = to }
  end
end

function Sheet:gap()
  if self.lines[#self.lines] ~= "" then
    self.lines[#self.lines + 1] = ""
  end
end

---@param text string
---@param paint pillion.Paint?
function Sheet:line(text, paint)
  self.lines[#self.lines + 1] = text
  if paint then
    self:mark(paint, 0, #text)
  end
end

--- A line of several texts, each with its own paint or none.
---@param parts {[1]: string, [2]: pillion.Paint?}[]
function Sheet:parts(parts)
  self.lines[#self.lines + 1] = ""
  for _, part in ipairs(parts) do
    local text, paint = part[1], part[2]
    local from = #self.lines[#self.lines]
    self.lines[#self.lines] = self.lines[#self.lines] .. text
    self:mark(paint, from, paint and from + #text or from)
  end
end

--- How invisible characters are written out, by the sidecar and by escape.lua.
local escapes = { "\\u{%x+}", "\\u%x%x%x%x", "\\x%x%x" }

---@param lines string[]
---@param first string before the first line
---@param following string before the others
function Sheet:code(lines, first, following)
  for index, line in ipairs(lines) do
    local prompt = index == 1 and first or following
    self.lines[#self.lines + 1] = prompt .. line
    self:mark("Code", 0, #prompt + #line)
    self:mark("Prompt", 0, prompt:find("%S") and #prompt or 0)
    for _, escape_sequence in ipairs(escapes) do
      for from, to in line:gmatch("()" .. escape_sequence .. "()") do
        self:mark("Warning", #prompt + from - 1, #prompt + to - 1)
      end
    end
  end
end

local tones = { warning = "Warning", muted = "Muted" }

---@param fact pillion.Fact
---@param indent? string
function Sheet:fact(fact, indent)
  indent = indent or ""
  local values = #(fact.items or {}) > 0 and fact.items or { fact.text }
  local head = pad(indent .. fact.label, column)
  if #values > 1 and vim.fn.strdisplaywidth(head) > column then
    self:line(indent .. fact.label, "Label")
    head = (" "):rep(column)
  end
  for index, value in ipairs(values) do
    local before = index == 1 and head or (" "):rep(column)
    self.lines[#self.lines + 1] = before .. value
    self:mark("Label", #indent, #vim.trim(before) + #indent)
    self:mark(tones[fact.tone], #before, #before + (tones[fact.tone] and #value or 0))
  end
end

---@param list pillion.PossibleAnswer[]
---@param keys table<string, string> by action, for those that have one
function Sheet:answers(list, keys)
  local width = 0
  local titles = vim.tbl_map(function(one)
    local key = keys[one.action] or ""
    local title = key ~= "" and ("%-3s  %s"):format(key, one.title) or one.title
    width = math.max(width, vim.fn.strdisplaywidth(title) + 2)
    return title
  end, list)
  for index, one in ipairs(list) do
    local head = pad(titles[index], width)
    self.lines[#self.lines + 1] = head .. one.meaning
    self:mark("Label", 0, #titles[index])
    self:mark("Muted", #head, #head + #one.meaning)
    if one.rule then
      self.lines[#self.lines + 1] = (" "):rep(width) .. visible(one.rule)
      self:mark("Rule", width, width + #visible(one.rule))
    end
  end
end

local diff_paints = { ["+"] = "Added", ["-"] = "Removed", ["@"] = "Muted" }

--- Hunks, or several files in git's format. Of their headers stays what has their names and modes.
---@param text string?
function Sheet:diff(text)
  local in_hunk = false
  for _, line in ipairs((text or "") ~= "" and escape.visible_lines((text:gsub("\n$", ""))) or {}) do
    in_hunk = vim.startswith(line, "@@") or in_hunk and line:find("^[-+ \\]") ~= nil
    if in_hunk then
      self:code({ line }, "  ", "  ")
      local paint = diff_paints[line:sub(1, 1)]
      self:mark(paint, 2, paint and 2 + #line or 0)
    elseif not (line:find("^index ") or line:find("^%-%-%- ") or line:find("^%+%+%+ ")) then
      self:line("  " .. line, "Label")
    end
  end
end

---@param file pillion.FilePreview
---@param chosen? pillion.Chosen
function Sheet:file(file, chosen)
  local parts = { file.name, file.text and words.size({ file }) or "", file.summary }
  self:line("  " .. words.joined(parts, "  "), "Rule")
  local selected, all = 0, 0
  if chosen then
    selected, all = chosen:count(chosen:key(file))
  end
  if chosen and file.text and chosen:edit_of(file.path) then
    self:line("  You edited this file: your text counts, not the diff below.", "Warning")
  elseif selected < all then
    self:line(selected == 0 and "  You left this out." or ("  You selected %s."):format(words.share(selected, all)), "Warning")
  end
  for _, fact in ipairs(file.facts) do
    self:fact(fact, "  ")
  end
  if file.text then
    self:diff(("\n" .. file.diff):match("\n(@@.*)")) -- its headers have the name again
  end
end

--- What would happen, as far as it is no fact.
---@param sheet pillion.Sheet
---@param preview pillion.Preview
---@param chosen? pillion.Chosen
---@param own? string the user's own command or message
local function body(sheet, preview, chosen, own)
  for index, file in ipairs(preview.files or {}) do
    if index > 1 then
      sheet:gap()
    end
    sheet.places[chosen and chosen:key(file) or file.path] = #sheet.lines + 1
    sheet:file(file, chosen)
  end
  local is_command = preview.kind == "command"
  local lines = own and escape.visible_lines((own:gsub("%s+$", ""))) or preview.lines or {}
  sheet:code(lines, is_command and "  $ " or "  ", is_command and "  > " or "  ")
  if own then
    sheet:line("  You edited this; the agent gets your text.", "Warning")
    if is_command then
      sheet:line("  What is said below is about the agent's command. Yours is checked when you", "Warning")
      sheet:line("  approve it; if there is more to say of it, you are asked again first.", "Warning")
    end
  end
  for _, notice in ipairs(preview.notices or {}) do
    sheet:line("  " .. notice, "Warning")
  end
end

---@param sheet pillion.Sheet
---@param preview pillion.Preview
local function facts(sheet, preview)
  sheet:gap()
  for _, fact in ipairs(preview.facts) do
    sheet:fact(fact)
  end
end

---@param sheet pillion.Sheet
---@param preview pillion.Preview
local function diff(sheet, preview)
  if (preview.diff or "") ~= "" then
    sheet:gap()
    sheet:diff(preview.diff)
  end
end

---@param approval pillion.Approval
---@param keys table<string, string>
function M.question(approval, keys)
  local sheet, request = M.new(), approval.request
  local preview = request.preview
  local wants = ("%s wants to %s"):format(visible(request.agent.name), preview.act)
  sheet:line(approval:is_own() and preview.question or wants, "Heading")
  if approval.beneath ~= "unchanged" then
    sheet:line("Updated since it first appeared: a file changed. Check it again.", "Warning")
  end
  sheet:gap()
  body(sheet, preview, approval.chosen, approval.own)
  facts(sheet, preview)
  sheet:gap()
  local list = approval:answers()
  if approval.chosen:is_open() then
    table.insert(
      list,
      1,
      { action = "hunk", title = "Toggle Hunk", meaning = "the hunk under the cursor; on this page, the file named above" }
    )
  end
  sheet:answers(list, keys)
  diff(sheet, preview)
  return sheet
end

--- All requests, whole, under one answer.
---@param approvals pillion.Approval[]
function M.together(approvals)
  local sheet = M.new()
  sheet:line(words.count(#approvals, "request") .. " with one answer", "Heading")
  for index, approval in ipairs(approvals) do
    local request = approval.request
    sheet:gap()
    sheet:line(("%d. %s wants to %s"):format(index, visible(request.agent.name), request.preview.act), "Label")
    body(sheet, request.preview, approval.chosen, approval.own)
    facts(sheet, request.preview)
    diff(sheet, request.preview)
  end
  return sheet
end

--- Shown in place of a dialog that ended by itself: while somebody looked at it, or with text of theirs in it.
---@param request pillion.ApprovalRequest
---@param outcome string
---@param kept boolean whether the user's own text stands beside it
function M.ended(request, outcome, kept)
  local sheet = M.new()
  sheet:line(words.ending(outcome), "Heading")
  sheet:gap()
  sheet:line("Nothing was done, and it can no longer be approved. Press q to close this.")
  if kept then
    sheet:line("What you wrote is kept in the window beside this one.", "Warning")
  end
  sheet:gap()
  sheet:line(("%s wanted to %s:"):format(visible(request.agent.name), request.preview.act), "Muted")
  body(sheet, request.preview)
  diff(sheet, request.preview)
  return sheet
end

return M
