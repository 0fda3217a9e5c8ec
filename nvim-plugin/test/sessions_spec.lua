-- The windows with the agents' to-do lists and sessions, and what the status line says of them.

local check = require("check")
local person = require("person")

local sit = person.sitting({ columns = 80, lines = 24 })

-- The sidecar's side: it keeps the sessions of `Kept`, and takes a list only with its present revision.
local sidecar = [[
  Kept = {}
  local function changed(id, more)
    Kept[id] = vim.tbl_extend("force", Kept[id], more)
    return vim.deepcopy(Kept[id])
  end
  function Keep(session)
    Kept[session.sessionId] = session
    Wire.tell("session/changed", { session = vim.deepcopy(session) })
  end
  Wire.replies["session/list"] = function() return { sessions = vim.tbl_values(vim.deepcopy(Kept)) } end
  Wire.replies["session/pause"] = function(params) return changed(params.sessionId, { paused = true, pauseReason = "the user paused it" }) end
  Wire.replies["session/newTurn"] = function(params) return changed(params.sessionId, { paused = false }) end
  Wire.replies["session/setMode"] = function(params) return changed(params.sessionId, { mode = params.mode }) end
  Wire.replies["session/revoke"] = function(params)
    return changed(params.sessionId, { grants = vim.tbl_filter(function(rule) return rule ~= params.rule end, Kept[params.sessionId].grants) })
  end
  Wire.replies["session/close"] = function(params) Kept[params.sessionId] = nil return { closed = true } end
  function Wire.client.request(method, params, callback)
    Wire.sent[#Wire.sent + 1] = { method = method, params = vim.deepcopy(params) }
    vim.schedule(function()
      local kept = Kept[params.sessionId]
      if method ~= "session/todos" then
        callback(nil, (Wire.replies[method] or function() return {} end)(params))
      elseif params.revision ~= kept.todosRevision then
        callback({ code = -32801, message = "the list is another one now" })
      else
        for index, todo in ipairs(params.todos) do todo.id = todo.id or "u" .. index end
        local session = changed(params.sessionId, { todos = params.todos, todosRevision = kept.todosRevision + 1 })
        Wire.tell("session/changed", { session = vim.deepcopy(session) }) -- the report may overtake the answer
        callback(nil, session)
      end
    end)
    return true
  end
]]

local function todo(id, content, status, priority)
  return { id = id, content = content, status = status or "pending", priority = priority or "medium" }
end

local list =
  { todo("1", "Read the clock", "completed"), todo("2", "Fix the clock\u{202e}", "in_progress"), todo("3", "Write a test", nil, "high") }

---@param name string
---@param try fun(human: pillion.Person)
local function with_sessions(name, try)
  sit(name, function(human)
    human:lua(sidecar)
    human:lua("Keep(...)", person.session("s", "claude", { todos = list, todosRevision = 4, calls = 12, changes = 3, rejected = 1 }))
    try(human)
  end)
end

---@param human pillion.Person
---@return string[]
local function lines(human)
  return human:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")
end

---@param human pillion.Person
---@param method string
local function sent(human, method)
  return human:lua(
    [[local method = ...; return vim.tbl_map(function(one) return one.params end, vim.tbl_filter(function(one)
    return one.method == method end, Wire.sent))]],
    method
  )
end

---@param human pillion.Person
---@param want string[]
local function shows(human, want)
  person.eventually(table.concat(want, "\n"), function()
    return vim.deep_equal(lines(human), want)
  end)
end

local function opens(human, what)
  human:type((":Pillion %s<CR>"):format(what))
  human:eventually(("vim.bo.filetype == 'pillion-%s'"):format(what))
end

with_sessions("a to-do list is on show, with its keys, and follows; nothing in it hides", function(human)
  opens(human, "todos")
  human:sees("To-dos  x tick  o add  dd remove  K up  J down  g? keys  q close")
  shows(human, { "[x] Read the clock", "[>] Fix the clock\\u{202e}", "[ ] Write a test · high priority" })
  human:type("3G")
  human:eventually("vim.fn.line('.') == 3")
  human:lua("Kept.s.todos[2].status = 'completed'; table.insert(Kept.s.todos, 1, ...); Keep(Kept.s)", todo("0", "Look around"))
  shows(human, { "[ ] Look around", "[x] Read the clock", "[x] Fix the clock\\u{202e}", "[ ] Write a test · high priority" })
  check.same(human:lua("return { vim.fn.line('.'), vim.bo.modifiable }"), { 4, false })
  human:type("g?")
  human:sees("dd  remove this item")
  human:type("jq")
  human:eventually("vim.fn.winnr('$') == 1")
end)

with_sessions("items are ticked, added, removed and moved, each change of the list that the one before it left", function(human)
  opens(human, "todos")
  human:type("3Gxkx")
  shows(human, { "[x] Read the clock", "[x] Fix the clock\\u{202e}", "[x] Write a test · high priority" })
  human:type("x")
  shows(human, { "[x] Read the clock", "[ ] Fix the clock\\u{202e}", "[x] Write a test · high priority" })
  human:type("KddK")
  shows(human, { "[x] Read the clock", "[x] Write a test · high priority" })
  human:type("o")
  human:sees("Add for claude:")
  human:type("Tidy up<CR>")
  shows(human, { "[x] Read the clock", "[x] Write a test · high priority", "[ ] Tidy up" })
  human:type("GKK")
  shows(human, { "[ ] Tidy up", "[x] Read the clock", "[x] Write a test · high priority" })
  check.same(human:lua("return vim.fn.line('.')"), 1)
  person.eventually("all were taken", function()
    return #human:lua("return Kept.s.todos") == 3 and human:lua("return Kept.s.todos[1].content") == "Tidy up"
  end)
  local revisions = vim.tbl_map(function(params)
    return params.revision
  end, sent(human, "session/todos"))
  check.same(revisions, { 4, 5, 6, 7, 8, 9, 10, 11 })
end)

with_sessions("a change is on show once, while it is under way and when it is made", function(human)
  human:lua([[
    Seen = {}
    local todos, sessions = require("pillion.todos"), require("pillion.sessions")
    todos.listen(function()
      local ids = vim.iter(todos.of(sessions.all()[1])):map(function(todo) return todo.id end):join(" ")
      Seen[#Seen + 1] = Seen[#Seen] ~= ids and ids or nil
    end)
    todos.change(sessions.all()[1], todos.move("3", -1))
  ]])
  human:eventually("Kept.s.todosRevision == 5")
  check.same(human:lua("return Seen"), { "1 3 2" })
end)

with_sessions("an item that has just been added can be moved and ticked before the sidecar knows of it", function(human)
  human:lua([[
    local todos, session = require("pillion.todos"), require("pillion.sessions").all()[1]
    todos.change(session, todos.add("Tidy up"))
    local id = todos.of(session)[4].id
    todos.change(session, todos.move(id, -1))
    todos.change(session, todos.tick(id))
  ]])
  human:eventually("Kept.s.todosRevision == 7")
  check.same(human:lua("return { Kept.s.todos[3].content, Kept.s.todos[3].status }"), { "Tidy up", "completed" })
end)

with_sessions("a list that the agent wrote meanwhile stays, and the user reads it", function(human)
  opens(human, "todos")
  human:lua("Kept.s.todos, Kept.s.todosRevision = ..., 5", { todo("9", "Something else") }) -- its report is still under way
  human:type("x")
  human:sees("claude changed its list meanwhile; try again")
  shows(human, { "[ ] Something else" })
  check.same(#sent(human, "session/todos"), 1)
end)

with_sessions("with several lists each has its agent above it, and an item goes to the one that the cursor is in", function(human)
  human:lua("Keep(...)", person.session("t", "codex", { todos = { todo("1", "Review") } }))
  opens(human, "todos")
  shows(human, {
    "claude  1 of 3 done",
    "[x] Read the clock",
    "[>] Fix the clock\\u{202e}",
    "[ ] Write a test · high priority",
    "codex  0 of 1 done",
    "[ ] Review",
  })
  human:type("Go")
  human:sees("Add for codex:")
  human:type("Report<CR>")
  person.eventually("it is in that list", function()
    return #human:lua("return Kept.t.todos") == 2
  end)
end)

with_sessions("what an agent left to do is on show until another one has a list", function(human)
  human:lua("Kept.s.connected = false; Keep(Kept.s)")
  human:lua(
    "Keep(...)",
    person.session("t", "codex", { todos = { todo("1", "Old") }, connected = false, lastCall = "2026-05-03T09:30:00Z" })
  )
  opens(human, "todos")
  human:sees("claude  1 of 3 done · not connected")
  human:lua("Keep(...)", person.session("u", "qwen", { todos = { todo("1", "Review") } }))
  shows(human, { "[ ] Review" })
end)

sit("without lists and agents it says so", function(human)
  opens(human, "todos")
  shows(human, { "No agent is connected." })
  human:type("xddJo")
  human:sees("no agent is connected; :Pillion connect connects one")
  human:tell("session/changed", { session = person.session("s", "claude") })
  shows(human, { "No to-dos. An agent lists here what it plans to do." })
end)

with_sessions("sessions say how they stand, what each did and may do, and which rules it has", function(human)
  human:lua("vim.env.TZ = 'UTC'; os.execute('true')")
  human:lua(
    "Keep(...)",
    person.session("t", "qwen", { parent = "s", calls = 1, mode = "auto_edit", grants = { "run_command(go test *)" } })
  )
  human:lua(
    "Keep(...)",
    person.session("u", "codex", { connected = false, mode = "full_access", lastCall = "2026-05-03T09:30:00Z", refused = 2, calls = 9 })
  )
  opens(human, "sessions")
  human:sees("Sessions  p pause, resume  m mode  r forget a rule  X end  g? keys  q close")
  shows(human, {
    "claude  asks first",
    "  12 calls, 3 changes, 1 rejected · since 2026-05-04 14:05",
    "    qwen  edits freely",
    "      1 call · since 2026-05-04 14:05",
    "      remembers  run_command(go test *)",
    "codex  not connected",
    "  9 calls, 2 refused · last seen 2026-05-03 09:30",
  })
  human:ask("approval/request", person.command_request("A", "make", { sessionId = "s" }))
  human:tell("session/changed", { session = person.session("s1", "claude", {}) }) -- the request's own
  human:sees("claude  waiting for you  asks first")
end)

with_sessions("an agent is paused and resumed, its mode changed, a rule forgotten, its session ended", function(human)
  human:lua("Keep(...)", person.session("s", "claude", { grants = { "run_command(make *)", "edit_file(a.py)" } }))
  opens(human, "sessions")
  human:type("p")
  human:sees("claude  paused  asks first")
  human:eventually("require('pillion.status').line() == 'Pillion · claude paused'")
  human:type("p")
  human:eventually("vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == 'claude  asks first'")
  human:type("m")
  human:sees("4: auto_edit")
  human:type("4<CR>")
  human:sees("claude  edits freely")
  human:type("3Gr") -- the rule under the cursor
  human:sees("claude asks again for run_command(make *)")
  human:type("ggr")
  human:sees("Forget which rule?")
  human:type("1<CR>")
  human:eventually("#Kept.s.grants == 0")
  human:type("r")
  human:sees("no rules are remembered for this session of claude")
  human:type("X")
  human:sees("End the session of claude?")
  human:type("1<CR>")
  check.same(sent(human, "session/close"), {})
  human:type("X")
  human:sees("2: Yes, end it")
  human:type("2<CR>")
  human:sees("the session of claude has ended")
  shows(human, { "No agent is connected; :Pillion connect connects one." })
end)

with_sessions("the status line has the item that an agent is at, clipped, and forgets it with the agent", function(human)
  local function line()
    return human:lua("return require('pillion.status').line()")
  end
  check.same(line(), "Pillion · 1/3 Fix the clock\\u{202e}")
  human:lua("Kept.s.todos[2].content = 'Fix 100% of ' .. ('the clocks '):rep(9); Keep(Kept.s)")
  check.same(line(), "Pillion · 1/3 Fix 100%% of the clocks…e clocks ")
  human:tell("activity/changed", {
    callId = "1",
    sessionId = "s",
    agent = { name = "claude", via = "mcp" },
    tool = "t",
    title = "Run make",
    state = "running",
    summary = "",
    durationMs = 0,
  })
  check.same(line(), "Pillion: Run make · 1/3 Fix 100%% of th…ocks ")
  human:lua("Kept.s.connected = false; Keep(Kept.s)")
  check.same(line(), "Pillion: Run make")
end)
