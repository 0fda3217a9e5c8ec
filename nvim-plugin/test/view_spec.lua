-- `:Pillion`: what waits, what happened, sessions and modes; questions to the user; the status line.

local check = require("check")
local person = require("person")

local sit = person.sitting({ columns = 120, lines = 30 })

local function call(id, state, more)
  local entry = {
    callId = id,
    sessionId = "s",
    agent = { name = "claude", via = "mcp" },
    tool = "read_file",
    title = "Read " .. id,
    state = state,
    summary = "",
    durationMs = 0,
  }
  return vim.tbl_extend("force", entry, more or {})
end

local question =
  { promptId = "P", agent = { name = "claude", via = "mcp" }, message = "Which colour?\n\u{202e}", actions = { "red", "blue" } }

local function line(human)
  return human:lua("return require('pillion.status').line()")
end

sit("the status line counts, and names what runs", function(human)
  check.same(line(human), "Pillion")
  human:tell("activity/changed", call("a.py", "running"))
  check.same(line(human), "Pillion: Read a.py")
  human:tell("activity/changed", call("a.py", "running", { title = "Run make" }))
  check.same(line(human), "Pillion: Run make")
  human:tell("activity/changed", call("100%", "running"))
  check.same(line(human), "Pillion: Read 100%% (+1)")
  human:ask("prompt/user", question)
  human:ask("approval/request", person.command_request("A", "make"))
  check.same(line(human), "Pillion 2?")
  human:lua("Wire.client.state = 'failed'; for _, l in ipairs(Wire.state_listeners) do l(Wire.client) end")
  check.same(line(human), "Pillion!")
  check.same(human:answered("A").error.message, "the dialog was closed: sidecar stopped")
  check.same(human:answered("P").error.code, -32800)
  check.same(human:lua("return require('pillion.activity').running()"), {})
end)

sit("the list and the log say which command ran, and what came of it", function(human)
  human:tell("activity/changed", call("c", "running", { title = "Run make all" }))
  human:tell("activity/changed", call("c", "done", { title = "Run make all", summary = "exit code 2", durationMs = 1200 }))
  human:type(":Pillion<CR>")
  human:sees("✓ Run make all  exit code 2 · 1.2 s · claude")
  human:type("<Esc>:Pillion log<CR>")
  human:sees("✓ Run make all  exit code 2 · 1.2 s · claude")
end)

sit("a question takes no key, and is answered in its list", function(human)
  human:type_into("i", "i")
  human:ask("prompt/user", question)
  human:sees("claude asks: Which colour?\\n\\u{202e}")
  human:type("1<CR>blue<Esc>")
  human:eventually("vim.api.nvim_buf_get_lines(0, 1, 2, false)[1] == 'blue'")
  human:type(":Pillion<CR>")
  human:sees("1 waiting for your answer")
  human:type("1<CR>")
  human:sees("claude asks: Which colour?")
  human:type("<Esc>")
  check.same(human:lua("return Wire.answers.P == nil"), true)
  human:type(":Pillion<CR>")
  human:sees("1 waiting for your answer")
  human:type("1<CR>")
  human:sees("4: Cancel")
  human:type("2<CR>")
  check.same(human:answered("P"), { action = "blue" })
end)

sit("a long question is asked whole", function(human)
  human:ask(
    "prompt/user",
    vim.tbl_extend("force", question, { message = ("which colour? "):rep(30) .. "says Ada, " .. ("which colour? "):rep(30) })
  )
  human:type(":Pillion<CR>")
  human:sees("1 waiting for your answer")
  human:type("1<CR>")
  human:sees("says Ada")
  human:type("2<CR>")
  check.same(human:answered("P"), { action = "blue" })
end)

sit("a question is cancelled on purpose, or withdrawn", function(human)
  human:ask("prompt/user", question)
  human:lua("vim.ui.select = function(items, options, choose) choose(items[#items]) end; require('pillion.prompts').pick('P')")
  check.same(human:answered("P"), { action = "cancel" })
  human:ask("prompt/user", vim.tbl_extend("force", question, { promptId = "Q" }))
  human:lua("Wire.cancels.Q()")
  check.same(human:answered("Q").error.code, -32800)
  check.same(human:lua("return #require('pillion.prompts').all()"), 0)
end)

sit("a cancelled approval hears why first", function(human)
  human:ask("approval/request", person.command_request("A", "make"))
  human:eventually("vim.fn.tabpagenr('$') == 2")
  human:lua("Wire.cancels.A()")
  human:tell("approval/resolved", { approvalId = "A", outcome = "expired" })
  check.same(human:answered("A").error.message, "the dialog was closed: expired")
  human:ask("approval/request", person.command_request("B", "make"))
  human:lua("Wire.cancels.B()")
  check.same(human:answered("B").error.message, "the dialog was closed: withdrawn")
end)

