-- Reverting what an agent changed: a page previews each file, and approving it reverts them. It is a request that the user
-- makes, with the page, keys and delay of all others: see approvals.lua.

local announce = require("pillion.announce")
local approvals = require("pillion.approvals")
local escape = require("pillion.escape")
local front = require("pillion.front")
local journal = require("pillion.journal")
local words = require("pillion.words")

local api = vim.api

local M = {}

---@class pillion.RevertTarget
---@field selector {sessionId?: string, turn?: integer, sinceTurn?: integer, callId?: string}
---@field name string completes “Revert …?”
---@field client any

---@class pillion.RevertResult
---@field reverted? string[]
---@field merged? string[]
---@field conflicts? string[]
---@field reasons? table<string, string>
---@field callId? string
---@field preview? pillion.Preview

---@param sentence string with a place for whose and one for the number of the turn
---@param change pillion.AgentChange
local function turn_name(sentence, change)
  local prompt = change.prompt and (" (“%s”)"):format(escape.short(change.prompt, 70)) or ""
  return sentence:format(journal.who(change), change.turn) .. prompt
end

local number = 0
---@type table<string, pillion.RevertTarget> by request
local asked = {}
local settle_ms = 60

--- What would be reverted, by each word of `:Pillion revert`.
---@param what "change"|"turn"|"since"|"agent"
---@param change pillion.AgentChange
---@return pillion.RevertTarget
local function target_of(what, change)
  local selector, name = { sessionId = change.sessionId }, ("everything that %s changed"):format(journal.who(change))
  if what == "change" then
    selector, name = { callId = change.callId }, ("“%s” by %s"):format(journal.title(change), journal.who(change))
  elseif what == "turn" then
    selector.turn, name = change.turn, turn_name("everything that %s changed in turn %d", change)
  elseif what == "since" then
    selector.sinceTurn, name = change.turn, turn_name("everything that %s changed from turn %d on", change)
  end
  return { selector = selector, name = name, client = change.client }
end

---@param problem string
local function failed(problem)
  announce.tell("Pillion: nothing was reverted: " .. escape.short(problem, 200), vim.log.levels.ERROR)
end

--- Asks what reverting would do.
---@param target pillion.RevertTarget
---@param callback fun(result: pillion.RevertResult)
local function plan(target, callback)
  local params = vim.tbl_extend("force", { dryRun = true }, target.selector)
  target.client.request("journal/revert", params, function(err, result)
    if err then
      failed(err.message)
    else
      callback(result)
    end
  end)
end

--- Stands for what would happen: a yes to one text is none to another.
---@param result pillion.RevertResult
local function digest(result)
  local files = vim.tbl_map(function(file)
    return { file.path, file.operation, file.to or "", file.before, file.after }
  end, journal.files_of(result))
  return vim.fn.sha256(vim.inspect({ files, result.merged or {}, result.conflicts or {}, result.reasons or {} }))
end

