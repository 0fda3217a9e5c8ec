-- The keys of a dialog. They are bound in its own buffers alone, and asleep at first: see front.lua.

local M = {}

---@alias pillion.Action "approve"|"save"|"session"|"workspace"|"reject"|"reason"|"cancel"|"edit"|"hunk"|"file"|"next_hunk"|"prev_hunk"|"next_file"|"prev_file"|"next"|"prev"|"close"|"write"|"kill"|"show"|"revert"|"revert_turn"|"revert_since"|"revert_agent"|"tick"|"add"|"remove"|"up"|"down"|"pause"|"mode"|"rule"|"finish"|"help"|"next_mark"|"prev_mark"

--- What each key says of itself, to which-key and the like.
M.descriptions = {
  approve = "Pillion: approve this once",
  save = "Pillion: save unsaved changes, and approve",
  session = "Pillion: approve for the session, shows the rules first",
  workspace = "Pillion: approve for this workspace, shows the rules",
  reject = "Pillion: reject",
  reason = "Pillion: reject with a reason",
  cancel = "Pillion: stop the agent: reject this, and pause it",
  edit = "Pillion: change the command, or the message of a commit",
  hunk = "Pillion: toggle this hunk",
  file = "Pillion: the same for all hunks of the file",
  next_hunk = "Pillion: next hunk",
  prev_hunk = "Pillion: previous hunk",
  next_file = "Pillion: next file of this call",
  prev_file = "Pillion: previous file of this call",
  next = "Pillion: next request",
  prev = "Pillion: previous request",
  close = "Pillion: close this; the request keeps waiting",
  write = "Pillion: type a line to this process",
  kill = "Pillion: stop this process",
  show = "Pillion: show this change",
  revert = "Pillion: preview reverting this change",
  revert_turn = "Pillion: preview reverting its turn",
  revert_since = "Pillion: preview reverting its turn and all later ones",
  revert_agent = "Pillion: preview reverting everything by its agent",
  tick = "Pillion: done, or not done",
  add = "Pillion: add an item at the end",
  remove = "Pillion: remove this item",
  up = "Pillion: move this item up",
  down = "Pillion: move this item down",
  pause = "Pillion: pause this agent, or let it go on",
  mode = "Pillion: change its mode",
  rule = "Pillion: forget a remembered rule",
  finish = "Pillion: end this session",
  help = "Pillion: show what the keys do",
  next_mark = "Pillion: next mark of an agent",
  prev_mark = "Pillion: previous mark of an agent",
}

--- These have a meaning of their own where text can be edited.
local on_pages_alone = { edit = true, close = true, save = true }
--- And these in the buffer of a process and in lists: of changes, of to-dos, of sessions.
local elsewhere = {}
for action in
  ("write kill show revert revert_turn revert_since revert_agent tick add remove up down pause mode rule finish next_mark prev_mark"):gmatch(
    "%S+"
  )
do
  elsewhere[action] = true
end

--- Whether it is a key of a request, on its page or in a buffer of its own where text can be edited.
---@param action pillion.Action
---@param is_page boolean?
function M.is_bound(action, is_page)
  return not elsewhere[action] and (is_page or not on_pages_alone[action]) and true or false
end

---@return table<pillion.Action, string|false>
function M.configured()
  return require("pillion.config").get().keys
end

---@param action pillion.Action
---@return string the key, or the command that does the same
function M.hint(action)
  local key = M.configured()[action]
  return key and key ~= "" and key or (":Pillion " .. action)
end

---@param buffer integer
---@param approval pillion.Approval
---@param is_page boolean?
function M.bind(buffer, approval, is_page)
  for action, key in pairs(M.configured()) do
    if key and key ~= "" and M.is_bound(action, is_page) then
      vim.keymap.set("n", key, function()
        require("pillion.commands").press(action, approval.id)
      end, { buffer = buffer, nowait = true, desc = M.descriptions[action] })
    end
  end
end

--- The buffer of a process, or a list.
---@param buffer integer
---@param doings table<pillion.Action, fun()>
function M.bind_doings(buffer, doings)
  doings.close = vim.cmd.close
  for action, doing in pairs(doings) do
    local key = M.configured()[action]
    if key and key ~= "" then
      vim.keymap.set("n", key, function()
        doing()
      end, { buffer = buffer, nowait = true, desc = M.descriptions[action] })
    end
  end
end

---@param buffer integer
---@param process pillion.Process
function M.bind_process(buffer, process)
  local processes = require("pillion.processes")
  M.bind_doings(buffer, {
    write = function()
      processes.write(process)
    end,
    kill = function()
      processes.kill(process)
    end,
  })
end

--- The list of what agents changed, or the page of one change.
---@param buffer integer
---@param show? fun()
function M.bind_changes(buffer, show)
  local doings = { show = show }
  for action, what in pairs({ revert = "change", revert_turn = "turn", revert_since = "since", revert_agent = "agent" }) do
    doings[action] = function()
      require("pillion.revert").run(what)
    end
  end
  M.bind_doings(buffer, doings)
end

--- Nothing can be answered there any more.
---@param buffer integer
function M.unbind(buffer)
  for _, key in pairs(M.configured()) do
    if key and key ~= "" then
      pcall(vim.keymap.del, "n", key, { buffer = buffer }) -- not every page has every key
    end
  end
end

return M
