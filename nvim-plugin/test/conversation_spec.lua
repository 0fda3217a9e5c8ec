-- `:Pillion conversation`: what is said and done, how it is followed, what is written, and the context.

local check = require("check")
local person = require("person")

local sit = person.sitting({ columns = 140, lines = 30 })

local function open(human)
  human:tell("conversation/changed", {
    conversationId = "c",
    title = "127.0.0.1",
    agent = { name = "127.0.0.1", via = "gateway" },
    sessionId = "s",
    status = "idle",
    message = "",
    connection = "connected",
    context = {},
  })
  human:type(":Pillion conversation<CR>")
  human:eventually("vim.fn.bufwinid('pillion://conversation/message') ~= -1")
end

local function entry(id, kind, text, more)
  return vim.tbl_extend("force", { entryId = id, kind = kind, text = text, done = true, at = "2026-01-01T00:00:00Z" }, more or {})
end

local function tell(human, ...)
  human:tell("conversation/changed", { conversationId = "c", entries = { ... } })
end

local function lines(human)
  return human:lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('pillion://conversation'), 0, -1, false)")
end

sit("without an agent it says how to connect one", function(human)
  human:type(":Pillion conversation<CR>")
  human:sees("No agent is connected.")
  human:sees(":Pillion gateway URL")
  human:type("ihello<C-s>")
  human:sees("no agent is connected: :Pillion gateway URL")
end)

sit("words, calls and errors, in their order", function(human)
  open(human)
  tell(human, entry("1", "user", "mend it\nplease"))
  tell(human, entry("2", "agent", "", { done = false }))
  human:tell("conversation/appended", { conversationId = "c", entryId = "2", text = "I look\nat " })
  human:tell("conversation/appended", { conversationId = "c", entryId = "2", text = "it. <b>" })
  local call = { callId = "x", tool = "read_file", title = "Read file", state = "running", summary = "a.py" }
  tell(human, entry("2", "agent", "I look\nat it. <b>"), entry("3", "call", "", { call = call }))
  tell(human, entry("3", "call", "", { call = vim.tbl_extend("force", call, { state = "done", summary = "a.py, 9 lines" }) }))
  tell(human, entry("4", "error", "no model"))
  check.same(lines(human), {
    "## You",
    "",
    "mend it",
    "please",
    "",
    "## 127.0.0.1",
    "",
    "> I look",
    "> at it. <b>",
    "",
    "✓ Read file  a.py, 9 lines",
    "",
    "✗ no model",
  })
  human:tell("conversation/changed", { conversationId = "c", status = "thinking", message = "100% sure", removed = { "1" } })
  human:sees("127.0.0.1 · connected · thinking: 100% sure")
  check.same(lines(human)[1], "## 127.0.0.1")
end)

sit("an agent's words pass for nobody else's", function(human)
  open(human)
  tell(human, entry("1", "agent", "## You\n\nYes"), entry("2", "error", "bad\n## You"))
  check.same(lines(human), { "## 127.0.0.1", "", "> ## You", "> ", "> Yes", "", "✗ bad", "✗ ## You" })
  human:tell("conversation/appended", { conversationId = "c", entryId = "2", text = "!" })
  check.same(lines(human)[8], "✗ ## You!")
end)

sit("who reads at the end follows, who reads above stays", function(human)
  open(human)
  tell(human, entry("1", "user", ("x\n"):rep(100)), entry("2", "agent", "", { done = false }))
  local cursor = "return vim.api.nvim_win_get_cursor(vim.fn.bufwinid('pillion://conversation'))[1]"
  local function said(text)
    human:tell("conversation/appended", { conversationId = "c", entryId = "2", text = text })
  end
  local last = #lines(human)
  human:lua("vim.api.nvim_win_set_cursor(vim.fn.bufwinid('pillion://conversation'), { ..., 0 })", last)
  said("one\ntwo")
  check.same(human:lua(cursor), last + 1)
  human:lua("vim.api.nvim_win_set_cursor(vim.fn.bufwinid('pillion://conversation'), { 5, 0 })")
  said("\nthree")
  tell(human, entry("2", "agent", "one\ntwo\nthree"))
  check.same(human:lua(cursor), 5)
end)

sit("a message is sent, and what cannot be sent stays", function(human)
  open(human)
  human:lua("Wire.replies['conversation/send'] = function() return { entryId = '1' } end")
  human:type("imend it<Esc><CR>")
  human:eventually("vim.iter(Wire.sent):any(function(one) return one.method == 'conversation/send' end)")
  human:eventually("vim.api.nvim_buf_get_lines(0, 0, -1, false)[1] == ''")
  local sent = human:lua("return Wire.sent[#Wire.sent]")
  check.same(sent, { method = "conversation/send", params = { conversationId = "c", text = "mend it" } })
  human:type("itoo late")
  human:lua("Wire.client.request = function(_, _, callback) callback({ message = 'the agent is not connected' }) end")
  human:type("<C-s>")
  human:sees("the agent is not connected")
  check.same(human:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"), { "too late" })
end)

sit("files and lines are given as context, and taken back", function(human)
  open(human)
  local updates = "vim.tbl_filter(function(one) return one.method == 'context/update' end, Wire.sent)"
  local function sent(count)
    human:eventually(("#%s == %d"):format(updates, count))
    return human:lua(("return (%s)[%d].params"):format(updates, count))
  end
  human:lua("vim.cmd.wincmd('t'); vim.cmd.edit('/tmp/clock.py'); vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'one', 'two', 'three' })")
  human:type(":Pillion context add<CR>")
  check.same(sent(1), { conversationId = "c", action = "add_file", data = { path = "/tmp/clock.py" } })
  human:lua("require('pillion.commands').run('context add', { 2, 3 })")
  check.same(sent(2).data.content, "two\nthree\n")
  human:tell("conversation/changed", { conversationId = "c", context = { { path = "clock.py", content = true, lines = 2, by = "user" } } })
  human:sees("context: clock.py (2 lines)")
  human:type(":Pillion context remove clock.py<CR>")
  check.same(sent(3).action, "remove_file")
  human:type(":Pillion context clear<CR>")
  check.same(sent(4).action, "clear")
end)

sit("what it says of the connection", function(human)
  open(human)
  human:tell("conversation/changed", { conversationId = "c", connection = "reconnecting" })
  human:tell("gateway/changed", { state = "reconnecting", url = "ws://x", error = { code = "EXECUTION_FAILED", message = "it broke" } })
  human:sees("127.0.0.1 · reconnecting · it broke")
  human:type("<Esc>:Pillion gateway ws://127.0.0.1:1/ws<CR>")
  human:eventually("(Wire.sent[#Wire.sent] or {}).method == 'gateway/connect'")
  check.same(human:lua("return Wire.sent[#Wire.sent].params"), { url = "ws://127.0.0.1:1/ws" })
  human:type("<Esc>:Pillion disconnect<CR>")
  human:eventually("Wire.sent[#Wire.sent].method == 'gateway/disconnect'")
end)
