-- The keys of dialogs and lists, and the window that explains them. They are bound in our own buffers alone; those of a dialog are
-- asleep at first: see front.lua.

local words = require("pillion.words")

local api = vim.api

local M = {}

---@alias pillion.Action "approve"|"save"|"turn"|"session"|"workspace"|"reject"|"reason"|"discard"|"cancel"|"edit"|"comment"|"hunk"|"file"|"next_hunk"|"prev_hunk"|"next_file"|"prev_file"|"next"|"prev"|"close"|"write"|"kill"|"show"|"revert"|"revert_turn"|"revert_since"|"revert_agent"|"tick"|"add"|"remove"|"up"|"down"|"pause"|"mode"|"rule"|"finish"|"help"|"next_mark"|"prev_mark"

--- What each key says of itself, to which-key and the like.
M.descriptions = {
  approve = "Pillion: approve this once",
  save = "Pillion: save unsaved changes, and approve",
  turn = "Pillion: approve for the rest of this turn, shows the rule first",
  session = "Pillion: approve for the session, shows the rules first",
  workspace = "Pillion: approve for this workspace, shows the rules",
  reject = "Pillion: reject",
  reason = "Pillion: reject with a reason",
  discard = "Pillion: discard this draft, after a confirmation",
  cancel = "Pillion: stop the agent: reject this, and pause it",
  edit = "Pillion: change the command, or the message of a commit",
  comment = "Pillion: comment on this line, for a rejection or about a draft",
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
local list_keys =
  "write kill show revert revert_turn revert_since revert_agent tick add remove up down pause mode rule finish next_mark prev_mark"
local elsewhere = {}
for action in list_keys:gmatch("%S+") do
  elsewhere[action] = true
end

--- Whether it is a key of a request, on its page or in a buffer of its own where text can be edited.
---@param action pillion.Action
---@param is_page boolean?
function M.is_bound(action, is_page)
  return not elsewhere[action] and (is_page or not on_pages_alone[action]) and true or false
end

function M.configured()
  return require("pillion.config").current.keys
end

---@param action pillion.Action
---@return string? key nil where the user wants none
function M.of(action)
  local key = M.configured()[action]
  return key and key ~= "" and key or nil
end

---@param action pillion.Action
---@return string the key, or the command that does the same
function M.hint(action)
  return M.of(action) or (":Pillion " .. action)
end

--- Binds the key of an action in a buffer.
---@param buffer integer
---@param action pillion.Action
---@param callback fun()
---@param description? string
function M.map(buffer, action, callback, description)
  local key = M.of(action)
  if key then
    vim.keymap.set("n", key, callback, { buffer = buffer, nowait = true, desc = description or M.descriptions[action] })
  end
end

---@param buffer integer
---@param approval pillion.Approval
---@param is_page boolean?
function M.bind(buffer, approval, is_page)
  for action in pairs(M.configured()) do
    if M.is_bound(action, is_page) then
      M.map(buffer, action, function()
        require("pillion.commands").press(action, approval.id)
      end)
    end
  end
end

--- The buffer of a process, or a list.
---@param buffer integer
---@param doings table<pillion.Action, fun()>
function M.bind_doings(buffer, doings)
  doings.close = vim.cmd.close
  for action, doing in pairs(doings) do
    M.map(buffer, action, doing)
  end
end

--- What the keys that revert do, in the list of changes and on the page of one.
---@return table<pillion.Action, fun()>
function M.reverting()
  local doings = {}
  for action, what in pairs({ revert = "change", revert_turn = "turn", revert_since = "since", revert_agent = "agent" }) do
    doings[action] = function()
      require("pillion.revert").run(what)
    end
  end
  return doings
end

--- What a request can be answered with by a key, a scope with several rules once.
---@param approval pillion.Approval
---@param is_page boolean?
---@return pillion.PossibleAnswer[]
function M.answers(approval, is_page)
  local last ---@type pillion.Action?
  return vim.tbl_filter(function(one)
    local is_new = one.action ~= last
    last = one.action
    return is_new and M.is_bound(one.action, is_page)
  end, approval:answers())
end

--- Nothing can be answered there any more.
---@param buffer integer
function M.unbind(buffer)
  for action in pairs(M.configured()) do
    pcall(vim.keymap.del, "n", M.of(action), { buffer = buffer }) -- not every page has every key, and not every action has one
  end
end

---@class pillion.KeyRow
---@field [1] string keys
---@field [2] string what they do
---@field [3] string? what that means

--- Rows of what has a key.
---@param wanted {actions: pillion.Action[], [1]: string, [2]: string?}[]
---@return pillion.KeyRow[]
function M.help_rows(wanted)
  local rows = {}
  for _, one in ipairs(wanted) do
    local found = vim.iter(one.actions):map(M.of):totable()
    rows[#rows + 1] = #found > 0 and { table.concat(found, " "), one[1], one[2] } or nil
  end
  return rows
end

---@param rows pillion.KeyRow[]
---@return string[]
local function lines_of(rows)
  local function widest(column, counts)
    return vim.iter(rows):filter(counts):fold(0, function(width, row)
      return math.max(width, vim.fn.strdisplaywidth(row[column]))
    end)
  end
  local first = widest(1, function()
    return true
  end)
  local second = widest(2, function(row)
    return row[3] ~= nil
  end)
  return vim.tbl_map(function(row)
    local text = row[3] and words.pad(row[2], second) .. "  " .. row[3] or row[2]
    return (" %s  %s "):format(words.pad(row[1], first), text)
  end, rows)
end

--- What keys do, in a small window that cannot be entered, until the next key.
---@param rows pillion.KeyRow[]
function M.show_help(rows)
  local lines, width = lines_of(rows), 1
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  local buffer = api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = "wipe"
  api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  for index, row in ipairs(rows) do
    api.nvim_buf_add_highlight(buffer, -1, "PillionKey", index - 1, 1, 1 + #row[1])
  end
  local window = api.nvim_open_win(buffer, false, {
    relative = "editor",
    anchor = "SE",
    row = vim.o.lines - vim.o.cmdheight - 1,
    col = vim.o.columns,
    width = math.min(width, vim.o.columns - 2),
    height = math.min(#lines, vim.o.lines - vim.o.cmdheight - 3),
    style = "minimal",
    border = "rounded",
    title = " Keys ",
    focusable = false,
    noautocmd = true,
  })
  local listening ---@type integer
  listening = vim.on_key(function()
    vim.on_key(nil, listening)
    vim.schedule(function()
      pcall(api.nvim_win_close, window, true)
    end)
  end)
end

--- The keys of a request: what it can be answered with, and how to go around in it.
---@param approval pillion.Approval
---@param is_page boolean
function M.help(approval, is_page)
  local wanted = vim.tbl_map(function(one)
    return { one.title, one.meaning, actions = { one.action } }
  end, M.answers(approval, is_page))
  if approval.chosen:is_open() then
    vim.list_extend(wanted, {
      { "comment on this line, for " .. (approval:is_draft() and "your answer" or "a rejection"), actions = { "comment" } },
      { "toggle this hunk, or all hunks of the file", actions = { "hunk", "file" } },
      { "next or previous hunk", actions = { "next_hunk", "prev_hunk" } },
    })
  end
  if #approval:files() > 1 then
    wanted[#wanted + 1] = { "next or previous file", actions = { "next_file", "prev_file" } }
  end
  wanted[#wanted + 1] = { "next or previous request", actions = { "next", "prev" } }
  wanted[#wanted + 1] = is_page and { "close this; the request keeps waiting", actions = { "close" } } or nil
  M.show_help(M.help_rows(wanted))
end

return M
