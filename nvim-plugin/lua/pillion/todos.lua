-- The agents' to-do lists with what the user has just changed in them. A change is shown at once and made in turn, each of the
-- list that the one before it left. When the agent wrote its list meanwhile, its list stays and the user is told so. `:Pillion todos`
-- shows them in a small window, where the user ticks, adds, removes and moves items.

local announce = require("pillion.announce")
local choose = require("pillion.choose")
local escape = require("pillion.escape")
local sessions = require("pillion.sessions")
local sheets = require("pillion.sheet")

local M = {}

---@alias pillion.ListChange fun(list: pillion.Todo[]): pillion.Todo[]

--- The content is another one than the request names.
local modified = -32801

---@class pillion.PendingChange
---@field session pillion.Session
---@field change pillion.ListChange
---@field revision? integer of the list that it was sent for: a later one has it already, or is the agent's

---@type pillion.PendingChange[] that are not answered yet
local pending = {}
local making = false

local changed = require("pillion.events").listeners(M)

--- What the user is to see of a session's list.
---@param session pillion.Session
---@return pillion.Todo[]
function M.of(session)
  local list = session.todos or {}
  for _, one in ipairs(pending) do
    local is_due = (one.revision or session.todosRevision) == session.todosRevision
    if is_due and one.session.sessionId == session.sessionId and one.session.client == session.client then
      list = one.change(list)
    end
  end
  return list
end

local function make()
  local first = pending[1]
  if making or not first then
    return
  end
  making = true
  local function done()
    making = false
    table.remove(pending, 1)
    changed()
    make()
  end
  local session = sessions.find(first.session)
  local before = session and session.todos or {}
  local list = first.change(before)
  if not session or vim.deep_equal(list, before) then
    done() -- it ended, and its list with it; or the item was the first already
    return
  end
  first.revision = session.todosRevision
  sessions.set_todos(session, list, done, function(err)
    sessions.refresh(session.client)
    if err.code == modified then -- in what a line has room for
      announce.tell(("Pillion: %s changed its list meanwhile; try again"):format(sessions.name(session)), vim.log.levels.WARN)
    else
      announce.tell("Pillion: the to-do list was not changed: " .. escape.short(err.message, 200), vim.log.levels.ERROR)
    end
    done()
  end)
end

