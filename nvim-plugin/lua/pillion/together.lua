-- `:Pillion together`: one page with all requests, whole, and one answer for what it shows. A request that comes later is not
-- on it and is not answered; when one changes, the page is written again and accepts no answer for half a second.

local Approval = require("pillion.approval")
local announce = require("pillion.announce")
local approvals = require("pillion.approvals")
local bar = require("pillion.bar")
local keys = require("pillion.keys")
local page = require("pillion.page")
local sheet = require("pillion.sheet")
local words = require("pillion.words")

local api = vim.api

local M = {}

local name = "pillion://together"
local buffer = -1
---@type { id: string, digest: string }[] as they stand on the page
local listed = {}
local armed_at = 0

local bar_keys = { { "approve", "approve all" }, { "reject", "reject all" }, { "cancel", "stop agents" }, { "close", "close" } }

---@return pillion.Approval[] of what is on the page, what still waits
local function waiting()
  local found = {}
  for _, one in ipairs(listed) do
    found[#found + 1] = approvals.get(one.id)
  end
  return found
end

local function title()
  local more = #approvals.of_agents() - #waiting()
  local note = more > 0 and ("%s not on this page"):format(words.count(more, "newer request")) or ""
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    bar.put(window, bar.listing(words.count(#listed, "request"), bar_keys, note))
  end
end

---@param all pillion.Approval[]
local function write(all)
  listed = vim.tbl_map(function(approval)
    return { id = approval.id, digest = approval.request.digest }
  end, all)
  armed_at = Approval.now() + Approval.inert_ms
  page.put(buffer, sheet.together(all))
  title()
end

local function close()
  listed = {}
  if api.nvim_buf_is_valid(buffer) then
    api.nvim_buf_delete(buffer, { force = true })
  end
end

--- The user is looking at the page.
function M.in_front()
  return api.nvim_get_current_buf() == buffer
end

--- Stands for what is on the page: an approval that was begun for another text is none.
---@return string?
function M.digest()
  if not M.in_front() then
    return nil
  end
  local digests = vim.tbl_map(function(one)
    return one.id .. one.digest
  end, listed)
  return table.concat(digests, "\n")
end

function M.is_armed()
  return Approval.now() >= armed_at
end

---@param kind "approve"|"reject"|"cancel"
function M.answer(kind)
  if not M.is_armed() then
    announce.too_fast()
    return
  end
  local done, left, empty, answered = 0, 0, 0, listed
  listed = {} -- what is answered closes nothing and writes nothing meanwhile
  for _, one in ipairs(answered) do
    local approval = approvals.get(one.id)
    local verdict = approval and "changed" or "gone"
    if approval and approval.request.digest == one.digest then
      verdict = approvals.answer(one.id, { kind = kind, digest = one.digest, deliberate = true })
    end
    done = done + (verdict == "taken" and 1 or 0)
    left, empty = left + (verdict == "changed" and 1 or 0), empty + ((verdict == "nothing" or verdict == "no-message") and 1 or 0)
  end
  close()
  if done > 0 then
    announce.tell(("%s: %s"):format(words.answers[kind], words.count(done, "request")))
  end
  if left > 0 then
    announce.say(("Pillion: %s updated while you answered: answer again"):format(words.count(left, "request")))
  end
  if empty > 0 then
    announce.say(("Pillion: %s with nothing selected: select a hunk or reject"):format(words.count(empty, "request")))
  end
end

--- The user asked for it, so it has the cursor.
function M.run()
  local all = approvals.of_agents()
  if #all == 0 then
    announce.tell("Pillion: no requests are waiting")
    return
  end
  if not api.nvim_buf_is_loaded(buffer) then
    buffer = page.scratch(name, "nofile")
    for action, doing in pairs({ approve = M.answer, reject = M.answer, cancel = M.answer, close = close }) do
      keys.map(buffer, action, function()
        doing(action)
      end, "Pillion: " .. action .. " all that is on this page")
    end
  end
  local window = vim.fn.win_findbuf(buffer)[1]
  if window then
    api.nvim_set_current_win(window)
  else
    vim.cmd(("tab sbuffer %d"):format(buffer))
    page.dress(api.nvim_get_current_win())
  end
  write(all)
end

approvals.listen({
  added = title,
  changed = function(approval)
    local on_page = vim.iter(listed):any(function(one)
      return one.id == approval.id
    end)
    if on_page and api.nvim_buf_is_loaded(buffer) then
      write(waiting())
    end
  end,
  removed = function()
    local all = waiting()
    if #listed > 0 and #all == 0 then
      require("pillion.idle").run(close)
    elseif #all < #listed and api.nvim_buf_is_loaded(buffer) then
      write(all)
    end
  end,
})

return M