---@param result pillion.RevertResult
---@return pillion.Fact[] what a file's own facts do not say
local function facts_of(result)
  local function list(code, label, paths)
    local items = vim.tbl_map(function(path)
      local why = (result.reasons or {})[path]
      return escape.visible(path) .. (why and ": " .. escape.visible(why) or "")
    end, paths or {})
    return #items > 0 and { code = code, label = label, text = "", items = items, tone = "warning" } or nil
  end
  local facts = { list("merged", "Later changes are kept", result.merged) }
  facts[#facts + 1] = list("kept", "Stays as it is", result.conflicts)
  return facts
end

---@param id string
---@param target pillion.RevertTarget
---@param result pillion.RevertResult
---@return pillion.ApprovalRequest
local function question(id, target, result)
  local files, title = journal.files_of(result), "Revert " .. target.name .. "?"
  local decisions = { { id = "reject", title = "Leave it", scope = "once", meaning = "nothing changes" } }
  if #files > 0 then
    local meaning = ("%s as shown; you can revert that as well"):format(words.count(#words.paths(files), "file"))
    decisions[2] = { id = "approve", title = "Revert", scope = "once", meaning = meaning }
  end
  return {
    approvalId = id,
    sessionId = "",
    agent = { name = "You", via = "" },
    tool = "journal.revert",
    title = title,
    reasons = {},
    arguments = vim.empty_dict(),
    preview = {
      kind = "revert",
      act = "revert what an agent changed",
      deed = "revert " .. escape.visible(target.name),
      question = escape.visible(title),
      files = files,
      notices = #files == 0 and { "None of it can be reverted." } or {},
      facts = facts_of(result),
    },
    decisions = decisions,
    digest = digest(result),
  }
end

--- `2 files reverted, 1 merged, 1 stays as it is`
---@param result pillion.RevertResult
function M.summary(result)
  local parts = {}
  local reverted, merged, kept = #(result.reverted or {}), #(result.merged or {}), #(result.conflicts or {})
  if reverted > 0 then
    parts[#parts + 1] = words.count(reverted, "file") .. " reverted"
  end
  if merged > 0 then
    parts[#parts + 1] = ("%s merged"):format(reverted > 0 and merged or words.count(merged, "file"))
  end
  if kept > 0 then
    local stay = kept == 1 and "stays as it is" or "stay as they are"
    parts[#parts + 1] = ("%s %s"):format(#parts > 0 and kept or words.count(kept, "file"), stay)
  end
  return #parts > 0 and table.concat(parts, ", ") or "nothing to revert"
end

---@param target pillion.RevertTarget
local function carry_out(target)
  target.client.request("journal/revert", target.selector, function(err, result)
    if err then
      failed(err.message)
      return
    end
    local first = (result.conflicts or {})[1]
    local why = first and (result.reasons or {})[first]
    local because = why and (" (%s: %s)"):format(escape.short(first, 40), escape.short(why, 100)) or ""
    local level = first and vim.log.levels.WARN or vim.log.levels.INFO
    announce.tell("Pillion: " .. M.summary(result) .. because, level)
    journal.changed()
  end)
end

local show ---@type fun(target: pillion.RevertTarget, result: pillion.RevertResult)

--- They said yes to what they saw; is it that still?
---@param target pillion.RevertTarget
---@param seen string
local function revert(target, seen)
  plan(target, function(result)
    if digest(result) == seen then
      if #journal.files_of(result) > 0 then -- else the page said that there is nothing to do
        carry_out(target)
      end
    else
      show(target, result)
      announce.tell("Pillion: it was updated meanwhile: check it and answer again")
    end
  end)
end

--- A page that nobody sees any more asks nothing: nobody waits for its answer.
---@param id string
local function forget_when_hidden(id)
  local buffer = require("pillion.page").buffer(id)
  if not buffer then
    return
  end
  api.nvim_create_autocmd({ "BufHidden", "BufUnload" }, {
    buffer = buffer,
    callback = vim.schedule_wrap(function()
      if approvals.get(id) and #vim.fn.win_findbuf(buffer) == 0 then
        approvals.answer(id, { kind = "reject", deliberate = true })
      end
    end),
  })
end

show = function(target, result)
  number = number + 1
  local id = ("revert-%d"):format(number)
  asked[id] = target
  approvals.open(question(id, target, result), function(answer)
    asked[id] = nil
    if answer and answer.decision == "approve" then
      revert(target, answer.digest)
    end
  end, target.client)
  front.show(id)
  forget_when_hidden(id)
end

--- Shows what reverting this would do.
---@param target pillion.RevertTarget
function M.show(target)
  for id, other in pairs(asked) do
    if other.client == target.client and vim.deep_equal(other.selector, target.selector) and front.show(id) then
      M.look_again()
      return
    end
  end
  plan(target, function(result)
    show(target, result)
  end)
end

--- What lies beneath a page may be another thing now.
M.look_again = require("pillion.events").settled(settle_ms, function()
  for id, target in pairs(asked) do
    plan(target, function(result)
      local approval = approvals.get(id)
      if approval and approval.request.digest ~= digest(result) then
        local now = question(id, target, result)
        approvals.change({ approvalId = id, digest = now.digest, preview = now.preview, moved = false })
      end
    end)
  end
end)

--- The change that is meant: under the cursor in the journal, in the line of the cursor in a file, or else the last one.
---@param callback fun(change: pillion.AgentChange)
local function with_change(callback)
  local here = require("pillion.journal_list").here() or require("pillion.marks").here()
  if here then
    callback(here --[[@as pillion.AgentChange]])
    return
  end
  journal.ask(function(changes)
    local found = vim.iter(changes):find(journal.is_revertible)
    if found then
      callback(found)
    else
      announce.tell("Pillion: there is no change by an agent to revert")
    end
  end)
end

M.names = { "change", "turn", "since", "agent" }

--- `:Pillion revert [change|turn|since|agent|now]`
---@param what string
function M.run(what)
  if what == "now" then
    require("pillion.commands").run("approve")
    return
  end
  what = what == "" and "change" or what
  if what ~= "session" and not vim.tbl_contains(M.names, what) then
    announce.tell("Pillion: use revert change, revert turn, revert since or revert agent")
    return
  end
  with_change(function(change)
    M.show(target_of(change.sessionId == "" and "change" or what, change)) -- your own revert is of no turn
  end)
end

--- Everything that one session changed.
---@param session {sessionId: string, agent: {name: string}, client: any}
function M.session(session)
  M.show(target_of("agent", session --[[@as pillion.AgentChange]]))
end

journal.listen(M.look_again)

return M