---@param session pillion.Session
---@param change pillion.ListChange
function M.change(session, change)
  pending[#pending + 1] = { session = session, change = change }
  changed()
  make()
end

--- Done or not done: what an agent gave it beside that stays.
---@param id string
---@return pillion.ListChange
function M.tick(id)
  return function(list)
    return vim.tbl_map(function(todo)
      local status = todo.status == "completed" and "pending" or "completed"
      return todo.id == id and vim.tbl_extend("force", todo, { status = status }) or todo
    end, list)
  end
end

--- The item has its id at once, so that the next key can be about it before the sidecar has answered.
---@param content string
---@return pillion.ListChange
function M.add(content)
  local item = { id = ("user-%x"):format(vim.uv.hrtime()), content = content, status = "pending", priority = "medium" }
  return function(list)
    return vim.list_extend(vim.list_slice(list), { item })
  end
end

---@param id string
---@return pillion.ListChange
function M.remove(id)
  return function(list)
    return vim.tbl_filter(function(todo)
      return todo.id ~= id
    end, list)
  end
end

--- By so many places, and no further than there are.
---@param id string
---@param by integer
---@return pillion.ListChange
function M.move(id, by)
  return function(list)
    local moved = vim.list_slice(list)
    for index, todo in ipairs(list) do
      if todo.id == id then
        table.remove(moved, index)
        table.insert(moved, math.max(1, math.min(index + by, #list)), todo)
      end
    end
    return moved
  end
end

---@param list pillion.Todo[]
---@return pillion.Todo?
local function current(list)
  return vim.iter(list):find(function(todo)
    return todo.status == "in_progress"
  end)
end

---@param list pillion.Todo[]
function M.completed(list)
  return #vim.tbl_filter(function(todo)
    return todo.status == "completed"
  end, list)
end

--- Those with lists of the agents that are there; when none of them has one, the last that was there and left something to do.
---@return pillion.Session[]
local function lists()
  local present = vim.tbl_filter(function(session)
    return #M.of(session) > 0
  end, sessions.connected())
  local left = vim.iter(sessions.earlier()):find(function(session)
    return M.completed(M.of(session)) < #M.of(session)
  end)
  return (#present > 0 or not left) and present or { left }
end

--- `2/5 Fix the clock`, of the agent that is at an item and called last; nil while nothing is left to do.
---@param limit integer
---@return string?
function M.progress(limit)
  local open = vim.tbl_filter(function(session)
    return M.completed(M.of(session)) < #M.of(session)
  end, sessions.connected())
  table.sort(open, function(one, other)
    local first, second = current(M.of(one)) ~= nil, current(M.of(other)) ~= nil
    if first ~= second then
      return first
    end
    return (one.lastCall or "") > (other.lastCall or "")
  end)
  if not open[1] then
    return nil
  end
  local list = M.of(open[1])
  local now = current(list)
  return ("%d/%d%s"):format(M.completed(list), #list, now and " " .. escape.short(now.content, limit) or "")
end

sessions.listen(changed)

---@class pillion.ListedTodo: pillion.Listed
---@field session pillion.Session
---@field todo? pillion.Todo none on the line that names the agent

local boxes = { pending = "[ ] ", in_progress = "[>] ", completed = "[x] " }
local paints = { in_progress = "Heading", completed = "Muted" }

---@return pillion.Sheet
---@return table<integer, pillion.ListedTodo>
local function draw()
  local sheet, at = sheets.new(), {}
  local shown = lists()
  for _, session in ipairs(shown) do
    local list = M.of(session)
    if #shown > 1 or not session.connected then
      local done = ("  %d of %d done"):format(M.completed(list), #list)
      sheet:parts({ { sessions.name(session), "Label" }, { done .. (session.connected and "" or " · not connected"), "Muted" } })
      at[#sheet.lines] = { id = session.sessionId, session = session }
    end
    for _, todo in ipairs(list) do
      local priority = todo.priority ~= "medium" and (" · %s priority"):format(todo.priority) or ""
      sheet:parts({ { boxes[todo.status] .. escape.visible(todo.content), paints[todo.status] }, { priority, "Muted" } })
      at[#sheet.lines] = { id = session.sessionId .. "\n" .. todo.id, session = session, todo = todo }
    end
  end
  if #shown == 0 then
    sheet:line(#sessions.connected() > 0 and "No to-dos. An agent lists here what it plans to do." or "No agent is connected.", "Muted")
  end
  return sheet, at
end

--- What a key does to the item that the cursor is on.
---@param change fun(id: string): pillion.ListChange
local function of_item(change)
  ---@param listed? pillion.ListedTodo
  return function(listed)
    if listed and listed.todo then
      M.change(listed.session, change(listed.todo.id))
    end
  end
end

---@param session pillion.Session
local function add_to(session)
  vim.ui.input({ prompt = ("Add for %s: "):format(sessions.name(session)) }, function(content)
    vim.api.nvim_echo({ { "" } }, false, {}) -- what was typed does not stay there
    if content and vim.trim(content) ~= "" then
      M.change(session, M.add(vim.trim(content)))
    end
  end)
end

--- To the list that the cursor is in, or the one of the agent that they choose.
---@param listed? pillion.ListedTodo
local function add(listed)
  local connected = sessions.connected()
  if listed or #connected == 1 then
    add_to(listed and listed.session or connected[1])
  elseif #connected == 0 then
    announce.tell("Pillion: no agent is connected; :Pillion connect connects one")
  else
    choose(connected, { prompt = "Whose to-do list?", kind = "pillion.session", format_item = sessions.name }, add_to)
  end
end

local listing = require("pillion.listing").new({
  name = "pillion://todos",
  filetype = "pillion-todos",
  title = "To-dos",
  keys = { { "tick", "tick" }, { "add", "add" }, { "remove", "remove" }, { "up", "up" }, { "down", "down" } },
  draw = draw,
  doings = {
    tick = of_item(M.tick),
    remove = of_item(M.remove),
    up = of_item(function(id)
      return M.move(id, -1)
    end),
    down = of_item(function(id)
      return M.move(id, 1)
    end),
    add = add,
  },
})

function M.open()
  listing:open()
end

M.listen(function()
  listing:refresh()
end)

return M