sit("one list: what waits, who is paused, what happened", function(human)
  human:tell("session/changed", {
    session = person.session("s", "claude", { paused = true, pauseReason = "the user stopped the agent at edit_file" }),
  })
  human:tell("activity/changed", call("a.py", "done", { summary = "12 lines", durationMs = 1200 }))
  human:tell("activity/changed", call("b.py", "failed"))
  human:ask("approval/request", person.edit_request("A", { { "app.py", "a\n", "b\n" } }))
  human:eventually("vim.fn.tabpagenr('$') == 2")
  human:type(":Pillion<CR>")
  human:sees("1: ? claude wants to edit app.py · +1 −1")
  human:sees("2: ‖ claude is paused until you resume it · the user stopped the agent at edit_file")
  human:sees("3: ✗ Read b.py")
  human:sees("4: ✓ Read a.py  12 lines · 1.2 s · claude")
  human:type("2<CR>")
  human:eventually("vim.tbl_contains(vim.tbl_map(function(one) return one.method end, Wire.sent), 'session/newTurn')")
  human:type(":Pillion<CR>1<CR>")
  human:eventually("vim.fn.tabpagenr() == 2")
end)

sit("nothing waits and nothing has happened", function(human)
  human:type(":Pillion<CR>")
  human:sees("no requests, and no calls yet")
  human:type(":Pillion nonsense<CR>")
  human:sees("unknown command nonsense")
end)

sit("the log keeps the last calls, and follows", function(human)
  for index = 1, 205 do
    human:tell("activity/changed", call(("f%d.py"):format(index), "done"))
  end
  human:type(":Pillion log<CR>")
  human:sees("Read f205.py")
  check.same(human:lua("return { vim.api.nvim_buf_line_count(0), vim.bo.modifiable, vim.bo.filetype }"), { 200, false, "pillion-log" })
  human:tell("activity/changed", call("f206.py", "running"))
  human:sees("▸ Read f206.py")
  human:tell("activity/changed", call("f206.py", "done"))
  human:sees("✓ Read f206.py")
  human:type("q")
  human:eventually("vim.fn.winnr('$') == 1")
  human:type(":qa<CR>")
  person.eventually("Neovim has ended", function()
    return human:gone()
  end)
end)

