-- `:Pillion todos`: what agents have planned, in a small window. The user ticks, adds, removes and moves items there.

local announce = require("pillion.announce")
local choose = require("pillion.choose")
local escape = require("pillion.escape")
local sessions = require("pillion.sessions")
local sheets = require("pillion.sheet")
local todos = require("pillion.todos")

local M = {}

---@class pillion.ListedTodo: pillion.Listed
---@field session pillion.Session
---@field todo? pillion.Todo none on the line that names the agent

local boxes = { pending = "[ ] ", in_progress = "[>] ", completed = "[x] " }
local paints = { in_progress = "Heading", completed = "Muted" }

---@return pillion.Sheet
---@return table<integer, pillion.ListedTodo>
local function draw()
  local sheet, at = sheets.new(), {}
  local lists = todos.lists()
  for _, session in ipairs(lists) do
    local list = todos.of(session)
    if #lists > 1 or not session.connected then
      local done = ("  %d of %d done"):format(todos.completed(list), #list)
      sheet:parts({ { sessions.name(session), "Label" }, { done .. (session.connected and "" or " · not connected"), "Muted" } })
      at[#sheet.lines] = { id = session.sessionId, session = session }
    end
    for _, todo in ipairs(list) do
      local priority = todo.priority ~= "medium" and (" · %s priority"):format(todo.priority) or ""
      sheet:parts({ { boxes[todo.status] .. escape.visible(todo.content), paints[todo.status] }, { priority, "Muted" } })
      at[#sheet.lines] = { id = session.sessionId .. "\n" .. todo.id, session = session, todo = todo }
    end
  end
  if #lists == 0 then
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
      todos.change(listed.session, change(listed.todo.id))
    end
  end
end

---@param session pillion.Session
local function add_to(session)
  vim.ui.input({ prompt = ("Add for %s: "):format(sessions.name(session)) }, function(content)
    vim.api.nvim_echo({ { "" } }, false, {}) -- what was typed does not stay there
    if content and vim.trim(content) ~= "" then
      todos.change(session, todos.add(vim.trim(content)))
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
    tick = of_item(todos.tick),
    remove = of_item(todos.remove),
    up = of_item(function(id)
      return todos.move(id, -1)
    end),
    down = of_item(function(id)
      return todos.move(id, 1)
    end),
    add = add,
  },
})

function M.open()
  listing:open()
end

todos.listen(function()
  listing:refresh()
end)

return M
