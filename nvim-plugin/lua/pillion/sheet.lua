-- The read-only page on which a human decides about a command, an address or a text: what exactly would happen, where,
-- why it asks, and what each answer means. Pure: it gives lines and the places to paint; page.lua shows them.

local escape = require("pillion.escape")
local git_sheet = require("pillion.git_sheet")
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
---@field places table<string, integer> the line, from 1, on which a file is told of, by its key
---@field answer_width integer
local Sheet = {}
Sheet.__index = Sheet
--- Of the column with the answers; wider where a title is.
Sheet.answer_width = 34

local label_width = 14

--- So much is shown of a text that goes, or of what reverting would do to one file.
M.most = 2000

---@return pillion.Sheet
function M.new()
  return setmetatable({ lines = {}, marks = {}, places = {} }, Sheet)
end

---@param text string
---@param width integer
local function pad(text, width)
  return text .. (" "):rep(width - vim.fn.strdisplaywidth(text))
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

---@param lines string[]
---@param first string before the first line
---@param following string before the others
function Sheet:code(lines, first, following)
  for index, line in ipairs(lines) do
    local prompt = index == 1 and first or following
    self.lines[#self.lines + 1] = prompt .. line
    self:mark("Code", 0, #prompt + #line)
    self:mark("Prompt", 0, #prompt)
    local from, to = line:find("\\u{%x+}")
    while from do
      self:mark("Warning", #prompt + from - 1, #prompt + to)
      from, to = line:find("\\u{%x+}", to + 1)
    end
  end
end

---@param label string
---@param values string[]
---@param paint pillion.Paint?
function Sheet:fact(label, values, paint)
  for index, value in ipairs(values) do
    local name = index == 1 and label or ""
    self.lines[#self.lines + 1] = pad(name, label_width) .. value
    self:mark("Label", 0, #name)
    if paint then
      self:mark(paint, label_width, label_width + #value)
    end
  end
end

--- A choice and what it means; `rule` is what choosing it saves.
function Sheet:answer(title, meaning, rule)
  local head = pad(title, self.answer_width)
  self.lines[#self.lines + 1] = head .. meaning
  self:mark("Label", 0, #title)
  self:mark("Muted", #head, #head + #meaning)
  if rule then
    self.lines[#self.lines + 1] = (" "):rep(self.answer_width) .. visible(rule)
    self:mark("Rule", self.answer_width, self.answer_width + #visible(rule))
  end
end

---@param lines string[]
---@param first string before each line
function Sheet:some(lines, first)
  self:code(vim.list_slice(lines, 1, M.most), first, first)
  if #lines > M.most then
    self:line(("  and %s"):format(words.count(#lines - M.most, "more line")), "Warning")
  end
end

--- A text without its last line feed, line by line.
---@param text string?
---@return string[]
local function lines_of(text)
  return escape.visible_lines(((text or ""):gsub("\n$", "")))
end

--- What is done to a file or folder as a whole, and what goes with it.
---@param file pillion.FilePreview
---@param is_only boolean the line above says it already
---@param is_left_out? boolean
function Sheet:tree_change(file, is_only, is_left_out)
  if not is_only then
    self:line("  " .. visible(words.tree_deed(file)), "Rule")
  end
  if is_left_out then
    self:line("  You leave this out: it is not done.", "Warning")
  end
  if file.dirty then
    self:line("  You have not saved all of it; that text stays in its buffer.", "Warning")
  end
  if file.entries then
    self:entries(file, file.entries == 1 and "goes with it" or "go with it")
  elseif file.operation == "delete" and file.before ~= "" then
    self:some(lines_of(file.before), "  - ")
  end
end

--- What a folder holds: how many files, and the names of all that is told of.
---@param file pillion.FilePreview
---@param come string what becomes of them
function Sheet:entries(file, come)
  local names = file.diff and file.diff ~= "" and lines_of(file.diff) or {}
  local count = file.entries > 0 and words.count(file.entries, "file") or "nothing"
  self:line(("  %s %s%s"):format(count, file.entries > 0 and come or come:gsub("^go ", "goes "), #names > 0 and ":" or ""))
  self:some(names, "    ")
end

local diff_paints = { ["+"] = "Added", ["-"] = "Removed", ["@"] = "Muted" }

--- A unified diff; what stands above its first change, the names of the files, says nothing that is not said.
---@param text string?
---@param most? integer lines; all without it
function Sheet:diff(text, most)
  local lines, first = text and text ~= "" and lines_of(text) or {}, 1
  for index = #lines, 1, -1 do
    first = lines[index]:sub(1, 2) == "@@" and index or first
  end
  local last = math.min(#lines, first + (most or #lines) - 1)
  for index = first, last do
    self:code({ lines[index] }, "  ", "  ")
    local paint = diff_paints[lines[index]:sub(1, 1)]
    if paint then
      self:mark(paint, 2, 2 + #lines[index])
    end
  end
  if last < #lines then
    self:line(("  and %s"):format(words.count(#lines - last, "more line")), "Warning")
  end
end

--- A file whose text would change, with the change as far as it is told.
---@param sheet pillion.Sheet
---@param file pillion.FilePreview
---@param chosen? pillion.Chosen
local function changed(sheet, file, chosen)
  local note = (file.note or "") ~= "" and ", " .. visible(file.note) or ""
  sheet:line(("  %s  +%d -%d%s"):format(visible(file.path), file.additions, file.deletions, note), "Rule")
  local taken, all = 0, 0
  if chosen then
    taken, all = chosen:count(file.path)
  end
  local share = words.share(taken, all)
  if chosen and chosen:edit_of(file.path) then
    sheet:line("  You wrote in this: your text counts, and not what stands here; its diff shows it.", "Warning")
  elseif share ~= "" and taken == 0 then
    sheet:line("  You leave this out: it is not done.", "Warning")
  elseif share ~= "" then
    sheet:line(("  Of this you take %s; its diff shows which."):format(share), "Warning")
  end
  if file.merged then
    sheet:line("  " .. words.merged, "Warning")
  end
  sheet:diff(file.diff)
end

---@param preview pillion.Preview
---@param tool string
local function act(preview, tool)
  local files = preview.kind == "diff" and preview.files or {}
  if tool == words.review then
    return "have a patch reviewed"
  elseif #files == 1 and words.is_tree_change(files[1]) then
    return visible(words.tree_deed(files[1]))
  elseif tool == "run_persistent" then
    return "start a process that keeps running"
  end
  local acts = { command = "run a command", url = "fetch an address", diff = "change files" }
  return acts[preview.kind] or visible(words.use(tool, preview.deed))
end

local bodies = {
  command = function(sheet, preview)
    local lines = escape.visible_lines(preview.command)
    sheet:code(lines, "  $ ", "  > ")
    if table.concat(lines, "\n") ~= preview.command then
      sheet:line("  Invisible characters of this command are written out, as \\t or \\u{200b}.", "Warning")
    end
  end,
  url = function(sheet, preview)
    sheet:code({ visible(preview.url) }, "  ", "  ")
  end,
  diff = function(sheet, preview, chosen, is_told)
    for index, file in ipairs(preview.files or {}) do
      if index > 1 then
        sheet:gap()
      end
      sheet.places[chosen and chosen:key(file) or file.path] = #sheet.lines + 1
      if words.is_tree_change(file) then
        local hunk = chosen and chosen:of(chosen:key(file))[1]
        sheet:tree_change(file, is_told and #preview.files == 1, hunk ~= nil and not chosen:takes(hunk))
      else
        changed(sheet, file, chosen)
      end
    end
  end,
  text = function(sheet, preview, _, _, own)
    if #(preview.facts or {}) > 0 then
      git_sheet.parts(sheet, preview, own)
      return
    end
    -- set in, so that no line of it can pass for the page's own
    sheet:code(escape.visible_lines(preview.markdown), "  ", "  ")
  end,
}

---@param sheet pillion.Sheet
---@param preview pillion.Preview
---@param approval pillion.Approval|{request: pillion.ApprovalRequest, chosen?: pillion.Chosen}
local function body(sheet, preview, approval)
  (bodies[preview.kind] or bodies.text)(sheet, preview, approval.chosen, approval.request.tool ~= words.review, approval.own)
end

--- Arguments as they would be typed, so that a blank inside one cannot pass for two.
---@param argv string[]?
---@return string
function M.argv(argv)
  return table.concat(
    vim.tbl_map(function(word)
      if word:find("^[%w_@%%+=:,./*?~-]+$") then
        return word
      end
      return "'" .. visible(word):gsub("'", "'\\''") .. "'"
    end, argv or {}),
    " "
  )
end

--- What is called a sandbox is one: of anything that this page does not know it says the name alone.
local sandboxes = {
  none = { "none: it runs with your own rights" },
  bubblewrap = { "bubblewrap: it can write to the workspace, temporary files and build caches alone,", "and sees no other process" },
  landlock = { "Landlock: it can write to the workspace, temporary files and build caches alone,", "and read what you can" },
}

--- Why any command asks: nothing that a line of its own need say of the only part.
local nothing_special = { [""] = true, ["it runs a program"] = true, ["no rule allows it"] = true }

--- The parts, and why each of them asks.
---@param sheet pillion.Sheet
---@param preview pillion.Preview
local function parts_of(sheet, preview)
  local parts = preview.parts or {}
  local whole = #parts == 1 and M.argv(parts[1].argv) == vim.trim(preview.command)
  if whole and nothing_special[parts[1].why or ""] then
    return
  end
  local some_ask = vim.iter(parts):any(function(part)
    return (part.why or "") ~= ""
  end)
  sheet:fact(
    "It runs",
    vim.tbl_map(function(part)
      local why = (part.why or "") ~= "" and visible(part.why) or some_ask and "a rule allows it" or nil
      return M.argv(part.argv) .. (why and ("   (%s)"):format(why) or "")
    end, parts)
  )
end

--- What the agent gives it beside the line.
---@param sheet pillion.Sheet
---@param arguments any
local function given(sheet, arguments)
  if type(arguments) ~= "table" then
    return
  end
  if type(arguments.process_id) == "string" then
    sheet:fact("It stays", { ("as %s, until it ends, you stop it, or the agent is gone"):format(visible(arguments.process_id)) })
  end
  if type(arguments.env) == "table" then
    local variables = {}
    for name, value in vim.spairs(arguments.env) do
      variables[#variables + 1] = visible(name) .. "=" .. visible(tostring(value))
    end
    sheet:fact("Environment", variables)
  end
  if type(arguments.stdin) == "string" and arguments.stdin ~= "" then
    sheet:fact("It reads", escape.visible_lines((arguments.stdin:gsub("\n$", ""))))
  end
end

---@param sheet pillion.Sheet
---@param request pillion.ApprovalRequest
local function command_facts(sheet, request)
  local preview = request.preview
  parts_of(sheet, preview)
  given(sheet, request.arguments)
  sheet:fact("It writes", vim.tbl_map(visible, preview.writes or {}))
  local unsaved = vim.tbl_map(function(path)
    return "what you have not saved in " .. visible(path)
  end, preview.unsaved or {})
  sheet:fact("It misses", unsaved, "Warning")
  local sandbox = visible(preview.sandbox)
  if sandbox ~= "" then
    sheet:fact("Sandbox", sandboxes[sandbox] or { sandbox })
  end
  local is_held = sandbox == "bubblewrap" or sandbox == "landlock" -- else nothing could keep it from the network
  sheet:fact("Network", preview.network and { "it can reach it" } or is_held and { "cut off" } or {})
end

---@param sheet pillion.Sheet
---@param request pillion.ApprovalRequest
local function facts(sheet, request)
  local preview = request.preview
  if preview.kind == "command" then
    local folder = visible(preview.cwd)
    sheet:fact("Folder", { (folder == "" or folder == ".") and "the workspace folder" or folder })
  end
  local is_trust = request.tool == words.trust
  sheet:fact("File", is_trust and { visible(request.arguments.path) } or {})
  if request.tool == words.review then -- what it does to a file stands beside its name
    sheet:fact("It says", request.description ~= "" and escape.visible_lines(request.description) or {})
  else
    local reasons = vim.tbl_filter(function(reason)
      return not vim.startswith(reason, "it would not hold your unsaved ") -- that has a line of its own
    end, request.reasons or {})
    sheet:fact("Why it asks", vim.tbl_map(visible, reasons))
  end
  if preview.kind == "command" then
    command_facts(sheet, request)
  end
  local via = { mcp = ", over MCP", editor = ", in this editor", terminal = ", in a terminal" }
  if not is_trust then
    sheet:fact("Asked by", { visible(request.agent.name) .. (via[request.agent.via] or "") })
  end
end

--- What yes and no mean to what is no ordinary call.
local meanings = {
  exit_plan_mode = { yes = "the agent leaves plan mode", no = "the agent goes on planning" },
  [words.review] = { yes = "the agent gets what you take of it, as a patch; no file changes", no = "it gets nothing, and goes on" },
  [words.trust] = { yes = "these count from now on, until the file changes", no = "they stay without effect; what it tightens counts" },
}

---@param sheet pillion.Sheet
---@param approval pillion.Approval
---@param keys table<string, string> by action, for those that have one
local function answers(sheet, approval, keys)
  local function title(words_of_it, action)
    local key = keys[action]
    return key and key ~= "" and ("%s  %s"):format(pad(key, 3), words_of_it) or words_of_it
  end
  for _, decision in ipairs(approval:remembering()) do
    sheet.answer_width = math.max(sheet.answer_width, vim.fn.strdisplaywidth(title(visible(decision.title), decision.scope)) + 2)
  end
  local tool = approval.request.tool
  local meaning = meanings[tool] or { yes = "this once", no = "the agent goes on without it" }
  local yes = { [words.trust] = "Trust", [words.review] = "Apply" }
  if approval.chosen:is_open() then
    sheet:answer(title("Take or Leave", "hunk"), "the file that the line above names; in a diff, the hunk under the cursor")
  end
  sheet:answer(title(yes[tool] or "Approve", "approve"), meaning.yes)
  if #approval:unsaved() > 0 then
    local runs = approval.request.preview.kind == "command"
    sheet:answer(
      title(runs and "Save and Run" or "Save First", "save"),
      runs and "this once, on what you have not saved yet" or "then it is shown again"
    )
  end
  if approval:editable() == "message" then
    sheet:answer(title("Edit Message", "edit"), "what you write is committed")
  end
  for _, scope in ipairs({ "session", "workspace" }) do
    for _, decision in ipairs(approval:remembering(scope)) do
      sheet:answer(title(visible(decision.title), scope), "and from now on, without asking:", decision.rule)
    end
  end
  local no = approval:is_review() and "Cancel" or "Reject"
  sheet:answer(title(no, "reject"), meaning.no)
  if tool == words.trust then
    return -- no agent is there to read a reason, or to stop
  end
  sheet:answer(title(no .. " with Reason…", "reason"), "and reads why")
  if not approval:is_review() then
    sheet:answer(title("Cancel", "cancel"), "the agent stops")
  end
  if approval:editable() == "command" then
    sheet:answer(title("Edit", "edit"), "change the command before you approve it")
  end
end

---@param approval pillion.Approval
---@param keys table<string, string>
---@return pillion.Sheet
function M.question(approval, keys)
  local sheet = M.new()
  local request = approval.request
  if request.preview.kind == "revert" then
    return require("pillion.revert_sheet").question(approval, keys)
  end
  sheet:line(visible(request.agent.name) .. " wants to " .. act(request.preview, request.tool), "Heading")
  if approval.beneath ~= "unchanged" then
    sheet:line("This was updated since it first appeared: what it rests on changed.", "Warning")
  end
  sheet:gap()
  body(sheet, request.preview, approval)
  if #(request.preview.facts or {}) == 0 then
    sheet:gap() -- where the parts are facts, these are more of them
  end
  facts(sheet, request)
  sheet:gap()
  answers(sheet, approval, keys)
  git_sheet.diff(sheet, request.preview)
  return sheet
end

--- All that waits, whole, under one answer.
---@param approvals pillion.Approval[]
---@return pillion.Sheet
function M.together(approvals)
  local sheet = M.new()
  sheet:line(words.count(#approvals, "question") .. ", and one answer for all that stands here", "Heading")
  for index, approval in ipairs(approvals) do
    local request = approval.request
    sheet:gap()
    sheet:line(("%d. %s wants to %s"):format(index, visible(request.agent.name), act(request.preview, request.tool)), "Label")
    if approval:is_edited() then
      sheet:line("   You have edited this one: approving it takes your text.", "Warning")
    end
    local own = approval.own and approval:editable()
    body(sheet, own == "command" and vim.tbl_extend("force", request.preview, { command = approval.own }) or request.preview, approval)
    facts(sheet, request)
    git_sheet.diff(sheet, request.preview)
  end
  return sheet
end

--- Shown in place of a dialog that died: while somebody looked at it, or with text of theirs in it.
---@param request pillion.ApprovalRequest
---@param outcome string
---@param kept boolean whether the human's own text stands beside it
---@return pillion.Sheet
function M.ended(request, outcome, kept)
  local sheet = M.new()
  sheet:line(words.ending(outcome), "Heading")
  sheet:gap()
  sheet:line("It cannot be approved any more, and nothing of it was done. This tab may be closed.")
  if kept then
    sheet:line("What you wrote yourself is kept in the window beside this one.", "Warning")
  end
  sheet:gap()
  sheet:line(("%s wanted to %s:"):format(visible(request.agent.name), act(request.preview, request.tool)), "Muted")
  body(sheet, request.preview, { request = request })
  git_sheet.diff(sheet, request.preview)
  return sheet
end

return M