sit("modes", function(human)
  human:lua([[Wire.replies["session/list"] = function() return { sessions = {
    { sessionId = "editor", agent = { name = "", via = "editor" }, mode = "default", turn = 1, connected = true },
    { sessionId = "z", agent = { name = "codex", via = "mcp" }, mode = "default", turn = 1, connected = true } } } end
    Wire.replies["session/setMode"] = function(params)
      return { sessionId = params.sessionId, agent = { name = "codex", via = "mcp" }, mode = params.mode, connected = true }
    end]])
  human:type(":Pillion mode plan z<CR>")
  human:sees("codex · plan")
  local function set()
    return human:lua("return vim.tbl_filter(function(one) return one.method == 'session/setMode' end, Wire.sent)")
  end
  check.same(set(), { { method = "session/setMode", params = { sessionId = "z", mode = "plan" } } })
  human:type(":Pillion mode<CR>")
  human:sees("2: codex · default")
  human:type("2<CR>")
  human:sees("4: auto_edit")
  human:type("4<CR>")
  human:sees("codex · auto_edit")
  human:type(":Pillion mode yolo<CR>")
  human:sees("the modes are plan, draft, default, auto_edit, auto, full_access")
  check.same(#set(), 2)
end)

sit("sessions that cannot be told of are not taken for none", function(human)
  human:lua([[function Wire.client.request(_, _, callback)
    vim.schedule(function() callback({ code = -32603, message = "out of order" }) end)
  end]])
  human:type(":Pillion resume<CR>")
  human:sees("could not list sessions: out of order")
end)

sit("full access is confirmed, marked for as long as it lasts, and ended from the list", function(human)
  human:lua([[Mode = "default"
    local function codex() return { sessionId = "z", agent = { name = "codex", via = "mcp" }, mode = Mode, turn = 1, connected = true } end
    Wire.replies["session/list"] = function() return { sessions = { codex() } } end
    Wire.replies["session/setMode"] = function(params) Mode = params.mode return codex() end]])
  human:lua("require('pillion').statusline = require('pillion.status').line")
  human:type(":Pillion mode full_access<CR>")
  human:sees("Full access for codex: its commands run as you")
  human:type("1<CR>")
  human:sees("codex · default")
  check.same(line(human), "Pillion")
  human:type(":Pillion mode full_access<CR>")
  human:sees("2: Yes, full access until codex disconnects")
  human:type_into("<CR>", "n")
  check.same(human:lua("return Mode"), "default")
  person.eventually("the list is gone", function()
    return not human:screen():find("2: Yes", 1, true)
  end)
  human:type(":Pillion mode full_access<CR>")
  human:sees("2: Yes, full access until codex disconnects")
  human:type("2<CR>")
  human:sees("codex · full_access")
  human:eventually("require('pillion').statusline() == 'Pillion FULL ACCESS'")
  human:ask("approval/request", person.command_request("A", "make"))
  check.same(line(human), "Pillion FULL ACCESS 1?")
  human:tell("approval/resolved", { approvalId = "A", outcome = "withdrawn" })
  human:type(":Pillion<CR>")
  human:sees("1: ! codex has FULL ACCESS")
  human:type("1<CR>")
  human:eventually("Mode == 'default'")
  human:eventually("require('pillion').statusline() == 'Pillion'")
  human:tell("session/changed", { session = person.session("z", "codex", { mode = "full_access" }) })
  human:eventually("require('pillion').statusline() == 'Pillion FULL ACCESS'")
  human:tell("session/changed", { session = person.session("z", "codex", { mode = "full_access", connected = false }) })
  human:eventually("require('pillion').statusline() == 'Pillion'")
end)

sit("completion", function(human)
  local function complete(text)
    return human:lua("return vim.fn.getcompletion(..., 'cmdline')", text)
  end
  check.same(vim.tbl_contains(complete("Pillion "), "approve"), true)
  check.same(complete("Pillion re"), { "reject", "restart", "resume", "revert" })
  check.same(complete("Pillion mode "), { "plan", "draft", "default", "auto_edit", "auto", "full_access" })
  check.same(complete("Pillion approve "), { "all" })
  check.same(complete("Pillion reject "), {})
end)

sit("a burst of announcements asks for no key", function(human)
  local requests = {}
  for index = 1, 6 do
    requests[index] = person.command_request("A" .. index, ("echo %s"):format(("very long "):rep(40)))
  end
  human:lua("for _, request in ipairs(...) do Wire.ask('approval/request', request) end", requests) -- in one moment
  human:sees("more)")
  human:settled()
  check.same(human:mode().blocking, false)
  human:type("ihello<Esc>")
  human:eventually("vim.api.nvim_get_current_line() == 'hello'")
end)

---@param human pillion.Person
local function floats(human)
  return human:lua("return #vim.tbl_filter(function(w) return vim.api.nvim_win_get_config(w).relative ~= '' end, vim.api.nvim_list_wins())")
end

sit("while the user types it is said at the top, and once more below when they are through", function(human)
  human:type_into("i", "i")
  human:ask("approval/request", person.command_request("A", "make"))
  human:sees("claude wants to run make  (:Pillion show)")
  check.same(floats(human), 1)
  human:type("x<Esc>")
  human:eventually("vim.fn.execute('messages'):find('claude wants to run make', 1, true)")
  person.eventually("the window is gone", function()
    return floats(human) == 0
  end)
end)

sit("in a terminal it stays until the question is settled", function(human)
  human:lua([[require('pillion.announce').toast_ms = 0
    local defer = vim.defer_fn
    Looks = 0
    vim.defer_fn = function(callback, ms)
      return defer(function()
        Looks = Looks + 1
        callback()
      end, ms)
    end]])
  human:type(":terminal cat<CR>")
  human:type_into("i", "t")
  human:ask("approval/request", person.command_request("A", "make"))
  human:sees("claude wants to run make")
  human:eventually("Looks > 2") -- at how long it has been seen
  check.same(floats(human), 1)
  check.same(human:mode().mode, "t")
  human:tell("approval/resolved", { approvalId = "A", outcome = "approved" })
  person.eventually("it is gone", function()
    return floats(human) == 0
  end)
end)

sit("without a line for commands it is said at the top", function(human)
  human:ask("approval/request", person.command_request("A", "make"))
  human:sees("claude wants to run make")
  check.same(human:mode().blocking, false)
end, { init = "vim.o.cmdheight = 0" })

sit("whoever wants no messages gets none", function(human)
  human:ask("approval/request", person.command_request("A", "make"))
  human:eventually("vim.fn.tabpagenr('$') == 2")
  human:lua("Said = {}; vim.notify = function(text) table.insert(Said, text) end; require('pillion.announce').say('the last word')")
  human:eventually("#Said > 0")
  check.same(human:lua("return Said"), { "the last word" })
end, { init = "require('pillion.config').set({ notify = false })" })
