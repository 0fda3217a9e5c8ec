-- What agents in mode draft have in their drafts, as the sidecars have it (`draft/list`, then `draft/changed`), and what a user does
-- about one: `:Pillion draft review` and `:Pillion draft discard`.

local announce = require("pillion.announce")
local approvals = require("pillion.approvals")
local choose = require("pillion.choose")
local escape = require("pillion.escape")
local words = require("pillion.words")

local M = {}

---@class pillion.Draft
---@field sessionId string
---@field agent string
---@field files {path: string, kind: string, added: integer, removed: integer, ignored?: boolean, protected?: boolean}[]
---@field bytes integer
---@field ended? boolean nothing is in it any more
---@field client any

---@type pillion.Draft[]
local all = {}

local changed = require("pillion.events").listeners(M)

---@param holds? fun(draft: pillion.Draft): boolean
function M.all(holds)
  return vim.tbl_filter(holds or function()
    return true
  end, all)
end

---@param session {sessionId: string, client: any}
---@return pillion.Draft?
function M.of(session)
  return M.all(function(draft)
    return draft.sessionId == session.sessionId and draft.client == session.client
  end)[1]
end

---@param draft pillion.Draft
---@param client any
function M.receive(draft, client)
  draft.client = client
  local before = M.of(draft)
  all = M.all(function(one)
    return one ~= before
  end)
  all[#all + 1] = not draft.ended and draft or nil
  changed()
end

---@param client any
function M.abandon(client)
  all = M.all(function(draft)
    return draft.client ~= client
  end)
  changed()
end

--- Asks a sidecar for all of its drafts.
---@param client any
function M.refresh(client)
  client.request("draft/list", vim.empty_dict(), function(err, result)
    M.abandon(client)
    for _, draft in ipairs(not err and result.drafts or {}) do
      M.receive(draft, client)
    end
  end)
end

---@param count integer
local function bytes(count)
  local kilo, mega = count / 1e3, count / 1e6
  return mega >= 1 and ("%.1f MB"):format(mega) or kilo >= 1 and ("%.1f kB"):format(kilo) or words.count(count, "byte")
end

--- `Draft: 3 files, +4 −1, 12.3 kB`
---@param draft pillion.Draft
function M.line(draft)
  local sizes = vim.tbl_map(function(file)
    return { additions = file.added, deletions = file.removed }
  end, draft.files)
  return ("Draft: %s, %s, %s"):format(words.count(#draft.files, "file"), words.size(sizes), bytes(draft.bytes))
end

--- `src/app.py  created +3 −1, protected`, a line each.
---@param draft pillion.Draft
---@return {[1]: string, [2]: string}[] of each its path, and what there is to say of it
function M.file_lines(draft)
  return vim.tbl_map(function(file)
    local doing = ("%s +%d −%d"):format(file.kind, file.added, file.removed)
    local marks = { doing, file.ignored and "ignored by git" or "", file.protected and "protected" or "" }
    return { escape.visible(file.path), words.joined(marks, ", ") }
  end, draft.files)
end

--- Its review, while that waits.
---@param session {sessionId: string, client: any}
local function waiting(session)
  return vim.iter(approvals.all()):find(function(approval)
    return approval:is_draft() and approval.request.sessionId == session.sessionId and approval.client == session.client
  end)
end

---@param session {sessionId: string, client: any}
---@param method string
---@param done fun()
local function request(session, method, done)
  session.client.request(method, { sessionId = session.sessionId }, function(err)
    if err then
      announce.tell("Pillion: " .. escape.short(err.message, 200), vim.log.levels.ERROR)
    else
      done()
    end
  end)
end

--- The sidecar asks for it as for any other request. One that waits already comes up.
---@param session {sessionId: string, client: any}
function M.review(session)
  local review = waiting(session)
  if not (review and require("pillion.front").show(review.id)) then
    request(session, "draft/review", function() end)
  end
end

---@param session {sessionId: string, client: any}
function M.discard(session)
  local draft, review = M.of(session), waiting(session)
  local count = words.count(draft and #draft.files or review and #words.paths(review:files()) or 0, "file")
  local choices = { { label = "No, keep it" }, { label = ("Yes, discard %s: nothing of it is applied"):format(count), discards = true } }
  choose(choices, { prompt = "Discard the draft? It cannot be brought back:", kind = "pillion.discard" }, function(choice)
    local function done()
      announce.tell("Pillion: the draft is discarded")
    end
    review = waiting(session)
    if choice.discards and review then
      approvals.answer(review.id, { kind = "discard", deliberate = true })
      done()
    elseif choice.discards then
      request(session, "draft/discard", done)
    end
  end)
end

M.doings = { review = M.review, discard = M.discard }

--- `:Pillion draft review` and `:Pillion draft discard`
---@param rest string
function M.run(rest)
  local doing = M.doings[rest]
  if not doing then
    announce.tell("Pillion: use draft review or draft discard")
  elseif #all == 0 then
    announce.tell("Pillion: there is no draft; an agent in mode draft makes one when it changes something")
  elseif #all == 1 then
    doing(all[1])
  else
    local function line(draft)
      return words.joined({ escape.short(draft.agent, 40), M.line(draft) }, " · ")
    end
    choose(all, { prompt = "Which draft?", kind = "pillion.draft", format_item = line }, doing)
  end
end

return M
